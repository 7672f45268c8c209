/* SPDX-License-Identifier: Apache-2.0 */
/* A warp of a sweep: its steps along its rows, and the messages to the row below. */
#ifndef PLX_GPU_SGM_SWEEP_WARP_CUH
#define PLX_GPU_SGM_SWEEP_WARP_CUH

#include <limits.h>

#include "gpu/sgm/sweep_candidates.cuh"
#include "gpu/sgm/sweep_costs.cuh"

template <class F, class S, bool ADAPTIVE_P2> using sweep_parts = sweep_candidates<S, sweep_costs<F, S, ADAPTIVE_P2>>;

template <class F, class S, bool ADAPTIVE_P2> struct sweep_warp : sweep_parts<F, S, ADAPTIVE_P2> {
    using sweep_place<S>::a;
    using sweep_place<S>::s;
    using sweep_place<S>::lane;
    using sweep_place<S>::g;
    using sweep_place<S>::row;
    using sweep_place<S>::warp;
    using sweep_place<S>::upwards;
    static constexpr int D = S::D, THREADS = S::THREADS, ROWS = S::ROWS, LAG = S::LAG, SLOPE = S::SLOPE, CHUNK = sizeof(uint4),
                         COLUMN = S::COLUMN;

    /* Order of costs and steps in the loop: the faster one on sm_90; elsewhere the one that needs fewer registers. */
    static constexpr bool COSTS_FIRST = PLX_ARCH < 900;

    warp_memory<S> &next_warp; /* memory of the next warp, if there is one */
    /* Shared addresses of the messages to receive and to send; in a ring those of slot 0. */
    const uint32_t from, to;
    const uint32_t receive_pitch, send_pitch; /* bytes from slot to slot; 0 if there is no ring */
    const bool has_row_below;                 /* in this block */
    const int publish_from;                   /* to the next band, from this column on; INT_MAX: never */
    step_counter counter;
    const plx_neighbours<THREADS> neighbours;
    uint32_t from_left[N];                    /* L - min L */
    uint4 from_above, from_upper_left[GROUP]; /* received; used one and two steps later */

    __device__ __forceinline__ sweep_warp(const sweep_args &args, band_memory<S> &memory, int the_warp, int band_index,
                                          step_counter the_counter)
        : sweep_parts<F, S, ADAPTIVE_P2>(args, memory.warps[the_warp], the_warp, band_index), next_warp((&s)[1]),
          from(shared_address((row == 0 ? s.ring[0] : s.row_messages[row - 1])[0] + g)),
          to(shared_address((row == ROWS - 1 ? next_warp.ring[0] : s.row_messages[row])[0] + g)),
          receive_pitch(row == 0 ? COLUMN * CHUNK : 0), send_pitch(row == ROWS - 1 ? COLUMN * CHUNK : 0),
          has_row_below(row < ROWS - 1 || warp < WARPS - 1),
          publish_from(row == ROWS - 1 && warp == WARPS - 1 && this->group < a.groups - 1 ? 0 : INT_MAX), counter(the_counter),
          neighbours(lane)
    {
    }

    /* Loads the messages that the row above sent one step ago, from SLOT. */
    __device__ __forceinline__ void receive(uint32_t slot, uint4 ret_in[MESSAGES]) const
    {
        const uint32_t at = from + slot * receive_pitch;

        __syncwarp();
#pragma unroll
        for (int m = 0; m < MESSAGES; m++)
            ret_in[m] = plx_load_shared_16(at + m * THREADS * CHUNK);
        __syncwarp();
    }

    template <int M> __device__ __forceinline__ void send(uint32_t at, bool publish, uint4 *out, const uint4 message[MESSAGES])
    {
        plx_store_shared_16_if<M * THREADS * CHUNK>(has_row_below, at, message[M]);
        store_if<M * THREADS * CHUNK>(publish, out, message[M]);
        if constexpr (M + 1 < MESSAGES)
            send<M + 1>(at, publish, out, message);
    }

    /* Sends column X to SLOT of the row below, or, in the next band, to OUT. */
    __device__ __forceinline__ void send(int x, uint32_t slot, uint4 *out, const uint4 message[MESSAGES])
    {
        send<0>(to + slot * send_pitch, x >= publish_from, out, message);
    }

    /* The slot of column X + OFFSET, from that of X. */
    template <int OFFSET> static __device__ __forceinline__ uint32_t slot_after(uint32_t slot)
    {
        return (slot + (uint32_t)OFFSET) % SLOTS;
    }

    /* A message: L - M, M the minimum of L, so that the receiver knows that its minimum is 0. */
    static __device__ __forceinline__ uint4 pack_message(const uint32_t l[N], uint32_t m)
    {
        const uint32_t m4 = plx_mad(m, 256, m);
        return make_uint4(plx_mad(l[1], 256, l[0]) - m4, plx_mad(l[3], 256, l[2]) - m4, plx_mad(l[5], 256, l[4]) - m4,
                          plx_mad(l[7], 256, l[6]) - m4);
    }

    __device__ __forceinline__ uint32_t p2(uint32_t word, int orientation) const
    {
        return ADAPTIVE_P2 ? __byte_perm(word, 0, 0x4040u | (uint32_t)orientation * 0x101u) : a.p2;
    }

    /* One step of one path, from L - min L of the previous pixel. */
    __device__ __forceinline__ void add_path_step(uint32_t l[N], const uint32_t c[N], uint32_t p1, uint32_t p2) const
    {
        uint32_t next[N];

        plx_transition<THREADS, true>(l, 0, p1, p2, neighbours, next);
        plx_add_costs<false>(next, c, 0);
        plx_copy_8(l, next);
    }

    /* The sum of all paths of step T + I, with the costs in the upper bits. SECOND_PASS: minus the costs, which the other
     * sweep's sum contains. SLOT: of column T. */
    template <bool SECOND_PASS, int I>
    __device__ __forceinline__ void aggregate(int t, uint32_t slot, uint4 *out, uint32_t ret_sum[N])
    {
        const uint32_t p2_word = ADAPTIVE_P2 ? s.penalty[row][t & (2 * WORD_COLUMNS - 1)] : 0;
        uint32_t c[N], l[1 + MESSAGES][N], m[1 + MESSAGES];
        uint4 in[MESSAGES], message[MESSAGES];

        receive(slot_after<I + 1>(slot), in);
        if (SECOND_PASS)
            this->costs_of_other(t, c);
        else
            plx_unpack_chunk(s.cost[t & (COST_COLUMNS - 1)][lane], c);
        plx_copy_8(l[0], from_left);
        plx_unpack_chunk(from_above, l[1 + FROM_ABOVE]);
        add_path_step(l[0], c, a.p1_straight, p2(p2_word, PLX_HORIZONTAL));
        add_path_step(l[1 + FROM_ABOVE], c, a.p1_straight, p2(p2_word, PLX_VERTICAL));
        plx_unpack_chunk(from_upper_left[I], l[1 + FROM_UPPER_LEFT]);
        plx_unpack_chunk(in[FROM_UPPER_RIGHT], l[1 + FROM_UPPER_RIGHT]);
        from_above = in[FROM_ABOVE];
        from_upper_left[I] = in[FROM_UPPER_LEFT];
        add_path_step(l[1 + FROM_UPPER_LEFT], c, a.p1_diagonal, p2(p2_word, PLX_FALLING));
        add_path_step(l[1 + FROM_UPPER_RIGHT], c, a.p1_diagonal, p2(p2_word, PLX_RISING));
        plx_min_of_each_path<THREADS>(l, m);
#pragma unroll
        for (int i = 0; i < N; i++) {
            ret_sum[i] = plx_mad(c[i], (uint32_t)(SECOND_PASS ? -1 : 1) << SUM_BITS, l[0][i] + l[1][i]);
            ret_sum[i] += l[2][i] + l[3][i];
            from_left[i] = l[0][i] - m[0];
        }
#pragma unroll
        for (int i = 0; i < MESSAGES; i++)
            message[i] = pack_message(l[1 + i], m[1 + i]);
        send(t - SLOPE, slot_after<I - SLOPE>(slot), out + I * COLUMN, message);
    }

    /* Steps T + I .. T + GROUP - 1. SUMS: where this sweep stores, or what the other sweep stored for OTHER_STAGES - 1 steps
     * later. SLOT: of column T. OUT: message of step T to the next band. */
    template <bool SECOND_PASS, int I = 0>
    __device__ __forceinline__ void steps(int first_t, uint32_t slot, uint4 *sums, uint4 *out)
    {
        const int t = first_t + I;
        uint32_t sum[N];

        if (SECOND_PASS) {
            this->copy_other_async(t + OTHER_STAGES - 1, sums);
            plx_wait_copies<OTHER_STAGES - 1>();
        }
        aggregate<SECOND_PASS, I>(t, slot, out, sum);
        if (SECOND_PASS) {
            this->add_other(t, sum);
            this->make_keys(t, sum);
        } else {
            const bool in = this->inside(t - LAG * row);
            store_if<0>(in, sums, make_uint4(sum[0], sum[1], sum[2], sum[3]));
            store_if<THREADS * CHUNK>(in, sums, make_uint4(sum[4], sum[5], sum[6], sum[7]));
        }
        if constexpr (I + 1 < GROUP)
            steps<SECOND_PASS, I + 1>(first_t, slot, sums + this->chunks_per_step(), out);
    }

    __device__ __forceinline__ void init(void)
    {
        const uint4 none = make_uint4(0, 0, 0, 0);

        this->init_right_keys();
#pragma unroll
        for (int i = 0; i < N; i++)
            from_left[i] = 0;
        for (int i = lane; i < (ROWS - 1) * COLUMN; i += WARP)
            (&s.row_messages[0][0][0])[i] = none;
    }

    /* Waits for the first messages from above. */
    __device__ __forceinline__ void receive_first(void)
    {
        uint4 in[MESSAGES];

        counter.pass((S::FIRST_LAG + warp * S::WARP_LAG) / GROUP);
        receive(slot_of(0), in);
        from_above = in[FROM_ABOVE];
        from_upper_left[0] = make_uint4(0, 0, 0, 0);
        from_upper_left[1] = in[FROM_UPPER_LEFT];
    }

    /* The row below continues beyond the last column of the image: it receives zeros from there. */
    __device__ __forceinline__ void send_zeros(int steps)
    {
        for (int t = steps; t <= steps + SLOPE; t += GROUP) {
            for (int i = lane; i < GROUP * COLUMN; i += WARP)
                (&next_warp.ring[slot_of(t - SLOPE + i / COLUMN)][0][0])[i % COLUMN] = make_uint4(0, 0, 0, 0);
            counter.next();
        }
    }

    /* Steps FROM .. TO - 1. SECOND_PASS: after the other sweep. Costs are one group ahead, so that the compiler interleaves
     * them. */
    template <bool SECOND_PASS> __device__ __forceinline__ void run_steps(int from, int to)
    {
        uint4 *sums = this->sums_at(from + (SECOND_PASS ? OTHER_STAGES - 1 : 0) - LAG * row, SECOND_PASS ? THREADS - 1 - g : g);
        uint4 *out = a.band_messages + ((upwards * a.bands + this->group / WARPS) * a.columns + from - SLOPE) * COLUMN + g;
        uint32_t slot = slot_of(from);

        for (int t = from; t < to; t += GROUP) {
            const int next = t + GROUP;
            if (next % WORD_COLUMNS == 0)
                this->template exchange_words<SECOND_PASS>(next);
            if (!SECOND_PASS && COSTS_FIRST)
                this->make_costs(next);
            steps<SECOND_PASS>(t, slot, sums, out);
            if (!SECOND_PASS && !COSTS_FIRST)
                this->make_costs(next);
            sums += GROUP * this->chunks_per_step(), out += GROUP * COLUMN, slot = slot_after<GROUP>(slot);
            if (!SECOND_PASS)
                this->clear_costs_outside(next);
            counter.next();
            const int first_key = next - KEY_COLUMNS;
            if (SECOND_PASS && first_key % KEY_COLUMNS == 0)
                this->find_candidates(first_key, max(from - first_key, 0));
        }
    }

    __device__ __forceinline__ void sweep(void)
    {
        const int steps = a.columns + SLOPE, exchange_step = this->exchange_step(steps);

        init();
        if (exchange_step > 0) {
            this->template init_costs<false>();
            receive_first();
            run_steps<false>(0, exchange_step);
            this->publish_sums();
        } else {
            this->template init_costs<true>();
            receive_first();
        }
        if (exchange_step < steps) {
            this->wait_for_other(exchange_step);
            run_steps<true>(exchange_step, steps);
            plx_wait_copies<0>();
            this->flush_right_keys(steps);
        }
        if (warp < WARPS - 1 && this->group < a.groups - 1)
            send_zeros(steps);
        counter.pass(counter.left);
    }
};

#endif
