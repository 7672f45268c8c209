/* SPDX-License-Identifier: Apache-2.0 */
/* Stage regions, first part: pixels of each region by column, by row and by disparity. */
#include "gpu/regions.cuh"

#define SLOTS 512
#define APART 61 /* slots that the same disparity of the next region is further on */

/* Counters of a block in shared memory, by region * BINS + bin. Each has one slot, which is another's only if that is of
 * another region or 32 pixels of disparity away: who finds it taken counts in memory. */
struct bin_counters {
    uint32_t key[SLOTS], count[SLOTS];

    static __device__ __forceinline__ uint32_t slot_of(uint32_t key)
    {
        return (key + key / BINS * APART) % SLOTS;
    }
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

/* The thread's pixels in the first region that it has; those in others go to memory. */
static __device__ __forceinline__ stack stack_of(const plx_regions_args &a, const uint32_t (&region)[ROWS], int x)
{
    stack own = {NO_REGION, 0};
    bool others = false;

#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        own.region = own.region == NO_REGION ? region[i] : own.region;
        own.count += own.region != NO_REGION && region[i] == own.region ? 1 : 0;
        others = others || (region[i] != NO_REGION && region[i] != own.region);
    }
    if (others)
#pragma unroll
        for (int i = 1; i < ROWS; i++)
            if (region[i] != own.region && region[i] != NO_REGION)
                add_column(a, {region[i], 1}, x);
    return own;
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

/* Takes the slots of the pixels' KEYS: each belongs to who took it last. */
static __device__ __forceinline__ void take_slots(const uint32_t (&region)[ROWS], const uint32_t (&disparity)[ROWS],
                                                  bin_counters &bins, uint32_t (&ret_key)[ROWS])
{
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        ret_key[i] = region[i] * BINS + min(disparity[i], BINS - 1);
        if (region[i] != NO_REGION)
            atomicExch(&bins.key[bins.slot_of(ret_key[i])], ret_key[i]);
    }
}

static __device__ __forceinline__ void count_in_memory(const plx_regions_args &a, uint32_t key, uint32_t count)
{
    atomicAdd(&a.at.bins[key / BINS * BINS + key % BIN_ROWS * BIN_ROW + key % BINS / BIN_ROWS], count);
}

/* Counts the pixels by their keys. */
static __device__ __forceinline__ void count_bins(const plx_regions_args &a, const uint32_t (&region)[ROWS],
                                                  const uint32_t (&key)[ROWS], bin_counters &bins)
{
    uint32_t owner[ROWS]; /* by one step for all pixels at a time, whose waits then overlap */

#pragma unroll
    for (int i = 0; i < ROWS; i++)
        owner[i] = bins.key[bins.slot_of(key[i])];
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        if (region[i] == NO_REGION)
            continue;
        if (owner[i] == key[i])
            atomicAdd(&bins.count[bins.slot_of(key[i])], 1); /* at once for all lanes with the same one */
        else
            count_in_memory(a, key[i], 1);
    }
}

/* Adds a block's pixels, of which the thread's lie in REGION and OWN; ANY: of the warp is in any. BINS are empty. All threads
 * call it. At the end one warp has the columns, the others the bins. */
static __device__ __forceinline__ void count_block(const plx_regions_args &a, const uint32_t (&region)[ROWS],
                                                   const uint32_t (&key)[ROWS], bool any, stack own, int x, int top,
                                                   bin_counters &bins)
{
    __shared__ stack stacks[BLOCK_Y][BLOCK_X];

    stacks[threadIdx.y][threadIdx.x] = own;
    if (any) {
        count_rows(a, region, top);
        count_bins(a, region, key, bins);
    }
    __syncthreads();
    if (threadIdx.y == 0) {
        for (int i = 1; i < BLOCK_Y; i++)
            if (stacks[i][threadIdx.x].count > 0)
                pile(a, own, stacks[i][threadIdx.x].region, stacks[i][threadIdx.x].count, x);
        add_column(a, own, x);
        return;
    }
    for (int i = (threadIdx.y - 1) * BLOCK_X + threadIdx.x; i < SLOTS; i += BLOCK - BLOCK_X)
        if (bins.count[i] > 0)
            count_in_memory(a, bins.key[i], bins.count[i]);
}

static __device__ __forceinline__ void publish(const plx_regions_args &a, const uint32_t (&label)[ROWS], int x, int top,
                                               int rows)
{
    char *to = (char *)(a.published.row(top) + x);

#pragma unroll
    for (int i = 0; i < ROWS; i++)
        if (i < rows)
            *(uint16_t *)(to + i * a.published.pitch) = (uint16_t)(label[i] <= PLX_MAX_OBSTACLES ? label[i] : 0xFFFF);
}

/* Grid: a block 32 x 32 pixels, a thread 4 pixels of a column. Reads 6 bytes a pixel, writes 2. */
static __global__ void __launch_bounds__(BLOCK) count_kernel(plx_regions_args a)
{
    __shared__ bin_counters bins;
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, top = (blockIdx.y * BLOCK_Y + threadIdx.y) * ROWS;
    const int rows = rows_inside(a, x, top);
    const bool first = blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0 && threadIdx.y == 0;
    const uint32_t count = first ? *a.count : 0; /* which may lie in the other processor's memory: one look for all */
    uint32_t label[ROWS], disparity[ROWS], region[ROWS], key[ROWS];
    stack own = {NO_REGION, 0};

    plx_lead();
    read_column(a.labels, x, top, rows, label);
    read_column(a.disparity, x, top, rows, disparity);
#pragma unroll
    for (int i = 0; i < SLOTS / BLOCK; i++)
        bins.count[i * BLOCK + threadIdx.y * BLOCK_X + threadIdx.x] = 0;
    const bool any = find_regions(label, PLX_MAX_OBSTACLES, region);
    publish(a, label, x, top, rows);
    if (any) {
        own = stack_of(a, region, x);
        take_slots(region, disparity, bins, key);
    }
    if (__syncthreads_or(any))
        count_block(a, region, key, any, own, x, top, bins);
    if (first)
        *a.at.count = min(count, (uint32_t)PLX_MAX_OBSTACLES);
}

int plx_gpu_regions_count(struct plx_gpu *gpu, const plx_regions_args *args)
{
    count_kernel<<<plx_regions_grid(args), dim3(BLOCK_X, BLOCK_Y), 0, gpu->stream>>>(*args);
    return PLX_LAUNCHED(gpu, count_kernel);
}
