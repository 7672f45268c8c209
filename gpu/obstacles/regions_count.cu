/* SPDX-License-Identifier: Apache-2.0 */
/* Stage regions, first part: pixels of each region by column, by row and by disparity. */
#include "gpu/obstacles/regions.cuh"

#define BLOCKS (PLX_ARCH == 900 ? 8 : 1) /* of a multiprocessor */
#define SLOTS 512
#define APART 61 /* slots that the same disparity of the next region is further on */

/* Counters of a block in shared memory, by region * BINS + bin. Each has one slot, which is another's only if that is of
 * another region or 32 pixels of disparity away: who finds it taken counts in memory. */
struct bin_counters {
    uint32_t key[SLOTS], count[SLOTS];
};

static_assert(SLOTS == 2 * BLOCK, "a thread has two slots");

/* The thread's pixels by disparity: their counters' keys, and where these are in the block. */
struct bins_of_thread {
    uint32_t key[ROWS], slot[ROWS];
};

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

/* Adds the warp's pixels of each region to its rows, of which TOP is the first. Returns the thread's in the last region that it
 * has; those in others go to memory, by column. All lanes call it. */
static __device__ __forceinline__ stack count_sides(const plx_regions_args &a, const uint32_t (&region)[ROWS], int x, int top)
{
    const uint32_t lane = threadIdx.x;
    stack own = {NO_REGION, 0};

    by_region(region, [&](uint32_t one, uint32_t mine) {
        uint32_t count = 0;
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const uint32_t row = __popc(__ballot_sync(~0u, mine >> i & 1));
            count = lane == i ? row : count;
        }
        if (count > 0)
            atomicAdd(&a.at.row[one * a.labels.height + top + lane], count);
        if (mine != 0)
            pile(a, own, one, __popc(mine), x);
    });
    return own;
}

/* Takes the slots of the pixels' keys: each belongs to who took it last. */
static __device__ __forceinline__ bins_of_thread take_slots(const uint32_t (&region)[ROWS], const uint32_t (&disparity)[ROWS],
                                                            bin_counters &bins)
{
    bins_of_thread own;

#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const uint32_t bin = min(disparity[i], BINS - 1);
        own.key[i] = region[i] * BINS + bin;
        own.slot[i] = (region[i] * APART + bin) % SLOTS;
        if (region[i] != NO_REGION)
            atomicExch(&bins.key[own.slot[i]], own.key[i]);
    }
    return own;
}

static __device__ __forceinline__ void count_in_memory(const plx_regions_args &a, uint32_t key, uint32_t count)
{
    atomicAdd(&a.at.bins[key / BINS * BINS + key % BIN_ROWS * BIN_ROW + key % BINS / BIN_ROWS], count);
}

/* Counts the pixels by their keys. */
static __device__ __forceinline__ void count_bins(const plx_regions_args &a, const bins_of_thread &own, bin_counters &bins)
{
    uint32_t owner[ROWS]; /* by one step for all pixels at a time, whose waits then overlap */
    bool left = false;    /* are any, whose slot is another's */

#pragma unroll
    for (int i = 0; i < ROWS; i++)
        owner[i] = bins.key[own.slot[i]];
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const bool any = own.key[i] < NO_REGION * BINS, mine = any && owner[i] == own.key[i];
        if (mine)
            atomicAdd(&bins.count[own.slot[i]], 1); /* at once for all lanes with the same one */
        left = left || (any && !mine);
    }
    if (left)
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            if (own.key[i] < NO_REGION * BINS && owner[i] != own.key[i])
                count_in_memory(a, own.key[i], 1);
}

/* Adds a block's pixels, of which the thread has OWN in a column. At the end a warp adds up the columns. All threads call it.
 */
static __device__ __forceinline__ void give_block(const plx_regions_args &a, stack own, const bin_counters &bins, int x)
{
    __shared__ stack stacks[BLOCK_Y][BLOCK_X];
    const uint32_t first = 2 * (threadIdx.y * BLOCK_X + threadIdx.x);

    stacks[threadIdx.y][threadIdx.x] = own;
    __syncthreads();
    const uint2 count = *(const uint2 *)&bins.count[first];
    if (count.x > 0)
        count_in_memory(a, bins.key[first], count.x);
    if (count.y > 0)
        count_in_memory(a, bins.key[first + 1], count.y);
    if (threadIdx.y > 0)
        return;
#pragma unroll
    for (int i = 1; i < BLOCK_Y; i++)
        if (stacks[i][threadIdx.x].count > 0)
            pile(a, own, stacks[i][threadIdx.x].region, stacks[i][threadIdx.x].count, x);
    add_column(a, own, x);
}

/* Nobody on the GPU reads what is published: it need not stay in cache. */
static __device__ __forceinline__ void publish(const plx_regions_args &a, const uint32_t (&label)[ROWS], int x, int top,
                                               int rows)
{
    uint16_t *const to = a.published.below(a.published.data + x, top);

#pragma unroll
    for (int i = 0; i < ROWS; i++)
        if (i < rows)
            __stcs(a.published.below(to, i), (uint16_t)(label[i] <= PLX_MAX_OBSTACLES ? label[i] : 0xFFFF));
}

/* Grid: a block 32 x 32 pixels, a thread 4 pixels of a column. Reads 6 bytes a pixel, writes 2. */
static __global__ void __launch_bounds__(BLOCK, BLOCKS) count_kernel(plx_regions_args a)
{
    __shared__ __align__(16) bin_counters bins;
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, top = (blockIdx.y * BLOCK_Y + threadIdx.y) * ROWS;
    const int rows = rows_inside(a, x, top);
    const bool first = blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0 && threadIdx.y == 0;
    uint32_t label[ROWS], disparity[ROWS], region[ROWS];
    bins_of_thread own_bins;
    stack own = {NO_REGION, 0};

    *(uint2 *)&bins.count[2 * (threadIdx.y * BLOCK_X + threadIdx.x)] = make_uint2(0, 0);
    plx_follow();
    const uint32_t count = first ? *a.count : 0; /* which may lie in the other processor's memory: one look for all */
    read_column(a.labels, x, top, rows, label);
    read_column(a.disparity, x, top, rows, disparity);
    const bool any = find_regions(label, region);
    publish(a, label, x, top, rows);
    if (any) {
        own_bins = take_slots(region, disparity, bins);
        own = count_sides(a, region, x, top);
    }
    if (__syncthreads_or(any)) {
        if (any)
            count_bins(a, own_bins, bins);
        give_block(a, own, bins, x);
    }
    if (first)
        *a.at.count = min(count, (uint32_t)PLX_MAX_OBSTACLES);
}

int plx_gpu_regions_count(struct plx_gpu *gpu, const plx_regions_args *args)
{
    return PLX_LAUNCH_NEXT(gpu, count_kernel, plx_regions_grid(args), dim3(BLOCK_X, BLOCK_Y), *args);
}
