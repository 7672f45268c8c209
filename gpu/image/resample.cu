/* SPDX-License-Identifier: Apache-2.0 */
/* Resampling, bilinear with 5 fractional bits, where a neighbour outside the image counts as 0: stage rectify by a map, and the
 * affine image operation. */
#include "gpu/device/launch.cuh"
#include "gpu/device/reduce.cuh"

/* Weights are products of two fractions of 32, so the Q10 sum loses nothing; it is rounded half up. */
static __device__ __forceinline__ unsigned plx_blend(unsigned top_left, unsigned top_right, unsigned bottom_left,
                                                     unsigned bottom_right, unsigned fx, unsigned fy)
{
    const unsigned top = top_left * (PLX_REMAP_ONE - fx) + top_right * fx;
    const unsigned bottom = bottom_left * (PLX_REMAP_ONE - fx) + bottom_right * fx;
    return (top * (PLX_REMAP_ONE - fy) + bottom * fy + PLX_REMAP_ONE * PLX_REMAP_ONE / 2) / (PLX_REMAP_ONE * PLX_REMAP_ONE);
}

template <class T> static __device__ __forceinline__ unsigned plx_pixel_or_zero(const plx_view<const T> &src, int x, int y)
{
    return (unsigned)x < (unsigned)src.width && (unsigned)y < (unsigned)src.height ? src.row(y)[x] : 0;
}

/* The sample at (x + fx/32, y + fy/32), wherever that is. */
template <class T>
static __device__ __forceinline__ unsigned plx_sample(const plx_view<const T> &src, int x, int y, unsigned fx, unsigned fy)
{
    return plx_blend(plx_pixel_or_zero(src, x, y), plx_pixel_or_zero(src, x + 1, y), plx_pixel_or_zero(src, x, y + 1),
                     plx_pixel_or_zero(src, x + 1, y + 1), fx, fy);
}

/* --- rectify --------------------------------------------------------------------------------------------------------- */

#define BLOCK_X 32
#define BLOCK_Y 8
#define EACH 4       /* neighbouring pixels of a thread */
#define TILE_ROWS 32 /* rows of a block; a thread makes every eighth */

template <class T> struct rectify_args {
    plx_view<const T> src;
    plx_view<T> dst;
    const struct plx_remap_entry *entry;
    bool entries_aligned, dst_aligned;
    struct plx_gpu_accumulators *totals;
    uint32_t *ret_masked;
};

/* Four neighbouring entries: x, y and both fractions of each as 16 bits, two in a word. */
struct entries {
    uint32_t word[EACH * 3 / 2];

    __device__ __forceinline__ unsigned half(int i) const
    {
        return word[i / 2] >> i % 2 * 16 & 0xFFFF;
    }
};

static __device__ __forceinline__ struct entries load_entries(const struct plx_remap_entry *entry, int count, bool aligned)
{
    struct entries entries;

    if (aligned && count == EACH) {
#pragma unroll
        for (int i = 0; i < 3; i++) {
            const uint2 pair = ((const uint2 *)entry)[i];
            entries.word[2 * i] = pair.x;
            entries.word[2 * i + 1] = pair.y;
        }
        return entries;
    }
    const uint16_t *half = (const uint16_t *)entry;
#pragma unroll
    for (int i = 0; i < EACH * 3 / 2; i++)
        entries.word[i] = 2 * i < 3 * count ? half[2 * i] | (2 * i + 1 < 3 * count ? (uint32_t)half[2 * i + 1] << 16 : 0) : 0;
    return entries;
}

/* The pixel for entry I; *MASKED counts those that lie outside. */
template <class T>
static __device__ __forceinline__ T pixel(const plx_view<const T> &src, const struct entries &entries, int i, bool counts,
                                          unsigned *masked)
{
    const int u = (int16_t)entries.half(3 * i), v = (int16_t)entries.half(3 * i + 1);
    const unsigned fx = entries.half(3 * i + 2) & 0xFF, fy = entries.half(3 * i + 2) >> 8;

    if ((unsigned)u < (unsigned)src.width - 1 && (unsigned)v < (unsigned)src.height - 1) { /* all four neighbours inside */
        const T *top = src.row(v) + u, *bottom = (const T *)((const char *)top + src.pitch);
        return (T)plx_blend(top[0], top[1], bottom[0], bottom[1], fx, fy);
    }
    *masked += counts && (u < 0 || v < 0 || u + (fx > 0) >= src.width || v + (fy > 0) >= src.height);
    return (T)plx_sample(src, u, v, fx, fy);
}

/* Grid: tiles of 128 x 32 pixels, a thread 4 pixels of every eighth row; it reads a row's entries before it makes the row
 * above. Reads 6 bytes of map and, with a map that stretches little, 1 or 2 of image a pixel, writes 1 or 2. */
template <class T> static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y, 6) rectify_kernel(rectify_args<T> a)
{
    const int x = (blockIdx.x * BLOCK_X + threadIdx.x) * EACH, y0 = blockIdx.y * TILE_ROWS + threadIdx.y;
    const int count = min(a.dst.width - x, EACH), end = count > 0 ? min(y0 + TILE_ROWS, a.dst.height) : 0;
    struct entries next;
    unsigned masked = 0;

    if (y0 < end)
        next = load_entries(a.entry + (size_t)y0 * a.dst.width + x, count, a.entries_aligned);
    plx_grid_wait();
    for (int y = y0; y < end; y += BLOCK_Y) {
        const struct entries entries = next;
        plx_vector<T, EACH> value;
        if (y + BLOCK_Y < end)
            next = load_entries(a.entry + (size_t)(y + BLOCK_Y) * a.dst.width + x, count, a.entries_aligned);
#pragma unroll
        for (int i = 0; i < EACH; i++)
            value.at[i] = pixel(a.src, entries, i, i < count, &masked);
        plx_store(value, a.dst.row(y) + x, count, a.dst_aligned);
    }
    plx_trigger_dependents(); /* not before: see device.cuh */
    plx_grid_sum(masked, a.totals, a.ret_masked);
}

/* The three channels for entry I of a picture of RGB, which SRC has the width of in pixels. */
static __device__ __forceinline__ void pixel_rgb(const plx_view<const uint8_t> &src, const struct entries &entries, int i,
                                                 uint8_t ret[PLX_RGB])
{
    const int u = (int16_t)entries.half(3 * i), v = (int16_t)entries.half(3 * i + 1);
    const unsigned fx = entries.half(3 * i + 2) & 0xFF, fy = entries.half(3 * i + 2) >> 8;
    const bool inside[2][2] = {
        {u >= 0 && u < src.width && v >= 0 && v < src.height, u >= -1 && u + 1 < src.width && v >= 0 && v < src.height},
        {u >= 0 && u < src.width && v >= -1 && v + 1 < src.height,
         u >= -1 && u + 1 < src.width && v >= -1 && v + 1 < src.height}};
    const uint8_t *top = src.data + (ptrdiff_t)v * (ptrdiff_t)src.pitch + u * PLX_RGB, *bottom = top + src.pitch;

#pragma unroll
    for (int k = 0; k < PLX_RGB; k++)
        ret[k] = (uint8_t)plx_blend(inside[0][0] ? top[k] : 0, inside[0][1] ? top[PLX_RGB + k] : 0,
                                    inside[1][0] ? bottom[k] : 0, inside[1][1] ? bottom[PLX_RGB + k] : 0, fx, fy);
}

/* Grid: as rectify_kernel's. Reads 6 bytes of map and, with a map that stretches little, 3 of image a pixel, writes 3. */
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y) rectify_rgb_kernel(rectify_args<uint8_t> a)
{
    const int x = (blockIdx.x * BLOCK_X + threadIdx.x) * EACH, y0 = blockIdx.y * TILE_ROWS + threadIdx.y;
    const int count = min(a.dst.width - x, EACH), end = count > 0 ? min(y0 + TILE_ROWS, a.dst.height) : 0;

    for (int y = y0; y < end; y += BLOCK_Y) {
        const struct entries entries = load_entries(a.entry + (size_t)y * a.dst.width + x, count, a.entries_aligned);
        uint8_t rgb[EACH * PLX_RGB];
#pragma unroll
        for (int i = 0; i < EACH; i++)
            pixel_rgb(a.src, entries, i, rgb + PLX_RGB * i);
        plx_store_rgb(rgb, a.dst.row(y) + PLX_RGB * x, count, a.dst_aligned);
    }
}

/* Beside other stages: it makes no sum. */
static int run_rgb(struct plx_gpu *gpu, const struct plx_image *src, const struct plx_remap *map, const struct plx_image *dst)
{
    const bool entries_aligned = (uintptr_t)map->entry % 8 == 0 && map->width % 4 == 0;
    const rectify_args<uint8_t> args = {plx_view_of<const uint8_t>(src),
                                        plx_view_of<uint8_t>(dst),
                                        map->entry,
                                        entries_aligned,
                                        plx_rows_aligned(dst, EACH),
                                        NULL,
                                        NULL};
    const dim3 block(BLOCK_X, BLOCK_Y), grid = plx_grid(dst->width, dst->height, dim3(BLOCK_X * EACH, TILE_ROWS));
    const int result = plx_gpu_use_side(gpu, true);

    return plx_gpu_use_main(gpu, result < 0 ? result : PLX_LAUNCH(gpu, rectify_rgb_kernel, grid, block, args));
}

template <class T>
static int run(struct plx_gpu *gpu, const struct plx_image *src, const struct plx_remap *map, const struct plx_image *dst,
               uint32_t *ret_masked)
{
    const bool entries_aligned = (uintptr_t)map->entry % 8 == 0 && map->width % 4 == 0;
    const rectify_args<T> args = {plx_view_of<const T>(src),
                                  plx_view_of<T>(dst),
                                  map->entry,
                                  entries_aligned,
                                  plx_rows_aligned(dst, EACH * sizeof(T)),
                                  gpu->totals,
                                  ret_masked};
    const dim3 block(BLOCK_X, BLOCK_Y), grid = plx_grid(dst->width, dst->height, dim3(BLOCK_X * EACH, TILE_ROWS));
    return PLX_LAUNCH_DEPENDENT(gpu, rectify_kernel<T>, grid, block, args);
}

int plx_gpu_rectify(struct plx_stages *self, const struct plx_image *src, const struct plx_remap *map,
                    const struct plx_image *dst, uint32_t *ret_masked)
{
    struct plx_gpu *gpu = plx_gpu(self);
    const bool u8 = plx_image_ok(src, PLX_U8) && plx_image_ok(dst, PLX_U8);
    const bool u16 = plx_image_ok(src, PLX_U16) && plx_image_ok(dst, PLX_U16);
    const bool rgb = plx_image_ok(src, PLX_RGB) && plx_image_ok(dst, PLX_RGB);
    if ((!u8 && !u16 && !rgb) || !map || !map->entry || map->width != dst->width || map->height != dst->height ||
        (!ret_masked && !rgb))
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, src) || !plx_gpu_holds(gpu, dst))
        return PLX_ERR_RANGE;
    if (rgb)
        return run_rgb(gpu, src, map, dst);
    return u8 ? run<uint8_t>(gpu, src, map, dst, ret_masked) : run<uint16_t>(gpu, src, map, dst, ret_masked);
}

/* --- affine: the Q16 source position, rounded half up to 1/32 px -------------------------------------------------------- */

struct affine_args {
    plx_view<const uint8_t> src;
    plx_view<uint8_t> dst;
    int32_t m[6];
};

/* Grid: a thread a pixel. Writes 1 byte a pixel; what it reads is up to the matrix. */
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y) affine_kernel(affine_args a)
{
    const int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;

    if (x >= a.dst.width || y >= a.dst.height)
        return;
    const int64_t u = ((int64_t)a.m[0] * x + (int64_t)a.m[1] * y + a.m[2] + (1 << 10)) >> 11;
    const int64_t v = ((int64_t)a.m[3] * x + (int64_t)a.m[4] * y + a.m[5] + (1 << 10)) >> 11;
    const int64_t limit = (int64_t)INT16_MAX * PLX_REMAP_ONE; /* beyond it lies no image */
    unsigned value = 0;
    if (u >= -limit && u <= limit && v >= -limit && v <= limit)
        value = plx_sample(a.src, (int)(u >> 5), (int)(v >> 5), (unsigned)u % PLX_REMAP_ONE, (unsigned)v % PLX_REMAP_ONE);
    a.dst.row(y)[x] = (uint8_t)value;
}

int plx_gpu_affine(struct plx_stages *self, const struct plx_image *src, const int32_t matrix[6], const struct plx_image *dst)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_image_ok(src, PLX_U8) || !plx_image_ok(dst, PLX_U8) || !matrix)
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, src) || !plx_gpu_holds(gpu, dst))
        return PLX_ERR_RANGE;

    const struct affine_args args = {plx_view_of<const uint8_t>(src),
                                     plx_view_of<uint8_t>(dst),
                                     {matrix[0], matrix[1], matrix[2], matrix[3], matrix[4], matrix[5]}};
    const dim3 block(BLOCK_X, BLOCK_Y);
    return PLX_LAUNCH(gpu, affine_kernel, plx_grid(dst->width, dst->height, block), block, args);
}
