/* SPDX-License-Identifier: Apache-2.0 */
/* Stage columns: stixels and the scan of each column of 4 pixels; the arithmetic is core/ground/columns.h and
 * core/ground/stixels.h. A kernel finds the values of all cells; in a second one a warp takes a column from there to its
 * stixels. */
#include <cstring>
#include <type_traits>

#include "gpu/device/launch.cuh"
#include "gpu/obstacles/columns_path.cuh"
#include "gpu/obstacles/columns_pieces.cuh"

#define CELLS_X 32
#define CELLS_Y 4
#define MAX_WARPS 4
#define CELL_BYTES (4 + PLX_GROUND_PITCH) /* shared memory for each cell: value, state, costs of ground */

struct columns_args {
    plx_view<const uint16_t> disparity;
    const struct plx_ground *ground;
    struct plx_columns_params params;
    struct plx_scan *ret_scan;
    plx_view<struct plx_stixel> ret_stixels;
    int16_t *value; /* cells' values, [rows][columns] */
    void *words;    /* plx_path_word<N> [columns][rows][32] */
    int columns, rows;
};

/* plx_cell_value of column X in row Y of cells, with all pixels read at once. */
static __device__ __forceinline__ int cell_value(const columns_args &a, int x, int y)
{
    constexpr int wide = PLX_CELL_WIDTH + 2 * PLX_VEIL_REACH;
    const int left = PLX_CELL_WIDTH * x, width = a.disparity.width;
    uint16_t pixel[PLX_CELL_PIXELS];

#pragma unroll
    for (int j = 0; j < PLX_CELL_HEIGHT; j++) {
        const bool exists = PLX_CELL_HEIGHT * y + j < a.disparity.height;
        const uint16_t *row = a.disparity.row(exists ? PLX_CELL_HEIGHT * y + j : 0);
        int near[wide];
#pragma unroll
        for (int i = 0; i < wide; i++)
            near[i] = row[plx_clamp(left - PLX_VEIL_REACH + i, 0, width - 1)];
#pragma unroll
        for (int i = 0; i < PLX_CELL_WIDTH; i++) {
            const int d = near[i + PLX_VEIL_REACH];
            const bool inside = left + i >= PLX_VEIL_REACH && left + i + PLX_VEIL_REACH < width;
            const bool veil = inside && plx_is_veil(&a.params.mask, near[i], d, near[i + 2 * PLX_VEIL_REACH]);
            pixel[PLX_CELL_WIDTH * j + i] = (uint16_t)(exists && left + i < width && !veil ? d : (int)PLX_DISPARITY_INVALID);
        }
    }
    return plx_cell_median(&a.params, pixel);
}

/* Grid: a thread a cell of 4 x 2 pixels. Reads 2 bytes a pixel, and of its neighbours in the row from the cache; writes 2 a
 * cell. */
static __global__ void __launch_bounds__(CELLS_X *CELLS_Y) cells_kernel(columns_args a)
{
    const int x = blockIdx.x * CELLS_X + threadIdx.x, y = blockIdx.y * CELLS_Y + threadIdx.y;

    if (x < a.columns && y < a.rows)
        a.value[(size_t)y * a.columns + x] = (int16_t)cell_value(a, x, y);
    plx_trigger_dependents();
}

/* The cells of column X, by a warp: values, and 4 times the costs of ground. */
static __device__ __forceinline__ void load_cells(const columns_args &a, const struct plx_ground &ground, int x,
                                                  int16_t *ret_value, uint8_t *ret_ground_cost)
{
    for (int y = threadIdx.x % 32; y < a.rows; y += 32) {
        const int value = a.value[(size_t)y * a.columns + x], g = plx_cell_ground(&a.params, &ground, x, y);
        ret_value[y] = (int16_t)value;
#pragma unroll
        for (int k = 0; k < PLX_PATH_GROUNDS; k++)
            ret_ground_cost[PLX_GROUND_PITCH * y + k] =
                (uint8_t)(4 * plx_ground_cost(ground.valid, value, g, k - PLX_PATH_MIDDLE));
    }
    __syncwarp();
}

/* Grid: a warp a column, up to 4 in a block; D = 32 N. Reads 2 bytes a cell, writes and reads 64 (N = 8: 128) for tracing back,
 * and writes 136 a column. */
template <int N> static __global__ void __launch_bounds__(32 * MAX_WARPS) columns_kernel(columns_args a)
{
    extern __shared__ uint8_t cells[]; /* costs of ground, values, states, each [warps][rows] */
    __shared__ plx_thing_table<N> table;
    __shared__ struct plx_ground ground;
    const int warps = blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32, x = blockIdx.x * warps + warp;
    uint8_t *ground_cost = cells + warp * a.rows * PLX_GROUND_PITCH;
    int16_t *value = (int16_t *)(cells + warps * a.rows * PLX_GROUND_PITCH) + warp * a.rows;
    uint16_t *state = (uint16_t *)(value + warps * a.rows);

    if (threadIdx.x == 0)
        ground = *a.ground;
    table.fill();
    plx_grid_wait();
    __syncthreads();
    if (x >= a.columns)
        return;
    if (plx_columns_blind(&a.params, &ground)) {
        if (lane == 0)
            plx_column_unknown(&a.ret_scan[x], a.ret_stixels.row(x));
        return;
    }
    load_cells(a, ground, x, value, ground_cost);
    const plx_warp_path<N> path = {.table = &table,
                                   .rows = a.rows,
                                   .at = plx_thing_at(&a.params, N * lane),
                                   .value = value,
                                   .ground_cost = ground_cost,
                                   .word = (plx_path_word<N> *)a.words + (size_t)x * a.rows * 32,
                                   .state = state};
    plx_follow_path(path);
    __syncwarp();
    plx_trace_path(path);
    uint16_t *free_memory = (uint16_t *)ground_cost; /* the path is known */
    plx_warp_publish({{&a.params, &ground, x, a.rows, a.disparity.width, a.disparity.height, value, state},
                      free_memory,
                      free_memory + a.rows},
                     &a.ret_scan[x], a.ret_stixels.row(x));
}

int plx_gpu_columns_create(struct plx_gpu *gpu)
{
    const size_t cells = (size_t)plx_columns_of(gpu->limits.width) * (size_t)plx_cell_rows_of(gpu->limits.height);
    const size_t word = gpu->limits.disparities > 128 ? sizeof(plx_path_word<8>) : sizeof(plx_path_word<4>);
    const struct plx_gpu_part parts[] = {{&gpu->columns.words, cells * 32 * word},
                                         {(void **)&gpu->columns.value, cells * sizeof *gpu->columns.value}};
    return plx_gpu_alloc_parts(gpu, parts, 2);
}

void plx_gpu_columns_destroy(struct plx_gpu *gpu)
{
    plx_gpu_free(&gpu->base, gpu->columns.words);
    gpu->columns.words = NULL;
}

int plx_gpu_stixels(struct plx_stages *self, const struct plx_image *disparity, const struct plx_ground *ground,
                    const struct plx_columns_params *params, const struct plx_image *ret_scan,
                    const struct plx_image *ret_stixels)
{
    struct plx_gpu *gpu = plx_gpu(self);
    void (*const kernel)(columns_args) = params->disparities == 64    ? columns_kernel<2>
                                         : params->disparities == 128 ? columns_kernel<4>
                                                                      : columns_kernel<8>;

    if (!plx_columns_ok(disparity, params, ret_scan, ret_stixels))
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, disparity) || params->disparities > gpu->limits.disparities)
        return PLX_ERR_RANGE;
    const columns_args args = {.disparity = plx_view_of<const uint16_t>(disparity),
                               .ground = ground,
                               .params = *params,
                               .ret_scan = (struct plx_scan *)ret_scan->data,
                               .ret_stixels = plx_view_of<struct plx_stixel>(ret_stixels),
                               .value = gpu->columns.value,
                               .words = gpu->columns.words,
                               .columns = plx_columns_of(disparity->width),
                               .rows = plx_cell_rows_of(disparity->height)};
    const size_t bytes = (size_t)args.rows * CELL_BYTES; /* shared memory of a warp */
    int warps = MAX_WARPS;
    while (warps > 1 && bytes * warps + sizeof(plx_thing_table<8>) > (size_t)gpu->shared_bytes_block) /* a tall picture */
        warps /= 2;
    const dim3 block(CELLS_X, CELLS_Y);
    const int result = PLX_LAUNCH(gpu, cells_kernel, plx_grid(args.columns, args.rows, block), block, args);
    if (result < 0)
        return result;
    return plx_gpu_error(
        gpu, plx_launch(gpu, PLX_DEPENDENT, kernel, plx_div_ceil(args.columns, warps), 32 * warps, bytes * warps, args),
        "columns_kernel");
}
