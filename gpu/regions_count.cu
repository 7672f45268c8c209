/* SPDX-License-Identifier: Apache-2.0 */
/* Stage regions, first part: pixels of each region by column, by row and by disparity. */
#include "gpu/counters.cuh"
#include "gpu/regions.cuh"

/* Of a block, by their place in memory. Each has one slot: to look at another costs as much as to count in memory. */
typedef plx_counters<9, 1> bin_counters;

/* Pixels of a region, one below the other. */
struct stack {
    uint32_t region, count;
};

static __device__ __forceinline__ void add_column(const plx_regions_args &a, stack s, int x)
{
    if (s.count > 0)
        atomicAdd(&a.at.column[s.region * a.labels.width + x], s.count);
}

/* Goes on with COUNT pixels of REGION: what was of another is added to the column. */
static __device__ __forceinline__ void pile(const plx_regions_args &a, stack &s, uint32_t region, uint32_t count, int x)
{
    if (region != s.region) {
        add_column(a, s, x);
        s = {region, 0};
    }
    s.count += count;
}

/* Adds the warp's pixels of each region to its rows, of which TOP is the first. All lanes call it. */
static __device__ __forceinline__ void count_rows(const plx_regions_args &a, const uint32_t (&region)[ROWS], int top)
{
    const uint32_t lane = threadIdx.x;

    by_region(region, [&](uint32_t one, uint32_t mine) {
        uint32_t count = 0;
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const uint32_t row = __popc(__ballot_sync(~0u, mine >> i & 1));
            count = lane == i ? row : count;
        }
        if (count > 0)
            atomicAdd(&a.at.row[one * a.labels.height + top + lane], count);
    });
}

/* Counts the pixels' disparities. All lanes call it. */
static __device__ __forceinline__ void count_bins(const plx_regions_args &a, const uint32_t (&region)[ROWS],
                                                  const uint32_t (&disparity)[ROWS], bin_counters &bins)
{
    uint32_t at[ROWS], count[ROWS], key[ROWS]; /* by one step for all pixels at a time, whose waits then overlap */

#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const uint32_t bin = min(disparity[i], BINS - 1);
        at[i] = region[i] == NO_REGION ? NO_REGION : region[i] * BINS + bin % BIN_ROWS * BIN_ROW + bin / BIN_ROWS;
        const uint32_t same = __match_any_sync(~0u, at[i]);
        count[i] = at[i] != NO_REGION && threadIdx.x == (uint32_t)__ffs(same) - 1 ? __popc(same) : 0;
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        key[i] = count[i] > 0 ? atomicCAS(&bins.key[bins.slot_of(at[i])], PLX_NO_KEY, at[i]) : 0;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const bool mine = key[i] == PLX_NO_KEY || key[i] == at[i];
        if (count[i] > 0 && mine)
            atomicAdd(&bins.count[bins.slot_of(at[i])], count[i]);
        if (count[i] > 0 && !mine)
            atomicAdd(&a.at.bins[at[i]], count[i]);
    }
}

/* Adds a block's pixels, of which the thread's lie in REGION and OWN; ANY: of the warp is in any. BINS are empty. All threads
 * call it. At the end one warp has the columns, the others the bins. */
static __device__ __forceinline__ void count_block(const plx_regions_args &a, const uint32_t (&region)[ROWS],
                                                   const uint32_t (&disparity)[ROWS], bool any, stack own, int x, int top,
                                                   bin_counters &bins)
{
    __shared__ stack stacks[BLOCK_Y][BLOCK_X];

    stacks[threadIdx.y][threadIdx.x] = own;
    if (any) {
        count_rows(a, region, top);
        count_bins(a, region, disparity, bins);
    }
    __syncthreads();
    if (threadIdx.y == 0) {
        for (int i = 1; i < BLOCK_Y; i++)
            if (stacks[i][threadIdx.x].count > 0)
                pile(a, own, stacks[i][threadIdx.x].region, stacks[i][threadIdx.x].count, x);
        add_column(a, own, x);
        return;
    }
    for (int i = (threadIdx.y - 1) * BLOCK_X + threadIdx.x; i < bin_counters::SLOTS; i += BLOCK - BLOCK_X)
        if (bins.count[i] > 0)
            atomicAdd(&a.at.bins[bins.key[i]], bins.count[i]);
}

/* Grid: a block 32 x 32 pixels, a thread 4 pixels of a column. Reads 6 bytes a pixel, writes 2. */
static __global__ void __launch_bounds__(BLOCK) count_kernel(plx_regions_args a)
{
    __shared__ bin_counters bins;
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, top = (blockIdx.y * BLOCK_Y + threadIdx.y) * ROWS;
    const bool first = blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0 && threadIdx.y == 0;
    const uint32_t count = first ? *a.count : 0; /* which may lie in the other processor's memory: one look for all */
    uint32_t label[ROWS], disparity[ROWS], region[ROWS];
    stack own = {NO_REGION, 0};

    plx_lead();
    read_column(a.labels, x, top, label);
    read_column(a.disparity, x, top, disparity);
    bins.clear(threadIdx.y * BLOCK_X + threadIdx.x, BLOCK);
    const bool any = find_regions(label, PLX_MAX_OBSTACLES, region);
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        if (x < a.labels.width && top + i < a.labels.height)
            a.published.row(top + i)[x] = (uint16_t)(label[i] <= PLX_MAX_OBSTACLES ? label[i] : 0xFFFF);
        if (region[i] != NO_REGION)
            pile(a, own, region[i], 1, x);
    }
    if (__syncthreads_or(any))
        count_block(a, region, disparity, any, own, x, top, bins);
    if (first)
        *a.at.count = min(count, (uint32_t)PLX_MAX_OBSTACLES);
}

int plx_gpu_regions_count(struct plx_gpu *gpu, const plx_regions_args *args)
{
    count_kernel<<<plx_regions_grid(args), dim3(BLOCK_X, BLOCK_Y), 0, gpu->stream>>>(*args);
    return PLX_LAUNCHED(gpu, count_kernel);
}
