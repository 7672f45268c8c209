/* SPDX-License-Identifier: Apache-2.0 */
/* Stage census: the words of one row of a thread's columns. */
#ifndef PLX_GPU_CENSUS_WORD_CUH
#define PLX_GPU_CENSUS_WORD_CUH

#include "gpu/census_tile.cuh"

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

/* The upper and the lower half of a census word are collected in ten bits and, above, up to six. */
enum { PART_LOW, PART_LOW_6, PART_HIGH, PART_HIGH_6, PARTS };

static __device__ constexpr int part_of(int bit)
{
    return bit < 10 ? PART_LOW : bit < 16 ? PART_LOW_6 : bit < 26 ? PART_HIGH : PART_HIGH_6;
}

/* What doubles to 1024 while bits are appended until the word has BITS. */
static __device__ constexpr uint32_t empty_part(int part, int bits)
{
    const int begin = part == PART_LOW ? 0 : part == PART_LOW_6 ? 10 : part == PART_HIGH ? 16 : 26;
    const int most = part % 2 == 0 ? 10 : 6, count = bits - begin < most ? bits - begin : most;
    return EMPTY - (uint32_t)(count > 0 ? count : 0) * 0x04000400u;
}

/* Of both halves the ten bits of PART and, above, six of MORE. */
static __device__ __forceinline__ uint32_t join(uint32_t part, uint32_t more)
{
    return (part & 0x03FF03FFu) | (plx_mad(more, 1 << 10, 0) & 0xFC00FC00u);
}

/* Words of column I of the thread in both halves of the tile; WINDOW: from the uppermost row of the window on. */
template <enum plx_census_kind KIND>
static __device__ __forceinline__ void census_words(const line *window, int i,
                                                    uint32_t (&ret_words)[2][COLUMNS][form<KIND>::words])
{
    typedef form<KIND> f;
    const int x = RADIUS_X + i, y = f::ry;
    uint32_t parts[f::words][PARTS];
    int bit = f::bits;

#pragma unroll
    for (int word = 0; word < f::words; word++)
#pragma unroll
        for (int part = 0; part < PARTS; part++)
            parts[word][part] = empty_part(part, f::bits - word * 32);
#pragma unroll
    for (int dy = -f::ry; dy <= f::ry; dy++) {
#pragma unroll
        for (int dx = -f::rx; dx <= f::rx; dx++) {
            if (!f::sampled(dx, dy))
                continue;
            const uint32_t other = f::symmetric ? window[y - dy].at[x - dx] : window[y].at[x];
            bit--;
            uint32_t *part = &parts[bit / 32][part_of(bit % 32)];
            *part = append(*part, larger(window[y + dy].at[x + dx], other));
        }
    }
#pragma unroll
    for (int word = 0; word < f::words; word++) {
        const uint32_t low = join(parts[word][PART_LOW], parts[word][PART_LOW_6]);
        const uint32_t high = join(parts[word][PART_HIGH], parts[word][PART_HIGH_6]);
        ret_words[0][i][word] = __byte_perm(low, high, 0x5410);
        ret_words[1][i][word] = __byte_perm(low, high, 0x7632);
    }
}

#endif
