/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage regions, first half: count by column, by row and by the disparities' high bytes; measure the boxes and choose the high
 * bytes of the percentiles; count low bytes; choose them. Blocks gather before they add to memory.
 */
#include "gpu/regions.cuh"

#define SLOTS 1024 /* of a block's counters */

/* A block's counters by their index in memory: those that find no slot go to memory at once. */
struct cache {
    uint32_t index[SLOTS], count[SLOTS];

    __device__ void clear()
    {
        for (int i = threadIdx.y * BLOCK_X + threadIdx.x; i < SLOTS; i += BLOCK) {
            index[i] = NO_REGION;
            count[i] = 0;
        }
    }

    __device__ void add(uint32_t *memory, uint32_t at, uint32_t n)
    {
        const uint32_t slot = at * 2654435761u >> 22, was = atomicCAS(&index[slot], NO_REGION, at);
        atomicAdd(was == NO_REGION || was == at ? &count[slot] : &memory[at], n);
    }

    __device__ void flush(uint32_t *memory) const
    {
        for (int i = threadIdx.y * BLOCK_X + threadIdx.x; i < SLOTS; i += BLOCK)
            if (count[i] > 0)
                atomicAdd(&memory[index[i]], count[i]);
    }
};

/* Lanes of the warp with the same KEY; true in the first of them. */
static __device__ __forceinline__ bool first_of_equals(uint32_t key, uint32_t *ret_count)
{
    const uint32_t same = __match_any_sync(~0u, key);
    *ret_count = __popc(same);
    return (uint32_t)__ffs(same) - 1 == threadIdx.x;
}

#define TALLY_WORDS (uint32_t)(sizeof(struct plx_tally) / sizeof(uint32_t))
#define LOW_WORD (uint32_t)(offsetof(struct plx_tally, low) / sizeof(uint32_t))

/* Grid: a block 32 x 32 pixels, a thread 4 pixels of a column. Reads 6 bytes a pixel, writes 2. */
static __global__ void __launch_bounds__(BLOCK) count_kernel(plx_regions_args a)
{
    __shared__ cache high;
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, top = (blockIdx.y * BLOCK_Y + threadIdx.y) * ROWS;
    const int width = a.labels.width, height = a.labels.height;
    const uint32_t count = count_of(a);
    const plx_column pixel(a, x, top);
    uint32_t above = label_at(a, x, top - 1), in_column = 0, last = 0; /* of the column's last region, so many pixels */

    high.clear();
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int y = top + i, disparity = pixel.disparity[i];
        const uint32_t label = pixel.label[i], region = label - 1 < count ? label - 1 : NO_REGION;
        if (x < width && y < height)
            a.published.row(y)[x] = (uint16_t)(label <= PLX_MAX_OBSTACLES ? label : 0xFFFF);
        if (__any_sync(~0u, region != NO_REGION)) {
            uint32_t n;
            if (first_of_equals(region, &n) && region != NO_REGION)
                atomicAdd(&a.at.row[region * height + y], n);
            if (first_of_equals(region == NO_REGION ? region : region << 8 | disparity >> 8, &n) && region != NO_REGION)
                high.add((uint32_t *)a.at.tally, region * TALLY_WORDS + (disparity >> 8), n);
        }
        if (region != NO_REGION) {
            const uint32_t index = ~((uint32_t)y * width + x);
            if (above != label && index > *(volatile uint32_t *)&a.at.tally[region].first && label_at(a, x - 1, y) != label)
                atomicMax(&a.at.tally[region].first, index);
            if (region != last && in_column > 0)
                atomicAdd(&a.at.column[last * width + x], in_column);
            in_column = region == last ? in_column + 1 : 1;
            last = region;
        }
        above = label;
    }
    if (in_column > 0)
        atomicAdd(&a.at.column[last * width + x], in_column);
    __syncthreads();
    high.flush((uint32_t *)a.at.tally);
}

struct plus {
    template <class T> static __device__ T of(T a, T b)
    {
        return a + b;
    }
};
struct least {
    template <class T> static __device__ T of(T a, T b)
    {
        return min(a, b);
    }
};
struct most {
    template <class T> static __device__ T of(T a, T b)
    {
        return max(a, b);
    }
};

/* VALUE of all threads of a block of BLOCK threads, in a row, together. */
template <class Op, class T> static __device__ T together(T value)
{
    __shared__ T part[BLOCK / 32];
    for (int step = 16; step > 0; step /= 2)
        value = Op::of(value, __shfl_xor_sync(~0u, value, step));
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = value;
    __syncthreads();
    value = part[0];
    for (int i = 1; i < BLOCK / 32; i++)
        value = Op::of(value, part[i]);
    return value;
}

/* What the counters along one side tell: pixels, their sum of coordinates, and the sides of both boxes. */
struct side {
    uint32_t area;
    sum64 sum;
    int32_t first, last, inner_first, inner_last;
};

static __device__ side measure_side(const uint32_t *counter, int length)
{
    side s = {0, 0, INT32_MAX, 0, INT32_MAX, 0};
    uint32_t fullest = 0;

    for (int i = threadIdx.x; i < length; i += BLOCK) {
        const uint32_t n = counter[i];
        if (n == 0)
            continue;
        s.area += n;
        s.sum += (sum64)n * i;
        s.first = min(s.first, i);
        s.last = i;
        fullest = max(fullest, n);
    }
    s.area = together<plus>(s.area);
    s.sum = together<plus>(s.sum);
    s.first = together<least>(s.first);
    s.last = together<most>(s.last);
    fullest = together<most>(fullest);
    for (int i = threadIdx.x; i < length; i += BLOCK) {
        if (counter[i] > 0 && counter[i] * 2 >= fullest) {
            s.inner_first = min(s.inner_first, i);
            s.inner_last = i;
        }
    }
    s.inner_first = together<least>(s.inner_first);
    s.inner_last = together<most>(s.inner_last);
    if (s.area == 0)
        s.first = s.inner_first = 0;
    return s;
}

/* Sums of COUNTER[0..i] for all i. */
static __device__ void sum_up(const uint32_t counter[BYTE], uint32_t up_to[BYTE])
{
    const int i = threadIdx.x;
    __syncthreads();
    up_to[i] = counter[i];
    for (int step = 1; step < BYTE; step *= 2) {
        __syncthreads();
        const uint32_t before = i >= step ? up_to[i - step] : 0;
        __syncthreads();
        up_to[i] += before;
    }
    __syncthreads();
}

/* Index of the counter that holds the element of *RANK, which becomes its rank among that counter's. */
static __device__ uint32_t select_rank(const uint32_t up_to[BYTE], uint32_t *rank)
{
    const uint32_t i = __syncthreads_count(threadIdx.x < BYTE - 1 && up_to[threadIdx.x] <= *rank);
    *rank -= i > 0 ? up_to[i - 1] : 0;
    return i;
}

/* Grid: a block a region. Reads its counters by column, row and high byte. */
static __global__ void __launch_bounds__(BLOCK) measure_kernel(plx_regions_args a)
{
    __shared__ uint32_t up_to[BYTE];
    const uint32_t i = blockIdx.x, percent[PERCENTILES] = {5, 50, 95};
    const int width = a.labels.width, height = a.labels.height;
    if (i >= count_of(a))
        return;

    const side x = measure_side(a.at.column + i * width, width), y = measure_side(a.at.row + i * height, height);
    struct plx_finding *finding = &a.at.finding[i];
    sum_up(a.at.tally[i].high, up_to);
    for (int k = 0; k < PERCENTILES; k++) {
        uint32_t rank = (uint32_t)((uint64_t)(x.area > 0 ? x.area - 1 : 0) * percent[k] / 100);
        const uint32_t high = select_rank(up_to, &rank);
        if (threadIdx.x == 0) {
            finding->rank[k] = rank;
            finding->high[k] = high;
        }
    }
    if (threadIdx.x > 0)
        return;
    struct plx_region region = {i + 1, x.area, x.area > 0 ? ~a.at.tally[i].first : 0};
    region.x0 = x.first, region.x1 = x.last, region.y0 = y.first, region.y1 = y.last;
    region.inner_x0 = x.inner_first, region.inner_x1 = x.inner_last;
    region.inner_y0 = y.inner_first, region.inner_y1 = y.inner_last;
    region.sum_x = x.sum, region.sum_y = y.sum;
    finding->region = region;
}

/* First percentile of a region whose high byte is HIGH; PERCENTILES if none is. Its low bytes are counted there. */
static __device__ __forceinline__ int low_counter(const struct plx_finding *finding, uint32_t high)
{
    return finding->high[0] == high ? 0 : finding->high[1] == high ? 1 : finding->high[2] == high ? 2 : PERCENTILES;
}

/* Grid: as count_kernel. Reads 6 bytes a pixel. */
static __global__ void __launch_bounds__(BLOCK) count_low_kernel(plx_regions_args a)
{
    __shared__ cache low;
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, top = (blockIdx.y * BLOCK_Y + threadIdx.y) * ROWS;
    const uint32_t count = count_of(a);
    const plx_column pixel(a, x, top);

    low.clear();
    __syncthreads();
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const uint32_t region = pixel.label[i] - 1, disparity = pixel.disparity[i];
        const uint32_t k = region < count ? low_counter(&a.at.finding[region], disparity >> 8) : PERCENTILES;
        const uint32_t word = region * TALLY_WORDS + LOW_WORD + k * BYTE + (disparity & 255);
        uint32_t n;
        if (first_of_equals(k < PERCENTILES ? word : NO_REGION, &n) && k < PERCENTILES)
            low.add((uint32_t *)a.at.tally, word, n);
    }
    __syncthreads();
    low.flush((uint32_t *)a.at.tally);
}

/* Grid: a block a region. Reads its counters by low byte. */
static __global__ void __launch_bounds__(BLOCK) choose_kernel(plx_regions_args a)
{
    __shared__ uint32_t up_to[BYTE];
    const uint32_t i = blockIdx.x;
    uint32_t value[PERCENTILES];
    if (i >= count_of(a))
        return;

    struct plx_finding *finding = &a.at.finding[i];
    for (int k = 0; k < PERCENTILES; k++) {
        uint32_t rank = finding->rank[k];
        sum_up(a.at.tally[i].low[low_counter(finding, finding->high[k])], up_to);
        value[k] = finding->high[k] << 8 | select_rank(up_to, &rank);
    }
    if (threadIdx.x == 0) {
        finding->region.p05 = value[0];
        finding->region.median = value[1];
        finding->region.p95 = value[2];
    }
}

int plx_gpu_regions_count(struct plx_gpu *gpu, const plx_regions_args *args)
{
    const dim3 block(BLOCK_X, BLOCK_Y), grid = plx_regions_grid(args);

    count_kernel<<<grid, block, 0, gpu->stream>>>(*args);
    int result = PLX_LAUNCHED(gpu, count_kernel);
    if (result < 0)
        return result;
    measure_kernel<<<PLX_MAX_OBSTACLES, BLOCK, 0, gpu->stream>>>(*args);
    result = PLX_LAUNCHED(gpu, measure_kernel);
    if (result < 0)
        return result;
    count_low_kernel<<<grid, block, 0, gpu->stream>>>(*args);
    result = PLX_LAUNCHED(gpu, count_low_kernel);
    if (result < 0)
        return result;
    choose_kernel<<<PLX_MAX_OBSTACLES, BLOCK, 0, gpu->stream>>>(*args);
    return PLX_LAUNCHED(gpu, choose_kernel);
}
