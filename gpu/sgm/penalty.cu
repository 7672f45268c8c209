/* SPDX-License-Identifier: Apache-2.0 */
/* P2 of every step, where it depends on the picture. */
#include "gpu/sgm/sgm.cuh"

#define BLOCK_X 32
#define BLOCK_Y 8
#define ROWS 4 /* of a thread */

struct penalty_args {
    plx_view<const uint8_t> grey;
    uint32_t *penalty, *penalty_upwards;
    uint32_t p2[64]; /* bytes, by absolute difference */
};

/* P2 of the steps between a pixel of brightness HERE and those beside it, a byte an orientation. */
static __device__ __forceinline__ uint32_t p2_of(const uint8_t *p2, int here, int row, int column, int falling, int rising)
{
    return (uint32_t)p2[abs(here - row)] << 8 * PLX_HORIZONTAL | (uint32_t)p2[abs(here - column)] << 8 * PLX_VERTICAL |
           (uint32_t)p2[abs(here - falling)] << 8 * PLX_FALLING | (uint32_t)p2[abs(here - rising)] << 8 * PLX_RISING;
}

/* Grid: a thread four pixels of a column. Reads a byte a pixel (six columns of three from L1), writes four or eight. Where
 * there is no step the byte is of no meaning. */
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y) penalty_kernel(const __grid_constant__ penalty_args a)
{
    __shared__ uint32_t words[64];
    const uint8_t *p2 = (const uint8_t *)words;
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, y = (blockIdx.y * BLOCK_Y + threadIdx.y) * ROWS;
    const int width = a.grey.width, height = a.grey.height, left = max(x - 1, 0), right = min(x + 1, width - 1);
    int pixel[ROWS + 2][3];

    if (threadIdx.y < 2)
        words[threadIdx.y * BLOCK_X + threadIdx.x] = a.p2[threadIdx.y * BLOCK_X + threadIdx.x];
    __syncthreads();
    if (x >= width || y >= height)
        return;
#pragma unroll
    for (int i = 0; i < ROWS + 2; i++) {
        const uint8_t *row = a.grey.row(plx_clamp(y + i - 1, 0, height - 1));
        pixel[i][0] = row[left], pixel[i][1] = row[x], pixel[i][2] = row[right];
    }
#pragma unroll
    for (int i = 1; i <= ROWS && y + i <= height; i++) {
        const size_t at = (size_t)(y + i - 1) * width + x;
        const int here = pixel[i][1];
        a.penalty[at] = p2_of(p2, here, pixel[i][0], pixel[i - 1][1], pixel[i - 1][0], pixel[i - 1][2]);
        if (a.penalty_upwards)
            a.penalty_upwards[at] = p2_of(p2, here, pixel[i][2], pixel[i + 1][1], pixel[i + 1][2], pixel[i + 1][0]);
    }
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
        ((uint8_t *)args.p2)[step] = (uint8_t)(p2 < match->p2_min ? match->p2_min : p2);
    }
    penalty_kernel<<<plx_grid(job->width, job->height, dim3(BLOCK_X, BLOCK_Y * ROWS)), block, 0, job->gpu->stream>>>(args);
    return PLX_LAUNCHED(job->gpu, penalty_kernel);
}
