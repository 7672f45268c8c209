/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of the columns that a sweep comes to, from words of features in shared memory. */
#ifndef PLX_GPU_SGM_SWEEP_COSTS_CUH
#define PLX_GPU_SGM_SWEEP_COSTS_CUH

#include "gpu/sgm_features.cuh"
#include "gpu/sgm_sweeps.cuh"

#define FOUR 4

/* F: how two words are compared. */
template <class F, class S, bool VARYING> struct sweep_costs : sweep_place<S> {
    using sweep_place<S>::a;
    using sweep_place<S>::s;
    using sweep_place<S>::lane;
    using sweep_place<S>::row;
    static constexpr int D = S::D, ROWS = S::ROWS, WORDS = ROWS * COST_COLUMNS, EACH = (WORDS + WARP - 1) / WARP;

    uint32_t next_right[EACH], next_left[EACH], next_penalty[EACH]; /* words looked up for the next columns */
    int head;                                                       /* of the ring of partners: the columns at hand */

    using sweep_place<S>::sweep_place;

    /* The right view's word at U, column of the sweep less disparity of the sweep, in row R. */
    __device__ __forceinline__ uint32_t right_word(int u, int r) const
    {
        const int q = this->upwards ? a.columns - D - a.min_disparity - u : u - a.min_disparity;
        const uint32_t word = a.right.row(min(this->y_of(r), a.height - 1))[plx_clamp(q, 0, a.width - 1)];
        return (unsigned)q < (unsigned)a.width ? word : word & a.outside;
    }

    __device__ __forceinline__ void look_up(int t)
    {
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            const int i = lane + e * WARP, r = i / COST_COLUMNS, x = t + i % COST_COLUMNS - S::LAG * r;
            if (WORDS % WARP && i >= WORDS)
                continue;
            const int column = plx_clamp(this->picture_column(x), 0, a.width - 1), y = min(this->y_of(r), a.height - 1);
            next_right[e] = right_word(x, r);
            next_left[e] = a.left.row(y)[column];
            if (VARYING)
                next_penalty[e] = a.penalty[this->upwards][y * a.width + column];
        }
    }

    __device__ __forceinline__ void begin_costs(void)
    {
#pragma unroll 2
        for (int i = lane; i < D * ROWS; i += WARP)
            s.partner[i / D][i % D] = right_word(i % D - D - S::LAG * (i / D), i / D);
        head = D;
        look_up(0);
    }

    /* COUNT words from AT on of a ring, or of what is none. */
    template <int COUNT> static __device__ __forceinline__ void load_words(const uint32_t *ring, int at, uint32_t (&ret)[COUNT])
    {
#pragma unroll
        for (int i = 0; i < COUNT; i += 4) {
            const int from = at + i;
            const uint4 v = *(const uint4 *)(ring + from + (from < 0 ? D + COST_COLUMNS : 0));
            ret[i] = v.x, ret[i + 1] = v.y, ret[i + 2] = v.z, ret[i + 3] = v.w;
        }
    }

    /* Columns FROM .. FROM + 3 of those at hand; as in sgm_cost.cu. */
    __device__ __forceinline__ void make_four(int from)
    {
        uint32_t low[N + FOUR], high[N + FOUR], left[FOUR];

        load_words(s.partner[row], head + from - N * this->g - N, low);
        load_words(s.partner[row], head + from - N * this->g - N - D / 2, high);
        load_words(s.left[row], from, left);
#pragma unroll
        for (int k = 0; k < FOUR; k++) {
            uint32_t word[4];
#pragma unroll
            for (int w = 0; w < 4; w++) {
                const int even = N + k - 2 * w, odd = even - 1;
                const uint32_t low_pair = plx_mad(F::cost(left[k], low[odd], a.cap), 256, F::cost(left[k], low[even], a.cap));
                const uint32_t high_pair =
                    plx_mad(F::cost(left[k], high[odd], a.cap), 256, F::cost(left[k], high[even], a.cap));
                word[w] = plx_mad(high_pair, 65536, low_pair);
            }
            s.cost[from + k][lane] = make_uint4(word[0], word[1], word[2], word[3]);
        }
    }

    /* Of the columns of steps T .. T + COST_COLUMNS - 1. Beside the picture all costs are 0: then what paths bring along from
     * there is 0 too, as it is to be where they start. */
    __device__ __forceinline__ void make_costs(int t)
    {
        __syncwarp();
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            const int i = lane + e * WARP, r = i / COST_COLUMNS, k = i % COST_COLUMNS;
            if (WORDS % WARP && i >= WORDS)
                continue;
            s.partner[r][head + k] = next_right[e];
            s.left[r][k] = next_left[e];
            if (VARYING)
                s.penalty[r][k] = next_penalty[e];
        }
        __syncwarp();
        look_up(t + COST_COLUMNS);
#pragma unroll 1
        for (int from = 0; from < COST_COLUMNS; from += FOUR)
            make_four(from);
        head = head == D ? 0 : head + COST_COLUMNS;
        if (max(this->y_of(0), this->y_of(ROWS - 1)) < a.height && this->all_inside(t, t + COST_COLUMNS - 1))
            return;
#pragma unroll
        for (int k = 0; k < COST_COLUMNS; k++)
            if (!this->inside(t + k - S::LAG * row))
                s.cost[k][lane] = make_uint4(0, 0, 0, 0);
    }
};

#endif
