/* SPDX-License-Identifier: Apache-2.0 */
/* Stage regions: sums over the largest components, in five kernels that nothing but integer atomics join: count
 * (regions_count.cu), median (regions_median.cu), interior (regions_face.cu), refine (regions_refine.cu), write the records. */
#include <stdlib.h>

#include "gpu/obstacles/regions.cuh"

static __device__ struct plx_refined refined(const sum64 *sums)
{
    return {(int64_t)sums[0], (int64_t)(sums[2] - 2 * sums[1])};
}

#define REGION_WORDS (int)(sizeof(struct plx_region) / sizeof(uint32_t))
static_assert(SUMS <= REGION_WORDS, "a thread of a record's block has a sum");

/* Grid: a block a record, a thread a word. Writes 152 bytes each, and clears the sums. Records, maybe in the other processor's
 * memory, are no other kernel's: those that stay empty are written ahead. */
static __global__ void record_kernel(plx_regions_args a)
{
    __shared__ struct plx_region region;
    __shared__ sum64 sums[SUMS];
    const uint32_t i = blockIdx.x;
    const bool any = i < *a.at.count;
    uint32_t *record = (uint32_t *)&a.ret_regions[i];

    if (any)
        ((uint32_t *)&region)[threadIdx.x] = ((const uint32_t *)&a.at.found[i])[threadIdx.x];
    else
        record[threadIdx.x] = 0;
    plx_follow();
    if (!any)
        return;
    if (threadIdx.x < SUMS) {
        sum64 *sum = &a.at.sums[threadIdx.x * PLX_MAX_OBSTACLES + i];
        sums[threadIdx.x] = *sum;
        *sum = 0;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        region.interior_area = (uint32_t)sums[AREA];
        region.interior_sum_d = sums[DISPARITY];
        region.interior_sum_x = sums[X];
        region.interior_sum_y = sums[Y];
        region.interior = refined(sums + INTERIOR);
        region.left = refined(sums + LEFT);
        region.right = refined(sums + RIGHT);
    }
    __syncthreads();
    record[threadIdx.x] = ((const uint32_t *)&region)[threadIdx.x];
}

int plx_gpu_regions_create(struct plx_gpu *gpu)
{
    const size_t width = (size_t)gpu->limits.width, height = (size_t)gpu->limits.height;
    struct plx_gpu_regions *s = gpu->regions = (struct plx_gpu_regions *)calloc(1, sizeof *s);
    if (!s)
        return PLX_ERR_NOMEM;

    const size_t blocks = (size_t)plx_blocks(gpu->limits.width, BLOCK_X) * plx_blocks(gpu->limits.height, BLOCK_Y * ROWS);
    const struct {
        void **data;
        size_t count, bytes; /* of each */
    } arrays[] = {{(void **)&s->bins, PLX_MAX_OBSTACLES * BINS, sizeof *s->bins},
                  {(void **)&s->sums, PLX_MAX_OBSTACLES * SUMS, sizeof *s->sums},
                  {(void **)&s->column, PLX_MAX_OBSTACLES * width, sizeof *s->column},
                  {(void **)&s->row, PLX_MAX_OBSTACLES * height, sizeof *s->row},
                  {(void **)&s->spots, blocks * SPOTS, sizeof *s->spots},
                  {(void **)&s->spot_count, blocks, sizeof *s->spot_count},
                  {(void **)&s->found, PLX_MAX_OBSTACLES, sizeof *s->found},
                  {(void **)&s->median, PLX_MAX_OBSTACLES, sizeof *s->median},
                  {(void **)&s->inner, PLX_MAX_OBSTACLES, sizeof *s->inner},
                  {(void **)&s->count, 1, sizeof *s->count}};
    int result = 0;
    for (size_t i = 0; result == 0 && i < sizeof arrays / sizeof arrays[0]; i++)
        result = plx_gpu_alloc_local(&gpu->base, arrays[i].count * arrays[i].bytes, arrays[i].data);
    return result;
}

void plx_gpu_regions_destroy(struct plx_gpu *gpu)
{
    struct plx_gpu_regions *s = gpu->regions;
    if (!s)
        return;
    void *const arrays[] = {s->bins,       s->sums,  s->column, s->row,   s->spots,
                            s->spot_count, s->found, s->median, s->inner, s->count};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        plx_gpu_free(&gpu->base, arrays[i]);
    free(s);
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

    if (!input_ok(input, ret_published))
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, input->labels))
        return PLX_ERR_RANGE;

    const plx_regions_args args = {plx_view_of<const uint32_t>(input->labels),
                                   plx_view_of<const uint16_t>(input->disparity),
                                   plx_view_of<const uint8_t>(input->left),
                                   plx_view_of<const uint8_t>(input->right),
                                   plx_view_of<uint16_t>(ret_published),
                                   *gpu->regions,
                                   count,
                                   input->min_disparity,
                                   ret_regions};
    int result = plx_gpu_regions_count(gpu, &args);
    if (result == 0)
        result = plx_gpu_regions_median(gpu, &args);
    if (result == 0)
        result = plx_gpu_regions_interior(gpu, &args);
    if (result == 0)
        result = plx_gpu_regions_refine(gpu, &args);
    if (result < 0)
        return result;
    return PLX_LAUNCH_NEXT(gpu, record_kernel, PLX_MAX_OBSTACLES, REGION_WORDS, args);
}
