/* SPDX-License-Identifier: Apache-2.0 */
/* Stage rectify: resampling by a fixed-point map. */
#include "gpu/bilinear.cuh"
#include "gpu/total.cuh"
#include "gpu/vector.cuh"

#define BLOCK_X 32
#define BLOCK_Y 8
#define EACH 4       /* neighbouring pixels of a thread */
#define TILE_ROWS 32 /* of a block; a thread makes every eighth */

template <class T> struct rectify_args {
    plx_view<const T> src;
    plx_view<T> dst;
    const struct plx_remap_entry *entry;
    bool entries_aligned, dst_aligned;
    struct plx_gpu_totals *totals;
    uint32_t *ret_masked;
};

/* COUNT entries, as words of 16 bits: x, y, and both fractions. */
static __device__ __forceinline__ void load_entries(const struct plx_remap_entry *entry, int count, bool aligned,
                                                    uint16_t (&ret_words)[EACH * 3])
{
    const uint16_t *words = (const uint16_t *)entry;
#pragma unroll
    for (int i = 0; i < 3; i++) {
        const plx_vector<uint16_t, 4> part = plx_load<4>(words + 4 * i, 3 * count - 4 * i, aligned);
#pragma unroll
        for (int j = 0; j < 4; j++)
            ret_words[4 * i + j] = part.at[j];
    }
}

/* Grid: tiles of 128 x 32 pixels, a thread 4 pixels of a row. Reads 6 bytes of map and, with a map that stretches little, 1 or
 * 2 of image a pixel, writes 1 or 2. */
template <class T> static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y) rectify_kernel(rectify_args<T> a)
{
    const int x = (blockIdx.x * BLOCK_X + threadIdx.x) * EACH, y0 = blockIdx.y * TILE_ROWS + threadIdx.y;
    const int count = min(a.dst.width - x, EACH);
    unsigned masked = 0;

    for (int y = y0; y < min(y0 + TILE_ROWS, a.dst.height) && count > 0; y += BLOCK_Y) {
        uint16_t words[EACH * 3];
        plx_vector<T, EACH> value;
        load_entries(a.entry + (size_t)y * a.dst.width + x, count, a.entries_aligned, words);
#pragma unroll
        for (int i = 0; i < EACH; i++) {
            const int u = (int16_t)words[3 * i], v = (int16_t)words[3 * i + 1];
            const unsigned fx = words[3 * i + 2] & 0xFF, fy = words[3 * i + 2] >> 8;
            value.at[i] = (T)plx_sample(a.src, u, v, fx, fy);
            masked += i < count && (u < 0 || v < 0 || u + (fx > 0) >= a.src.width || v + (fy > 0) >= a.src.height);
        }
        plx_store(value, a.dst.row(y) + x, count, a.dst_aligned);
    }
    plx_grid_sum(masked, a.totals, a.ret_masked);
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
    rectify_kernel<T><<<grid, block, 0, gpu->stream>>>(args);
    return PLX_LAUNCHED(gpu, rectify_kernel);
}

int plx_gpu_rectify(struct plx_stages *self, const struct plx_image *src, const struct plx_remap *map,
                    const struct plx_image *dst, uint32_t *ret_masked)
{
    struct plx_gpu *gpu = plx_gpu(self);
    const bool u8 = plx_image_ok(src, PLX_U8) && plx_image_ok(dst, PLX_U8);
    const bool u16 = plx_image_ok(src, PLX_U16) && plx_image_ok(dst, PLX_U16);
    if ((!u8 && !u16) || !map || !map->entry || map->width != dst->width || map->height != dst->height || !ret_masked)
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, src) || !plx_gpu_holds(gpu, dst))
        return PLX_ERR_RANGE;
    return u8 ? run<uint8_t>(gpu, src, map, dst, ret_masked) : run<uint16_t>(gpu, src, map, dst, ret_masked);
}
