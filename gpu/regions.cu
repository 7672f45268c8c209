/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage regions: sums over the largest components, in seven kernels that nothing but integer atomics join: count by column, by
 * row and by the disparities' high bytes; measure the boxes and choose the high bytes of the percentiles; count low bytes;
 * choose them; the face and a first step of refinement; the second step; the records. Blocks gather before they add to memory.
 */
#include <stdlib.h>

#include "gpu/device.cuh"

#include "core/region_fit.h"

#define BLOCK_X 32 /* a warp is a part of a row */
#define BLOCK_Y 8
#define BLOCK (BLOCK_X * BLOCK_Y)
#define ROWS 8 /* of a thread, one below the other */
#define BYTE 256
#define PERCENTILES 3
#define NO_REGION 0xFFFFFFFFu
#define SLOTS 1024 /* of a block's counters */

typedef unsigned long long sum64; /* what atomicAdd takes; two's complement, so signs do not matter */

enum face_sum { AREA, DISPARITY, X, Y, FACE_GG, FACE_GE, FACE_GGD, FACE_SUMS };
enum refined_sum { FACE, LEFT = 3, RIGHT = 6, REFINED_SUMS = 9 };

/* Counters of one region, zeroed before each frame. */
struct tally {
    uint32_t high[BYTE];             /* pixels by high byte of the disparity */
    uint32_t low[PERCENTILES][BYTE]; /* of those with the percentile's high byte, pixels by low byte */
    sum64 face[FACE_SUMS];
    sum64 refined[REFINED_SUMS];
    uint32_t first; /* complement of the first pixel's index */
    uint32_t unused;
};

/* What is known of a region so far. */
struct finding {
    struct plx_region region;
    uint32_t rank[PERCENTILES]; /* of the percentile among the pixels of its high byte */
    uint32_t high[PERCENTILES];
};

/* In memory of the device. */
struct plx_gpu_regions {
    struct tally *tally;     /* [PLX_MAX_OBSTACLES], and behind it */
    uint32_t *column;        /* [PLX_MAX_OBSTACLES][width] pixels of the region in each column, and behind it */
    uint32_t *row;           /* [PLX_MAX_OBSTACLES][height]; the sizes are those of the image at hand */
    struct finding *finding; /* [PLX_MAX_OBSTACLES] */
};

struct regions_args {
    plx_view<const uint32_t> labels;
    plx_view<const uint16_t> disparity;
    plx_view<const uint8_t> left, right;
    plx_view<uint16_t> published;
    struct plx_gpu_regions at;
    const uint32_t *count;
    int min_disparity;
    struct plx_region *ret_regions;
};

static __device__ __forceinline__ uint32_t count_of(const regions_args &a)
{
    return min(*a.count, (uint32_t)PLX_MAX_OBSTACLES);
}

/* The label of a pixel; 0 outside. */
static __device__ __forceinline__ uint32_t label_at(const regions_args &a, int x, int y)
{
    return x < 0 || y < 0 || x >= a.labels.width || y >= a.labels.height ? 0 : a.labels.row(y)[x];
}

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

#define TALLY_WORDS (uint32_t)(sizeof(struct tally) / sizeof(uint32_t))
#define LOW_WORD (uint32_t)(offsetof(struct tally, low) / sizeof(uint32_t))

/* Grid: a block 32 x 64 pixels, a thread 8 pixels of a column. Reads 6 bytes a pixel, writes 2. */
static __global__ void __launch_bounds__(BLOCK) count_kernel(regions_args a)
{
    __shared__ cache high;
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, top = (blockIdx.y * BLOCK_Y + threadIdx.y) * ROWS;
    const int width = a.labels.width, height = a.labels.height;
    const uint32_t count = count_of(a);
    uint32_t above = label_at(a, x, top - 1), in_column = 0, region = NO_REGION;

    high.clear();
    __syncthreads();
    for (int y = top; y < top + ROWS; y++) {
        const uint32_t label = label_at(a, x, y), before = region;
        region = label - 1 < count ? label - 1 : NO_REGION;
        if (x < width && y < height)
            a.published.row(y)[x] = (uint16_t)(label <= PLX_MAX_OBSTACLES ? label : 0xFFFF);
        if (before != region && before != NO_REGION)
            atomicAdd(&a.at.column[before * width + x], in_column);
        in_column = before == region ? in_column + 1 : 1;

        const bool any = __any_sync(~0u, region != NO_REGION);
        if (any) {
            const uint32_t disparity = region != NO_REGION ? a.disparity.row(y)[x] : 0;
            uint32_t n;
            if (first_of_equals(region, &n) && region != NO_REGION)
                atomicAdd(&a.at.row[region * height + y], n);
            if (first_of_equals(region == NO_REGION ? region : region << 8 | disparity >> 8, &n) && region != NO_REGION)
                high.add((uint32_t *)a.at.tally, region * TALLY_WORDS + (disparity >> 8), n);
            if (region != NO_REGION && above != label && label_at(a, x - 1, y) != label)
                atomicMax(&a.at.tally[region].first, ~((uint32_t)y * width + x));
        }
        above = label;
    }
    if (region != NO_REGION)
        atomicAdd(&a.at.column[region * width + x], in_column);
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
static __global__ void __launch_bounds__(BLOCK) measure_kernel(regions_args a)
{
    __shared__ uint32_t up_to[BYTE];
    const uint32_t i = blockIdx.x, percent[PERCENTILES] = {5, 50, 95};
    const int width = a.labels.width, height = a.labels.height;
    if (i >= count_of(a))
        return;

    const side x = measure_side(a.at.column + i * width, width), y = measure_side(a.at.row + i * height, height);
    struct finding *finding = &a.at.finding[i];
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
static __device__ __forceinline__ int low_counter(const struct finding *finding, uint32_t high)
{
    return finding->high[0] == high ? 0 : finding->high[1] == high ? 1 : finding->high[2] == high ? 2 : PERCENTILES;
}

/* Grid: as count_kernel. Reads 6 bytes a pixel. */
static __global__ void __launch_bounds__(BLOCK) count_low_kernel(regions_args a)
{
    __shared__ cache low;
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, top = (blockIdx.y * BLOCK_Y + threadIdx.y) * ROWS;
    const uint32_t count = count_of(a);

    low.clear();
    __syncthreads();
    for (int y = top; y < top + ROWS; y++) {
        const uint32_t region = label_at(a, x, y) - 1;
        if (region >= count)
            continue;
        const uint32_t disparity = a.disparity.row(y)[x], k = low_counter(&a.at.finding[region], disparity >> 8);
        if (k < PERCENTILES)
            low.add((uint32_t *)a.at.tally, region * TALLY_WORDS + LOW_WORD + k * BYTE + (disparity & 255), 1);
    }
    __syncthreads();
    low.flush((uint32_t *)a.at.tally);
}

/* Grid: a block a region. Reads its counters by low byte. */
static __global__ void __launch_bounds__(BLOCK) choose_kernel(regions_args a)
{
    __shared__ uint32_t up_to[BYTE];
    const uint32_t i = blockIdx.x;
    uint32_t value[PERCENTILES];
    if (i >= count_of(a))
        return;

    struct finding *finding = &a.at.finding[i];
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

/* Adds the SUMS of those lanes of a warp that ASK for it to their regions' sums in shared memory; all lanes call it. */
template <int N> static __device__ void gather(sum64 (*shared)[N], bool ask, uint32_t region, int64_t (&sums)[N])
{
    for (uint32_t open = __ballot_sync(~0u, ask && region != NO_REGION); open != 0;) {
        const uint32_t one = __shfl_sync(~0u, region, __ffs(open) - 1);
        const bool mine = ask && region == one;
#pragma unroll
        for (int k = 0; k < N; k++) {
            int64_t sum = mine ? sums[k] : 0;
            for (int step = 16; step > 0; step /= 2)
                sum += __shfl_xor_sync(~0u, sum, step);
            if (threadIdx.x == 0 && sum != 0)
                atomicAdd(&shared[one][k], (sum64)sum);
        }
        open &= ~__ballot_sync(~0u, mine);
    }
#pragma unroll
    for (int k = 0; k < N; k++)
        sums[k] = ask ? 0 : sums[k];
}

template <int N> static __device__ void clear(sum64 (*shared)[N])
{
    for (int i = threadIdx.y * BLOCK_X + threadIdx.x; i < PLX_MAX_OBSTACLES * N; i += BLOCK)
        shared[i / N][i % N] = 0;
}

/* True where the images may refine: not near the ends of a run of the label. */
static __device__ __forceinline__ bool within_run(const regions_args &a, int x, int y, uint32_t label)
{
    bool within = true;
#pragma unroll
    for (int i = 1; i <= PLX_REFINE_MARGIN; i++)
        within = within && label_at(a, x - i, y) == label && label_at(a, x + i, y) == label;
    return within;
}

static __device__ __forceinline__ struct plx_refine_sums refine_at(const regions_args &a, int x, int y, int disparity,
                                                                   int shift)
{
    struct plx_refine_sums sums = {0, 0, 0};
    plx_refine_add(&sums, a.left.row(y), a.right.row(y), a.labels.width, x, disparity, shift, a.min_disparity);
    return sums;
}

static __device__ __forceinline__ bool in_face(const struct plx_region *region, int disparity)
{
    return abs(disparity - (int)region->median) <= PLX_FACE_DEPTH;
}

/* Grid: as count_kernel. The face, and the sums of its first step. Reads 8 bytes a pixel of a region. */
static __global__ void __launch_bounds__(BLOCK) face_kernel(regions_args a)
{
    __shared__ sum64 shared[PLX_MAX_OBSTACLES][FACE_SUMS];
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, top = (blockIdx.y * BLOCK_Y + threadIdx.y) * ROWS;
    const uint32_t count = count_of(a);
    uint32_t region = NO_REGION;
    int64_t sums[FACE_SUMS] = {0};

    clear(shared);
    __syncthreads();
    for (int y = top; y < top + ROWS; y++) {
        const uint32_t label = label_at(a, x, y), now = label - 1 < count ? label - 1 : NO_REGION;
        if (__any_sync(~0u, region != now))
            gather(shared, region != now, region, sums);
        region = now;
        const int disparity = region != NO_REGION ? a.disparity.row(y)[x] : 0;
        if (region == NO_REGION || !in_face(&a.at.finding[region].region, disparity))
            continue;
        sums[AREA]++;
        sums[DISPARITY] += disparity;
        sums[X] += x;
        sums[Y] += y;
        if (within_run(a, x, y, label)) {
            const struct plx_refine_sums more = refine_at(a, x, y, disparity, 0);
            sums[FACE_GG] += more.gg;
            sums[FACE_GE] += more.ge;
            sums[FACE_GGD] += more.ggd;
        }
    }
    gather(shared, true, region, sums);
    __syncthreads();
    for (int i = threadIdx.y * BLOCK_X + threadIdx.x; i < (int)count * FACE_SUMS; i += BLOCK)
        if (shared[i / FACE_SUMS][i % FACE_SUMS] != 0)
            atomicAdd(&a.at.tally[i / FACE_SUMS].face[i % FACE_SUMS], shared[i / FACE_SUMS][i % FACE_SUMS]);
}

static __device__ __forceinline__ void add_if(bool condition, int64_t *sums, const struct plx_refine_sums &more)
{
    sums[0] += condition ? more.gg : 0;
    sums[1] += condition ? more.ge : 0;
    sums[2] += condition ? more.ggd : 0;
}

/* Grid: as count_kernel. The sums of the second step: of the face and of the strips on both sides. Reads 8 bytes a pixel of a
 * region. */
static __global__ void __launch_bounds__(BLOCK, 4) refine_kernel(regions_args a)
{
    __shared__ sum64 shared[PLX_MAX_OBSTACLES][REFINED_SUMS];
    __shared__ int shift[PLX_MAX_OBSTACLES];
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, top = (blockIdx.y * BLOCK_Y + threadIdx.y) * ROWS;
    const uint32_t count = count_of(a);
    uint32_t region = NO_REGION;
    int64_t sums[REFINED_SUMS] = {0};

    clear(shared);
    for (uint32_t i = threadIdx.y * BLOCK_X + threadIdx.x; i < count; i += BLOCK) {
        const sum64 *face = a.at.tally[i].face;
        const struct plx_refine_sums first = {(int64_t)face[FACE_GG], (int64_t)face[FACE_GE], (int64_t)face[FACE_GGD]};
        shift[i] = plx_refine_step(&first);
    }
    __syncthreads();
    for (int y = top; y < top + ROWS; y++) {
        const uint32_t label = label_at(a, x, y), now = label - 1 < count ? label - 1 : NO_REGION;
        if (__any_sync(~0u, region != now))
            gather(shared, region != now, region, sums);
        region = now;
        if (region == NO_REGION || !within_run(a, x, y, label))
            continue;
        const struct plx_region *found = &a.at.finding[region].region;
        const int disparity = a.disparity.row(y)[x];
        const struct plx_refine_sums more = refine_at(a, x, y, disparity, shift[region]);
        add_if(in_face(found, disparity), sums + FACE, more);
        add_if(x < found->inner_x0 + PLX_REFINE_STRIP, sums + LEFT, more);
        add_if(x > found->inner_x1 - PLX_REFINE_STRIP, sums + RIGHT, more);
    }
    gather(shared, true, region, sums);
    __syncthreads();
    for (int i = threadIdx.y * BLOCK_X + threadIdx.x; i < (int)count * REFINED_SUMS; i += BLOCK)
        if (shared[i / REFINED_SUMS][i % REFINED_SUMS] != 0)
            atomicAdd(&a.at.tally[i / REFINED_SUMS].refined[i % REFINED_SUMS], shared[i / REFINED_SUMS][i % REFINED_SUMS]);
}

static __device__ struct plx_refined refined(const sum64 sums[3])
{
    return {(int64_t)sums[0], (int64_t)(sums[2] - 2 * sums[1])};
}

#define REGION_WORDS (int)(sizeof(struct plx_region) / sizeof(uint32_t))

/* Grid: a block a record, a thread a word; zeros beyond the count. Writes 152 bytes each. */
static __global__ void record_kernel(regions_args a)
{
    __shared__ struct plx_region region;
    const uint32_t i = blockIdx.x;

    if (threadIdx.x == 0 && i < count_of(a)) {
        const struct tally *tally = &a.at.tally[i];
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
    s->tally = (struct tally *)data;
    s->column = (uint32_t *)(s->tally + PLX_MAX_OBSTACLES);
    if (result < 0)
        return result;
    result = plx_gpu_alloc_local(&gpu->base, PLX_MAX_OBSTACLES * sizeof *s->finding, &data);
    s->finding = result < 0 ? NULL : (struct finding *)data;
    return result;
}

void plx_gpu_regions_destroy(struct plx_gpu *gpu)
{
    if (!gpu->regions)
        return;
    plx_gpu_free(&gpu->base, gpu->regions->tally);
    plx_gpu_free(&gpu->base, gpu->regions->finding);
    free(gpu->regions);
    gpu->regions = NULL;
}

static bool input_ok(const struct plx_region_input *in, const struct plx_image *published)
{
    return plx_image_ok(in->labels, PLX_U32) && plx_image_ok(in->disparity, PLX_U16) && plx_image_ok(in->left, PLX_U8) &&
           plx_image_ok(in->right, PLX_U8) && plx_image_ok(published, PLX_U16) && plx_same_size(in->labels, in->disparity) &&
           plx_same_size(in->labels, in->left) && plx_same_size(in->labels, in->right) && plx_same_size(in->labels, published);
}

/* A kernel of the stage, and what its grid goes by. */
struct step {
    void (*kernel)(regions_args args);
    bool by_region; /* else by pixel */
    const char *name;
};

static const struct step steps[] = {{count_kernel, false, "count_kernel"},         {measure_kernel, true, "measure_kernel"},
                                    {count_low_kernel, false, "count_low_kernel"}, {choose_kernel, true, "choose_kernel"},
                                    {face_kernel, false, "face_kernel"},           {refine_kernel, false, "refine_kernel"}};

int plx_gpu_regions(struct plx_stages *self, const struct plx_region_input *input, const uint32_t *count,
                    struct plx_region *ret_regions, const struct plx_image *ret_published)
{
    struct plx_gpu *gpu = plx_gpu(self);
    const int width = input->labels->width, height = input->labels->height;
    const dim3 by_pixel(plx_blocks(width, BLOCK_X), plx_blocks(height, BLOCK_Y * ROWS));

    if (!input_ok(input, ret_published))
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, input->labels))
        return PLX_ERR_RANGE;

    regions_args args = {plx_view_of<const uint32_t>(input->labels),
                         plx_view_of<const uint16_t>(input->disparity),
                         plx_view_of<const uint8_t>(input->left),
                         plx_view_of<const uint8_t>(input->right),
                         plx_view_of<uint16_t>(ret_published),
                         *gpu->regions,
                         count,
                         input->min_disparity,
                         ret_regions};
    args.at.row = args.at.column + (size_t)PLX_MAX_OBSTACLES * (size_t)width;
    const size_t bytes = (size_t)((char *)(args.at.row + (size_t)PLX_MAX_OBSTACLES * (size_t)height) - (char *)args.at.tally);
    int result = PLX_CUDA(gpu, cudaMemsetAsync(args.at.tally, 0, bytes, gpu->stream));
    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && result == 0; i++) {
        const dim3 block = steps[i].by_region ? dim3(BLOCK) : dim3(BLOCK_X, BLOCK_Y);
        steps[i].kernel<<<steps[i].by_region ? dim3(PLX_MAX_OBSTACLES) : by_pixel, block, 0, gpu->stream>>>(args);
        result = plx_gpu_check(gpu, cudaGetLastError(), steps[i].name);
    }
    if (result < 0)
        return result;
    record_kernel<<<PLX_MAX_OBSTACLES, REGION_WORDS, 0, gpu->stream>>>(args);
    return PLX_LAUNCHED(gpu, record_kernel);
}
