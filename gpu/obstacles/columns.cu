/* SPDX-License-Identifier: Apache-2.0 */
/* Stage columns: stixels and the scan of each column of 4 pixels; the arithmetic is core/columns.h and core/stixels.h. A warp
 * takes a column from its cells to its stixels, so one launch does it all. */
#include <cstring>
#include <type_traits>

#include "gpu/device/launch.cuh"
#include "gpu/obstacles/columns_path.cuh"
#include "gpu/obstacles/columns_pieces.cuh"

#define MOST_WARPS 4
#define ROW_BYTES 6 /* of shared memory for each cell: value, ground, state */

struct columns_args {
    plx_view<const uint16_t> disparity;
    const struct plx_ground *ground;
    struct plx_columns_params params;
    struct plx_scan *ret_scan;
    plx_view<struct plx_stixel> ret_stixels;
    void *words; /* plx_path_word<N> [columns][rows][32] */
    int columns, rows;
};

/* Values and grounds of the cells of the block's columns; neighbouring threads take neighbouring columns, then rows. */
static __device__ __forceinline__ void fill_cells(const columns_args &a, const struct plx_ground &ground, int warps,
                                                  int16_t *ret_value, int16_t *ret_g)
{
    for (int i = threadIdx.x; i < warps * a.rows; i += blockDim.x) {
        const int in_block = i % warps, row = i / warps, x = blockIdx.x * warps + in_block, y = PLX_CELL_HEIGHT * row;
        if (x >= a.columns)
            continue;
        const uint16_t *second = y + 1 < a.disparity.height ? a.disparity.row(y + 1) : NULL;
        ret_value[in_block * a.rows + row] =
            (int16_t)plx_cell_value(&a.params, a.disparity.row(y), second, a.disparity.width, x);
        ret_g[in_block * a.rows + row] = (int16_t)plx_cell_ground(&a.params, &ground, x, row);
    }
}

/* Grid: a warp a column of 4 pixels, up to 4 in a block; D = 32 N. Reads 2 bytes a pixel, and of its neighbours in the row from
 * the cache; writes and reads 16 bytes a pixel row of each column (N = 8: 32) for tracing back, and writes 136 a column. */
template <int N> static __global__ void __launch_bounds__(32 * MOST_WARPS) columns_kernel(columns_args a)
{
    extern __shared__ int16_t cells[]; /* values, then grounds, then states: [warps][rows] each */
    __shared__ plx_thing_table<N> table;
    __shared__ struct plx_ground ground;
    const int warps = blockDim.x / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32, x = blockIdx.x * warps + warp;
    int16_t *value = cells + warp * a.rows, *g = value + warps * a.rows;
    uint16_t *state = (uint16_t *)g + warps * a.rows;

    if (threadIdx.x == 0)
        ground = *a.ground;
    table.fill();
    __syncthreads();
    const bool blind = plx_columns_blind(&a.params, &ground);
    if (!blind)
        fill_cells(a, ground, warps, cells, cells + warps * a.rows);
    __syncthreads();
    if (x >= a.columns)
        return;
    if (blind) {
        if (lane == 0)
            plx_column_unknown(&a.ret_scan[x], a.ret_stixels.row(x));
        return;
    }
    const plx_warp_path<N> path = {.table = &table,
                                   .rows = a.rows,
                                   .at = plx_thing_at(&a.params, N * lane),
                                   .valid = ground.valid,
                                   .factor = (1 << 21) / (32 - (min(lane, PLX_PATH_GROUNDS - 1) - PLX_PATH_MIDDLE)),
                                   .value = value,
                                   .g = g,
                                   .word = (plx_path_word<N> *)a.words + (size_t)x * a.rows * 32,
                                   .state = state};
    plx_follow_path(path);
    __syncwarp();
    plx_trace_path(path);
    plx_warp_publish({&a.params, &ground, x, a.rows, a.disparity.height, value, state}, &a.ret_scan[x], a.ret_stixels.row(x));
}

int plx_gpu_columns_create(struct plx_gpu *gpu)
{
    const size_t columns = (size_t)plx_columns_of(gpu->limits.width), rows = (size_t)plx_cell_rows_of(gpu->limits.height);
    const size_t word = gpu->limits.disparities > 128 ? sizeof(plx_path_word<8>) : sizeof(plx_path_word<4>);
    return plx_gpu_alloc_local(&gpu->base, columns * rows * 32 * word, NULL, &gpu->columns);
}

void plx_gpu_columns_destroy(struct plx_gpu *gpu)
{
    plx_gpu_free(&gpu->base, gpu->columns);
    gpu->columns = NULL;
}

int plx_gpu_columns(struct plx_stages *self, const struct plx_image *disparity, const struct plx_ground *ground,
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
                               .words = gpu->columns,
                               .columns = plx_columns_of(disparity->width),
                               .rows = plx_cell_rows_of(disparity->height)};
    const size_t bytes = (size_t)args.rows * ROW_BYTES; /* of a warp */
    int warps = MOST_WARPS;
    while (warps > 1 && bytes * warps + sizeof(plx_thing_table<8>) > (size_t)gpu->shared_bytes_block) /* a tall picture */
        warps /= 2;
    return plx_gpu_error(gpu, plx_launch(gpu, 0, kernel, plx_div_ceil(args.columns, warps), 32 * warps, bytes * warps, args),
                         "columns_kernel");
}
