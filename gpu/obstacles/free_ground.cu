/* SPDX-License-Identifier: Apache-2.0 */
/* Stage free_ground: where free ground ends; the arithmetic is core/ground/free_ground.h. A block looks at all cells of some
 * columns with all of its threads, chunk by chunk of rows, so that the searches, a thread a column, only compare. A second
 * kernel compares neighbouring columns. */
#include "core/ground/free_ground.h"

#include "gpu/device/launch.cuh"

#define COLUMNS 32 /* a block has one for each lane */
#define WARPS 8
#define CHUNK 32 /* rows of cells that are looked at before the searches go on */
#define JOIN_THREADS 128

enum { RISE, DROP, SEARCHES }; /* warps that search */

struct free_ground_args {
    plx_view<const uint16_t> disparity;
    const struct plx_ground *ground;
    struct plx_columns_params params;
    struct plx_calibration_info calibration;
    int64_t depth; /* plx_ground_view_depth */
    struct plx_scan *scan;
    struct plx_column_ends ends;
    int columns;
};

struct free_ground_shared {
    struct plx_ground ground;
    struct plx_ground_view view;
    struct plx_bend bend[SEARCHES];
    int disparity[CHUNK][COLUMNS], above_mm[CHUNK][COLUMNS], way_mm[CHUNK][COLUMNS]; /* as plx_ground_point */
    int least[SEARCHES][CHUNK][COLUMNS];
};

/* Cell I of the chunk that begins at row TOP and goes up, in the lane's column X. */
static __device__ __forceinline__ void look_at(const free_ground_args &a, free_ground_shared &s, int x, int top, int i,
                                               bool drops)
{
    const int lane = threadIdx.x, at = plx_ground_point_x(a.disparity.width, x);
    const uint16_t value = a.disparity.row(PLX_CELL_HEIGHT * (top - i))[at];
    const struct plx_ground_point point = plx_ground_point_make(&a.params, &s.ground, &s.view, value, x, top - i);

    s.disparity[i][lane] = point.disparity;
    s.above_mm[i][lane] = point.above_mm;
    s.way_mm[i][lane] = point.way_mm;
    if (point.disparity < 1)
        return;
    s.least[RISE][i][lane] = plx_bend_least(&s.bend[RISE], &s.view, point.disparity);
    if (drops)
        s.least[DROP][i][lane] = plx_bend_least(&s.bend[DROP], &s.view, point.disparity);
}

/* The KIND of search goes on through COUNT cells of the chunk. False when it has ended. */
static __device__ __forceinline__ bool search_chunk(const free_ground_shared &s, int kind, int count,
                                                    struct plx_bend_search *search)
{
    const int lane = threadIdx.x;
    const struct plx_bend bend = s.bend[kind];
    bool goes_on = true;

    for (int i = 0; i < count && goes_on; i++) {
        const struct plx_ground_point point = {s.disparity[i][lane], s.above_mm[i][lane], s.way_mm[i][lane]};
        plx_bend_add(search, &bend, &point, s.least[kind][i][lane]);
        goes_on = plx_bend_goes_on(search, &bend);
    }
    return goes_on;
}

static __device__ __forceinline__ void prepare(const free_ground_args &a, free_ground_shared &s)
{
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        s.ground = *a.ground;
        s.view = plx_ground_view_make(&s.ground, &a.calibration, a.depth);
        s.bend[RISE] = plx_bend_of_rise(&a.params);
        s.bend[DROP] = plx_bend_of_drop(&a.params);
    }
    __syncthreads();
}

/* Grid: a block 32 columns, a lane a column; all 8 warps look at cells, two of them search. Reads at most half of the
 * disparity's bytes, all of every second row up to where the searches end, and 8 a column; writes 6 a column. */
static __global__ void __launch_bounds__(COLUMNS *WARPS) find_ends_kernel(const __grid_constant__ free_ground_args a)
{
    __shared__ free_ground_shared s;
    const int warp = threadIdx.y, x = blockIdx.x * COLUMNS + threadIdx.x;
    const bool exists = x < a.columns;
    const int drop = exists ? plx_scan_drop(&a.scan[x]) : 0;
    struct plx_bend_search search = {};

    prepare(a, s);
    bool goes_on = exists && (warp == RISE ? plx_ground_can_rise(&s.ground) : warp == DROP && drop > 0);
    const bool drops = __syncthreads_or(warp == DROP && goes_on);
    for (int top = a.disparity.height / PLX_CELL_HEIGHT - 1; __syncthreads_or(goes_on && top >= 0); top -= CHUNK) {
        const int count = min(CHUNK, top + 1);
        for (int i = warp; i < count && exists; i += WARPS)
            look_at(a, s, x, top, i, drops);
        __syncthreads();
        if (goes_on)
            goes_on = search_chunk(s, warp, count, &search);
    }
    if (exists && warp == RISE) {
        a.ends.free[x] = a.scan[x].free;
        a.ends.rise[x] = (uint16_t)plx_bend_found(&search, &s.bend[RISE]);
    } else if (exists && warp == DROP) {
        a.ends.drop[x] = (uint16_t)(plx_bend_found(&search, &s.bend[DROP]) > 0 ? drop : 0);
    }
}

/* Grid: a thread a column. Reads 14 bytes a column, its neighbours from L1, and writes 8. */
static __global__ void __launch_bounds__(JOIN_THREADS) join_kernel(const __grid_constant__ free_ground_args a)
{
    const int x = blockIdx.x * JOIN_THREADS + threadIdx.x;

    plx_grid_wait();
    if (x < a.columns)
        plx_free_ground_join(&a.ends, a.columns, x, &a.scan[x]);
}

int plx_gpu_free_ground_create(struct plx_gpu *gpu)
{
    const size_t bytes = 3 * (size_t)plx_columns_of(gpu->limits.width) * sizeof *gpu->column_ends;
    return plx_gpu_alloc_local(&gpu->base, bytes, NULL, (void **)&gpu->column_ends);
}

void plx_gpu_free_ground_destroy(struct plx_gpu *gpu)
{
    plx_gpu_free(&gpu->base, gpu->column_ends);
    gpu->column_ends = NULL;
}

static int launch(struct plx_gpu *gpu, const free_ground_args &args)
{
    const int result = PLX_LAUNCH(gpu, find_ends_kernel, plx_div_ceil(args.columns, COLUMNS), dim3(COLUMNS, WARPS), args);
    if (result < 0)
        return result;
    return PLX_LAUNCH_DEPENDENT(gpu, join_kernel, plx_div_ceil(args.columns, JOIN_THREADS), JOIN_THREADS, args);
}

int plx_gpu_free_ground(struct plx_stages *self, const struct plx_image *disparity, const struct plx_ground *ground,
                        const struct plx_columns_params *params, const struct plx_calibration_info *calibration,
                        const struct plx_image *scan)
{
    struct plx_gpu *gpu = plx_gpu(self);

    if (!plx_free_ground_ok(disparity, params, scan))
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, disparity))
        return PLX_ERR_RANGE;
    const free_ground_args args = {
        .disparity = plx_view_of<const uint16_t>(disparity),
        .ground = ground,
        .params = *params,
        .calibration = *calibration,
        .depth = plx_ground_view_depth(calibration),
        .scan = (struct plx_scan *)scan->data,
        .ends = {gpu->column_ends, gpu->column_ends + scan->width, gpu->column_ends + 2 * scan->width},
        .columns = scan->width};
    const int result = plx_gpu_use_scan(gpu);
    return plx_gpu_use_main(gpu, result < 0 ? result : launch(gpu, args));
}
