/* SPDX-License-Identifier: Apache-2.0 */
/* Stage census: the words of one row of a thread's columns. */
#ifndef PLX_GPU_MATCH_CENSUS_WORD_CUH
#define PLX_GPU_MATCH_CENSUS_WORD_CUH

#include "gpu/match/census_tile.cuh"

/* Window and form of one kind. Samples are taken in raster order, the first into the highest bit. */
template <enum plx_census_kind KIND> struct form {
    static constexpr int rx = KIND == PLX_CENSUS_SYMMETRIC_7X5 ? 3 : 4;
    static constexpr int ry = KIND == PLX_CENSUS_SYMMETRIC_7X5 ? 2 : 3;
    static constexpr bool symmetric = KIND == PLX_CENSUS_SYMMETRIC_7X5 || KIND == PLX_CENSUS_SYMMETRIC_9X7;
    static constexpr int bits = KIND == PLX_CENSUS_SYMMETRIC_7X5   ? 17
                                : KIND == PLX_CENSUS_SYMMETRIC_9X7 ? 31
                                : KIND == PLX_CENSUS_FULL_9X7      ? 62
                                                                   : 30;
    static constexpr int words = KIND == PLX_CENSUS_FULL_9X7 ? 2 : 1; /* of 32 bits */

    static __device__ constexpr bool sampled(int dx, int dy)
    {
        if (symmetric)
            return dy < 0 || (dy == 0 && dx < 0);
        return (dx != 0 || dy != 0) && (KIND != PLX_CENSUS_CHECKER_9X7 || (dx + dy) % 2 == 0);
    }
};

/* A census word. */
template <int WORDS> struct word_of {
    typedef uint32_t type;
};
template <> struct word_of<2> {
    typedef uint64_t type;
};

/* A row of pairs around a thread's columns. */
struct line {
    uint32_t at[COLUMNS + 2 * RADIUS_X];

    __device__ __forceinline__ line()
    {
    }
    __device__ __forceinline__ explicit line(const uint32_t *from)
    {
#pragma unroll
        for (int i = 0; i < COLUMNS + 2 * RADIUS_X; i += 4) {
            const uint4 four = *(const uint4 *)(from + i);
            at[i] = four.x, at[i + 1] = four.y, at[i + 2] = four.z, at[i + 3] = four.w;
        }
    }
};

/* The rows of pairs that COUNT rows of a window ask for, each read when it is asked for first. */
template <int COUNT> struct lines {
    const uint32_t *from; /* of the uppermost */
    line read[COUNT];
    bool done[COUNT]; /* known when compiled */

    __device__ __forceinline__ explicit lines(const uint32_t *from) : from(from)
    {
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            done[i] = false;
    }

    __device__ __forceinline__ const line &at(int i)
    {
        if (!done[i])
            read[i] = line(from + i * PAIRS_X);
        done[i] = true;
        return read[i];
    }
};

/* The first minus the second of both halves, no less than 0 and no more than 1. */
static __device__ __forceinline__ uint32_t larger(uint32_t first, uint32_t second)
{
    uint32_t bit;
    asm("sub.sat.f16x2 %0, %1, %2;" : "=r"(bit) : "r"(first), "r"(second));
    return bit;
}

/* 2 * bits + bit, of both halves */
static __device__ __forceinline__ uint32_t append(uint32_t bits, uint32_t bit)
{
    uint32_t longer;
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(longer) : "r"(bits), "r"(0x40004000u), "r"(bit));
    return longer;
}

/* The words of one row of a thread's columns, while bits are collected, the highest first: pairs of eight bits each; a single
 * bit more stays with the eight below it. */
template <enum plx_census_kind KIND> struct row_words {
    typedef form<KIND> f;
    static constexpr int parts = (f::bits + 6) / 8;
    uint32_t part[parts][COLUMNS];

    static __device__ __forceinline__ constexpr int part_of(int bit)
    {
        return bit / 8 < parts ? bit / 8 : parts - 1;
    }

    __device__ __forceinline__ row_words()
    {
#pragma unroll
        for (int p = 0; p < parts; p++) {
            const int bits = p < parts - 1 ? 8 : f::bits - 8 * p;
#pragma unroll
            for (int i = 0; i < COLUMNS; i++) /* what doubles to 1024 meanwhile */
                part[p][i] = EMPTY - (uint32_t)bits * 0x04000400u;
        }
    }

    /* Of one column, in both halves of the tile. */
    __device__ __forceinline__ void finish(int column, uint32_t (&ret_first)[f::words], uint32_t (&ret_second)[f::words]) const
    {
        if constexpr (parts == 2) {
            const uint32_t mask = (1u << f::bits % 32) - 1;
            ret_first[0] = __byte_perm(part[0][column], part[1][column], 0x5540) & mask;
            ret_second[0] = __byte_perm(part[0][column], part[1][column], 0x7762) & mask;
        } else {
#pragma unroll
            for (int word = 0; word < f::words; word++) {
                const uint32_t low = __byte_perm(part[4 * word][column], part[4 * word + 1][column], 0x6240);
                const uint32_t high = __byte_perm(part[4 * word + 2][column], part[4 * word + 3][column], 0x6240);
                ret_first[word] = __byte_perm(low, high, 0x5410);
                ret_second[word] = __byte_perm(low, high, 0x7632);
            }
        }
    }
};

/* Collects the words of ROWS rows; WINDOW: from the uppermost row of the first's window on. Rows go together, so that what
 * several ask for is read once. */
template <enum plx_census_kind KIND, int ROWS>
static __device__ __forceinline__ void collect(lines<2 * form<KIND>::ry + ROWS> &window, row_words<KIND> (&words)[ROWS])
{
    typedef form<KIND> f;
    int left[ROWS]; /* bits */

#pragma unroll
    for (int row = 0; row < ROWS; row++)
        left[row] = f::bits;
#pragma unroll
    for (int dy = -f::ry; dy <= f::ry; dy++) {
#pragma unroll
        for (int row = 0; row < ROWS; row++) {
#pragma unroll
            for (int dx = -f::rx; dx <= f::rx; dx++) {
                if (!f::sampled(dx, dy))
                    continue;
                const line &sample = window.at(f::ry + row + dy), &other = window.at(f::ry + row - (f::symmetric ? dy : 0));
                uint32_t(&part)[COLUMNS] = words[row].part[row_words<KIND>::part_of(--left[row])];
#pragma unroll
                for (int i = RADIUS_X; i < RADIUS_X + COLUMNS; i++)
                    part[i - RADIUS_X] =
                        append(part[i - RADIUS_X], larger(sample.at[i + dx], other.at[i - (f::symmetric ? dx : 0)]));
            }
        }
    }
}

#endif
