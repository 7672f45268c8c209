/* SPDX-License-Identifier: Apache-2.0 */
/* Stage regions: sums over the largest components, in five kernels that share integer counters. regions_measure.cu has the
 * first two. Here are two passes of the refinement by the images (Lucas and Kanade 1981; core/ground/obstacles.h), and the
 * records. Blocks add up by region in shared memory before they add to device memory. */
#include <stdlib.h>

#include "gpu/device/launch.cuh"
#include "gpu/obstacles/regions.cuh"

/* What the passes need of a region. */
struct __align__(16) known_region
{
    int median, inner_x0, inner_x1;
    int shift; /* by the first pass, 1/16 px; 0 in the first pass */
};

/* What the images say about the thread's pixels: 0 where the refinement does not use one. */
struct gradients {
    int gg[ROWS], ge[ROWS];
};

/* Bits of the thread's pixels that the refinement uses: the label is the same PLX_REFINE_MARGIN pixels to both sides. */
static __device__ __forceinline__ uint32_t find_usable(const plx_regions_args &a, const plx_region_pixels &p)
{
    uint32_t usable = 0;

    if (p.x < PLX_REFINE_MARGIN || p.x + PLX_REFINE_MARGIN >= a.labels.width)
        return 0;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const uint32_t *const label = a.labels.row(min(p.top + i, a.labels.height - 1)) + p.x;
        bool same = p.region[i] != NO_REGION;
#pragma unroll
        for (int k = 1; k <= PLX_REFINE_MARGIN; k++)
            same &= (label[-k] == p.label[i]) & (label[k] == p.label[i]);
        usable |= same ? 1u << i : 0;
    }
    return usable;
}

/* Compares the images at the thread's USABLE pixels, with disparities moved by SHIFT. All reads overlap. */
static __device__ __forceinline__ gradients compare_images(const plx_regions_args &a, const plx_region_pixels &p,
                                                           uint32_t usable, const int (&shift)[ROWS])
{
    int at[ROWS], left[ROWS][3], right[ROWS][2]; /* AT: place in the right image, below 0 if there is none */
    gradients g;

#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        at[i] = plx_refine_place(a.labels.width, p.x, p.disparity[i], shift[i], a.min_disparity);
        at[i] = usable >> i & 1 ? at[i] : -1;
        const uint8_t *const from_left = a.left.row(p.top + i) + p.x, *const from_right = a.right.row(p.top + i) + (at[i] >> 4);
#pragma unroll
        for (int k = 0; k < 3; k++)
            left[i][k] = at[i] >= 0 ? from_left[k - 1] : 0;
#pragma unroll
        for (int k = 0; k < 2; k++)
            right[i][k] = at[i] >= 0 ? from_right[k] : 0;
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        struct plx_refine_sums one = {0, 0, 0};
        plx_refine_pixel(&one, left[i], right[i], at[i], p.disparity[i] + shift[i]);
        g.gg[i] = (int)one.gg;
        g.ge[i] = (int)one.ge;
    }
    return g;
}

/* The shift by the first pass. */
static __device__ __forceinline__ int first_shift(const plx_regions_args &a, uint32_t region)
{
    const sum64 *const sum = a.at.sums + FIRST_PASS * PLX_MAX_OBSTACLES + region;
    const struct plx_refine_sums sums = {(int64_t)sum[0], (int64_t)sum[PLX_MAX_OBSTACLES], (int64_t)sum[2 * PLX_MAX_OBSTACLES]};
    return plx_refine_step(&sums);
}

/* The warp's sums of gg, ge and ggd over the pixels OWN, a bit each; 0 where the left image has no gradient. The whole warp
 * calls it. */
static __device__ __forceinline__ void sum_part(const plx_region_pixels &p, const gradients &g, uint32_t own, int shift,
                                                sum64 *ret_sums)
{
    int gg = 0, ge = 0;
    int64_t ggd = 0;

#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int one = own >> i & 1 ? g.gg[i] : 0;
        gg += one;
        ge += own >> i & 1 ? g.ge[i] : 0;
        ggd += (int64_t)one * ((int)p.disparity[i] + shift);
    }
    if (!__any_sync(PLX_ALL_LANES, gg != 0))
        return;
    ret_sums[0] = plx_warp_sum(gg);
    ret_sums[1] = (sum64)(int64_t)(int32_t)plx_warp_sum(ge);
    ret_sums[2] = plx_warp_sum64(ggd);
}

/* The warp's number, disparities and coordinates of the pixels INTERIOR, a bit each. The whole warp calls it. */
static __device__ __forceinline__ void sum_interior(const plx_region_pixels &p, uint32_t interior, sum64 *ret_sums)
{
    uint32_t disparity = 0, y = 0;

#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        disparity += interior >> i & 1 ? p.disparity[i] : 0;
        y += interior >> i & 1 ? p.top + i : 0;
    }
    ret_sums[AREA] = plx_warp_sum(__popc(interior));
    ret_sums[DISPARITY] = plx_warp_sum(disparity);
    ret_sums[X] = plx_warp_sum(__popc(interior) * p.x);
    ret_sums[Y] = plx_warp_sum(y);
}

/* Adds the warp's pixels to the block's SUMS: of the first pass from AREA on, of the second from SECOND_PASS on. */
template <bool SECOND, int COUNT>
static __device__ __forceinline__ void add_pixels(const plx_region_pixels &p, const gradients &g, const known_region *known,
                                                  sum64 (&sums)[COUNT][PLX_MAX_OBSTACLES])
{
    plx_for_each_region(p.region, [&](uint32_t one, uint32_t own) {
        const known_region region = known[one];
        sum64 sum[COUNT] = {}, lane_sum = 0;
        uint32_t interior = 0;
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            interior |= abs((int)p.disparity[i] - region.median) <= PLX_INTERIOR_DEPTH ? own & 1u << i : 0;
        if (SECOND) {
            sum_part(p, g, interior, region.shift, sum + 3 * INTERIOR);
            sum_part(p, g, p.x < region.inner_x0 + PLX_REFINE_STRIP ? own : 0, region.shift, sum + 3 * LEFT_STRIP);
            sum_part(p, g, p.x > region.inner_x1 - PLX_REFINE_STRIP ? own : 0, region.shift, sum + 3 * RIGHT_STRIP);
        } else {
            sum_interior(p, interior, sum);
            sum_part(p, g, interior, 0, sum + FIRST_PASS);
        }
#pragma unroll
        for (int k = 0; k < COUNT; k++)
            lane_sum = threadIdx.x == k ? sum[k] : lane_sum;
        if (lane_sum != 0)
            atomicAdd(&sums[threadIdx.x][one], lane_sum);
    });
}

/* Grid: a block 32 x 32 pixels, a thread 4 pixels of a column. Reads 6 bytes a pixel, and around those of regions 6 labels and
 * 5 bytes of the images from cache. Labels and images are older than the kernels of this stage, so they are read before the
 * wait. For the same reason the first pass triggers the second one at once. */
template <bool SECOND> static __global__ void __launch_bounds__(BLOCK) refine_kernel(plx_regions_args a)
{
    constexpr int from = SECOND ? SECOND_PASS : 0, count = SECOND ? SUMS - SECOND_PASS : SECOND_PASS;
    __shared__ sum64 sums[count][PLX_MAX_OBSTACLES];
    __shared__ known_region known[PLX_MAX_OBSTACLES];
    const uint32_t thread = threadIdx.y * BLOCK_X + threadIdx.x;
    int shift[ROWS] = {};
    gradients g = {};

    if (!SECOND)
        plx_trigger_dependents();
    const plx_region_pixels p(a);
    const bool any = __any_sync(PLX_ALL_LANES, p.have_region());
    const uint32_t usable = any ? find_usable(a, p) : 0;
    if (!SECOND && any)
        g = compare_images(a, p, usable, shift);
    plx_grid_wait();
    if (SECOND)
        plx_trigger_dependents();
    if (!__syncthreads_or(any))
        return;
    known[thread] = {(int)a.at.found[thread].median, a.at.found[thread].inner_x0, a.at.found[thread].inner_x1,
                     SECOND ? first_shift(a, thread) : 0};
#pragma unroll
    for (int k = 0; k < count; k++)
        sums[k][thread] = 0;
    __syncthreads();
    if (SECOND && any) {
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            shift[i] = p.region[i] != NO_REGION ? known[p.region[i]].shift : 0;
        g = compare_images(a, p, usable, shift);
    }
    if (any)
        add_pixels<SECOND>(p, g, known, sums);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < count; k++)
        if (sums[k][thread] != 0)
            atomicAdd(&a.at.sums[(from + k) * PLX_MAX_OBSTACLES + thread], sums[k][thread]);
}

/* --- records, and the stage --------------------------------------------------------------------------------------------- */

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

    const struct plx_gpu_part parts[] = {{(void **)&s->bins, PLX_MAX_OBSTACLES * BINS * sizeof *s->bins},
                                         {(void **)&s->column, PLX_MAX_OBSTACLES * width * sizeof *s->column},
                                         {(void **)&s->row, PLX_MAX_OBSTACLES * height * sizeof *s->row},
                                         {(void **)&s->sums, PLX_MAX_OBSTACLES * SUMS * sizeof *s->sums},
                                         {(void **)&s->found, PLX_MAX_OBSTACLES * sizeof *s->found},
                                         {(void **)&s->count, sizeof *s->count}};
    return plx_gpu_alloc_parts(gpu, parts, sizeof parts / sizeof parts[0]);
}

void plx_gpu_regions_destroy(struct plx_gpu *gpu)
{
    if (gpu->regions)
        plx_gpu_free(&gpu->base, gpu->regions->bins);
    free(gpu->regions);
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
    const dim3 grid = plx_regions_grid(&args), block(BLOCK_X, BLOCK_Y);
    int result = plx_gpu_regions_measure(gpu, &args);
    if (result == 0)
        result = PLX_LAUNCH_DEPENDENT(gpu, refine_kernel<false>, grid, block, args);
    if (result == 0)
        result = PLX_LAUNCH_DEPENDENT(gpu, refine_kernel<true>, grid, block, args);
    return result < 0 ? result : PLX_LAUNCH_DEPENDENT(gpu, record_kernel, PLX_MAX_OBSTACLES, REGION_WORDS, args);
}
