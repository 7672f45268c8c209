/* SPDX-License-Identifier: Apache-2.0 */
/* Census and gradient of a pixel in one word, for those that read them often: up to 24 bits of census below 8 of gradient. */
#include "gpu/sgm/sgm.cuh"

#define BLOCK_X 64
#define BLOCK_Y 4

/* Grid: a thread a pixel. Reads 5 bytes, writes 4. */
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y)
    words_kernel(plx_view<const uint32_t> census, plx_view<const uint8_t> gradient, uint32_t *words)
{
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    if (x < census.width && y < census.height)
        words[(size_t)y * census.width + x] = census.row(y)[x] | (uint32_t)gradient.row(y)[x] << 24;
}

int plx_sgm_feature_words(const struct plx_sgm_job *job)
{
    const struct plx_features *const features[] = {job->left, job->right};
    const dim3 block(BLOCK_X, BLOCK_Y);
    int result = 0;

    for (int eye = 0; eye < 2 && result == 0; eye++) {
        words_kernel<<<plx_grid(job->width, job->height, block), block, 0, job->gpu->stream>>>(
            plx_view_of<const uint32_t>(&features[eye]->census), plx_view_of<const uint8_t>(&features[eye]->gradient),
            job->gpu->sgm->words[eye]);
        result = PLX_LAUNCHED(job->gpu, words_kernel);
    }
    return result;
}
