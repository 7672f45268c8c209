/* SPDX-License-Identifier: Apache-2.0 */
/* A warp that finds winners of a strip, a row behind those that walk it. */
#ifndef PLX_GPU_SGM_BAND_WINNERS_CUH
#define PLX_GPU_SGM_BAND_WINNERS_CUH

#include "gpu/sgm_band.cuh"

/*
 * A task is a segment of a row: its left winners, a thread each; or the votes for right ones of as many disparities as have
 * keys that compare. Keys of columns that the strip or the picture does not have lose.
 */
template <class S> struct band_winners {
    typedef band_keys<S::D> KEYS;
    static constexpr int AT_ONCE = 8;                                /* keys under way */
    static constexpr int D = S::D, TASKS = 1 + D / 2 / PLX_KEY_PART; /* of a segment */

    const band_args &a;
    const int sweep, lane, warp; /* of those that find winners */
    const int first, count;      /* columns of the strip */
    const int segments, rows, words_of_row;
    uint32_t *const keys;

    __device__ __forceinline__ band_winners(const band_args &args, unsigned char *shared, int number)
        : band_winners(args, band_memory<S>(args.own, true), shared, number)
    {
    }

    __device__ __forceinline__ band_winners(const band_args &args, const band_memory<S> &memory, unsigned char *shared,
                                            int number)
        : a(args), sweep(blockIdx.y), lane(threadIdx.x % WARP), warp(number), first((int)blockIdx.x * a.own * S::COLUMNS),
          count(min(a.own * S::COLUMNS, a.width - first)), segments((count + SEGMENT - 1) / SEGMENT), rows(a.rows[sweep]),
          words_of_row(memory.keys_of_row / 4), keys((uint32_t *)(shared + memory.keys))
    {
    }

    __device__ __forceinline__ void clear(void)
    {
        for (int pixel = count + warp; pixel < segments * SEGMENT; pixel += SEEKERS)
            for (int i = lane; i < KEYS::words; i += WARP)
                keys[pixel * KEYS::pitch + i] = keys[words_of_row + pixel * KEYS::pitch + i] = PLX_PACKED_MAX;
    }

    /*
     * Votes of a part. Right pixel P + t, where P is as far left of the segment as PART says, has candidates in columns t
     * and further on, at a disparity more in each; and thread t votes for the one SEGMENT before too, whose candidates are in
     * columns before t.
     */
    __device__ __forceinline__ void vote(const uint32_t *segment, int x, int y, int part) const
    {
        uint32_t *votes = a.votes + (size_t)y * a.width;
        const uint32_t *const at = segment + KEYS::word(part) - lane, *const at_before = at + SEGMENT;
        uint32_t best = PLX_PACKED_MAX, before = PLX_PACKED_MAX;
        plx_ballot<D> later, earlier;

#pragma unroll
        for (int from = 0; from < SEGMENT; from += AT_ONCE) {
            uint32_t key[AT_ONCE];
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++) {
                const int k = from + i;
                key[i] = PLX_PACKED_MAX;
                if (((k - lane) & (SEGMENT - 1)) < PLX_KEY_PART)
                    key[i] = (k < lane ? at_before : at)[k * (KEYS::pitch + 1)];
            }
#pragma unroll
            for (int i = 0; i < AT_ONCE; i++) {
                if (from + i < lane)
                    before = plx_min2(before, key[i]);
                else
                    best = plx_min2(best, key[i]);
            }
        }
        later.add(best, part);
        earlier.add(before, part);
        const int p = x - part + lane;
        if (p < a.width)
            later.cast(votes, p);
        if (lane > 0)
            earlier.cast(votes, p - SEGMENT);
    }

    __device__ __forceinline__ void find(int row)
    {
        const int y = a.y[sweep] + (sweep ? -row : row);
        uint32_t *const keys_of_row = keys + (row & 1) * words_of_row;

        for (int task = warp; task < segments * TASKS; task += SEEKERS) {
            const int segment = task / TASKS, kind = task % TASKS, column = segment * SEGMENT;
            uint32_t *const pixels = keys_of_row + column * KEYS::pitch;
            if (kind > 0)
                vote(pixels, first + column, y, (kind - 1) * PLX_KEY_PART);
            else if (column + lane < count)
                plx_finish_left<KEYS>(a.out, pixels + lane * KEYS::pitch, first + column + lane, y);
        }
    }
};

#endif
