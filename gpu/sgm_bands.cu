/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the bands of sgm_band.cuh follow each other. Both sweeps go on at the same time, and half way they have met. Rows, whose
 * lines are the longest, are walked beside the first half.
 *
 * Each band lets the next one of its half begin at once, in places that are free already. What that brings before plx_follow is
 * older than all of the half: costs, and in the second half what the other sweep has left, and the rows. Then it waits for L.
 */
#include "gpu/follow.cuh"
#include "gpu/sgm_band_walker.cuh"
#include "gpu/sgm_band_winners.cuh"

/* Of a block. Before Ampere 255 registers a thread, so that none are spilled: then a block has too few threads to be started.
 */
static constexpr int most_warps(bool wide)
{
    return PLX_ARCH < 800 ? 8 : wide ? 16 : FEW_WARPS;
}

/*
 * WIDE: more than FEW warps of a strip. Grid: a block a strip of columns, of each sweep. A pixel of a strip moves D bytes of
 * costs in and, in the first half, 2 D bytes of sums out, in the second 3 D bytes of sums in and 10 of winners out; and one
 * beside it, of which there are about ROWS / 2 in a row on each side, D bytes in.
 */
template <class S, bool VARYING, bool SECOND, bool WIDE>
static __global__ void __launch_bounds__(most_warps(WIDE) * WARP) band_kernel(const __grid_constant__ band_args a)
{
    extern __shared__ __align__(16) unsigned char shared[];
    const int warp = __shfl_sync(PLX_ALL_LANES, (int)threadIdx.x / WARP, 0), seeker = warp - a.own - 2 * S::BESIDE;

    plx_lead();
    if (a.rows[blockIdx.y] <= 0)
        return;
    if (!SECOND || seeker < 0) {
        band_walker<S, VARYING, SECOND>(a, (uint32_t)__cvta_generic_to_shared(shared), warp).walk();
        return;
    }
    band_winners<S> winners(a, shared, seeker);
    winners.clear();
    plx_follow();
    for (int row = 0; row < winners.rows; row++) {
        band_barrier();
        winners.find(row);
    }
}

/* Chunks of L of a row of a sweep. There are two for each in sgm->bands. */
template <class S> static constexpr int64_t state_chunks(int width)
{
    return (int64_t)PATHS * width * S::THREADS;
}

template <class S, bool VARYING> struct band_chain {
    const struct plx_sgm_job *job;
    struct plx_gpu *gpu;
    struct plx_gpu_sgm *sgm;
    band_args args;
    int bands, half[SWEEPS]; /* of each half of a sweep, and rows of its first one */

    explicit band_chain(const struct plx_sgm_job *of)
        : job(of), gpu(of->gpu), sgm(of->gpu->sgm), args(), half{(of->height + 1) / 2, of->height / 2}
    {
        const struct plx_match *match = of->match;
        bands = (int)plx_blocks(half[0], S::ROWS);
        args.cost = sgm->cost;
        args.rows_of = sgm->pairs[PLX_HORIZONTAL];
        args.sums = sgm->sums;
        args.penalty[0] = sgm->penalty, args.penalty[1] = sgm->penalty_upwards;
        args.width = of->width;
        args.p1_straight = (uint32_t)match->p1_straight * 0x10001u;
        args.p1_diagonal = (uint32_t)match->p1_diagonal * 0x10001u;
        args.p2 = (uint32_t)match->p2 * 0x10001u;
        args.out = plx_winner_views_of(of);
        args.votes = sgm->votes;
        set_width();
    }

    template <bool SECOND> auto kernel(void) const -> void (*)(band_args)
    {
        if constexpr (S::MOST > S::FEW)
            if (args.own > S::FEW)
                return band_kernel<S, VARYING, SECOND, true>;
        return band_kernel<S, VARYING, SECOND, false>;
    }

    /* Whether the strips of both sweeps find a multiprocessor each sets how wide they are: else as wide as can be. */
    void set_width(void)
    {
        const int strips = gpu->multiprocessors / SWEEPS;

        args.own = S::MOST;
        if (strips > 0)
            args.own = min(args.own, (int)plx_blocks((int)plx_blocks(args.width, strips), S::COLUMNS));
        while (args.own > 1 && band_memory<S>(args.own, true).bytes > gpu->shared_bytes_block)
            args.own--;
    }

    int strips(void) const
    {
        return (int)plx_blocks(job->width, args.own * S::COLUMNS);
    }

    /* Where there is a multiprocessor for each strip it has that for itself: one of the next band beside it would make both
     * late, while others have nothing to do. */
    template <bool SECOND> int bytes(void) const
    {
        const int needed = band_memory<S>(args.own, SECOND).bytes;

        return SWEEPS * strips() <= gpu->multiprocessors ? max(needed, plx_bytes_alone(gpu)) : needed;
    }

    template <bool SECOND> int prepare(void)
    {
        return PLX_CUDA(gpu,
                        cudaFuncSetAttribute(kernel<SECOND>(), cudaFuncAttributeMaxDynamicSharedMemorySize, bytes<SECOND>()));
    }

    template <bool SECOND> int walk(int band)
    {
        const auto walker = kernel<SECOND>();
        cudaLaunchConfig_t config = {};

        config.gridDim = dim3((unsigned)strips(), SWEEPS);
        config.blockDim = dim3((unsigned)(args.own + 2 * S::BESIDE + (SECOND ? SEEKERS : 0)) * WARP);
        config.dynamicSmemBytes = (size_t)bytes<SECOND>();
        config.stream = gpu->stream;
        return band > 0 ? PLX_CUDA(gpu, plx_launch_early(gpu, walker, config, args))
                        : PLX_CUDA(gpu, cudaLaunchKernelEx(&config, walker, args));
    }

    /* Band BAND of each half, of both sweeps. */
    template <bool SECOND> int step(int band)
    {
        for (int sweep = 0; sweep < SWEEPS; sweep++) {
            const int64_t state = state_chunks<S>(args.width);
            const int begin = band * S::ROWS + (SECOND ? half[sweep] : 0), end = SECOND ? job->height : half[sweep];
            const int turn = (int)plx_blocks(begin, S::ROWS);

            args.rows[sweep] = max(min(S::ROWS, end - begin), 0);
            args.y[sweep] = sweep ? job->height - 1 - begin : begin;
            args.begins[sweep] = begin == 0;
            args.before[sweep] = sgm->bands + (2 * sweep + (turn & 1)) * state;
            args.after[sweep] = sgm->bands + (2 * sweep + (~turn & 1)) * state;
        }
        return walk<SECOND>(band);
    }

    int start(void)
    {
        int result = prepare<false>();
        if (result == 0)
            result = prepare<true>();
        if (result == 0)
            result = plx_sgm_rows(job);
        for (int band = 0; band < bands && result == 0; band++)
            result = step<false>(band);
        if (result == 0) /* S needs the rows */
            result = PLX_CUDA(gpu, cudaStreamWaitEvent(gpu->stream, sgm->join, 0));
        for (int band = 0; band < bands && result == 0; band++)
            result = step<true>(band);
        return result == 0 ? plx_sgm_right_view(job) : result;
    }
};

template <int D> static int choose(const struct plx_sgm_job *job)
{
    return plx_p2_varies(job->match) ? band_chain<band_shape<D>, true>(job).start()
                                     : band_chain<band_shape<D>, false>(job).start();
}

int plx_sgm_bands(const struct plx_sgm_job *job)
{
    switch (job->match->disparities) {
    case 64:
        return choose<64>(job);
    case 128:
        return choose<128>(job);
    default:
        return choose<256>(job);
    }
}

bool plx_sgm_can_band(const struct plx_gpu *gpu, const struct plx_match *match)
{
    return gpu->bands_fit && match->paths == 8;
}

int plx_sgm_bands_fit(struct plx_gpu *gpu, bool *ret_fit)
{
    const int bytes = band_memory<band_shape<256>>(band_shape<256>::FEW, true).bytes; /* as many as where D is 64 */
    struct cudaFuncAttributes kernel;

    const int result =
        PLX_CUDA(gpu, cudaFuncGetAttributes(&kernel, (const void *)band_kernel<band_shape<256>, true, true, false>));
    if (result == 0)
        *ret_fit = kernel.maxThreadsPerBlock >= FEW_WARPS * WARP && bytes <= gpu->shared_bytes_block;
    return result;
}

size_t plx_sgm_band_bytes(const struct plx_limits *limits)
{
    return (size_t)(2 * SWEEPS * PATHS) * (size_t)limits->width * (size_t)limits->disparities;
}
