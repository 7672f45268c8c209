/* SPDX-License-Identifier: Apache-2.0 */
/* Where a thread of a strip, or beside it, is, and the L that its columns have from the band before and leave to the next. */
#ifndef PLX_GPU_SGM_BAND_PLACE_CUH
#define PLX_GPU_SGM_BAND_PLACE_CUH

#include "gpu/sgm_band.cuh"

template <class S> struct band_place {
    const band_args &a;
    const int sweep, lane, warp, group, g, rows;
    const int of_strip; /* which warp of the strip it is, if it is one */
    bool own, mirrored; /* of the strip; to the right of it: columns from right to left, so that paths lead to the next one */
    int x, dx;          /* of the first column, and to the next */
    int rows_needed;    /* beside the strip: rows in which the warp has a column of which the strip needs L */
    int first, last;    /* whether this thread has the first, or the last, columns of the warp */

    __device__ __forceinline__ band_place(const band_args &args, int number)
        : a(args), sweep(blockIdx.y), lane(threadIdx.x % WARP), warp(number), group(lane / S::THREADS), g(lane % S::THREADS),
          rows(args.rows[blockIdx.y]), of_strip(warp - S::BESIDE)
    {
        const int from = ((int)blockIdx.x * a.own + of_strip) * S::COLUMNS;
        own = of_strip >= 0 && of_strip < a.own;
        mirrored = of_strip >= a.own;
        dx = mirrored ? -1 : 1;
        x = mirrored ? from + S::COLUMNS - 1 - group * S::COLS : from + group * S::COLS;
        rows_needed = rows - 1 - (mirrored ? of_strip - a.own : -1 - of_strip) * S::COLUMNS;
        first = group == 0, last = group == S::GROUPS - 1;
    }

    __device__ __forceinline__ bool exists(int column) const
    {
        return (unsigned)column < (unsigned)a.width;
    }

    /* L of the row before; where paths start, and beside the picture, it is 0. */
    __device__ __forceinline__ void load(int path, int column, uint32_t ret_l[8]) const
    {
        const uint4 *from = a.before[sweep] + (path * a.width + column) * S::THREADS + g;
        plx_unpack(exists(column) && !a.begins[sweep] ? __ldcg(from) : make_uint4(0, 0, 0, 0), ret_l);
    }

    __device__ __forceinline__ void save(int path, int column, const uint32_t l[8], uint32_t m) const
    {
        uint4 *to = a.after[sweep] + (path * a.width + column) * S::THREADS + g;
        const uint32_t m4 = (m & 0xFFFF) * 0x01010101u;
        if (exists(column))
            *to = make_uint4(plx_mad(l[1], 256, l[0]) - m4, plx_mad(l[3], 256, l[2]) - m4, plx_mad(l[5], 256, l[4]) - m4,
                             plx_mad(l[7], 256, l[6]) - m4);
    }
};

#endif
