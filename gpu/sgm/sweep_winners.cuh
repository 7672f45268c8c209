/* SPDX-License-Identifier: Apache-2.0 */
/* Winners of the columns that a sweep has S of. */
#ifndef PLX_GPU_SGM_SWEEP_WINNERS_CUH
#define PLX_GPU_SGM_SWEEP_WINNERS_CUH

#include "gpu/sgm/sweep.cuh"

/*
 * The left view's winners are found when KEY_COLUMNS columns of keys are in shared memory, by D / 64 threads each. The right
 * view's candidates move along with the sweep: those of pixel p at disparity d lie in column p + d, so in the next column the
 * least key so far of a pixel belongs to the next disparity. Where a part of the disparities ends, whose keys compare, they
 * become votes.
 */
template <class S, class BASE> struct sweep_winners : BASE {
    using BASE::a;
    using BASE::g;
    using BASE::lane;
    using BASE::row;
    using BASE::s;
    using BASE::upwards;
    static constexpr int D = S::D, ROWS = S::ROWS, SHARE = S::SHARE, PARTS_SEARCHED = S::SEARCHED / PLX_KEY_PART;

    uint32_t candidates[N];

    using BASE::BASE;

    __device__ __forceinline__ void begin_winners(void)
    {
#pragma unroll
        for (int i = 0; i < N; i++)
            candidates[i] = PLX_PACKED_MAX;
    }

    /* The word of a pixel's keys that disparity D of the lower half has. */
    static __device__ __forceinline__ int place(int d)
    {
        return d + d / S::SEARCHED * (S::SHARE_PITCH - S::SEARCHED);
    }

    /* Step T's sums become keys; beside the picture they are larger than any other. */
    __device__ __forceinline__ void make_keys(int t, const uint32_t sum[N])
    {
        const int k = t & (KEY_COLUMNS - 1);
        const bool in = this->inside(t - S::LAG * row);
        const uint32_t factor = in ? PLX_KEY_PART : 0, none = in ? 0 : PLX_PACKED_MAX & ~plx_broadcast2(PLX_KEY_MASK);
        const uint32_t first = none + plx_broadcast2((uint32_t)((g * N & PLX_KEY_MASK) ^ (upwards ? PLX_KEY_MASK : 0)));
        const uint32_t to_next = upwards ? (uint32_t)-1 : 1;
        uint32_t key[N];

#pragma unroll
        for (int i = 0; i < N; i++)
            key[i] = plx_mad(sum[i], factor, plx_mad(to_next, plx_broadcast2((uint32_t)i), first));
        uint4 *const to = (uint4 *)&s.keys[k * ROWS + row][place(g * N)];
        to[0] = make_uint4(key[0], key[1], key[2], key[3]);
        to[1] = make_uint4(key[4], key[5], key[6], key[7]);

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

    /* An atomic minimum of which nothing comes back, so that nobody waits for it; without a branch. */
    static __device__ __forceinline__ void cast_if(bool condition, uint32_t *at, uint32_t vote)
    {
        asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p red.relaxed.gpu.global.min.u32 [%0], %1; }" ::"l"(at), "r"(vote),
                     "r"((uint32_t)condition)
                     : "memory");
    }

    /* Row R's candidates for pixel P of the sweep, and, in the upper half, for P - D / 2, of the part from D on. */
    __device__ __forceinline__ void vote_if(bool condition, int r, int p, uint32_t keys, int d)
    {
        const int y = this->y_of(r), x = upwards ? a.columns - D - p : p, other = upwards ? x + D / 2 : x - D / 2;
        uint32_t *const votes = a.votes + y * a.width;

        condition = condition && y < a.height;
        cast_if(condition && (unsigned)x < (unsigned)a.width, votes + x, plx_low_of(keys, part_of(d)));
        cast_if(condition && (unsigned)other < (unsigned)a.width, votes + other, plx_low_of(keys >> 16, part_of(d + D / 2)));
    }

    /* The key of disparity D of the sweep. */
    __device__ __forceinline__ uint16_t *key_at(int pixel, int d)
    {
        return (uint16_t *)s.keys[pixel] + 2 * place(d & (D / 2 - 1)) + (d >= D / 2);
    }

    /* The least key in each part of this thread's words. */
    __device__ __forceinline__ void least_keys(int pixel, uint32_t ret_least[PARTS_SEARCHED])
    {
        const uint4 *words = (const uint4 *)(s.keys[pixel] + lane % SHARE * S::SHARE_PITCH);
#pragma unroll
        for (int part = 0; part < PARTS_SEARCHED; part++) {
            uint32_t least = PLX_PACKED_MAX;
#pragma unroll
            for (int i = 0; i < PLX_KEY_PART / 4; i++) {
                const uint4 v = words[part * PLX_KEY_PART / 4 + i];
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
            const int d = lane % SHARE * S::SEARCHED + part * PLX_KEY_PART;
            best = min(best, plx_low_of(least[part], part_of(d)));
            best = min(best, plx_low_of(least[part] >> 16, part_of(D / 2 + d)));
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
        constexpr int LEFT = KEY_COLUMNS * ROWS * S::PARTS;
        const int pixel = lane / SHARE, r = pixel % ROWS, k = pixel / ROWS, x = t + k - S::LAG * r, y = this->y_of(r);

        __syncwarp();
#pragma unroll
        for (int e = 0; e < (LEFT + WARP - 1) / WARP; e++) {
            const int i = lane + e * WARP, column = i / (ROWS * S::PARTS), left = i / S::PARTS % ROWS, part = i % S::PARTS;
            vote_if(column >= from && i < LEFT, left, t + column - S::LAG * left - (part + 1) * PLX_KEY_PART,
                    (&s.leaving[0][0][0])[min(i, LEFT - 1)], part * PLX_KEY_PART);
        }
        find_winner(pixel, x, y, k >= from && y < a.height && (unsigned)(x - this->first) < (unsigned)a.width);
        __syncwarp();
    }

    /* Behind the last step, T - 1: candidates that have not left. */
    __device__ __forceinline__ void end_winners(int t)
    {
#pragma unroll
        for (int i = 0; i < N; i++)
            vote_if(true, row, t - 1 - S::LAG * row - g * N - i, candidates[i], g * N & ~PLX_KEY_MASK);
    }
};

#endif
