/* SPDX-License-Identifier: Apache-2.0 */
/* Winner-takes-all: S from the volumes, its minimum and second minimum, and the disparity candidates of both views. */
#include "gpu/device/launch.cuh"
#include "gpu/sgm/winner.cuh"

#include "gpu/sgm/sgm.cuh"

#define WARP 32
#define THREADS 256
#define WARPS (THREADS / WARP)
#define SPAN 128 /* pixels of a block in a row: one thread for the left candidate, one for the right minima */
static_assert(THREADS == 2 * SPAN, "one half of the threads for each");
/* Blocks of a multiprocessor: about what its shared memory holds. */
#define MIN_BLOCKS(D) (PLX_ARCH < 800 ? 2 : (D) == 256 ? 3 : PLX_ARCH >= 900 ? 5 : 4)

struct winner_args {
    const uint4 *cost, *path_sums[PLX_ORIENTATIONS];
    plx_candidate_views out;
    plx_view<uint16_t> right;
    uint32_t *right_argmin, *segments_done;
};

/* Keys of a pixel in shared memory: a word holds those of disparities d and d + D / 2; after them, the minimum of each chunk's
 * eight words. One word of padding avoids bank conflicts along diagonals. Stores of a warp are free of conflicts, for D = 64,
 * if keys are in order; else if d = 0, 8, 16 .. come first, then 1, 9, 17 .., and a warp has every D / 16-th pixel. */
template <int DISPARITIES> struct keys {
    static constexpr int D = DISPARITIES, chunks = D / 16, words = D / 2, pitch = words + chunks + 1;
    static constexpr bool in_order = D == 64;

    static __device__ constexpr int word(unsigned d)
    {
        return (int)(in_order ? d % (D / 2) : d % 8 * chunks + d % (D / 2) / 8);
    }

    template <int N> static __device__ __forceinline__ void load(const uint32_t *from, uint32_t (&ret_words)[N])
    {
#pragma unroll
        for (int i = 0; i < N; i++)
            ret_words[i] = from[i];
    }
    static __device__ __forceinline__ void load_chunk(const uint32_t *pixel, int g, uint32_t ret_words[8])
    {
        const uint32_t *from = pixel + word(8 * g);
#pragma unroll
        for (int i = 0; i < 8; i++)
            ret_words[i] = from[word(i)];
    }

    /* First pixel of warp NUMBER, with warps in sequence. */
    static __device__ constexpr int pixels_before(int number)
    {
        return in_order ? number * (WARP / chunks) : number / chunks * WARP + number % chunks;
    }
    static __device__ __forceinline__ int pixel_of_thread(void)
    {
        return pixels_before(threadIdx.x / WARP) + threadIdx.x % WARP / chunks * (in_order ? 1 : chunks);
    }
};

/* Right minima of a segment. The diagonal of pixels P + i at disparity i belongs to right pixel P, the upper halves to P - D /
 * 2. Thread T walks the diagonal from pixel T; where it leaves the segment, the thread continues on the diagonal SPAN pixels
 * before, so that all threads have the same number of steps. */
template <int D>
static __device__ __forceinline__ void update_right(const uint32_t *segment, int t, int first, int width,
                                                    uint32_t *right_argmin)
{
    constexpr int PITCH = keys<D>::pitch, SEGMENT_WORDS = SPAN * PITCH;
    const uint32_t *diagonal = segment + t * PITCH;
    const int steps_inside = SPAN - t, latest = SPAN - t / WARP * WARP; /* this thread's; the last of its warp's threads' */
    plx_right_minimum<D> own_diagonal, next_diagonal;

#pragma unroll 1
    for (int range = 0; range < D / 2;
         range += PLX_KEY_RANGE, diagonal += PLX_KEY_RANGE * PITCH + keys<D>::word(PLX_KEY_RANGE)) {
        const int inside = steps_inside - range;
        uint32_t best = PLX_PACKED_MAX, other = PLX_PACKED_MAX;
        if (range + PLX_KEY_RANGE <= latest - WARP || range >= latest) {
            const uint32_t *at = range < latest ? diagonal : diagonal - SEGMENT_WORDS;
#pragma unroll
            for (int i = 0; i < PLX_KEY_RANGE; i += 2)
                best = plx_min3(best, at[i * PITCH + keys<D>::word(i)], at[(i + 1) * PITCH + keys<D>::word(i + 1)]);
            if (range < latest)
                own_diagonal.add(best, range);
            else
                next_diagonal.add(best, range);
        } else {
#pragma unroll
            for (int i = 0; i < PLX_KEY_RANGE; i++) {
                if (i < inside)
                    best = plx_min2(best, diagonal[i * PITCH + keys<D>::word(i)]);
                else
                    other = plx_min2(other, diagonal[i * PITCH + keys<D>::word(i) - SEGMENT_WORDS]);
            }
            own_diagonal.add(best, range);
            next_diagonal.add(other, range);
        }
    }
    if (first + t < width)
        own_diagonal.store_min(right_argmin, first + t);
    if (steps_inside < D / 2)
        next_diagonal.store_min(right_argmin, first + t - SPAN);
}

/* The last block of a row writes the right candidates, and resets right_argmin for the next frame. */
static __device__ __forceinline__ void write_right_row(const winner_args &a, int y)
{
    __shared__ bool is_last;
    const int width = a.right.width;
    uint32_t *right_argmin = a.right_argmin + (size_t)y * width;

    __threadfence(); /* this block's minima before its count */
    __syncthreads();
    if (threadIdx.x == 0)
        is_last = atomicInc(a.segments_done + y, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (!is_last)
        return;
    __threadfence(); /* the other blocks' minima after their count */
    for (int x = threadIdx.x; x < width; x += THREADS) {
        a.right.row(y)[x] = (uint16_t)__ldcg(right_argmin + x);
        right_argmin[x] = 0xFFFFFFFF;
    }
}

/* Stores eight keys of chunk G of PIXEL, and their minimum. */
template <int D, int ORIENTATIONS>
static __device__ __forceinline__ void sum_paths(const winner_args &a, int64_t pixel, int g, uint32_t *keys_of_pixel)
{
    const int64_t chunk = pixel * (D / 16) + g;
    uint4 volume[ORIENTATIONS];
    uint32_t sum[8], l[8];

    const uint4 c = __ldcs(a.cost + chunk); /* last use: evict first */
#pragma unroll
    for (int o = 0; o < ORIENTATIONS; o++)
        volume[o] = __ldcs(a.path_sums[o] + chunk);
    plx_unpack_chunk(c, sum);
#pragma unroll
    for (int o = 0; o < ORIENTATIONS; o++) {
        plx_unpack_chunk(volume[o], l);
#pragma unroll
        for (int i = 0; i < 8; i++)
            sum[i] = o == 0 ? plx_mad(sum[i], 2 * ORIENTATIONS, l[i]) : sum[i] + l[i];
    }
    plx_sums_to_keys(sum, g);
#pragma unroll
    for (int i = 0; i < 8; i++)
        keys_of_pixel[keys<D>::word(8 * g + i)] = sum[i];
    keys_of_pixel[keys<D>::words + g] = plx_min_of_8(sum);
}

/* Grid: a block for 128 pixels of a row. First D / 16 threads for each pixel compute S and its keys. Then half of the threads
 * find a left candidate each, and the others walk the diagonals. Bytes for each pixel: reads 5 D, or 3 D with 4 paths; writes
 * 10. right_argmin stays in L2. */
template <int D, int ORIENTATIONS>
static __global__ void __launch_bounds__(THREADS, MIN_BLOCKS(D)) winner_kernel(const __grid_constant__ winner_args a)
{
    constexpr int CHUNKS = D / 16, PITCH = keys<D>::pitch, ROUNDS = SPAN * CHUNKS / THREADS;
    extern __shared__ uint32_t segment[]; /* [SPAN][PITCH] */
    const int y = blockIdx.y, first = blockIdx.x * SPAN, width = a.out.left.width, count = min(SPAN, width - first);
    const int g = threadIdx.x % CHUNKS, own = keys<D>::pixel_of_thread();
    const int64_t row = (int64_t)y * width;

    plx_grid_wait_and_trigger();
    if (count == SPAN) {
#pragma unroll 2
        for (int round = 0; round < ROUNDS; round++) {
            const int pixel = own + keys<D>::pixels_before(round * WARPS);
            sum_paths<D, ORIENTATIONS>(a, row + first + pixel, g, segment + pixel * PITCH);
        }
    } else {
#pragma unroll 1
        for (int round = 0; round < ROUNDS; round++) {
            const int pixel = own + keys<D>::pixels_before(round * WARPS);
            if (pixel < count)
                sum_paths<D, ORIENTATIONS>(a, row + first + pixel, g, segment + pixel * PITCH);
            else
                for (int k = 0; k < 8; k++)
                    segment[pixel * PITCH + keys<D>::word(8 * g + k)] = PLX_PACKED_MAX;
        }
    }
    __syncthreads();

    const int t = threadIdx.x % SPAN;
    if (threadIdx.x < SPAN)
        update_right<D>(segment, t, first, width, a.right_argmin + (size_t)y * width);
    else if (t < count)
        plx_find_left_candidate<keys<D>>(a.out, segment + t * PITCH, first + t, y);
    write_right_row(a, y);
}

plx_candidate_views plx_candidate_views_of(const struct plx_sgm_job *job)
{
    return {plx_view_of<uint16_t>(&job->candidates->left),
            plx_view_of<uint16_t>(&job->candidates->raw),
            plx_view_of<uint16_t>(&job->candidates->s1),
            plx_view_of<uint16_t>(&job->candidates->s2),
            job->match->uniqueness,
            job->match->subpixel};
}

int plx_sgm_winner(const struct plx_sgm_job *job)
{
    const struct plx_gpu_sgm *sgm = job->gpu->sgm;
    const winner_args args = {sgm->cost,
                              {sgm->path_sums[0], sgm->path_sums[1], sgm->path_sums[2], sgm->path_sums[3]},
                              plx_candidate_views_of(job),
                              plx_view_of<uint16_t>(&job->candidates->right),
                              sgm->right_argmin,
                              sgm->segments_done};
    const dim3 grid(plx_div_ceil(job->width, SPAN), (unsigned)job->height);
    return plx_with_disparities(job->match, [&](auto d) {
        const auto kernel = job->match->paths == 8 ? winner_kernel<d, 4> : winner_kernel<d, 2>;
        const size_t bytes = SPAN * keys<d>::pitch * sizeof(uint32_t);
        return PLX_CUDA(job->gpu, plx_launch(job->gpu, PLX_DEPENDENT, kernel, grid, THREADS, bytes, args));
    });
}

/* Grid: a thread a pixel. Reads and writes 4 bytes a pixel, and writes 2. */
static __global__ void __launch_bounds__(THREADS)
    right_view_kernel(plx_view<uint16_t> right, uint32_t *right_argmin, uint32_t *next_band)
{
    const int x = blockIdx.x * THREADS + threadIdx.x, y = blockIdx.y;

    plx_grid_wait_and_trigger();
    if (x == 0 && y == 0)
        *next_band = 0;
    if (x >= right.width)
        return;
    uint32_t *update_right = right_argmin + (size_t)y * right.width + x;
    right.row(y)[x] = (uint16_t)*update_right;
    *update_right = 0xFFFFFFFF;
}

int plx_sgm_right_view(const struct plx_sgm_job *job)
{
    const dim3 grid(plx_div_ceil(job->width, THREADS), (unsigned)job->height);
    const struct plx_gpu_sgm *sgm = job->gpu->sgm;
    return PLX_LAUNCH_DEPENDENT(job->gpu, right_view_kernel, grid, THREADS, plx_view_of<uint16_t>(&job->candidates->right),
                                sgm->right_argmin, sgm->next_band);
}
