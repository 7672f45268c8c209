/* SPDX-License-Identifier: Apache-2.0 */
/* Bilinear interpolation with 5 fractional bits; a neighbour outside the image counts as 0. */
#ifndef PLX_GPU_IMAGE_BILINEAR_CUH
#define PLX_GPU_IMAGE_BILINEAR_CUH

#include "gpu/device/device.cuh"
#include "gpu/internal.h"

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

#endif
