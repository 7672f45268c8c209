/* SPDX-License-Identifier: Apache-2.0 */
/* C(p, d) of all pixels and disparities: Hamming distance of census words, and capped difference of gradients. */
#include "gpu/device/launch.cuh"
#include "gpu/device/packed.cuh"
#include "gpu/sgm/features.cuh"
#include "gpu/sgm/sgm.cuh"

#define THREADS 128
#define PIXELS 8 /* of a thread, side by side */

struct cost_args {
    plx_view<const void> left_census, right_census;
    plx_view<const uint8_t> left_gradient, right_gradient;
    uint4 *cost;
    int min_disparity;
    uint32_t cap;
};

/*
 * Grid: a block makes 1024 * 16 / D pixels of a row; a thread one chunk (16 disparities) of eight pixels, which need 15
 * partners in each half of the range: they overlap along the diagonal, so every partner is read once for up to eight costs.
 * Reads the features once (and D words a block of halo), writes D bytes a pixel.
 */
template <class F, int D> static __global__ void __launch_bounds__(THREADS) cost_kernel(cost_args a)
{
    constexpr int CHUNKS = D / 16, SPAN = THREADS / CHUNKS * PIXELS;
    __shared__ typename F::word partner[SPAN + D]; /* of the right view, from column FIRST on */
    const int y = blockIdx.y, block_x = blockIdx.x * SPAN, width = a.left_census.width;
    const int first = block_x - a.min_disparity - D;
    const int g = threadIdx.x % CHUNKS, pixel = threadIdx.x / CHUNKS * PIXELS, x = block_x + pixel;

    plx_grid_wait_and_trigger();
    for (int i = threadIdx.x; i < SPAN + D; i += THREADS)
        partner[i] = F::load(a.right_census, a.right_gradient, first + i, y);
    __syncthreads();
    if (x >= width)
        return;

    /* low[8 + k - i] is the partner of pixel k at disparity 8 g + i, high[...] at D / 2 more; [0] is never one */
    typename F::word low[2 * PIXELS], high[2 * PIXELS];
#pragma unroll
    for (int i = 0; i < 2 * PIXELS; i++) {
        low[i] = partner[D + pixel - 8 * g - PIXELS + i];
        high[i] = partner[D / 2 + pixel - 8 * g - PIXELS + i];
    }
    uint4 *out = a.cost + ((size_t)y * width + x) * CHUNKS + g;
#pragma unroll
    for (int k = 0; k < PIXELS; k++) {
        if (x + k >= width)
            return;
        const typename F::word l = F::load(a.left_census, a.left_gradient, x + k, y);
        uint32_t word[4];
#pragma unroll
        for (int w = 0; w < 4; w++) {
            const int even = PIXELS + k - 2 * w, odd = even - 1;
            const uint32_t low_pair = plx_mad(F::cost(l, low[odd], a.cap), 256, F::cost(l, low[even], a.cap));
            const uint32_t high_pair = plx_mad(F::cost(l, high[odd], a.cap), 256, F::cost(l, high[even], a.cap));
            word[w] = plx_mad(high_pair, 65536, low_pair);
        }
        out[k * CHUNKS] = make_uint4(word[0], word[1], word[2], word[3]);
    }
}

template <class F> static int start(const struct plx_sgm_job *job, const struct cost_args &args)
{
    const int disparities = job->match->disparities, span = THREADS * 16 / disparities * PIXELS;
    const dim3 grid(plx_div_ceil(job->width, span), (unsigned)job->height);

    const auto kernel = disparities == 64 ? cost_kernel<F, 64> : disparities == 128 ? cost_kernel<F, 128> : cost_kernel<F, 256>;
    return PLX_LAUNCH_DEPENDENT(job->gpu, kernel, grid, THREADS, args);
}

int plx_sgm_cost(const struct plx_sgm_job *job)
{
    const struct plx_match *match = job->match;
    const bool gradient = match->gradient_cap > 0, wide = match->census == PLX_CENSUS_FULL_9X7;
    const struct cost_args args = {plx_view_of<const void>(&job->left->census),
                                   plx_view_of<const void>(&job->right->census),
                                   gradient ? plx_view_of<const uint8_t>(&job->left->gradient) : plx_view<const uint8_t>(),
                                   gradient ? plx_view_of<const uint8_t>(&job->right->gradient) : plx_view<const uint8_t>(),
                                   job->gpu->sgm->cost,
                                   match->min_disparity,
                                   (uint32_t)match->gradient_cap};

    if (wide)
        return gradient ? start<wide_census_and_gradient>(job, args) : start<wide_census>(job, args);
    if (!gradient)
        return start<census_only>(job, args);
    return plx_census_bits(match->census) <= 24 ? start<census_and_gradient>(job, args)
                                                : start<long_census_and_gradient>(job, args);
}
