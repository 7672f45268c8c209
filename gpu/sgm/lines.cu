/* SPDX-License-Identifier: Apache-2.0 */
/* Launches the aggregation along lines (line.cuh) in one of two kernels. */
#include "gpu/runtime/schedule.h"
#include "gpu/sgm/lines_prefetch.cuh"
#include "gpu/sgm/lines_registers.cuh"
#include "gpu/sgm/sgm.cuh"

/* Shared memory that the rings of PREFETCH_WARPS warps leave free keeps the middle of the lines. */
template <int D, bool ADAPTIVE_P2> static int launch_prefetch(struct plx_gpu *gpu, lines_args args)
{
    const auto kernel = prefetch_lines_kernel<D, ADAPTIVE_P2>;
    const int ring = PREFETCHED * PIXEL_BYTES(ADAPTIVE_P2);
    const int available = min(gpu->shared_bytes / PREFETCH_WARPS - gpu->shared_reserved, gpu->shared_bytes_block);

    args.kept_pixels = max(available - ring, 0) / COSTS_BYTES;
    const int bytes = ring + args.kept_pixels * COSTS_BYTES;
    const int result = PLX_CUDA(gpu, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    if (result < 0)
        return result;
    kernel<<<args.rows + args.columns + args.diagonals, WARP, bytes, gpu->stream>>>(args);
    return PLX_LAUNCHED(gpu, prefetch_lines_kernel);
}

template <int D, bool ADAPTIVE_P2> static int launch_registers(struct plx_gpu *gpu, const lines_args &args)
{
    register_lines_kernel<D, ADAPTIVE_P2><<<args.rows + args.columns + args.diagonals, WARP, 0, gpu->stream>>>(args);
    return PLX_LAUNCHED(gpu, register_lines_kernel);
}

template <int D, bool ADAPTIVE_P2> static int launch(struct plx_gpu *gpu, const lines_args &args, bool prefetch)
{
    return prefetch ? launch_prefetch<D, ADAPTIVE_P2>(gpu, args) : launch_registers<D, ADAPTIVE_P2>(gpu, args);
}

template <int D> static int launch_disparities(const struct plx_sgm_job *job, lines_args args, bool prefetch)
{
    constexpr int LINES = WARP / (D / 16) / 2;

    args.rows = (int)plx_div_ceil(job->height, LINES);
    args.columns = (int)plx_div_ceil(job->width, LINES);
    args.diagonals = job->match->paths == 8 ? (int)plx_div_ceil(all_diagonals(job->width, job->height), LINES) : 0;
    return plx_p2_varies(job->match) ? launch<D, true>(job->gpu, args, prefetch) : launch<D, false>(job->gpu, args, prefetch);
}

static lines_args args_of(const struct plx_sgm_job *job)
{
    const struct plx_match *match = job->match;
    const struct plx_gpu_sgm *sgm = job->gpu->sgm;
    return {sgm->cost,
            {sgm->path_sums[0], sgm->path_sums[1], sgm->path_sums[2], sgm->path_sums[3]},
            sgm->dummy_line,
            sgm->penalty,
            job->width,
            job->height,
            0,
            0,
            0,
            0,
            (uint32_t)match->p1_straight * 0x10001u,
            (uint32_t)match->p1_diagonal * 0x10001u,
            (uint32_t)match->p2 * 0x10001u};
}

int plx_sgm_lines(const struct plx_sgm_job *job, bool prefetch)
{
    switch (job->match->disparities) {
    case 64:
        return launch_disparities<64>(job, args_of(job), prefetch);
    case 128:
        return launch_disparities<128>(job, args_of(job), prefetch);
    default:
        return launch_disparities<256>(job, args_of(job), prefetch);
    }
}

struct plx_lines_load plx_lines_load(int width, int height, const struct plx_match *match)
{
    const int lines = 256 / match->disparities, shorter = min(width, height), longest = longest_diagonals(width, height);
    const int rows = (int)plx_div_ceil(height, lines), columns = (int)plx_div_ceil(width, lines);
    const int diagonals = match->paths == 8 ? (int)plx_div_ceil(all_diagonals(width, height), lines) : 0;
    double places = (double)lines * ((double)rows * width + (double)columns * height);

    for (int i = 0; i < diagonals * lines; i += lines)
        places += (double)lines * (i < longest ? shorter : shorter - 1 - (i - longest) / 4);
    return {rows + columns + diagonals, 1 - (double)match->paths / 2 * width * height / places};
}

int plx_sgm_lines_occupancy(struct plx_gpu *gpu, int *ret_warps)
{
    return PLX_CUDA(gpu, cudaOccupancyMaxActiveBlocksPerMultiprocessor(ret_warps, register_lines_kernel<128, false>, WARP, 0));
}
