/* SPDX-License-Identifier: Apache-2.0 */
/* How the lines of sgm_lines.cuh are launched. */
#include "gpu/sgm_lines_lean.cuh"

/* Starts the lines of ARGS, RESIDENT warps on a multiprocessor: what their rings leave of its shared memory keeps sums. */
template <int D, int AHEAD, bool VARYING>
static int start(struct plx_gpu *gpu, lines_args args, int resident, cudaStream_t stream)
{
    const auto kernel = lines_kernel<D, AHEAD, VARYING>;
    int bytes = AHEAD * PIXEL_BYTES(VARYING);

    if (resident > 0) {
        const int room = min(gpu->shared_bytes / resident - gpu->shared_reserved, gpu->shared_bytes_block);
        args.kept = max(room - bytes, 0) / COSTS_BYTES;
        bytes += args.kept * COSTS_BYTES;
    }
    int result = PLX_CUDA(gpu, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    if (result < 0)
        return result;
    kernel<<<args.rows + args.columns + args.diagonals, WARP, bytes, stream>>>(args);
    return PLX_LAUNCHED(gpu, lines_kernel);
}

template <int D, bool VARYING> static int start_lean(struct plx_gpu *gpu, const lines_args &args)
{
    lean_lines_kernel<D, VARYING><<<args.rows + args.columns + args.diagonals, WARP, 0, gpu->stream>>>(args);
    return PLX_LAUNCHED(gpu, lean_lines_kernel);
}

template <int D, bool VARYING>
static int start_ahead(struct plx_gpu *gpu, const lines_args &args, const struct plx_sgm_choice *choice)
{
    switch (choice->ahead) {
    case 4:
        return choice->resident > 0 ? start<D, 4, VARYING>(gpu, args, choice->resident, gpu->stream)
                                    : start_lean<D, VARYING>(gpu, args);
    case 8:
        return start<D, 8, VARYING>(gpu, args, choice->resident, gpu->stream);
    default:
        return start<D, MOST_AHEAD, VARYING>(gpu, args, choice->resident, gpu->stream);
    }
}

/* Rows on a stream of their own, which goes first; sgm->join is when they are done. */
template <int D, int AHEAD, bool VARYING> static int start_rows(struct plx_gpu *gpu, lines_args args)
{
    struct plx_gpu_sgm *sgm = gpu->sgm;

    args.columns = args.diagonals = 0;
    int result = PLX_CUDA(gpu, cudaEventRecord(sgm->fork, gpu->stream));
    if (result == 0)
        result = PLX_CUDA(gpu, cudaStreamWaitEvent(sgm->side, sgm->fork, 0));
    if (result == 0)
        result = start<D, AHEAD, VARYING>(gpu, args, 0, sgm->side);
    return result == 0 ? PLX_CUDA(gpu, cudaEventRecord(sgm->join, sgm->side)) : result;
}

template <int D, bool VARYING> static int start_apart(struct plx_gpu *gpu, lines_args args, const struct plx_sgm_choice *choice)
{
    int result = start_rows<D, MOST_AHEAD, VARYING>(gpu, args);
    args.rows = 0;
    if (result == 0)
        result = start_ahead<D, VARYING>(gpu, args, choice);
    return result == 0 ? PLX_CUDA(gpu, cudaStreamWaitEvent(gpu->stream, gpu->sgm->join, 0)) : result;
}

template <int D, bool VARYING> static int walk(const struct plx_sgm_job *job, lines_args args)
{
    constexpr int LINES = WARP / (D / 16) / 2;
    const struct plx_sgm_choice *choice = plx_gpu_sgm_choice(job->gpu, job->width, job->height, job->match);

    args.rows = (int)plx_blocks(job->height, LINES);
    args.columns = (int)plx_blocks(job->width, LINES);
    args.diagonals = job->match->paths == 8 ? (int)plx_blocks(all_diagonals(job->width, job->height), LINES) : 0;
    return choice->apart ? start_apart<D, VARYING>(job->gpu, args, choice) : start_ahead<D, VARYING>(job->gpu, args, choice);
}

template <int D> static int choose(const struct plx_sgm_job *job, const lines_args &args)
{
    return plx_p2_varies(job->match) ? walk<D, true>(job, args) : walk<D, false>(job, args);
}

static lines_args args_of(const struct plx_sgm_job *job)
{
    const struct plx_match *match = job->match;
    const struct plx_gpu_sgm *sgm = job->gpu->sgm;
    return {sgm->cost,
            {sgm->pairs[0], sgm->pairs[1], sgm->pairs[2], sgm->pairs[3]},
            sgm->scrap,
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

int plx_sgm_lines(const struct plx_sgm_job *job)
{
    switch (job->match->disparities) {
    case 64:
        return choose<64>(job, args_of(job));
    case 128:
        return choose<128>(job, args_of(job));
    default:
        return choose<256>(job, args_of(job));
    }
}

/* Beside bands, which wait for memory: with more pixels ahead rows would take more of it than they gain by. */
template <int D> static int choose_rows(const struct plx_sgm_job *job, lines_args args)
{
    args.rows = (int)plx_blocks(job->height, WARP / (D / 16) / 2);
    return plx_p2_varies(job->match) ? start_rows<D, 8, true>(job->gpu, args) : start_rows<D, 8, false>(job->gpu, args);
}

int plx_sgm_rows(const struct plx_sgm_job *job)
{
    switch (job->match->disparities) {
    case 64:
        return choose_rows<64>(job, args_of(job));
    case 128:
        return choose_rows<128>(job, args_of(job));
    default:
        return choose_rows<256>(job, args_of(job));
    }
}

struct plx_lines_load plx_lines_load(int width, int height, const struct plx_match *match)
{
    const int lines = 256 / match->disparities, shorter = min(width, height), longest = longest_diagonals(width, height);
    const int rows = (int)plx_blocks(height, lines), columns = (int)plx_blocks(width, lines);
    const int diagonals = match->paths == 8 ? (int)plx_blocks(all_diagonals(width, height), lines) : 0;
    double places = (double)lines * ((double)rows * width + (double)columns * height);

    for (int i = 0; i < diagonals * lines; i += lines)
        places += (double)lines * (i < longest ? shorter : shorter - 1 - (i - longest) / 4);
    return {rows + columns + diagonals, 1 - (double)match->paths / 2 * width * height / places};
}

int plx_sgm_lines_occupancy(struct plx_gpu *gpu, int *ret_warps)
{
    return PLX_CUDA(gpu, cudaOccupancyMaxActiveBlocksPerMultiprocessor(ret_warps, lean_lines_kernel<128, false>, WARP, 0));
}
