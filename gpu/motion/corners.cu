/* SPDX-License-Identifier: Apache-2.0 */
/* Stage corners, the strongest corner of each cell of the image of half size, and stage corner_disparities. */
#include "gpu/device/launch.cuh"

#include "core/motion/corners.h"

#define CELL PLX_CORNER_CELL
#define CELLS 4 /* side by side, of a block */
#define WIDE (CELLS * CELL)
#define REACH (PLX_CORNER_WINDOW / 2)
#define SUMS (WIDE + 2 * REACH) /* columns that the windows of a row cover */
#define TILE_X (SUMS + 2)       /* and the pixels of half size that their gradients need */
#define TILE_Y (CELL + 2 * REACH + 2)
#define THREADS (WIDE * CELL)

struct corners_args {
    plx_view<const uint8_t> left;
    plx_view<struct plx_corner_cell> cells;
};

struct corners_shared {
    uint8_t pixel[TILE_Y][TILE_X];
    int32_t column[3][CELL][SUMS]; /* products xx, xy, yy of gradients, summed over the rows of a window */
    unsigned long long best[CELLS];
};

/* Pixel (X, Y) of half size; beyond the border pixels repeat: no corner depends on them. */
static __device__ uint8_t half_pixel(const plx_view<const uint8_t> &left, int x, int y)
{
    const int column = 2 * plx_clamp(x, 0, left.width / 2 - 1), row = 2 * plx_clamp(y, 0, left.height / 2 - 1);
    const uint8_t *upper = left.row(row) + column, *lower = left.row(row + 1) + column;

    return (uint8_t)((upper[0] + upper[1] + lower[0] + lower[1] + 2) >> 2);
}

static __device__ void sum_columns(corners_shared &s, int thread)
{
    for (int i = thread; i < CELL * SUMS; i += THREADS) {
        const int y = i / SUMS, x = i % SUMS;
        int32_t xx = 0, xy = 0, yy = 0;
#pragma unroll
        for (int j = y; j < y + PLX_CORNER_WINDOW; j++) {
            const int gx = s.pixel[j + 1][x + 2] - s.pixel[j + 1][x], gy = s.pixel[j + 2][x + 1] - s.pixel[j][x + 1];
            xx += gx * gx;
            xy += gx * gy;
            yy += gy * gy;
        }
        s.column[0][y][x] = xx;
        s.column[1][y][x] = xy;
        s.column[2][y][x] = yy;
    }
}

static __device__ float strength_at(const corners_shared &s, int x, int y)
{
    int32_t sum[3] = {0, 0, 0};
#pragma unroll
    for (int k = 0; k < 3; k++)
#pragma unroll
        for (int i = x; i < x + PLX_CORNER_WINDOW; i++)
            sum[k] += s.column[k][y][i];
    return plx_corner_strength(sum[0], sum[1], sum[2]);
}

/* Orders the pixels of a cell: a greater strength first, then the earlier one, row by row. Never 0. */
static __device__ unsigned long long make_key(float strength, int x, int y)
{
    return (unsigned long long)__float_as_uint(strength) << 32 | (uint32_t)(CELL * CELL - (y * CELL + x % CELL));
}

static __device__ struct plx_corner_cell read_key(unsigned long long key, int cell_x, int cell_y)
{
    const int order = CELL * CELL - (int)(uint32_t)key;
    struct plx_corner_cell cell = {};
    if (key == 0)
        return cell;
    cell.strength = __uint_as_float((uint32_t)(key >> 32));
    cell.x = (uint16_t)(cell_x * CELL + order % CELL);
    cell.y = (uint16_t)(cell_y * CELL + order / CELL);
    return cell;
}

/* Grid: a block four cells side by side, a thread one of their pixels. Reads 2 bytes for each pixel of full size from L1 and
 * L2, 1 from memory; writes 1 byte for 32. */
static __global__ void __launch_bounds__(THREADS) corners_kernel(const __grid_constant__ corners_args a)
{
    __shared__ corners_shared s;
    const int thread = threadIdx.y * WIDE + threadIdx.x, x0 = blockIdx.x * WIDE, y0 = blockIdx.y * CELL;
    const int x = x0 + threadIdx.x, y = y0 + threadIdx.y, width = a.left.width / 2, height = a.left.height / 2;

    if (thread < CELLS)
        s.best[thread] = 0;
    if (width > 0 && height > 0)
        for (int i = thread; i < TILE_X * TILE_Y; i += THREADS)
            s.pixel[i / TILE_X][i % TILE_X] = half_pixel(a.left, x0 - REACH - 1 + i % TILE_X, y0 - REACH - 1 + i / TILE_X);
    __syncthreads();
    sum_columns(s, thread);
    __syncthreads();
    if (x >= PLX_CORNER_MARGIN && x < width - PLX_CORNER_MARGIN && y >= PLX_CORNER_MARGIN && y < height - PLX_CORNER_MARGIN) {
        const float strength = strength_at(s, threadIdx.x, threadIdx.y);
        if (strength > PLX_CORNER_MIN_STRENGTH)
            atomicMax(&s.best[threadIdx.x / CELL], make_key(strength, threadIdx.x, threadIdx.y));
    }
    __syncthreads();
    const int cell = blockIdx.x * CELLS + thread;
    if (thread < CELLS && cell < a.cells.width)
        a.cells.row(blockIdx.y)[cell] = read_key(s.best[thread], cell, blockIdx.y);
}

int plx_gpu_corners(struct plx_stages *self, const struct plx_image *left, const struct plx_image *ret_cells)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_image_ok(left, PLX_U8) || !plx_corner_cells_ok(left->width, left->height, ret_cells))
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, left))
        return PLX_ERR_RANGE;

    const corners_args args = {plx_view_of<const uint8_t>(left), plx_view_of<struct plx_corner_cell>(ret_cells)};
    const dim3 grid(plx_div_ceil(ret_cells->width, CELLS), (unsigned)ret_cells->height);
    int result = plx_gpu_use_side(gpu, true);
    if (result == 0)
        result = PLX_LAUNCH(gpu, corners_kernel, grid, dim3(WIDE, CELL), args);
    return plx_gpu_use_main(gpu, result);
}

/* --- disparities -------------------------------------------------------------------------------------------------- */

#define BLOCK 128

struct disparities_args {
    plx_view<const uint16_t> disparity;
    plx_view<struct plx_corner_cell> cells;
    const struct plx_flow_job *job;
    struct plx_flow_found *found;
};

/* Grid: a thread for each cell, then one for each point that a job can have. A cell reads 42 bytes and writes 4, a point reads
 * 24 and writes 8. */
static __global__ void __launch_bounds__(BLOCK) corner_disparities_kernel(const __grid_constant__ disparities_args a)
{
    const plx_view<const uint16_t> &d = a.disparity;
    const int index = (int)(blockIdx.x * BLOCK + threadIdx.x), cells = a.cells.width * a.cells.height, point = index - cells;

    if (index < cells) {
        struct plx_corner_cell &cell = a.cells.row(index / a.cells.width)[index % a.cells.width];
        if (cell.strength > 0)
            cell.disparity = plx_corner_disparity(d.data, d.pitch, d.width, d.height, cell.x, cell.y);
    } else if (point < PLX_MAX_CORNERS && point < (int)a.job->count) {
        struct plx_flow_found &found = a.found[point];
        found.disparity = plx_disparity_at(d.data, d.pitch, d.width, d.height, found.at[0], found.at[1]);
    }
}

int plx_gpu_corner_disparities(struct plx_stages *self, const struct plx_image *disparity, const struct plx_flow_job *job,
                               const struct plx_image *cells, struct plx_flow_found *found)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_image_ok(disparity, PLX_U16) || !plx_corner_cells_ok(disparity->width, disparity->height, cells))
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, disparity))
        return PLX_ERR_RANGE;

    const disparities_args args = {plx_view_of<const uint16_t>(disparity), plx_view_of<struct plx_corner_cell>(cells), job,
                                   found};
    const dim3 grid(plx_div_ceil(cells->width * cells->height + PLX_MAX_CORNERS, BLOCK));
    int result = plx_gpu_use_side(gpu, true);
    if (result == 0)
        result = PLX_LAUNCH(gpu, corner_disparities_kernel, grid, dim3(BLOCK), args);
    return plx_gpu_use_main(gpu, result);
}
