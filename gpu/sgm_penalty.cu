/* SPDX-License-Identifier: Apache-2.0 */
/* P2 of every step, where it depends on the picture. */
#include "gpu/sgm.cuh"

#define BLOCK_X 64
#define BLOCK_Y 4

struct penalty_args {
    plx_view<const uint8_t> grey;
    uint32_t *penalty, *penalty_upwards;
    uint8_t p2[256]; /* by absolute difference */
};

/* Grid: a thread a pixel. Reads a byte (three rows of them from L1), writes four or eight. Where there is no step the byte is
 * of no meaning. */
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y) penalty_kernel(const __grid_constant__ penalty_args a)
{
    __shared__ uint8_t p2[256];
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y, width = a.grey.width;
    const int thread = threadIdx.y * BLOCK_X + threadIdx.x;

    p2[thread] = a.p2[thread];
    __syncthreads();
    if (x >= width || y >= a.grey.height)
        return;
    const uint8_t *row = a.grey.row(y), *above = a.grey.row(max(y - 1, 0));
    const uint8_t *below = a.grey.row(min(y + 1, a.grey.height - 1));
    const int here = row[x], left = max(x - 1, 0), right = min(x + 1, width - 1);
    a.penalty[(size_t)y * width + x] =
        (uint32_t)p2[abs(here - row[left])] << 8 * PLX_HORIZONTAL | (uint32_t)p2[abs(here - above[x])] << 8 * PLX_VERTICAL |
        (uint32_t)p2[abs(here - above[left])] << 8 * PLX_FALLING | (uint32_t)p2[abs(here - above[right])] << 8 * PLX_RISING;
    if (!a.penalty_upwards)
        return;
    a.penalty_upwards[(size_t)y * width + x] =
        (uint32_t)p2[abs(here - row[right])] << 8 * PLX_HORIZONTAL | (uint32_t)p2[abs(here - below[x])] << 8 * PLX_VERTICAL |
        (uint32_t)p2[abs(here - below[right])] << 8 * PLX_FALLING | (uint32_t)p2[abs(here - below[left])] << 8 * PLX_RISING;
}

int plx_sgm_penalty(const struct plx_sgm_job *job, bool upwards_too)
{
    const struct plx_match *match = job->match;
    struct penalty_args args = {plx_view_of<const uint8_t>(job->grey),
                                job->gpu->sgm->penalty,
                                upwards_too ? job->gpu->sgm->penalty_upwards : NULL,
                                {0}};
    const dim3 block(BLOCK_X, BLOCK_Y);

    for (int step = 0; step < 256; step++) {
        const int p2 = match->p2 * match->p2_scale / (match->p2_scale + step);
        args.p2[step] = (uint8_t)(p2 < match->p2_min ? match->p2_min : p2);
    }
    penalty_kernel<<<plx_grid(job->width, job->height, block), block, 0, job->gpu->stream>>>(args);
    return PLX_LAUNCHED(job->gpu, penalty_kernel);
}
