/* SPDX-License-Identifier: Apache-2.0 */
/* Pixels of a tile and around it, read into shared memory in pieces. */
#ifndef PLX_GPU_TILE_CUH
#define PLX_GPU_TILE_CUH

#include <cuda_pipeline.h>

#include "gpu/vector.cuh"

#define PLX_PIECE 16 /* bytes */

/* Reads PLX_PIECE pixels of ROW, which has WIDTH, from column X on, coordinates clamped; X is a multiple of PLX_PIECE. Where
 * rows are ALIGNED to that, a piece within the row is copied while others go on: __pipeline_commit and __pipeline_wait_prior
 * follow. */
static __device__ __forceinline__ void plx_load_piece(const uint8_t *row, int width, int x, bool aligned, uint8_t *ret_piece)
{
    const int last = width - 1;

    if (aligned && x >= 0 && x + PLX_PIECE <= width) {
        __pipeline_memcpy_async(ret_piece, row + x, PLX_PIECE);
    } else if (x < 0 || x > last) {
        const uint32_t four = row[x < 0 ? 0 : last] * 0x01010101u;
        *(uint4 *)ret_piece = make_uint4(four, four, four, four);
    } else {
#pragma unroll
        for (int i = 0; i < PLX_PIECE; i++)
            ret_piece[i] = row[min(x + i, last)];
    }
}

#endif
