/* SPDX-License-Identifier: Apache-2.0 */
/* Winners of the columns that a sweep has S of. */
#ifndef PLX_GPU_SGM_SWEEP_WINNERS_CUH
#define PLX_GPU_SGM_SWEEP_WINNERS_CUH

#include "gpu/sgm_sweep_costs.cuh"

#define SHARED_WORDS 32 /* of keys, that a thread searches */

/*
 * The left view's winners are found when KEY_COLUMNS columns of keys are in shared memory, by D / 64 threads each. The right
 * view's candidates move along with the sweep: those of pixel p at disparity d lie in column p + d, so in the next column the
 * least key so far of a pixel belongs to the next disparity. Where a part of the disparities ends, whose keys compare, they
 * become votes.
 */
template <class F, class S, bool VARYING> struct sweep_winners : sweep_costs<F, S, VARYING> {
    using sweep_place<S>::a;
    using sweep_place<S>::s;
    using sweep_place<S>::lane;
    using sweep_place<S>::g;
    using sweep_place<S>::row;
    using sweep_place<S>::upwards;
    static constexpr int D = S::D, ROWS = S::ROWS, SHARE = D / 2 / SHARED_WORDS, PARTS_SEARCHED = SHARED_WORDS / PLX_KEY_PART;

    uint32_t candidates[N];

    using sweep_costs<F, S, VARYING>::sweep_costs;

    __device__ __forceinline__ void begin_winners(void)
    {
#pragma unroll
        for (int i = 0; i < N; i++)
            candidates[i] = PLX_PACKED_MAX;
    }

    /* Step T's sums become keys. */
    __device__ __forceinline__ void make_keys(int t, const uint32_t sum[N])
    {
        const int k = t & (KEY_COLUMNS - 1);
        const uint32_t part_of_d = plx_both((uint32_t)((g * N & PLX_KEY_MASK) ^ (upwards ? PLX_KEY_MASK : 0)));
        uint32_t key[N];

#pragma unroll
        for (int i = 0; i < N; i++)
            key[i] = plx_mad(sum[i], PLX_KEY_PART, 0) ^ part_of_d ^ plx_both((uint32_t)i);
        if (!this->all_inside(t, t)) {
            const bool in = this->inside(t - S::LAG * row);
#pragma unroll
            for (int i = 0; i < N; i++)
                key[i] = in ? key[i] : PLX_PACKED_MAX;
        }
        const uint32_t to = shared_address(&s.keys[k * ROWS + row][g * N]);
        plx_store_shared_16(to, make_uint4(key[0], key[1], key[2], key[3]));
        plx_store_shared_16(to + 16, make_uint4(key[4], key[5], key[6], key[7]));

        if ((g + 1) * N % PLX_KEY_PART == 0)
            s.leaving[k][row][(g + 1) * N / PLX_KEY_PART - 1] = candidates[N - 1];
        uint32_t entering = __shfl_up_sync(PLX_ALL_LANES, candidates[N - 1], 1);
        if (g * N % PLX_KEY_PART == 0)
            entering = PLX_PACKED_MAX;
#pragma unroll
        for (int i = N - 1; i > 0; i--)
            candidates[i] = plx_min2(candidates[i - 1], key[i]);
        candidates[0] = plx_min2(entering, key[0]);
    }

    /* The disparity at which a part begins that holds those of the sweep from D on. */
    __device__ __forceinline__ int part_of(int d) const
    {
        return upwards ? D - PLX_KEY_PART - d : d;
    }

    static __device__ __forceinline__ uint32_t vote_of(uint32_t key, int part)
    {
        return key >> PLX_KEY_BITS << 16 | (key & PLX_KEY_MASK) | part;
    }

    /* Row R's candidates for pixel P of the sweep, and, in the upper half, for P - D / 2, of the part from D on. */
    __device__ __forceinline__ void vote(int r, int p, uint32_t keys, int d)
    {
        const int y = this->y_of(r);
#pragma unroll
        for (int half = 0; half < 2; half++, p -= D / 2, d += D / 2, keys >>= 16) {
            const int x = upwards ? a.columns - D - p : p;
            if ((unsigned)x < (unsigned)a.width && y < a.height)
                atomicMin(a.votes + (size_t)y * a.width + x, vote_of(keys & 0xFFFF, part_of(d)));
        }
    }

    /* The key of disparity D of the sweep. */
    __device__ __forceinline__ uint16_t *key_at(int pixel, int d)
    {
        return (uint16_t *)s.keys[pixel] + 2 * (d & (D / 2 - 1)) + (d >= D / 2);
    }

    /* The least key in each part of this thread's words. Threads begin at different banks. */
    __device__ __forceinline__ void least_keys(int pixel, uint32_t ret_least[PARTS_SEARCHED])
    {
        const uint32_t *words = s.keys[pixel] + lane % SHARE * SHARED_WORDS;
#pragma unroll
        for (int part = 0; part < PARTS_SEARCHED; part++) {
            uint32_t least = PLX_PACKED_MAX;
#pragma unroll
            for (int i = 0; i < PLX_KEY_PART / 4; i++) {
                const uint4 v = *(const uint4 *)(words + part * PLX_KEY_PART + 4 * ((i + lane) & (PLX_KEY_PART / 4 - 1)));
                least = plx_min3(plx_min3(least, v.x, v.y), v.z, v.w);
            }
            ret_least[part] = least;
        }
    }

    /* Of the pixel of column K and row R. */
    __device__ __forceinline__ void find_winner(int pixel, int x, int y, bool exists)
    {
        uint32_t least[PARTS_SEARCHED], best = 0xFFFFFFFF, second = 0xFFFF;

        least_keys(pixel, least);
#pragma unroll
        for (int part = 0; part < PARTS_SEARCHED; part++) {
            const int d = lane % SHARE * SHARED_WORDS + part * PLX_KEY_PART;
            best = min(best, vote_of(least[part] & 0xFFFF, part_of(d)));
            best = min(best, vote_of(least[part] >> 16, part_of(D / 2 + d)));
        }
        best = plx_least_number<SHARE>(best);
        const int winner = best & 0xFFFF, d = upwards ? D - 1 - winner : winner;
        uint16_t *const before = key_at(pixel, max(d - 1, 0)), *const after = key_at(pixel, min(d + 1, D - 1));
        const int s_before = *before >> PLX_KEY_BITS, s_after = *after >> PLX_KEY_BITS;
        __syncwarp();
        if (lane % SHARE == 0) /* the second least is that of all others */
            *before = *after = *key_at(pixel, d) = PLX_PACKED_MAX & 0xFFFF;
        __syncwarp();
        least_keys(pixel, least);
#pragma unroll
        for (int part = 0; part < PARTS_SEARCHED; part++)
            second = min(second, min(least[part] & 0xFFFF, least[part] >> 16) >> PLX_KEY_BITS);
        second = plx_least_number<SHARE>(second);
        if (exists && lane % SHARE == 0)
            plx_write_winner(a.out, this->picture_column(x), y, winner, best >> 16, second, winner > 0 && winner < D - 1,
                             upwards ? s_after : s_before, upwards ? s_before : s_after);
    }

    /* Of steps T .. T + KEY_COLUMNS - 1, from the FROM-th on. */
    __device__ __forceinline__ void find_winners(int t, int from)
    {
        constexpr int LEFT = ROWS * S::PARTS;
        const int pixel = lane / SHARE, r = pixel % ROWS, k = pixel / ROWS, x = t + k - S::LAG * r, y = this->y_of(r);

        __syncwarp();
        find_winner(pixel, x, y, k >= from && y < a.height && (unsigned)(x - this->first) < (unsigned)a.width);
#pragma unroll
        for (int i = lane; i < KEY_COLUMNS * LEFT; i += WARP) {
            const int column = i / LEFT, left = i % LEFT / S::PARTS, part = i % S::PARTS;
            if (column >= from)
                vote(left, t + column - S::LAG * left - (part + 1) * PLX_KEY_PART, s.leaving[column][left][part],
                     part * PLX_KEY_PART);
        }
        __syncwarp();
    }

    /* Behind the last step, T - 1: candidates that have not left. */
    __device__ __forceinline__ void end_winners(int t)
    {
#pragma unroll
        for (int i = 0; i < N; i++)
            vote(row, t - 1 - S::LAG * row - g * N - i, candidates[i], g * N & ~PLX_KEY_MASK);
    }
};

#endif
