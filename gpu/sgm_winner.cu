/* SPDX-License-Identifier: Apache-2.0 */
/* Winner-takes-all behind the lines: S from their volumes, its least and second least, and the winners of both views. */
#include "gpu/sgm_winner.cuh"

#define WARP 32
#define THREADS 256
#define SPAN 128 /* pixels of a block, side by side */

struct winner_args {
    const uint4 *cost, *pairs[PLX_ORIENTATIONS];
    plx_winner_views out;
    plx_view<uint16_t> right;
    uint32_t *votes, *tickets;
};

/* Keys of a segment in shared memory: word i of a pixel has disparities i and i + D / 2. One word more keeps banks apart. */
template <int D> struct keys {
    static constexpr int pitch = D / 2 + 1;
};

/* What the D / 16 threads of a pixel find together. */
struct finding {
    uint32_t best;   /* S << 16 | d, the first one among equals */
    uint32_t second; /* least S of the chunk's octets that d and its neighbours are not in */
};

template <int D> static __device__ __forceinline__ finding find(const uint32_t key[8], int g)
{
    constexpr int CHUNKS = D / 16, SAME_PART = PLX_KEY_PART / 8; /* threads whose keys compare as they are */
    const uint32_t own = plx_least_of_8(key);
    uint32_t m = own;
    finding f;

#pragma unroll
    for (int step = 1; step < SAME_PART && step < CHUNKS; step *= 2)
        m = plx_min2(m, __shfl_xor_sync(PLX_ALL_LANES, m, step));
    const uint32_t part = g * 8 & ~PLX_KEY_MASK, low = m & 0xFFFF, high = m >> 16;
    f.best = min(low >> PLX_KEY_BITS << 16 | (low & PLX_KEY_MASK) | part,
                 high >> PLX_KEY_BITS << 16 | (high & PLX_KEY_MASK) | (part + D / 2));
#pragma unroll
    for (int step = SAME_PART; step < CHUNKS; step *= 2)
        f.best = min(f.best, __shfl_xor_sync(PLX_ALL_LANES, f.best, step));

    const int d = f.best & 0xFFFF;
    const bool low_apart = (unsigned)(d + 1 - 8 * g) > 9, high_apart = (unsigned)(d + 1 - 8 * g - D / 2) > 9;
    f.second = min(low_apart ? (own & 0xFFFF) >> PLX_KEY_BITS : 0xFFFF, high_apart ? own >> 16 >> PLX_KEY_BITS : 0xFFFF);
    f.second = plx_least_number<CHUNKS>(f.second);
    return f;
}

template <int D> static __device__ __forceinline__ uint32_t sum_at(const uint32_t *row, int d)
{
    return ((const uint16_t *)row)[2 * (d & (D / 2 - 1)) + (d >= D / 2)] >> PLX_KEY_BITS;
}

/* One thread a pixel: what is near the winner, then its four numbers. ROW: the pixel's keys. */
template <int D>
static __device__ __forceinline__ void finish_left(const winner_args &a, finding f, const uint32_t *row, int x, int y)
{
    const int d = f.best & 0xFFFF, first = max(d - 1, 0) & ~7;
    const bool inner = d > 0 && d < D - 1;
    int second = f.second;

#pragma unroll
    for (int i = 0; i < 16; i++) {
        const int other = first + i;
        if (other < D && abs(other - d) > 1)
            second = min(second, (int)sum_at<D>(row, other));
    }
    plx_write_winner(a.out, x, y, d, f.best >> 16, second, inner, inner ? sum_at<D>(row, d - 1) : 0,
                     inner ? sum_at<D>(row, d + 1) : 0);
}

/*
 * Votes of the segment [FIRST, END) for right pixel P, and for P - D / 2: on the diagonal of pixels P + i at disparity i lie,
 * in the other halves, those of P - D / 2. All threads of a warp call it, with consecutive P.
 */
template <int D>
static __device__ __forceinline__ void vote(const uint32_t *segment, int first, int end, int p, uint32_t *votes)
{
    constexpr int PITCH = keys<D>::pitch;
    const uint32_t *diagonal = segment + (p - first) * PITCH;
    const int begin = first - p, stop = end - p; /* i of the diagonal within the segment */
    uint32_t low = 0xFFFFFFFF, high = 0xFFFFFFFF;

#pragma unroll 1
    for (int part = 0; part < D / 2; part += PLX_KEY_PART) {
        uint32_t best = PLX_PACKED_MAX;
#pragma unroll
        for (int octet = 0; octet < PLX_KEY_PART; octet += 8) {
            const int i = part + octet;
            const uint32_t *at = diagonal + i * (PITCH + 1);
            if (__all_sync(PLX_ALL_LANES, i >= begin && i + 8 <= stop)) {
#pragma unroll
                for (int k = 0; k < 8; k += 2)
                    best = plx_min3(best, at[k * (PITCH + 1)], at[(k + 1) * (PITCH + 1)]);
            } else if (__any_sync(PLX_ALL_LANES, i + 8 > begin && i < stop)) {
#pragma unroll
                for (int k = 0; k < 8; k++)
                    if (i + k >= begin && i + k < stop)
                        best = plx_min2(best, at[k * (PITCH + 1)]);
            }
        }
        const uint32_t l = best & 0xFFFF, h = best >> 16;
        low = min(low, l >> PLX_KEY_BITS << 16 | (part + (l & PLX_KEY_MASK)));
        high = min(high, h >> PLX_KEY_BITS << 16 | (D / 2 + part + (h & PLX_KEY_MASK)));
    }
    if (begin < D / 2 && stop > 0) {
        if (p >= 0)
            atomicMin(votes + p, low);
        if (p >= D / 2)
            atomicMin(votes + p - D / 2, high);
    }
}

/*
 * The right view's winners of a row, made by the block that votes last; it leaves votes and tickets as the next frame needs
 * them.
 */
static __device__ __forceinline__ void count_votes(const winner_args &a, int y)
{
    __shared__ bool last;
    const int width = a.right.width;
    uint32_t *votes = a.votes + (size_t)y * width;

    __threadfence(); /* the votes of this block before its ticket */
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicInc(a.tickets + y, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (!last)
        return;
    __threadfence(); /* those of the others after theirs */
    for (int x = threadIdx.x; x < width; x += THREADS) {
        a.right.row(y)[x] = (uint16_t)__ldcg(votes + x);
        votes[x] = 0xFFFFFFFF;
    }
}

/*
 * Grid: a block a segment of 128 pixels of a row. First D / 16 threads a pixel make S and its keys, then a thread a pixel
 * finishes the left view while others take the diagonals. Reads (1 + ORIENTATIONS) D bytes a pixel, writes 10; votes stay in
 * L2.
 */
template <int D, int ORIENTATIONS>
static __global__ void __launch_bounds__(THREADS) winner_kernel(const __grid_constant__ winner_args a)
{
    constexpr int CHUNKS = D / 16, PIXELS = WARP / CHUNKS, PITCH = keys<D>::pitch;
    extern __shared__ uint32_t segment[]; /* [SPAN][PITCH] */
    __shared__ finding found[SPAN];
    const int y = blockIdx.y, first = blockIdx.x * SPAN, width = a.out.left.width, end = min(first + SPAN, width);
    const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, g = lane % CHUNKS;

#pragma unroll 1
    for (int at = warp * PIXELS; at < SPAN; at += THREADS / WARP * PIXELS) {
        if (first + at >= end)
            break;
        const int pixel = at + lane / CHUNKS;
        const size_t chunk = ((size_t)y * width + min(first + pixel, width - 1)) * CHUNKS + g;
        uint4 volume[ORIENTATIONS];
        uint32_t sum[8], l[8];

        const uint4 cost = __ldg(a.cost + chunk);
#pragma unroll
        for (int o = 0; o < ORIENTATIONS; o++)
            volume[o] = __ldcs(a.pairs[o] + chunk);
        plx_unpack(cost, sum);
#pragma unroll
        for (int o = 0; o < ORIENTATIONS; o++) {
            plx_unpack(volume[o], l);
#pragma unroll
            for (int i = 0; i < 8; i++)
                sum[i] = o == 0 ? plx_mad(sum[i], 2 * ORIENTATIONS, l[i]) : sum[i] + l[i];
        }
        const uint32_t part = plx_both((uint32_t)(g * 8 & PLX_KEY_MASK));
#pragma unroll
        for (int i = 0; i < 8; i++) {
            sum[i] = plx_mad(sum[i], PLX_KEY_PART, part + plx_both(i));
            segment[pixel * PITCH + g * 8 + i] = sum[i];
        }
        const finding f = find<D>(sum, g);
        if (g == 0)
            found[pixel] = f;
    }
    __syncthreads();

    const int diagonals = end - first + D / 2 - 1;
    for (int i = threadIdx.x; i < (diagonals + WARP - 1) / WARP * WARP; i += THREADS)
        vote<D>(segment, first, end, first - (D / 2 - 1) + i, a.votes + (size_t)y * width);
    const int pixel = THREADS - 1 - threadIdx.x; /* those that had the fewest diagonals */
    if (pixel < end - first)
        finish_left<D>(a, found[pixel], segment + pixel * PITCH, first + pixel, y);
    count_votes(a, y);
}

template <int D> static constexpr int segment_bytes(void)
{
    return SPAN * keys<D>::pitch * (int)sizeof(uint32_t);
}

template <int D> static void start(const struct plx_sgm_job *job, const winner_args &args)
{
    const dim3 grid(plx_blocks(job->width, SPAN), (unsigned)job->height);
    if (job->match->paths == 8)
        winner_kernel<D, 4><<<grid, THREADS, segment_bytes<D>(), job->gpu->stream>>>(args);
    else
        winner_kernel<D, 2><<<grid, THREADS, segment_bytes<D>(), job->gpu->stream>>>(args);
}

int plx_sgm_winner(const struct plx_sgm_job *job)
{
    struct plx_gpu *gpu = job->gpu;
    const struct plx_gpu_sgm *sgm = gpu->sgm;
    const struct plx_match *match = job->match;
    const winner_args args = {sgm->cost,
                              {sgm->pairs[0], sgm->pairs[1], sgm->pairs[2], sgm->pairs[3]},
                              plx_winner_views_of(job),
                              plx_view_of<uint16_t>(&job->winners->right),
                              sgm->votes,
                              sgm->tickets};

    if (match->disparities == 64)
        start<64>(job, args);
    else if (match->disparities == 128)
        start<128>(job, args);
    else
        start<256>(job, args);
    return PLX_LAUNCHED(gpu, winner_kernel);
}

int plx_sgm_winner_prepare(struct plx_gpu *gpu)
{
    int result = PLX_CUDA(
        gpu, cudaFuncSetAttribute(winner_kernel<256, 4>, cudaFuncAttributeMaxDynamicSharedMemorySize, segment_bytes<256>()));
    if (result == 0)
        result = PLX_CUDA(gpu, cudaFuncSetAttribute(winner_kernel<256, 2>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                    segment_bytes<256>()));
    return result;
}
