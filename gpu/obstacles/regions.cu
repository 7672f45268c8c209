/* SPDX-License-Identifier: Apache-2.0 */
/* Stage regions: sums over the largest components, in five kernels that share integer counters: count and measure
 * (regions_measure.cu), two passes of the refinement (regions_refine.cu), then the records. */
#include <stdlib.h>

#include "gpu/obstacles/regions.cuh"

#define REGION_WORDS (int)(sizeof(struct plx_region) / sizeof(uint32_t))
static_assert(SUMS <= REGION_WORDS, "a thread of a record's block has a sum");

static __device__ struct plx_refined refined(const sum64 *sums)
{
    return {(int64_t)sums[0], (int64_t)(sums[2] - 2 * sums[1])};
}

/* Grid: a block a record, a thread a word. Writes 152 bytes each, and clears the sums. Records may be in the CPU's memory; only
 * this kernel writes them, so those that stay empty are written before it waits. */
static __global__ void record_kernel(plx_regions_args a)
{
    __shared__ struct plx_region region;
    __shared__ sum64 sums[SUMS];
    const uint32_t i = blockIdx.x;
    const bool is_found = i < *a.at.count;
    uint32_t *record = (uint32_t *)&a.ret_regions[i];

    if (is_found)
        ((uint32_t *)&region)[threadIdx.x] = ((const uint32_t *)&a.at.found[i])[threadIdx.x];
    else
        record[threadIdx.x] = 0;
    plx_grid_wait_and_trigger();
    if (!is_found)
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
        region.interior = refined(sums + SECOND_PASS + 3 * INTERIOR);
        region.left = refined(sums + SECOND_PASS + 3 * LEFT_STRIP);
        region.right = refined(sums + SECOND_PASS + 3 * RIGHT_STRIP);
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

    const struct {
        void **data;
        size_t count, bytes; /* of each */
    } arrays[] = {{(void **)&s->bins, PLX_MAX_OBSTACLES * BINS, sizeof *s->bins},
                  {(void **)&s->column, PLX_MAX_OBSTACLES * width, sizeof *s->column},
                  {(void **)&s->row, PLX_MAX_OBSTACLES * height, sizeof *s->row},
                  {(void **)&s->sums, PLX_MAX_OBSTACLES * SUMS, sizeof *s->sums},
                  {(void **)&s->found, PLX_MAX_OBSTACLES, sizeof *s->found},
                  {(void **)&s->count, 1, sizeof *s->count}};
    int result = 0;
    for (size_t i = 0; result == 0 && i < sizeof arrays / sizeof arrays[0]; i++)
        result = plx_gpu_alloc_local(&gpu->base, arrays[i].count * arrays[i].bytes, NULL, arrays[i].data);
    return result;
}

void plx_gpu_regions_destroy(struct plx_gpu *gpu)
{
    struct plx_gpu_regions *s = gpu->regions;
    if (!s)
        return;
    void *const arrays[] = {s->bins, s->column, s->row, s->sums, s->found, s->count};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        plx_gpu_free(&gpu->base, arrays[i]);
    free(s);
    gpu->regions = NULL;
}

int plx_gpu_regions(struct plx_stages *self, const struct plx_region_input *input, const uint32_t *count,
                    struct plx_region *ret_regions, const struct plx_image *ret_published)
{
    struct plx_gpu *gpu = plx_gpu(self);

    if (!plx_region_input_ok(input, ret_published))
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
    int result = plx_gpu_regions_measure(gpu, &args);
    if (result == 0)
        result = plx_gpu_regions_refine(gpu, &args);
    return result < 0 ? result : PLX_LAUNCH_DEPENDENT(gpu, record_kernel, PLX_MAX_OBSTACLES, REGION_WORDS, args);
}
