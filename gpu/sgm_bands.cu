/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the bands of sgm_band.cuh follow each other. Both sweeps go on at the same time, and half way they have met: of the two
 * that come to a pixel the first one leaves its sums in a volume, the second one in memory for two bands, which does not
 * have to leave the cache: as soon as a band is done, its winners are found, beside the next one. Rows, whose lines are the
 * longest, are walked beside the first half.
 */
#include "gpu/sgm_band.cuh"

#define REGISTERS_OF(S) (PLX_ARCH < 800 ? S::MOST_WARPS : 16) /* so many warps: with their registers none are spilled */
#define COLS 2
#define ROWS_AHEAD 4
#define SLOTS 2 /* bands whose sums there is room for */

/*
 * Grid: a block a strip of columns, of each sweep. A pixel of a strip moves D bytes of costs in and 2 D bytes of sums out; and
 * one beside it, of which there are about ROWS / 2 in a row on each side, D bytes in.
 */
template <class S, bool VARYING>
static __global__ void __launch_bounds__(REGISTERS_OF(S) * WARP) band_kernel(const __grid_constant__ band_args a)
{
    extern __shared__ __align__(16) unsigned char shared[];
    if (a.rows[blockIdx.y] > 0)
        band_walker<S, VARYING>(a, (uint32_t)__cvta_generic_to_shared(shared)).walk();
}

/* Chunks of what the bands keep in sgm->bands: L of a row of a sweep, twice for each; then sums, of two bands. */
template <class S> struct band_memory {
    int64_t state, sums_row;

    explicit band_memory(int width) : state((int64_t)PATHS * width * S::THREADS), sums_row((int64_t)width * 2 * S::THREADS)
    {
    }
    int64_t sums(int slot) const
    {
        return 2 * SWEEPS * state + slot * SWEEPS * S::ROWS * sums_row;
    }
};

/* Whether the strips of both sweeps find a multiprocessor each sets how wide they are: else as wide as can be. */
static int own_warps(const struct plx_gpu *gpu, int width, int columns, int most)
{
    const int strips = gpu->multiprocessors / SWEEPS;
    return strips > 0 ? min((int)plx_blocks((int)plx_blocks(width, strips), columns), most) : most;
}

template <class S, bool VARYING> struct band_chain {
    const struct plx_sgm_job *job;
    struct plx_gpu *gpu;
    struct plx_gpu_sgm *sgm;
    band_memory<S> memory;
    band_args args;
    int bands, half[SWEEPS]; /* of each half of a sweep, and rows of its first one */
    int shared_bytes;

    explicit band_chain(const struct plx_sgm_job *of)
        : job(of), gpu(of->gpu), sgm(of->gpu->sgm), memory(of->width), args(), half{(of->height + 1) / 2, of->height / 2}
    {
        const struct plx_match *match = of->match;
        bands = (int)plx_blocks(half[0], S::ROWS);
        args.cost = sgm->cost;
        args.penalty[0] = sgm->penalty, args.penalty[1] = sgm->penalty_upwards;
        args.width = of->width;
        args.beside = S::BESIDE;
        args.own = own_warps(gpu, of->width, S::COLUMNS, S::MOST_WARPS - 2 * S::BESIDE);
        args.p1_straight = (uint32_t)match->p1_straight * 0x10001u;
        args.p1_diagonal = (uint32_t)match->p1_diagonal * 0x10001u;
        args.p2 = (uint32_t)match->p2 * 0x10001u;
        shared_bytes = band_shared_bytes<S>(args.own + 2 * args.beside);
    }

    int walk(void)
    {
        const dim3 grid(plx_blocks(job->width, args.own * S::COLUMNS), SWEEPS);
        band_kernel<S, VARYING><<<grid, (args.own + 2 * args.beside) * WARP, shared_bytes, sgm->chain>>>(args);
        return PLX_LAUNCHED(gpu, band_kernel);
    }

    /* Rows from STEP on of a sweep, counted in its direction, but none from END on. */
    void place(int sweep, int step, int end)
    {
        const int turn = (int)plx_blocks(step, S::ROWS);

        args.rows[sweep] = max(min(S::ROWS, end - step), 0);
        args.y[sweep] = sweep ? job->height - 1 - step : step;
        args.begins[sweep] = step == 0;
        args.before[sweep] = sgm->bands + (2 * sweep + (turn & 1)) * memory.state;
        args.after[sweep] = sgm->bands + (2 * sweep + (~turn & 1)) * memory.state;
    }

    int first_half(int band)
    {
        for (int sweep = 0; sweep < SWEEPS; sweep++) {
            place(sweep, band * S::ROWS, half[sweep]);
            args.sums[sweep] = sgm->sums + args.y[sweep] * memory.sums_row;
            args.sums_step[sweep] = (int)(sweep ? -memory.sums_row : memory.sums_row);
        }
        return walk();
    }

    int second_half(int band)
    {
        const int slot = band % SLOTS;
        uint4 *const sums = sgm->bands + memory.sums(slot);
        struct plx_band_rows rows = {sgm->sums, sums, {}, {}, S::ROWS};

        for (int sweep = 0; sweep < SWEEPS; sweep++) {
            place(sweep, half[sweep] + band * S::ROWS, job->height);
            args.sums[sweep] = sums + sweep * S::ROWS * memory.sums_row;
            args.sums_step[sweep] = (int)memory.sums_row;
            rows.first[sweep] = args.y[sweep];
            rows.count[sweep] = args.rows[sweep];
        }
        int result = band >= SLOTS ? PLX_CUDA(gpu, cudaStreamWaitEvent(sgm->chain, sgm->won[slot], 0)) : 0;
        if (result == 0)
            result = walk();
        if (result == 0)
            result = PLX_CUDA(gpu, cudaEventRecord(sgm->walked, sgm->chain));
        if (result == 0)
            result = PLX_CUDA(gpu, cudaStreamWaitEvent(gpu->stream, sgm->walked, 0));
        if (result == 0)
            result = plx_sgm_winner_of_band(job, &rows, gpu->stream);
        return result == 0 ? PLX_CUDA(gpu, cudaEventRecord(sgm->won[slot], gpu->stream)) : result;
    }

    int start_rows(void)
    {
        int result = PLX_CUDA(gpu, cudaEventRecord(sgm->fork, gpu->stream));
        if (result == 0)
            result = PLX_CUDA(gpu, cudaStreamWaitEvent(sgm->chain, sgm->fork, 0));
        if (result == 0)
            result = PLX_CUDA(gpu, cudaStreamWaitEvent(sgm->side, sgm->fork, 0));
        if (result == 0)
            result = plx_sgm_rows(job, sgm->side);
        return result == 0 ? PLX_CUDA(gpu, cudaEventRecord(sgm->join, sgm->side)) : result;
    }

    int start(void)
    {
        const auto kernel = band_kernel<S, VARYING>;
        int result = PLX_CUDA(gpu, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
        if (result == 0)
            result = start_rows();
        for (int band = 0; band < bands && result == 0; band++)
            result = first_half(band);
        if (result == 0) /* winners need the rows */
            result = PLX_CUDA(gpu, cudaStreamWaitEvent(gpu->stream, sgm->join, 0));
        for (int band = 0; band < bands && result == 0; band++)
            result = second_half(band);
        return result;
    }
};

template <int D> using shape = band_shape<D, COLS, ROWS_AHEAD>;

template <int D> static int choose(const struct plx_sgm_job *job)
{
    return plx_p2_varies(job->match) ? band_chain<shape<D>, true>(job).start() : band_chain<shape<D>, false>(job).start();
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

bool plx_sgm_can_band(const struct plx_match *match)
{
    return match->paths == 8;
}

/* The most where D is. */
size_t plx_sgm_band_bytes(const struct plx_limits *limits)
{
    const int width = limits->width, disparities = limits->disparities;
    return (size_t)(disparities <= 64    ? band_memory<shape<64>>(width).sums(SLOTS)
                    : disparities <= 128 ? band_memory<shape<128>>(width).sums(SLOTS)
                                         : band_memory<shape<256>>(width).sums(SLOTS)) *
           sizeof(uint4);
}
