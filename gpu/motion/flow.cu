/* SPDX-License-Identifier: Apache-2.0 */
/* Stages pyramid and flow: the tracker of ego-motion, a warp a point. */
#include "gpu/device/launch.cuh"
#include "gpu/device/reduce.cuh"

#include "core/motion/flow.h"

#define WINDOW PLX_FLOW_WINDOW
#define PATCH (WINDOW + 2) /* with a border for the gradients */
#define LANES 16           /* a half warp samples one row of a window or patch */
#define ROWS (WINDOW / 2)  /* a lane has so many of the window */
#define WARPS 4            /* in a block */

struct levels {
    plx_view<uint8_t> level[PLX_PYRAMID_LEVELS];
    int count;
};

static struct levels levels_of(const struct plx_pyramid *pyramid)
{
    struct levels levels = {};
    for (int n = 0; n < pyramid->levels; n++)
        levels.level[n] = plx_view_of<uint8_t>(&pyramid->level[n]);
    levels.count = pyramid->levels;
    return levels;
}

/* Both pyramids are laid out for images of one size. */
static bool pyramids_ok(const struct plx_pyramid *pyramids)
{
    return plx_images_ok(PLX_U8, &pyramids[0].level[0], &pyramids[1].level[0]) &&
           plx_same_size(&pyramids[0].level[0], &pyramids[1].level[0]);
}

/* --- the pyramid -------------------------------------------------------------------------------------------------- */

#define TILE 64 /* columns of a strip that a block works on */
#define STRIP PLX_PYRAMID_STRIP
#define THREADS 256

struct pyramid_args {
    plx_view<const uint8_t> left;
    struct levels pyramid[2];
    const struct plx_flow_job *job;
};

/* Level N of the tile in SHARED, from level N - 1 in FINER; and its pixels that exist to LEVEL. */
static __device__ void halve(const uint8_t *finer, uint8_t *shared, const plx_view<uint8_t> &level, int n)
{
    const int columns = TILE >> n, rows = STRIP >> n, x0 = (blockIdx.x * TILE) >> n, y0 = (blockIdx.y * STRIP) >> n;

    for (int i = threadIdx.x; i < columns * rows; i += THREADS) {
        const int x = i % columns, y = i / columns;
        const uint8_t *upper = finer + 2 * y * 2 * columns + 2 * x, *lower = upper + 2 * columns;
        shared[i] = (uint8_t)((upper[0] + upper[1] + lower[0] + lower[1] + 2) >> 2);
        if (x0 + x < level.width && y0 + y < level.height)
            level.row(y0 + y)[x0 + x] = shared[i];
    }
}

/* Grid: a block 64 x 16 pixels and what follows from them at all levels. Reads 1 byte a pixel, writes 1.33. */
static __global__ void __launch_bounds__(THREADS) pyramid_kernel(const __grid_constant__ pyramid_args a)
{
    __shared__ uint8_t tile[2][TILE * STRIP]; /* a level, and the next one */
    __shared__ uint32_t now;
    const int x0 = blockIdx.x * TILE, y0 = blockIdx.y * STRIP;

    if (threadIdx.x == 0)
        now = a.job->now & 1; /* the job may lie in the CPU's memory: read it once */
    __syncthreads();
    const levels &to = a.pyramid[now];
    for (int i = threadIdx.x; i < TILE * STRIP; i += THREADS) {
        const int x = x0 + i % TILE, y = y0 + i / TILE;
        if (x < a.left.width && y < a.left.height)
            to.level[0].row(y)[x] = tile[0][i] = a.left.row(y)[x];
    }
    for (int n = 1; n < to.count; n++) {
        __syncthreads();
        halve(tile[(n - 1) % 2], tile[n % 2], to.level[n], n);
    }
}

int plx_gpu_pyramid(struct plx_stages *self, const struct plx_image *left, const struct plx_flow_job *job,
                    const struct plx_pyramid *pyramids)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_image_ok(left, PLX_U8) || !pyramids_ok(pyramids) || !plx_same_size(left, &pyramids[0].level[0]))
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, left))
        return PLX_ERR_RANGE;

    const pyramid_args args = {plx_view_of<const uint8_t>(left), {levels_of(&pyramids[0]), levels_of(&pyramids[1])}, job};
    int result = plx_gpu_use_side(gpu, true);
    if (result == 0)
        result = PLX_LAUNCH(gpu, pyramid_kernel, dim3(plx_div_ceil(left->width, TILE), plx_div_ceil(left->height, STRIP)),
                            dim3(THREADS), args);
    return plx_gpu_use_main(gpu, result);
}

/* --- the flow of a point ------------------------------------------------------------------------------------------ */

/* Lanes c + 1 of both half warps have column c of the window, the lower half its upper rows. */
struct window {
    int value[ROWS], gx[ROWS], gy[ROWS]; /* grey levels x 32; gradients per 2 px; 0 in lanes without a column */
    struct plx_flow_tensor tensor;       /* the same in all lanes */
};

static __device__ __forceinline__ int lane_column()
{
    return threadIdx.x % LANES;
}

static __device__ __forceinline__ bool has_column()
{
    return lane_column() >= 1 && lane_column() <= WINDOW;
}

/* Samples COUNT rows, from FIRST on, of the lane's column, where (X, Y) is the place of column 0 in 1/128 px. The lane right of
 * the last column reads too. */
template <int COUNT>
static __device__ void sample(const plx_view<uint8_t> &image, int x, int y, int column, int first, bool reads, int ret[COUNT])
{
    const int fx = x % PLX_FLOW_ONE, fy = y % PLX_FLOW_ONE * 256, x0 = x / PLX_FLOW_ONE, y0 = y / PLX_FLOW_ONE + first;
    int pixel[COUNT + 1], above = 0;

#pragma unroll
    for (int i = 0; i <= COUNT; i++)
        pixel[i] = reads ? image.row(y0 + i)[x0 + column] : 0;
#pragma unroll
    for (int i = 0; i <= COUNT; i++) {
        const int right = __shfl_down_sync(PLX_ALL_LANES, pixel[i], 1);
        const int row = (pixel[i] * (PLX_FLOW_ONE - fx) + right * fx + 2) >> (7 - PLX_FLOW_VALUE_BITS);
        if (i > 0)
            ret[i - 1] = above + ((2 * (row - above) * fy) >> 16);
        above = row;
    }
}

/* Sum over the warp of numbers below 2^31. */
static __device__ __forceinline__ int64_t sum_wide(int value)
{
    const uint32_t low = plx_warp_sum((uint32_t)value & 0xFFFFu);
    return (int64_t)(int32_t)plx_warp_sum((uint32_t)(value >> 16)) * 65536 + low;
}

static __device__ __forceinline__ int sum_narrow(int value)
{
    return (int)plx_warp_sum((uint32_t)value);
}

/* False if the window leaves the image or has no texture. */
static __device__ bool take_window(const plx_view<uint8_t> &key, const double centre[2], struct window &ret)
{
    const int x = plx_flow_corner(centre[0], PATCH), y = plx_flow_corner(centre[1], PATCH);
    int patch[ROWS + 2], xx = 0, xy = 0, yy = 0, sum_x = 0, sum_y = 0;

    if (!plx_flow_inside(x, y, PATCH, key.width, key.height))
        return false;
    sample<ROWS + 2>(key, x, y, lane_column(), threadIdx.x / LANES * ROWS, lane_column() <= PATCH, patch);
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int right = __shfl_down_sync(PLX_ALL_LANES, patch[i + 1], 1),
                  left = __shfl_up_sync(PLX_ALL_LANES, patch[i + 1], 1);
        ret.value[i] = has_column() ? patch[i + 1] : 0;
        ret.gx[i] = has_column() ? right - left : 0;
        ret.gy[i] = has_column() ? patch[i + 2] - patch[i] : 0;
        xx += ret.gx[i] * ret.gx[i];
        xy += ret.gx[i] * ret.gy[i];
        yy += ret.gy[i] * ret.gy[i];
        sum_x += ret.gx[i];
        sum_y += ret.gy[i];
    }
    ret.tensor = plx_flow_tensor_of(sum_wide(xx), sum_wide(xy), sum_wide(yy), sum_narrow(sum_x), sum_narrow(sum_y));
    return ret.tensor.inverse > 0;
}

/* One Gauss-Newton step of the window against SEEN. */
static __device__ void find_step(const struct window &window, const int seen[ROWS], double ret_step[2])
{
    int bx = 0, by = 0, sum = 0;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int difference = has_column() ? seen[i] - window.value[i] : 0;
        bx += window.gx[i] * difference;
        by += window.gy[i] * difference;
        sum += difference;
    }
    plx_flow_step(&window.tensor, sum_wide(bx), sum_wide(by), sum_narrow(sum), ret_step);
}

static __device__ bool looks_alike(const struct window &window, const int seen[ROWS])
{
    int sum = 0, absolute = 0;
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        sum += has_column() ? seen[i] - window.value[i] : 0;
    const int mean = sum_narrow(sum) / PLX_FLOW_PIXELS;
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        absolute += has_column() ? abs(seen[i] - window.value[i] - mean) : 0;
    return sum_narrow(absolute) <= PLX_FLOW_PIXELS * (PLX_FLOW_MAX_DIFFERENCE << PLX_FLOW_VALUE_BITS);
}

/* Moves AT, a pixel of this level, by Gauss-Newton steps. False if the window leaves the image; at the FINEST level also if
 * it looks different or the steps do not become small. */
static __device__ bool follow(const struct window &window, const plx_view<uint8_t> &now, double at[2], bool finest)
{
    const double stop = finest ? PLX_FLOW_STOP_PX : PLX_FLOW_STOP_COARSE_PX;
    int seen[ROWS];
    double squared = 0;

    for (int step = 0; step < PLX_FLOW_MAX_STEPS; step++) {
        const int x = plx_flow_corner(at[0], WINDOW), y = plx_flow_corner(at[1], WINDOW);
        double move[2];
        if (!plx_flow_inside(x, y, WINDOW, now.width, now.height))
            return false;
        sample<ROWS>(now, x, y, lane_column() - 1, threadIdx.x / LANES * ROWS,
                     lane_column() >= 1 && lane_column() <= WINDOW + 1, seen);
        find_step(window, seen, move);
        squared = move[0] * move[0] + move[1] * move[1];
        if (!(squared < WINDOW * WINDOW))
            return false;
        at[0] = plx_flow_middle(x, WINDOW) + move[0]; /* the step starts at the sampled position */
        at[1] = plx_flow_middle(y, WINDOW) + move[1];
        if (squared < stop * stop)
            break;
    }
    return !finest || (squared < 1 && looks_alike(window, seen));
}

struct flow_args {
    struct levels pyramid[2];
    const struct plx_flow_job *job;
    struct plx_flow_found *found;
};

/* As plx_flow_track. */
static __device__ bool track(const struct levels &key, const struct levels &now, int levels, const double from[2],
                             double ret_to[2])
{
    double to[2] = {ret_to[0], ret_to[1]};

    for (int n = min(levels, key.count) - 1; n >= 0; n--) {
        const double centre[2] = {plx_flow_at_level(from[0], n), plx_flow_at_level(from[1], n)};
        double at[2] = {plx_flow_at_level(to[0], n), plx_flow_at_level(to[1], n)};
        struct window window;
        const bool found = take_window(key.level[n], centre, window) && follow(window, now.level[n], at, n == 0);
        if (!found && n == 0)
            return false;
        if (found) { /* a coarse level on which tracking fails is skipped */
            to[0] = plx_flow_from_level(at[0], n);
            to[1] = plx_flow_from_level(at[1], n);
        }
    }
    ret_to[0] = to[0];
    ret_to[1] = to[1];
    return true;
}

/* Grid: a warp for each point that a job can have. Each reads some 200 bytes a level and 170 a step, from L2, and in all 56
 * bytes of the job and of what it writes. */
static __global__ void __launch_bounds__(WARPS * 32) flow_kernel(const __grid_constant__ flow_args a)
{
    const uint32_t index = blockIdx.x * WARPS + threadIdx.y, now = a.job->now & 1;
    if (index >= a.job->count)
        return;
    const struct plx_flow_point &point = a.job->point[index];
    const double from[2] = {point.from[0], point.from[1]};
    struct plx_flow_found found = {{point.to[0], point.to[1]}, 0, 0};

    found.is_found = track(a.pyramid[1 - now], a.pyramid[now], (int)a.job->levels, from, found.at);
    if (threadIdx.x == 0)
        a.found[index] = found;
}

int plx_gpu_flow(struct plx_stages *self, const struct plx_pyramid *pyramids, const struct plx_flow_job *job,
                 struct plx_flow_found *ret_found)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!pyramids_ok(pyramids))
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, &pyramids[0].level[0]))
        return PLX_ERR_RANGE;

    const flow_args args = {{levels_of(&pyramids[0]), levels_of(&pyramids[1])}, job, ret_found};
    int result = plx_gpu_use_side(gpu, true);
    if (result == 0)
        result = PLX_LAUNCH(gpu, flow_kernel, dim3(PLX_MAX_CORNERS / WARPS), dim3(32, WARPS), args);
    return plx_gpu_use_main(gpu, result);
}
