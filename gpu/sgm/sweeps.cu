/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of the two sweeps (sweep.cuh): loader, bands, and launch. */
#include "gpu/device/launch.cuh"
#include "gpu/sgm/sweep_warp.cuh"

/* Two blocks fit the shared memory of an Orin. Three, with fewer registers, are slower except for large images. */
#define BLOCKS_PER_MULTIPROCESSOR (PLX_ARCH < 800 ? 1 : 2)

#define EMPTY 0xFFFFFFFFu /* four bytes of L that no message contains */

static __device__ __forceinline__ uint4 load_relaxed(const uint4 *global)
{
    uint4 v;
    asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(global)
                 : "memory");
    return v;
}

static __device__ __forceinline__ bool is_complete(uint4 v)
{
    return v.x != EMPTY && v.y != EMPTY && v.z != EMPTY && v.w != EMPTY;
}

/* The loader warp copies the messages of the band above into the ring of the first warp, and marks them EMPTY for the next
 * frame. */
template <class S> struct loader {
    static constexpr int THREADS = S::THREADS, COLUMN = S::COLUMN, CHUNKS = LOAD_COLUMNS * COLUMN;
    static constexpr int EACH = (CHUNKS + WARP - 1) / WARP;

    const sweep_args &a;
    warp_memory<S> &s;
    const int lane;
    step_counter counter;
    uint4 *from;

    __device__ __forceinline__ loader(const sweep_args &args, band_memory<S> &memory, int band_index, step_counter the_counter)
        : a(args), s(memory.warps[0]), lane(threadIdx.x % WARP), counter(the_counter)
    {
        from = a.band_messages + (int64_t)((band_index & 1) * a.bands + band_index / 2 - 1) * a.columns * COLUMN;
    }

    /* Polls the last chunk first, then reads all. */
    __device__ __forceinline__ void wait_for_columns(int x, uint4 ret_got[EACH])
    {
        bool complete;

        if (x < a.columns) {
            const int column = min(x + LOAD_COLUMNS, a.columns) - 1;
            while (__all_sync(PLX_ALL_LANES, load_relaxed(from + column * COLUMN + COLUMN - THREADS).x == EMPTY))
                ;
        }
        do {
            complete = true;
#pragma unroll
            for (int e = 0; e < EACH; e++) {
                const int chunk = lane + e * WARP;
                ret_got[e] = make_uint4(0, 0, 0, 0);
                if (chunk < CHUNKS && x + chunk / COLUMN < a.columns)
                    ret_got[e] = load_relaxed(from + x * COLUMN + chunk);
                complete = complete && is_complete(ret_got[e]);
            }
        } while (!__all_sync(PLX_ALL_LANES, complete));
    }

    __device__ __forceinline__ void load_columns(void)
    {
        for (int x = 0; x <= a.columns + S::SLOPE; x += LOAD_COLUMNS) {
            uint4 received[EACH];

            wait_for_columns(x, received);
#pragma unroll
            for (int e = 0; e < EACH; e++) {
                const int chunk = lane + e * WARP;
                if (chunk >= CHUNKS)
                    continue;
                (&s.ring[slot_of(x + chunk / COLUMN)][0][0])[chunk % COLUMN] = received[e];
                if (x + chunk / COLUMN < a.columns)
                    from[x * COLUMN + chunk] = make_uint4(EMPTY, EMPTY, EMPTY, EMPTY);
            }
            counter.pass(LOAD_COLUMNS / GROUP);
        }
        counter.pass(counter.left);
    }

    /* For the first band, which has no row above. */
    __device__ __forceinline__ void load_zeros(void)
    {
        for (int i = lane; i < SLOTS * COLUMN; i += WARP)
            (&s.ring[0][0][0])[i] = make_uint4(0, 0, 0, 0);
        counter.pass(counter.left);
    }
};

/* Cooperative grid: all resident blocks, at most one for each band of both sweeps; a warp holds 64 N / D rows. Bytes: 8 of
 * features a pixel, read once, and D words of halo a row; with adaptive P2 4 more for each sweep; 2 D of sums a pixel, written
 * once and read once; 9 D of messages a column of a band. */
template <class F, class S, bool ADAPTIVE_P2>
static __global__ void __launch_bounds__((WARPS + 1) * WARP, BLOCKS_PER_MULTIPROCESSOR)
    sweeps_kernel(const __grid_constant__ sweep_args a)
{
    extern __shared__ __align__(16) unsigned char shared[];
    __shared__ int next_band;
    band_memory<S> &memory = *(band_memory<S> *)shared;
    const int warp = __shfl_sync(PLX_ALL_LANES, (int)threadIdx.x / WARP, 0); /* uniform in the warp, for the compiler */

    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0)
            next_band = (int)atomicAdd(a.next_band, 1);
        __syncthreads();
        const int band_index = __shfl_sync(PLX_ALL_LANES, next_band, 0),
                  sweep_warps = min(a.groups - band_index / 2 * WARPS, WARPS);
        if (band_index >= 2 * a.bands)
            return;
        step_counter counter = {(S::FIRST_LAG + (sweep_warps - 1) * S::WARP_LAG + a.columns + S::SLOPE) / GROUP};
        if (warp < sweep_warps)
            sweep_warp<F, S, ADAPTIVE_P2>(a, memory, warp, band_index, counter).sweep();
        else if (warp < WARPS)
            counter.pass(counter.left);
        else if (band_index / 2 > 0)
            loader<S>(a, memory, band_index, counter).load_columns();
        else
            loader<S>(a, memory, band_index, counter).load_zeros();
    }
}

template <class F, class S, bool ADAPTIVE_P2> static int launch(const struct plx_sgm_job *job, sweep_args args)
{
    args.columns = (int)plx_div_ceil(args.width + S::SLOPE, WORD_COLUMNS) * WORD_COLUMNS - S::SLOPE;
    args.groups = (int)plx_div_ceil(args.height, S::ROWS);
    args.bands = (int)plx_div_ceil(args.groups, WARPS);
    const int result = plx_launch_cooperative(job->gpu, 0, sweeps_kernel<F, S, ADAPTIVE_P2>, 2 * args.bands, (WARPS + 1) * WARP,
                                              sizeof(band_memory<S>), args);
    return result < 0 ? result : plx_sgm_right_view(job);
}

template <class F> static int launch_features(const struct plx_sgm_job *job, const sweep_args &args)
{
    return plx_with_disparities(job->match, [&](auto d) {
        return plx_p2_varies(job->match) ? launch<F, shape<d>, true>(job, args) : launch<F, shape<d>, false>(job, args);
    });
}

static plx_view<const uint32_t> words_of(const uint32_t *words, int width, int height)
{
    return {words, width, height, (size_t)width * sizeof *words};
}

int plx_sgm_sweeps(const struct plx_sgm_job *job)
{
    const struct plx_match *match = job->match;
    const struct plx_gpu_sgm *sgm = job->gpu->sgm;
    const int width = job->width, height = job->height;
    const bool use_gradient = match->gradient_cap > 0;
    const int result = use_gradient ? plx_sgm_feature_words(job) : 0;
    if (result < 0)
        return result;

    const sweep_args args = {
        use_gradient ? words_of(sgm->words[0], width, height) : plx_view_of<const uint32_t>(&job->left->census),
        use_gradient ? words_of(sgm->words[1], width, height) : plx_view_of<const uint32_t>(&job->right->census),
        use_gradient ? 0xFFFF0000u : 0, /* outside the image: the gradients of the edge, and no census */
        {sgm->penalty, sgm->penalty_upwards},
        sgm->sums,
        sgm->band_messages,
        sgm->right_argmin,
        sgm->next_band,
        sgm->exchange_flags,
        plx_candidate_views_of(job),
        width,
        height,
        0,
        0,
        0,
        match->min_disparity,
        plx_cost_constants_of(match),
        (uint32_t)match->p1_straight * 0x10001u,
        (uint32_t)match->p1_diagonal * 0x10001u,
        (uint32_t)match->p2 * 0x10001u};
    return use_gradient ? launch_features<short_census_and_gradients>(job, args) : launch_features<census_only>(job, args);
}

bool plx_sgm_can_sweep(const struct plx_match *match)
{
    return match->paths == 8 && plx_census_bits(match->census) <= (match->gradient_cap > 0 ? 12 : 32);
}

/* The largest D has the most bands and the largest messages. */
static size_t most_bands(const struct plx_limits *limits)
{
    return plx_div_ceil(limits->height, WARPS * 64 * N / limits->disparities);
}

size_t plx_sgm_band_message_bytes(const struct plx_limits *limits)
{
    return 2 * most_bands(limits) * 3 * (size_t)(limits->width + WORD_COLUMNS) * (size_t)limits->disparities;
}

size_t plx_sgm_exchange_flag_bytes(const struct plx_limits *limits)
{
    return 2 * most_bands(limits) * WARPS * sizeof(uint32_t);
}
