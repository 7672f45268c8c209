/* SPDX-License-Identifier: Apache-2.0 */
/* Stage regions, first part: pixels of each region by column, by row and by disparity. */
#include "gpu/counters.cuh"
#include "gpu/regions.cuh"

/* Of a block, by their place in memory. Each has one slot: to look at another costs as much as to count in memory. */
typedef plx_counters<9, 1> bin_counters;

/* Adds the lanes of each REGION to its COUNTER, counters being STRIDE apart. All lanes call it. */
static __device__ __forceinline__ void count_row(uint32_t region, uint32_t *counter, int stride)
{
    for (uint32_t open = __ballot_sync(~0u, region != NO_REGION); open != 0;) {
        const uint32_t one = __shfl_sync(~0u, region, __ffs(open) - 1), same = __ballot_sync(~0u, region == one);
        if (threadIdx.x == 0)
            atomicAdd(&counter[one * stride], (uint32_t)__popc(same));
        open &= ~same;
    }
}

/* Grid: a block 32 x 32 pixels, a thread 4 pixels of a column. Reads 6 bytes a pixel, writes 2. */
static __global__ void __launch_bounds__(BLOCK) count_kernel(plx_regions_args a)
{
    __shared__ bin_counters bins;
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, top = (blockIdx.y * BLOCK_Y + threadIdx.y) * ROWS;
    const int width = a.labels.width, height = a.labels.height, thread = threadIdx.y * BLOCK_X + threadIdx.x;
    const bool first = blockIdx.x == 0 && blockIdx.y == 0 && thread == 0;
    const uint32_t count = first ? *a.count : 0; /* which may lie in the other processor's memory: one look for all */
    const plx_column pixel(a, x, top);
    uint32_t in_column = 0, last = NO_REGION; /* of the column's last region, so many pixels */

    bins.clear(thread, BLOCK);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const uint32_t label = pixel.label[i], region = label - 1 < PLX_MAX_OBSTACLES ? label - 1 : NO_REGION;
        if (x < width && top + i < height)
            a.published.row(top + i)[x] = (uint16_t)(label <= PLX_MAX_OBSTACLES ? label : 0xFFFF);
        if (!__any_sync(~0u, region != NO_REGION))
            continue;
        count_row(region, a.at.row + top + i, height);
        const uint32_t at = region == NO_REGION ? NO_REGION : region * BINS + min(pixel.disparity[i], BINS - 1);
        const uint32_t same = __match_any_sync(~0u, at);
        if (region == NO_REGION)
            continue;
        if (threadIdx.x == (uint32_t)__ffs(same) - 1 && !bins.add(at, __popc(same)))
            atomicAdd(&a.at.bins[at], (uint32_t)__popc(same));
        if (region != last && in_column > 0)
            atomicAdd(&a.at.column[last * width + x], in_column);
        in_column = region == last ? in_column + 1 : 1;
        last = region;
    }
    if (in_column > 0)
        atomicAdd(&a.at.column[last * width + x], in_column);
    __syncthreads();
    for (int i = thread; i < bin_counters::SLOTS; i += BLOCK)
        if (bins.count[i] > 0)
            atomicAdd(&a.at.bins[bins.key[i]], bins.count[i]);
    if (first)
        *a.at.count = min(count, (uint32_t)PLX_MAX_OBSTACLES);
}

int plx_gpu_regions_count(struct plx_gpu *gpu, const plx_regions_args *args)
{
    count_kernel<<<plx_regions_grid(args), dim3(BLOCK_X, BLOCK_Y), 0, gpu->stream>>>(*args);
    return PLX_LAUNCHED(gpu, count_kernel);
}
