/* SPDX-License-Identifier: Apache-2.0 */
/* A warp of a sweep: its steps along its rows, what it hands on, and where the two sweeps meet. */
#ifndef PLX_GPU_SGM_SWEEPER_CUH
#define PLX_GPU_SGM_SWEEPER_CUH

#include "gpu/sgm_step.cuh"
#include "gpu/sgm_sweep_winners.cuh"

/* Without a branch, which a warp would take time to come back from. */
static __device__ __forceinline__ void store_shared_if(bool condition, uint32_t shared, uint4 v)
{
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0; @p st.shared.v4.u32 [%0], {%1, %2, %3, %4}; }" ::"r"(shared), "r"(v.x),
                 "r"(v.y), "r"(v.z), "r"(v.w), "r"((uint32_t)condition)
                 : "memory");
}

static __device__ __forceinline__ void load_shared_if(bool condition, uint32_t shared, uint4 &v)
{
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %5, 0; @p ld.shared.v4.u32 {%0, %1, %2, %3}, [%4]; }"
                 : "+r"(v.x), "+r"(v.y), "+r"(v.z), "+r"(v.w)
                 : "r"(shared), "r"((uint32_t)condition)
                 : "memory");
}

/* Each word of it is seen by other blocks as it was before or as it is then. */
static __device__ __forceinline__ void store_if(bool condition, uint4 *global, uint4 v)
{
    asm volatile(
        "{ .reg .pred p; setp.ne.u32 p, %5, 0; @p st.relaxed.gpu.global.v4.u32 [%0], {%1, %2, %3, %4}; }" ::"l"(global),
        "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "r"((uint32_t)condition)
        : "memory");
}

/* A warp's walk along its rows. */
template <class F, class S, bool VARYING> struct sweeper : sweep_winners<F, S, VARYING> {
    using sweep_place<S>::a;
    using sweep_place<S>::s;
    using sweep_place<S>::lane;
    using sweep_place<S>::g;
    using sweep_place<S>::row;
    using sweep_place<S>::warp;
    using sweep_place<S>::upwards;
    static constexpr int D = S::D, THREADS = S::THREADS, ROWS = S::ROWS, LAG = S::LAG, SLOPE = S::SLOPE, MESSAGES = S::MESSAGES;

    warp_memory<S> &below; /* of the next warp, if there is one */
    const bool hands_on;   /* to the next band */
    int sums, message;     /* chunks: sums of the row at column 0, messages of the band */
    const plx_neighbours<THREADS> beside;
    uint32_t from_left[N]; /* L */
    uint4 sent[MESSAGES];

    __device__ __forceinline__ sweeper(const sweep_args &args, warp_memory<S> &memory, int the_warp, int turn)
        : sweep_winners<F, S, VARYING>(args, memory, the_warp, turn), below((&memory)[1]),
          hands_on(warp == WARPS - 1 && this->band < a.bands - 1), beside(lane)
    {
        sums = (this->y_of(row) * a.width + this->picture_column(0)) * (2 * THREADS);
        message = (upwards * a.bands + this->band) * MESSAGES * a.columns * THREADS + g;
    }

    /* What the row above made a step ago, in column X. */
    __device__ __forceinline__ void receive(int x, uint4 ret_in[MESSAGES])
    {
#pragma unroll
        for (int m = 0; m < MESSAGES; m++) {
            ret_in[m].x = __shfl_up_sync(PLX_ALL_LANES, sent[m].x, THREADS);
            ret_in[m].y = __shfl_up_sync(PLX_ALL_LANES, sent[m].y, THREADS);
            ret_in[m].z = __shfl_up_sync(PLX_ALL_LANES, sent[m].z, THREADS);
            ret_in[m].w = __shfl_up_sync(PLX_ALL_LANES, sent[m].w, THREADS);
            load_shared_if(row == 0, shared_address(&s.ring[m][x & (SLOTS - 1)][g]), ret_in[m]);
        }
    }

    __device__ __forceinline__ void send(int x)
    {
#pragma unroll
        for (int m = 0; m < MESSAGES; m++) {
            if (warp < WARPS - 1)
                store_shared_if(row == ROWS - 1, shared_address(&below.ring[m][x & (SLOTS - 1)][g]), sent[m]);
            else
                store_if(row == ROWS - 1 && hands_on && x >= 0, a.messages + message + (m * a.columns + x) * THREADS, sent[m]);
        }
    }

    static __device__ __forceinline__ uint4 pack(const uint32_t l[N])
    {
        return make_uint4(plx_mad(l[1], 256, l[0]), plx_mad(l[3], 256, l[2]), plx_mad(l[5], 256, l[4]),
                          plx_mad(l[7], 256, l[6]));
    }

    /* Two paths at once, whose least L travel in the halves of one register. */
    __device__ __forceinline__ void advance(uint32_t one[N], uint32_t two[N], const uint32_t c[N], uint32_t p1, uint32_t p2_one,
                                            uint32_t p2_two) const
    {
        const uint32_t l = plx_least_of_8(one), m = plx_least_of_8(two);
        const uint32_t least =
            plx_least_of_threads<THREADS, false>(plx_min2(__byte_perm(l, m, 0x5410), __byte_perm(l, m, 0x7632)));
        plx_advance<THREADS, true>(one, __byte_perm(least, 0, 0x1010), c, p1, p2_one, beside, one);
        plx_advance<THREADS, true>(two, __byte_perm(least, 0, 0x3232), c, p1, p2_two, beside, two);
    }

    __device__ __forceinline__ uint32_t p2(int k, int orientation) const
    {
        return VARYING ? __byte_perm(s.penalty[row][k], 0, 0x4040u | (uint32_t)orientation * 0x101u) : a.p2;
    }

    /* All paths to the pixel of step T, added up. */
    __device__ __forceinline__ void aggregate(int t, uint32_t ret_sum[N])
    {
        const int k = t & (COST_COLUMNS - 1);
        uint32_t c[N], l[N], m[N];
        uint4 in[MESSAGES];

        receive(S::DIAGONALS ? t + 1 : t, in);
        plx_unpack(s.cost[k][lane], c);
        plx_unpack(S::DIAGONALS ? s.from_above[lane] : in[FROM_ABOVE], l);
        advance(from_left, l, c, a.p1_straight, p2(k, PLX_HORIZONTAL), p2(k, PLX_VERTICAL));
        sent[FROM_ABOVE] = pack(l);
#pragma unroll
        for (int i = 0; i < N; i++)
            ret_sum[i] = from_left[i] + l[i];
        if (!S::DIAGONALS)
            return;
        plx_unpack(s.from_upper_left[t & 1][lane], l);
        plx_unpack(in[MESSAGES - 1], m);
        s.from_above[lane] = in[FROM_ABOVE];
        s.from_upper_left[t & 1][lane] = in[MESSAGES - 2];
        advance(l, m, c, a.p1_diagonal, p2(k, PLX_FALLING), p2(k, PLX_RISING));
        sent[MESSAGES - 2] = pack(l);
        sent[MESSAGES - 1] = pack(m);
#pragma unroll
        for (int i = 0; i < N; i++)
            ret_sum[i] += l[i] + m[i];
    }

    /* Sums of the pixel at column X: the first half of thread THREAD's registers, the other lies THREADS chunks further. */
    __device__ __forceinline__ uint4 *sums_at(int x, int thread) const
    {
        return a.sums + sums + (upwards ? -x : x) * (2 * THREADS) + thread;
    }

    __device__ __forceinline__ void fetch_other(int t)
    {
        const int x = t - LAG * row;
        if (this->inside(x)) {
            const uint4 *from = sums_at(x, THREADS - 1 - g);
            const uint32_t to = shared_address(&s.other[t & (AHEAD - 1)][0][lane]);
            plx_copy_16_ahead(to, from);
            plx_copy_16_ahead(to + sizeof s.other[0][0], from + THREADS);
        }
        plx_close_copies();
    }

    /* The other sweep's disparities fall: its last register and upper half belong to this one's first and lower. */
    __device__ __forceinline__ void add_other(int t, uint32_t sum[N])
    {
        plx_await_copies<AHEAD - 1>();
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const uint4 v = plx_load_shared_16(shared_address(&s.other[t & (AHEAD - 1)][half][lane]));
            sum[7 - 4 * half] += __byte_perm(v.x, 0, 0x1032);
            sum[6 - 4 * half] += __byte_perm(v.y, 0, 0x1032);
            sum[5 - 4 * half] += __byte_perm(v.z, 0, 0x1032);
            sum[4 - 4 * half] += __byte_perm(v.w, 0, 0x1032);
        }
    }

    __device__ __forceinline__ void step(int t, bool second)
    {
        uint32_t sum[N];

        aggregate(t, sum);
        send(t - SLOPE);
        if (second) {
            fetch_other(t + AHEAD - 1);
            add_other(t, sum);
            this->make_keys(t, sum);
        } else {
            const int x = t - LAG * row;
            uint4 *const to = sums_at(x, g);
            store_if(this->inside(x), to, make_uint4(sum[0], sum[1], sum[2], sum[3]));
            store_if(this->inside(x), to + THREADS, make_uint4(sum[4], sum[5], sum[6], sum[7]));
        }
    }

    /* The step from which on the other sweep was the first; for that one it is what is left of all steps. */
    __device__ __forceinline__ int middle(int steps) const
    {
        const int down = upwards ? a.bands - 1 - this->band : this->band, warp_down = upwards ? WARPS - 1 - warp : warp;
        const int difference = sweep_time<S>(a.columns, 2 * (a.bands - 1 - down) + 1, WARPS - 1 - warp_down) -
                               sweep_time<S>(a.columns, 2 * down, warp_down);
        const int middle_down = plx_clamp((difference + steps) / 2, 0, steps);
        return upwards ? steps - middle_down : middle_down;
    }

    __device__ __forceinline__ uint32_t *meeting(bool of_upwards) const
    {
        const int groups = a.bands * WARPS, group = this->band * WARPS + warp;
        return a.meetings + of_upwards * groups + (upwards ? groups - 1 - group : group);
    }

    /* Says that this warp's sums are there. */
    __device__ __forceinline__ void leave_sums(void)
    {
        __threadfence();
        __syncwarp();
        if (lane == 0)
            asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(meeting(upwards)), "r"(1) : "memory");
    }

    /* Waits for the other sweep's, of which the first is used at step T. */
    __device__ __forceinline__ void await_sums(int t)
    {
        uint32_t *const there = meeting(!upwards), value;
        do
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(there) : "memory");
        while (!__all_sync(PLX_ALL_LANES, value));
        if (lane == 0)
            *there = 0; /* for the next frame */
#pragma unroll
        for (int i = 0; i < AHEAD - 1; i++)
            fetch_other(t + i);
    }

    __device__ __forceinline__ void begin(void)
    {
        const uint4 none = make_uint4(0, 0, 0, 0);

        this->begin_costs();
        this->begin_winners();
#pragma unroll
        for (int i = 0; i < N; i++)
            from_left[i] = 0;
#pragma unroll
        for (int m = 0; m < MESSAGES; m++)
            sent[m] = none;
        if (!S::DIAGONALS)
            return;
        uint4 in[MESSAGES];
        await_progress(&s.done, SLOPE + 1);
        receive(0, in);
        s.from_above[lane] = in[FROM_ABOVE];
        s.from_upper_left[0][lane] = none;
        s.from_upper_left[1][lane] = in[MESSAGES - 2];
    }

    __device__ __forceinline__ void await_room(int t)
    {
        if (warp < WARPS - 1)
            await_progress(&below.taken, t + GROUP - SLOPE - SLOTS);
    }

    /* The row below goes on beyond the picture's last column: nothing comes from there. */
    __device__ __forceinline__ void send_nothing(int steps)
    {
        for (int t = steps; t <= steps + SLOPE; t += GROUP) {
            await_room(t);
            for (int i = lane; i < GROUP * MESSAGES * THREADS; i += WARP)
                below.ring[i / THREADS / GROUP][(t - SLOPE + i / THREADS % GROUP) & (SLOTS - 1)][i % THREADS] =
                    make_uint4(0, 0, 0, 0);
            publish(&below.done, t + GROUP);
        }
    }

    __device__ __forceinline__ void sweep(void)
    {
        const int steps = a.columns + SLOPE, middle = this->middle(steps);

        begin();
        for (int t = 0; t < steps; t += GROUP) {
            if (t % COST_COLUMNS == 0)
                this->make_costs(t);
            await_progress(&s.done, t + GROUP + SLOPE + S::DIAGONALS);
            await_room(t);
            if (t == middle) {
                if (t > 0)
                    leave_sums();
                await_sums(t);
            }
#pragma unroll
            for (int i = 0; i < GROUP; i++)
                step(t + i, t >= middle);
            publish(&s.taken, t + GROUP);
            if (warp < WARPS - 1)
                publish(&below.done, t + GROUP);
            const int from = t + GROUP - KEY_COLUMNS;
            if (t >= middle && from % KEY_COLUMNS == 0)
                this->find_winners(from, max(middle - from, 0));
        }
        if (middle == steps)
            leave_sums();
        else
            this->end_winners(steps);
        if (warp < WARPS - 1)
            send_nothing(steps);
    }
};

#endif
