/* SPDX-License-Identifier: Apache-2.0 */
/* Disparity candidates of both views, from the sums S of a sweep's columns. */
#ifndef PLX_GPU_SGM_SWEEP_CANDIDATES_CUH
#define PLX_GPU_SGM_SWEEP_CANDIDATES_CUH

#include "gpu/sgm/sweep.cuh"

/* Left view: when KEY_COLUMNS columns of keys are in shared memory, D / 64 threads search each pixel. Right view: pixel p at
 * disparity d is in column p + d, so the minimum key of a right pixel moves on by one disparity with each column of the sweep.
 * At the end of each range of comparable keys an atomic minimum adds it to right_argmin. */
template <class S, class BASE> struct sweep_candidates : BASE {
    using BASE::a;
    using BASE::g;
    using BASE::lane;
    using BASE::row;
    using BASE::s;
    using BASE::upwards;
    static constexpr int D = S::D, ROWS = S::ROWS, SEARCH_THREADS = S::SEARCH_THREADS,
                         RANGES_SEARCHED = S::WORDS_SEARCHED / PLX_KEY_RANGE;

    uint32_t right_keys[N];

    using BASE::BASE;

    __device__ __forceinline__ void init_right_keys(void)
    {
#pragma unroll
        for (int i = 0; i < N; i++)
            right_keys[i] = PLX_PACKED_MAX;
    }

    /* Index of the key word of disparity D, D in the lower half. */
    static __device__ __forceinline__ int key_offset(int d)
    {
        return d + d / S::WORDS_SEARCHED * (S::SEARCH_PITCH - S::WORDS_SEARCHED);
    }

    /* Turns the sums of step T into keys; outside the image the keys are larger than all others. */
    __device__ __forceinline__ void make_keys(int t, const uint32_t sum[N])
    {
        const int k = t & (KEY_COLUMNS - 1);
        const bool in = this->inside(t - S::LAG * row);
        const uint32_t factor = in ? PLX_KEY_RANGE : 0, none = in ? 0 : PLX_PACKED_MAX & ~plx_broadcast2(PLX_KEY_MASK);
        const uint32_t first = none + plx_broadcast2((uint32_t)((g * N & PLX_KEY_MASK) ^ (upwards ? PLX_KEY_MASK : 0)));
        const uint32_t to_next = upwards ? (uint32_t)-1 : 1;
        uint32_t key[N];

#pragma unroll
        for (int i = 0; i < N; i++)
            key[i] = plx_mad(sum[i], factor, plx_mad(to_next, plx_broadcast2((uint32_t)i), first));
        uint4 *const to = (uint4 *)&s.keys[k * ROWS + row][key_offset(g * N)];
        to[0] = make_uint4(key[0], key[1], key[2], key[3]);
        to[1] = make_uint4(key[4], key[5], key[6], key[7]);

        if ((g + 1) * N % PLX_KEY_RANGE == 0)
            s.finished_keys[k][row][(g + 1) * N / PLX_KEY_RANGE - 1] = right_keys[N - 1];
        uint32_t from_left_thread = __shfl_up_sync(PLX_ALL_LANES, right_keys[N - 1], 1);
        if (g * N % PLX_KEY_RANGE == 0)
            from_left_thread = PLX_PACKED_MAX;
#pragma unroll
        for (int i = N - 1; i > 0; i--)
            right_keys[i] = plx_min2(right_keys[i - 1], key[i]);
        right_keys[0] = plx_min2(from_left_thread, key[0]);
    }

    /* First disparity of the range that holds disparity D of the sweep. */
    __device__ __forceinline__ int first_disparity(int d) const
    {
        return upwards ? D - PLX_KEY_RANGE - d : d;
    }

    /* A predicated atomic minimum without a result. Assembly, because the compiler branches around atomicMin. */
    static __device__ __forceinline__ void atomic_min_if(bool condition, uint32_t *at, uint32_t argmin)
    {
        asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p red.relaxed.gpu.global.min.u32 [%0], %1; }" ::"l"(at),
                     "r"(argmin), "r"((uint32_t)condition)
                     : "memory");
    }

    /* KEYS of the range from D on, in row R: the lower half belongs to right pixel P of the sweep, the upper half to P - D / 2.
     */
    __device__ __forceinline__ void update_right_if(bool condition, int r, int p, uint32_t keys, int d)
    {
        const int y = this->y_of(r), x = upwards ? a.columns - D - p : p, other = upwards ? x + D / 2 : x - D / 2;
        uint32_t *const right_argmin = a.right_argmin + y * a.width;

        condition = condition && y < a.height;
        atomic_min_if(condition && (unsigned)x < (unsigned)a.width, right_argmin + x, plx_low_argmin(keys, first_disparity(d)));
        atomic_min_if(condition && (unsigned)other < (unsigned)a.width, right_argmin + other,
                      plx_low_argmin(keys >> 16, first_disparity(d + D / 2)));
    }

    /* The key of disparity D of the sweep. */
    __device__ __forceinline__ uint16_t *key_at(int pixel, int d)
    {
        return (uint16_t *)s.keys[pixel] + 2 * key_offset(d & (D / 2 - 1)) + (d >= D / 2);
    }

    /* The minimum key in each range of this thread's words. */
    __device__ __forceinline__ void min_keys(int pixel, uint32_t ret_least[RANGES_SEARCHED])
    {
        const uint4 *words = (const uint4 *)(s.keys[pixel] + lane % SEARCH_THREADS * S::SEARCH_PITCH);
#pragma unroll
        for (int range = 0; range < RANGES_SEARCHED; range++) {
            uint32_t least = PLX_PACKED_MAX;
#pragma unroll
            for (int i = 0; i < PLX_KEY_RANGE / 4; i++) {
                const uint4 v = words[range * PLX_KEY_RANGE / 4 + i];
                least = plx_min3(plx_min3(least, v.x, v.y), v.z, v.w);
            }
            ret_least[range] = least;
        }
    }

    /* For the pixel of column K and row R. */
    __device__ __forceinline__ void find_left_candidate(int pixel, int x, int y, bool exists)
    {
        uint32_t least[RANGES_SEARCHED], best = 0xFFFFFFFF, second = 0xFFFF;

        min_keys(pixel, least);
#pragma unroll
        for (int range = 0; range < RANGES_SEARCHED; range++) {
            const int d = lane % SEARCH_THREADS * S::WORDS_SEARCHED + range * PLX_KEY_RANGE;
            best = min(best, plx_low_argmin(least[range], first_disparity(d)));
            best = min(best, plx_low_argmin(least[range] >> 16, first_disparity(D / 2 + d)));
        }
        best = plx_min_of_lanes<SEARCH_THREADS>(best);
        const int best_d = best & 0xFFFF, d = upwards ? D - 1 - best_d : best_d;
        uint16_t *const before = key_at(pixel, max(d - 1, 0)), *const after = key_at(pixel, min(d + 1, D - 1));
        const int s_before = *before >> PLX_KEY_BITS, s_after = *after >> PLX_KEY_BITS;
        __syncwarp();
        if (lane % SEARCH_THREADS == 0) /* the second minimum excludes the candidate and its neighbours */
            *before = *after = *key_at(pixel, d) = PLX_PACKED_MAX & 0xFFFF;
        __syncwarp();
        min_keys(pixel, least);
#pragma unroll
        for (int range = 0; range < RANGES_SEARCHED; range++)
            second = min(second, min(least[range] & 0xFFFF, least[range] >> 16) >> PLX_KEY_BITS);
        second = plx_min_of_lanes<SEARCH_THREADS>(second);
        if (exists && lane % SEARCH_THREADS == 0)
            plx_write_candidate(a.out, this->picture_column(x), y, best_d, best >> 16, second, best_d > 0 && best_d < D - 1,
                                upwards ? s_after : s_before, upwards ? s_before : s_after);
    }

    /* Candidates of steps T + FROM .. T + KEY_COLUMNS - 1. */
    __device__ __forceinline__ void find_candidates(int t, int from)
    {
        constexpr int FINISHED = KEY_COLUMNS * ROWS * S::KEY_RANGES;
        const int pixel = lane / SEARCH_THREADS, r = pixel % ROWS, k = pixel / ROWS, x = t + k - S::LAG * r, y = this->y_of(r);

        __syncwarp();
#pragma unroll
        for (int e = 0; e < (FINISHED + WARP - 1) / WARP; e++) {
            const int i = lane + e * WARP, column = i / (ROWS * S::KEY_RANGES), finished_row = i / S::KEY_RANGES % ROWS,
                      range = i % S::KEY_RANGES;
            update_right_if(column >= from && i < FINISHED, finished_row,
                            t + column - S::LAG * finished_row - (range + 1) * PLX_KEY_RANGE,
                            (&s.finished_keys[0][0][0])[min(i, FINISHED - 1)], range * PLX_KEY_RANGE);
        }
        find_left_candidate(pixel, x, y, k >= from && y < a.height && (unsigned)(x - this->first) < (unsigned)a.width);
        __syncwarp();
    }

    /* After the last step, T - 1: right keys whose range is not complete. */
    __device__ __forceinline__ void flush_right_keys(int t)
    {
#pragma unroll
        for (int i = 0; i < N; i++)
            update_right_if(true, row, t - 1 - S::LAG * row - g * N - i, right_keys[i], g * N & ~PLX_KEY_MASK);
    }
};

#endif
