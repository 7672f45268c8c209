/* SPDX-License-Identifier: Apache-2.0 */
/* Winner-takes-all: S from volumes of sums, its least and second least, and the winners of both views. */
#include "gpu/sgm_sums.cuh"
#include "gpu/sgm_winner.cuh"

#define WARP 32
#define THREADS 256
#define WARPS (THREADS / WARP)
#define SPAN 128 /* pixels of a block, side by side: a thread votes for each, and one finishes it */
static_assert(THREADS == 2 * SPAN, "one half of the threads for each");
/* Of a multiprocessor: about what its shared memory holds. */
#define MIN_BLOCKS(D) (PLX_ARCH < 800 ? 2 : (D) == 256 ? 3 : PLX_ARCH >= 900 ? 5 : 4)

struct winner_args {
    plx_winner_views out;
    plx_view<uint16_t> right;
    uint32_t *votes, *tickets;
};

/*
 * A pixel in shared memory: its keys, a word those of disparities d and d + D / 2; behind them, for each chunk, the least of
 * its eight words. One word more keeps the banks of pixels side by side apart, for who follows a diagonal. The banks of what a
 * warp stores at once are apart, for D 64, if keys lie in their order; else if d = 0, 8, 16 .. come first, then 1, 9, 17 ..,
 * and the pixels of a warp are D / 16 from each other.
 */
template <int D> struct keys {
    static constexpr int chunks = D / 16, pitch = D / 2 + chunks + 1;
    static constexpr bool in_order = D == 64;

    static __device__ constexpr int word(unsigned d)
    {
        return (int)(in_order ? d % (D / 2) : d % 8 * chunks + d % (D / 2) / 8);
    }
    /* Words from one disparity of an octet to the next. */
    static constexpr int to_next = in_order ? 1 : chunks;

    /* How many pixels are before the first one of warp NUMBER, where all of them come one after the other. */
    static __device__ constexpr int pixels_before(int number)
    {
        return in_order ? number * (WARP / chunks) : number / chunks * WARP + number % chunks;
    }
    static __device__ __forceinline__ int pixel_of_thread(void)
    {
        return pixels_before(threadIdx.x / WARP) + threadIdx.x % WARP / chunks * (in_order ? 1 : chunks);
    }
};

/* S and d of the lower and of the higher half of KEY, S << 16 | d: the lower is of disparities from PART on. */
template <int D> static __device__ __forceinline__ uint32_t low_of(uint32_t key, int part)
{
    return (key & 0xFFFF) >> PLX_KEY_BITS << 16 | (key & PLX_KEY_MASK) | part;
}
template <int D> static __device__ __forceinline__ uint32_t high_of(uint32_t key, int part)
{
    return low_of<D>(key >> 16, part + D / 2);
}

/* Where the key of disparity D is. */
template <int D> static __device__ __forceinline__ uint16_t *key_at(uint32_t *pixel, unsigned d)
{
    return (uint16_t *)(pixel + keys<D>::word(d)) + (d >= D / 2);
}

template <int D> static __device__ __forceinline__ int sum_at(uint32_t *pixel, unsigned d)
{
    return *key_at<D>(pixel, d) >> PLX_KEY_BITS;
}

/* The least key of the octet of D, but for D and its neighbours. */
template <int D> static __device__ __forceinline__ uint32_t least_apart(uint32_t *pixel, int octet, int d)
{
    const uint16_t *key = key_at<D>(pixel, octet);
    uint32_t least = 0xFFFF;

#pragma unroll
    for (int i = 0; i < 8; i++)
        if ((unsigned)(octet + i - d + 1) > 2)
            least = min(least, (uint32_t)key[2 * i * keys<D>::to_next]);
    return least;
}

/* One thread a pixel: the least S and the least apart from it, then what is written of them. */
template <int D> static __device__ __forceinline__ void finish_left(const winner_args &a, uint32_t *pixel, int x, int y)
{
    constexpr int CHUNKS = D / 16, SAME_PART = PLX_KEY_PART / 8; /* chunks whose keys compare as they are */
    uint32_t *least = pixel + D / 2, best = 0xFFFFFFFF;

#pragma unroll
    for (int g = 0; g < CHUNKS; g += SAME_PART) {
        uint32_t m = least[g];
#pragma unroll
        for (int i = 1; i < SAME_PART; i++)
            m = plx_min2(m, least[g + i]);
        best = min(best, min(low_of<D>(m, g * 8), high_of<D>(m, g * 8)));
    }
    const int d = best & 0xFFFF, below = max(d - 1, 0), above = min(d + 1, D - 1);

    uint32_t second = min(least_apart<D>(pixel, below & ~7, d), least_apart<D>(pixel, above & ~7, d));
    uint16_t *octets = (uint16_t *)least; /* those two are done */
    octets[2 * (below / 8 % CHUNKS) + (below >= D / 2)] = octets[2 * (above / 8 % CHUNKS) + (above >= D / 2)] =
        (uint16_t)PLX_PACKED_MAX;
    uint32_t m = least[0];
#pragma unroll
    for (int g = 1; g < CHUNKS; g++)
        m = plx_min2(m, least[g]);
    second = min(second, min(m & 0xFFFF, m >> 16)) >> PLX_KEY_BITS;
    plx_write_winner(a.out, x, y, d, (int)(best >> 16), (int)second, below < d && d < above, sum_at<D>(pixel, below),
                     sum_at<D>(pixel, above));
}

/* The least of some votes for a right pixel, and for the one D / 2 to its left: S << 16 | d. */
struct tally {
    uint32_t low, high;

    template <int D> __device__ __forceinline__ void add(uint32_t key, int part)
    {
        low = min(low, low_of<D>(key, part));
        high = min(high, high_of<D>(key, part));
    }

    /* LOW is of pixel P of a row. */
    template <int D> __device__ __forceinline__ void cast(uint32_t *votes, int p) const
    {
        if (p >= 0)
            atomicMin(votes + p, low);
        if (p >= D / 2)
            atomicMin(votes + p - D / 2, high);
    }
};

/*
 * Votes of a segment. On the diagonal of pixels P + i at disparity i are those for right pixel P, and in the other halves those
 * for P - D / 2. Thread T goes along the diagonal from pixel T on, and, where that leaves the segment, on along the one that
 * enters it there, SPAN pixels before: each has the same number of steps.
 */
template <int D>
static __device__ __forceinline__ void vote(const uint32_t *segment, int t, int first, int width, uint32_t *votes)
{
    constexpr int PITCH = keys<D>::pitch, AROUND = SPAN * PITCH;
    const uint32_t *diagonal = segment + t * PITCH;
    const int leaves = SPAN - t, latest = SPAN - t / WARP * WARP; /* this thread, and the last one of its warp */
    tally leaving = {0xFFFFFFFF, 0xFFFFFFFF}, entering = {0xFFFFFFFF, 0xFFFFFFFF};

#pragma unroll 1
    for (int part = 0; part < D / 2; part += PLX_KEY_PART, diagonal += PLX_KEY_PART * PITCH + keys<D>::word(PLX_KEY_PART)) {
        const int here = leaves - part;
        uint32_t best = PLX_PACKED_MAX, other = PLX_PACKED_MAX;
        if (part + PLX_KEY_PART <= latest - WARP || part >= latest) {
            const uint32_t *at = part < latest ? diagonal : diagonal - AROUND;
#pragma unroll
            for (int i = 0; i < PLX_KEY_PART; i += 2)
                best = plx_min3(best, at[i * PITCH + keys<D>::word(i)], at[(i + 1) * PITCH + keys<D>::word(i + 1)]);
            if (part < latest)
                leaving.add<D>(best, part);
            else
                entering.add<D>(best, part);
        } else {
#pragma unroll
            for (int i = 0; i < PLX_KEY_PART; i++) {
                if (i < here)
                    best = plx_min2(best, diagonal[i * PITCH + keys<D>::word(i)]);
                else
                    other = plx_min2(other, diagonal[i * PITCH + keys<D>::word(i) - AROUND]);
            }
            leaving.add<D>(best, part);
            entering.add<D>(other, part);
        }
    }
    if (first + t < width)
        leaving.cast<D>(votes, first + t);
    if (leaves < D / 2)
        entering.cast<D>(votes, first + t - SPAN);
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

/* Eight keys of a chunk of pixel X of block row B, and their least. */
template <int D, class SUMS>
static __device__ __forceinline__ void add_up(const SUMS &sums, int b, int64_t row, int x, int g, uint32_t *pixel)
{
    const uint32_t part = plx_both((uint32_t)(g * 8 & PLX_KEY_MASK));
    uint32_t sum[8];

    sums.add(b, row + x, x, g, sum);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        sum[i] = plx_mad(sum[i], PLX_KEY_PART, part + plx_both(i));
        pixel[keys<D>::word(8 * g + i)] = sum[i];
    }
    pixel[D / 2 + g] = plx_least_of_8(sum);
}

/*
 * Grid: a block a segment of 128 pixels of a row. First D / 16 threads a pixel make S and its keys, then half of the threads
 * finish a pixel of the left view each while the others take the diagonals. Reads 5 D bytes a pixel, or 3 D with 4 paths,
 * writes 10; votes stay in L2.
 */
template <int D, class SUMS>
static __global__ void __launch_bounds__(THREADS, MIN_BLOCKS(D))
    winner_kernel(const __grid_constant__ winner_args a, const __grid_constant__ SUMS sums)
{
    constexpr int CHUNKS = D / 16, PITCH = keys<D>::pitch, ROUNDS = SPAN * CHUNKS / THREADS;
    extern __shared__ uint32_t segment[]; /* [SPAN][PITCH] */
    const int y = sums.row(blockIdx.y), first = blockIdx.x * SPAN, width = a.out.left.width, count = min(SPAN, width - first);
    const int g = threadIdx.x % CHUNKS, own = keys<D>::pixel_of_thread();
    const int64_t row = (int64_t)y * width;

    if (count == SPAN) {
#pragma unroll 2
        for (int round = 0; round < ROUNDS; round++) {
            const int pixel = own + keys<D>::pixels_before(round * WARPS);
            add_up<D>(sums, blockIdx.y, row, first + pixel, g, segment + pixel * PITCH);
        }
    } else {
#pragma unroll 1
        for (int round = 0; round < ROUNDS; round++) {
            const int pixel = own + keys<D>::pixels_before(round * WARPS);
            if (pixel < count)
                add_up<D>(sums, blockIdx.y, row, first + pixel, g, segment + pixel * PITCH);
            else
                for (int k = 0; k < 8; k++)
                    segment[pixel * PITCH + keys<D>::word(8 * g + k)] = PLX_PACKED_MAX;
        }
    }
    __syncthreads();

    const int t = threadIdx.x % SPAN;
    if (threadIdx.x < SPAN)
        vote<D>(segment, t, first, width, a.votes + (size_t)y * width);
    else if (t < count)
        finish_left<D>(a, segment + t * PITCH, first + t, y);
    count_votes(a, y);
}

template <int D> static constexpr int segment_bytes(void)
{
    return SPAN * keys<D>::pitch * (int)sizeof(uint32_t);
}

template <int D, class SUMS>
static void launch(const struct plx_sgm_job *job, const winner_args &args, const SUMS &sums, int rows, cudaStream_t stream)
{
    const dim3 grid(plx_blocks(job->width, SPAN), (unsigned)rows);
    winner_kernel<D, SUMS><<<grid, THREADS, segment_bytes<D>(), stream>>>(args, sums);
}

template <int D> static void start(const struct plx_sgm_job *job, const winner_args &args)
{
    const struct plx_gpu_sgm *sgm = job->gpu->sgm;
    if (job->match->paths == 8)
        launch<D>(job, args, lines_sums<D, 4>{sgm->cost, {sgm->pairs[0], sgm->pairs[1], sgm->pairs[2], sgm->pairs[3]}},
                  job->height, job->gpu->stream);
    else
        launch<D>(job, args, lines_sums<D, 2>{sgm->cost, {sgm->pairs[0], sgm->pairs[1]}}, job->height, job->gpu->stream);
}

static winner_args args_of(const struct plx_sgm_job *job)
{
    return {plx_winner_views_of(job), plx_view_of<uint16_t>(&job->winners->right), job->gpu->sgm->votes,
            job->gpu->sgm->tickets};
}

int plx_sgm_winner(const struct plx_sgm_job *job)
{
    const winner_args args = args_of(job);
    if (job->match->disparities == 64)
        start<64>(job, args);
    else if (job->match->disparities == 128)
        start<128>(job, args);
    else
        start<256>(job, args);
    return PLX_LAUNCHED(job->gpu, winner_kernel);
}

template <int D> static void start_band(const struct plx_sgm_job *job, const struct plx_band_rows &band, cudaStream_t stream)
{
    launch<D>(job, args_of(job), band_sums<D>{job->gpu->sgm->pairs[PLX_HORIZONTAL], band, job->width},
              band.count[0] + band.count[1], stream);
}

int plx_sgm_winner_of_band(const struct plx_sgm_job *job, const struct plx_band_rows *band, cudaStream_t stream)
{
    if (job->match->disparities == 64)
        start_band<64>(job, *band, stream);
    else if (job->match->disparities == 128)
        start_band<128>(job, *band, stream);
    else
        start_band<256>(job, *band, stream);
    return PLX_LAUNCHED(job->gpu, winner_kernel);
}

template <class SUMS> static int prepare(struct plx_gpu *gpu)
{
    return PLX_CUDA(
        gpu, cudaFuncSetAttribute(winner_kernel<256, SUMS>, cudaFuncAttributeMaxDynamicSharedMemorySize, segment_bytes<256>()));
}

int plx_sgm_winner_prepare(struct plx_gpu *gpu)
{
    int result = prepare<lines_sums<256, 4>>(gpu);
    if (result == 0)
        result = prepare<lines_sums<256, 2>>(gpu);
    if (result == 0)
        result = prepare<band_sums<256>>(gpu);
    return result;
}
