/* SPDX-License-Identifier: Apache-2.0 */
/* The exchange between the two sweeps: sums and costs that the first sweep at a pixel publishes for the second. */
#ifndef PLX_GPU_SGM_SWEEP_EXCHANGE_CUH
#define PLX_GPU_SGM_SWEEP_EXCHANGE_CUH

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

/* Published words: the sum of half of the paths, and from bit SUM_BITS on the cost. */
template <class S, class BASE> struct sweep_exchange : BASE {
    using BASE::a;
    using BASE::g;
    using BASE::lane;
    using BASE::row;
    using BASE::s;
    using BASE::upwards;
    static constexpr int THREADS = S::THREADS, LAG = S::LAG;

    using BASE::BASE;

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
