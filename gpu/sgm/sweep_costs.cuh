/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of the next columns of a sweep: from feature words in shared memory, or from what the other sweep has published. */
#ifndef PLX_GPU_SGM_SWEEP_COSTS_CUH
#define PLX_GPU_SGM_SWEEP_COSTS_CUH

#include "gpu/sgm/sweep.cuh"

/* A predicated store to device memory, relaxed: other blocks see each word either old or new. CUDA has no such store of 16
 * bytes, so this is assembly. */
template <int OFFSET> static __device__ __forceinline__ void store_if(bool condition, uint4 *global, uint4 v)
{
    asm volatile(
        "{ .reg .pred p; setp.ne.u32 p, %5, 0; @p st.relaxed.gpu.global.v4.u32 [%0+%6], {%1, %2, %3, %4}; }" ::"l"(global),
        "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "r"((uint32_t)condition), "n"(OFFSET)
        : "memory");
}

/* F: how two feature words are compared (sgm.cuh). SECOND_PASS: the other sweep has published the costs, so only P2 is
 * loaded. */
template <class F, class S, bool ADAPTIVE_P2> struct sweep_costs : sweep_place<S> {
    using sweep_place<S>::a;
    using sweep_place<S>::s;
    using sweep_place<S>::lane;
    using sweep_place<S>::row;
    using sweep_place<S>::g;
    using sweep_place<S>::upwards;
    static constexpr int D = S::D, THREADS = S::THREADS, LAG = S::LAG, ROWS = S::ROWS, WORDS = ROWS * WORD_COLUMNS,
                         EACH = (WORDS + WARP - 1) / WARP;

    uint32_t next_right[EACH], next_left[EACH], next_penalty[EACH]; /* words loaded for the next columns */
    int ring_head;                                                  /* head in the ring of partners: the current columns */

    using sweep_place<S>::sweep_place;

    /* Column of the right image for U = column - disparity, both of the sweep. */
    __device__ __forceinline__ int right_column(int u) const
    {
        return upwards ? a.columns - D - a.min_disparity - u : u - a.min_disparity;
    }
    /* The word there in row R, clamped to the image; and what of it is valid at U. */
    __device__ __forceinline__ uint32_t right_word(int u, int r) const
    {
        return a.right.row(min(this->y_of(r), a.height - 1))[plx_clamp(right_column(u), 0, a.width - 1)];
    }
    __device__ __forceinline__ uint32_t word_inside(int u, uint32_t word) const
    {
        return (unsigned)right_column(u) < (unsigned)a.width ? word : word & a.outside;
    }

    template <bool SECOND_PASS> __device__ __forceinline__ void load_words_ahead(int t)
    {
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            const int i = lane + e * WARP, r = i / WORD_COLUMNS, x = t + i % WORD_COLUMNS - LAG * r;
            if (WORDS % WARP && i >= WORDS)
                continue;
            const int column = plx_clamp(this->picture_column(x), 0, a.width - 1), y = min(this->y_of(r), a.height - 1);
            if (!SECOND_PASS) {
                next_right[e] = right_word(x, r);
                next_left[e] = a.left.row(y)[column];
            }
            if (ADAPTIVE_P2)
                next_penalty[e] = a.penalty[upwards][y * a.width + column];
        }
    }

    /* Stores the word of U in row R at ring position AT. */
    __device__ __forceinline__ void store_partner(int r, int at, int u, uint32_t word)
    {
        word = word_inside(u, word);
        s.partner[r][at] = word;
        if (at < WORD_COLUMNS)
            s.partner[r][S::RING + at] = word;
    }

    __device__ __forceinline__ void init_partners(void)
    {
#pragma unroll 2
        for (int i = lane; i < D * ROWS; i += WARP) {
            const int r = i / D, u = i % D - D - LAG * r;
            store_partner(r, i % D, u, right_word(u, r));
        }
        ring_head = D - WORD_COLUMNS;
    }

    /* Partners of the ring, BACK before the current columns and FROM further, from the second on; and those D / 2 before. */
    __device__ __forceinline__ void read_partners(int back, int from, typename F::partners (&ret)[N + GROUP]) const
    {
        const int at = ring_head - back, at_high = at - D / 2;
        const uint32_t *low = s.partner[row] + at + (at < 0 ? S::RING : 0) + from,
                       *high = s.partner[row] + at_high + (at_high < 0 ? S::RING : 0) + from;
#pragma unroll
        for (int i = 0; i < N + GROUP; i += 2) {
            const uint2 l = *(const uint2 *)(low + i), h = *(const uint2 *)(high + i);
            ret[i] = typename F::partners(l.x, h.x), ret[i + 1] = typename F::partners(l.y, h.y);
        }
    }

    /* Stores the loaded words for all threads of the warp, and loads the next ones. */
    template <bool SECOND_PASS> __device__ __forceinline__ void exchange_words(int t)
    {
        if (SECOND_PASS && !ADAPTIVE_P2)
            return;
        if (!SECOND_PASS)
            ring_head = ring_head == D ? 0 : ring_head + WORD_COLUMNS;
        __syncwarp();
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            const int i = lane + e * WARP, r = i / WORD_COLUMNS, k = i % WORD_COLUMNS;
            if (WORDS % WARP && i >= WORDS)
                continue;
            if (!SECOND_PASS) {
                store_partner(r, ring_head + k, t + k - LAG * r, next_right[e]);
                s.left[r][k] = next_left[e];
            }
            if (ADAPTIVE_P2)
                s.penalty[r][(t & WORD_COLUMNS) + k] = next_penalty[e];
        }
        __syncwarp();
        load_words_ahead<SECOND_PASS>(t + WORD_COLUMNS);
    }

    /* Costs of steps T .. T + GROUP - 1, as in cost_kernel. */
    __device__ __forceinline__ void make_costs(int t)
    {
        const int from = t & (WORD_COLUMNS - 1);
        typename F::partners partners[N + GROUP];

        read_partners(N * g + N, from, partners);
#pragma unroll
        for (int k = 0; k < GROUP; k++) {
            const typename F::pixel left(s.left[row][from + k]);
            uint32_t word[4];
#pragma unroll
            for (int w = 0; w < 4; w++)
                word[w] = F::costs(left, partners[N + k - 2 * w], partners[N + k - 2 * w - 1], a.constants);
            s.cost[(t + k) & (COST_COLUMNS - 1)][lane] = make_uint4(word[0], word[1], word[2], word[3]);
        }
    }

    /* Outside the image all costs are 0, so that L is 0 there: paths start with zeros. */
    __device__ __forceinline__ void clear_costs_outside(int t)
    {
        if (this->all_inside(t))
            return;
#pragma unroll
        for (int k = 0; k < GROUP; k++)
            if (!this->inside(t + k - LAG * row))
                s.cost[(t + k) & (COST_COLUMNS - 1)][lane] = make_uint4(0, 0, 0, 0);
    }

    /* Before step 0. */
    template <bool SECOND_PASS> __device__ __forceinline__ void init_costs(void)
    {
        load_words_ahead<SECOND_PASS>(0);
        if (!SECOND_PASS)
            init_partners();
        exchange_words<SECOND_PASS>(0);
        if (!SECOND_PASS) {
            make_costs(0);
            clear_costs_outside(0);
        }
    }

    /* --- the exchange between the sweeps: published words have the sum of half of the paths, and from bit SUM_BITS on the cost
     */

    /* Sums of the pixel at column X: the first half of thread THREAD's registers, the other lies THREADS chunks further. */
    __device__ __forceinline__ uint4 *sums_at(int x, int thread) const
    {
        return a.sums + (this->y_of(row) * a.width + this->picture_column(x)) * (2 * THREADS) + thread;
    }

    /* Chunks from one step's sums to the next. */
    __device__ __forceinline__ int chunks_per_step(void) const
    {
        return upwards ? -2 * THREADS : 2 * THREADS;
    }

    /* Copies the sums of step T from FROM; zeros outside the image. */
    __device__ __forceinline__ void copy_other_async(int t, const uint4 *from)
    {
        const uint32_t to = shared_address(&s.other[t & (OTHER_STAGES - 1)][0][lane]);
        const bool in = this->inside(t - LAG * row);

        plx_copy_async_16_or_zero(to, from, in);
        plx_copy_async_16_or_zero(to + sizeof s.other[0][0], from + THREADS, in);
        plx_commit_copies();
    }

    /* Sums of the other sweep at step T. Its disparities are in falling order: its last register is the first here. The halves
     * of each word are still swapped. */
    __device__ __forceinline__ void load_other(int t, uint32_t ret[N]) const
    {
        const uint4 low = s.other[t & (OTHER_STAGES - 1)][0][lane], high = s.other[t & (OTHER_STAGES - 1)][1][lane];

        ret[0] = high.w, ret[1] = high.z, ret[2] = high.y, ret[3] = high.x;
        ret[4] = low.w, ret[5] = low.z, ret[6] = low.y, ret[7] = low.x;
    }

    __device__ __forceinline__ void costs_of_other(int t, uint32_t ret_c[N]) const
    {
        load_other(t, ret_c);
#pragma unroll
        for (int i = 0; i < N; i++)
            ret_c[i] = __funnelshift_r(ret_c[i], ret_c[i], 16 + SUM_BITS) & plx_broadcast2((1 << (16 - SUM_BITS)) - 1);
    }

    __device__ __forceinline__ void add_other(int t, uint32_t sum[N]) const
    {
        uint32_t other[N];

        load_other(t, other);
#pragma unroll
        for (int i = 0; i < N; i++)
            sum[i] += __byte_perm(other[i], 0, 0x1032);
    }

    __device__ __forceinline__ int group_from_top(void) const
    {
        return upwards ? a.groups - 1 - this->group : this->group;
    }

    /* From this step on the other sweep was first. For the other sweep it is the number of steps minus this. */
    __device__ __forceinline__ int exchange_step(int steps) const
    {
        const int down = this->group_from_top(), up = a.groups - 1 - down;
        const int difference = sweep_time<S>(a.columns, true, up) - sweep_time<S>(a.columns, false, down);
        const int middle_down = plx_clamp((difference + steps) / 2, 0, steps);
        return upwards ? steps - middle_down : middle_down;
    }

    __device__ __forceinline__ uint32_t *exchange_flag(bool of_upwards) const
    {
        return a.exchange_flags + of_upwards * a.groups + this->group_from_top();
    }

    /* Tells the other sweep that this warp's sums are complete. Release and acquire are assembly: CUDA 12.6 has them only in
     * libcu++. */
    __device__ __forceinline__ void publish_sums(void)
    {
        __threadfence();
        __syncwarp();
        if (lane == 0)
            asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(exchange_flag(upwards)), "r"(1) : "memory");
    }

    /* Waits for the sums of the other sweep and copies the first ones, of step T. */
    __device__ __forceinline__ void wait_for_other(int t)
    {
        uint32_t *const flag = exchange_flag(!upwards), value;
        do
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
        while (!__all_sync(PLX_ALL_LANES, value));
        if (lane == 0)
            *flag = 0; /* for the next frame */
#pragma unroll
        for (int i = 0; i < OTHER_STAGES - 1; i++)
            copy_other_async(t + i, sums_at(t + i - LAG * row, THREADS - 1 - g));
    }
};

#endif
