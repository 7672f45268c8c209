/* SPDX-License-Identifier: Apache-2.0 */
/* Template matching by normalized cross-correlation of the deviations from the mean (Lewis, Fast Normalized Cross-Correlation,
 * 1995); the formula and its order of operations are in docs/stages.md. */
#include "gpu/device/reduce.cuh"

#define WARP 32
#define WARPS 8 /* of a block, a place each */
#define MAX_BLOCKS 4096
#define MAX_PATCH 65536 /* pixels: sums of products stay below 2^32 */

/* Sums over a window w of the image and the patch t, and over their products. */
struct sums {
    uint32_t w, t, ww, tt, wt;
};

/* Sums over the patch and the window at (x0, y0); lanes take every 32nd pixel in raster order. */
static __device__ struct sums sums_at(const plx_view<const uint8_t> &image, const plx_view<const uint8_t> &patch, int x0,
                                      int y0)
{
    struct sums s = {0, 0, 0, 0, 0};

    for (int x = threadIdx.x, y = 0;; x += WARP) {
        for (; x >= patch.width; x -= patch.width)
            y++;
        if (y >= patch.height)
            break;
        const uint32_t w = image.row(y0 + y)[x0 + x], t = patch.row(y)[x];
        s.w += w, s.t += t, s.ww += w * w, s.tt += t * t, s.wt += w * t;
    }
    return {plx_warp_sum(s.w), plx_warp_sum(s.t), plx_warp_sum(s.ww), plx_warp_sum(s.tt), plx_warp_sum(s.wt)};
}

static __device__ int score_of(const struct sums &s, int64_t pixels)
{
    const int64_t covariance = pixels * s.wt - (int64_t)s.w * s.t;
    const int64_t window = pixels * s.ww - (int64_t)s.w * s.w, patch = pixels * s.tt - (int64_t)s.t * s.t;

    if (window == 0 || patch == 0)
        return 0;
    const double root = __dsqrt_rn(__dmul_rn((double)window, (double)patch));
    const int64_t score = __double2ll_rn(__dmul_rn(__ddiv_rn((double)covariance, root), 32768.0));
    return (int)min(max(score, (int64_t)INT16_MIN), (int64_t)INT16_MAX);
}

/* Orders places: a higher score first, then the smaller y, then the smaller x. Never 0. */
static __device__ unsigned long long make_key(int score, int x, int y)
{
    return (unsigned long long)(score + 32768) << 32 | (UINT32_MAX - ((uint32_t)y * PLX_MAX_SIDE + (uint32_t)x));
}

static __device__ struct plx_template_match read_key(unsigned long long key)
{
    const uint32_t place = UINT32_MAX - (uint32_t)key;
    return {(int32_t)(place % PLX_MAX_SIDE), (int32_t)(place / PLX_MAX_SIDE), (int32_t)(key >> 32) - 32768};
}

/* Grid: blocks of 8 warps walk over the places in raster order, a warp a place. Reads the patch twice for each, from L1. */
static __global__ void __launch_bounds__(WARP *WARPS)
    match_template_kernel(plx_view<const uint8_t> image, plx_view<const uint8_t> patch, struct plx_gpu_accumulators *totals,
                          struct plx_template_match *ret_best)
{
    const int places_x = image.width - patch.width + 1, places = places_x * (image.height - patch.height + 1);
    unsigned long long best = 0;

    for (int place = blockIdx.x * WARPS + threadIdx.y; place < places; place += gridDim.x * WARPS) {
        const int x = place % places_x, y = place / places_x;
        best = max(best, make_key(score_of(sums_at(image, patch, x, y), (int64_t)patch.width * patch.height), x, y));
    }
    if (threadIdx.x == 0 && best > 0)
        atomicMax(&totals->best, best);
    if (plx_is_last_block(&totals->best_blocks, gridDim.x) && threadIdx.x == 0 && threadIdx.y == 0)
        *ret_best = read_key(atomicExch(&totals->best, 0));
}

int plx_gpu_match_template(struct plx_stages *self, const struct plx_image *image, const struct plx_image *patch,
                           struct plx_template_match *ret_best)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_image_ok(image, PLX_U8) || !plx_image_ok(patch, PLX_U8) || !ret_best || patch->width > image->width ||
        patch->height > image->height)
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, image) || (int64_t)patch->width * patch->height > MAX_PATCH)
        return PLX_ERR_RANGE;

    const int places = (image->width - patch->width + 1) * (image->height - patch->height + 1);
    const unsigned wanted = plx_div_ceil(places, WARPS), blocks = wanted > MAX_BLOCKS ? MAX_BLOCKS : wanted;
    plx_view<const uint8_t> whole = plx_view_of<const uint8_t>(image), part = plx_view_of<const uint8_t>(patch);
    void *args[] = {&whole, &part, &gpu->totals, &ret_best};
    return plx_gpu_launch_changing(gpu, (void *)match_template_kernel, dim3(blocks), dim3(WARP, WARPS), args);
}
