/* SPDX-License-Identifier: Apache-2.0 */
/* Stage regions: sums over the largest components, in eight kernels that nothing but integer atomics join: zero the counters,
 * count (regions_count.cu), refine (regions_refine.cu), write the records. */
#include <stdlib.h>

#include "gpu/regions.cuh"

#define PREPARE_BLOCKS 256

/* Grid: enough to fill the device. Zeroes the counters, and fetches the count, which may lie in the other processor's memory.
 */
static __global__ void __launch_bounds__(BLOCK) prepare_kernel(plx_regions_args a)
{
    uint4 *counters = (uint4 *)a.at.tally;
    const uint32_t words =
        (uint32_t)(((char *)(a.at.row + PLX_MAX_OBSTACLES * a.labels.height) - (char *)counters) / sizeof *counters);
    for (uint32_t i = blockIdx.x * BLOCK + threadIdx.x; i < words; i += gridDim.x * BLOCK)
        counters[i] = make_uint4(0, 0, 0, 0);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *a.at.count = min(*a.count, (uint32_t)PLX_MAX_OBSTACLES);
}

static __device__ struct plx_refined refined(const sum64 sums[3])
{
    return {(int64_t)sums[0], (int64_t)(sums[2] - 2 * sums[1])};
}

#define REGION_WORDS (int)(sizeof(struct plx_region) / sizeof(uint32_t))

/* Grid: a block a record, a thread a word; zeros beyond the count. Writes 152 bytes each. */
static __global__ void record_kernel(plx_regions_args a)
{
    __shared__ struct plx_region region;
    const uint32_t i = blockIdx.x;

    if (threadIdx.x == 0 && i < count_of(a)) {
        const struct plx_tally *tally = &a.at.tally[i];
        region = a.at.finding[i].region;
        region.face_area = (uint32_t)tally->face[AREA];
        region.face_sum = tally->face[DISPARITY];
        region.face_x = tally->face[X];
        region.face_y = tally->face[Y];
        region.face = refined(tally->refined + FACE);
        region.left = refined(tally->refined + LEFT);
        region.right = refined(tally->refined + RIGHT);
    } else if (threadIdx.x == 0) {
        region = {};
    }
    __syncthreads();
    ((uint32_t *)&a.ret_regions[i])[threadIdx.x] = ((const uint32_t *)&region)[threadIdx.x];
}

int plx_gpu_regions_create(struct plx_gpu *gpu)
{
    const size_t sides = (size_t)gpu->limits.width + (size_t)gpu->limits.height;
    struct plx_gpu_regions *s = gpu->regions = (struct plx_gpu_regions *)calloc(1, sizeof *s);
    void *data = NULL;
    if (!s)
        return PLX_ERR_NOMEM;

    int result = plx_gpu_alloc_local(&gpu->base, PLX_MAX_OBSTACLES * (sizeof *s->tally + sides * sizeof *s->column), &data);
    s->tally = (struct plx_tally *)data;
    s->column = (uint32_t *)(s->tally + PLX_MAX_OBSTACLES);
    if (result < 0)
        return result;
    result = plx_gpu_alloc_local(&gpu->base, PLX_MAX_OBSTACLES * sizeof *s->finding, &data);
    s->finding = result < 0 ? NULL : (struct plx_finding *)data;
    if (result < 0)
        return result;
    result = plx_gpu_alloc_local(&gpu->base, sizeof *s->count, &data);
    s->count = result < 0 ? NULL : (uint32_t *)data;
    return result;
}

void plx_gpu_regions_destroy(struct plx_gpu *gpu)
{
    if (!gpu->regions)
        return;
    plx_gpu_free(&gpu->base, gpu->regions->tally);
    plx_gpu_free(&gpu->base, gpu->regions->finding);
    plx_gpu_free(&gpu->base, gpu->regions->count);
    free(gpu->regions);
    gpu->regions = NULL;
}

static bool input_ok(const struct plx_region_input *in, const struct plx_image *published)
{
    return plx_image_ok(in->labels, PLX_U32) && plx_image_ok(in->disparity, PLX_U16) && plx_image_ok(in->left, PLX_U8) &&
           plx_image_ok(in->right, PLX_U8) && plx_image_ok(published, PLX_U16) && plx_same_size(in->labels, in->disparity) &&
           plx_same_size(in->labels, in->left) && plx_same_size(in->labels, in->right) && plx_same_size(in->labels, published);
}

int plx_gpu_regions(struct plx_stages *self, const struct plx_region_input *input, const uint32_t *count,
                    struct plx_region *ret_regions, const struct plx_image *ret_published)
{
    struct plx_gpu *gpu = plx_gpu(self);
    const int width = input->labels->width;

    if (!input_ok(input, ret_published))
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, input->labels))
        return PLX_ERR_RANGE;

    plx_regions_args args = {plx_view_of<const uint32_t>(input->labels),
                             plx_view_of<const uint16_t>(input->disparity),
                             plx_view_of<const uint8_t>(input->left),
                             plx_view_of<const uint8_t>(input->right),
                             plx_view_of<uint16_t>(ret_published),
                             *gpu->regions,
                             count,
                             input->min_disparity,
                             ret_regions};
    args.at.row = args.at.column + (size_t)PLX_MAX_OBSTACLES * (size_t)width;
    prepare_kernel<<<PREPARE_BLOCKS, BLOCK, 0, gpu->stream>>>(args);
    int result = PLX_LAUNCHED(gpu, prepare_kernel);
    if (result == 0)
        result = plx_gpu_regions_count(gpu, &args);
    if (result == 0)
        result = plx_gpu_regions_refine(gpu, &args);
    if (result < 0)
        return result;
    record_kernel<<<PLX_MAX_OBSTACLES, REGION_WORDS, 0, gpu->stream>>>(args);
    return PLX_LAUNCHED(gpu, record_kernel);
}
