/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every file of cpu/simd/ begins with: vectors of bytes and of 16-bit words as wide as the instruction set that the file
 * is compiled for, and the names of the kernels. GCC's vector extensions have + - ^ & | and comparisons; here is the rest.
 */
#ifndef PLX_CPU_SIMD_SIMD_H
#define PLX_CPU_SIMD_SIMD_H

#include <string.h>

#include "cpu/simd/kernels.h"

#if defined(__AVX512VBMI__) && defined(__AVX512BITALG__) && defined(__AVX512VL__)
#    define VECTOR 64 /* bytes */
#elif defined(__AVX2__)
#    define VECTOR 32
#else
#    define VECTOR 16
#endif
#if VECTOR > 16
#    include <immintrin.h>
#elif defined(PLX_NEON)
#    include <arm_neon.h>
#endif

#define INLINE static inline __attribute__((always_inline))

/* Before a loop of up to 32 rounds over an array of vectors: only without the loop are they kept in registers. */
#ifdef __clang__
#    define UNROLL _Pragma("unroll")
#else
#    define UNROLL _Pragma("GCC unroll 32")
#endif

typedef uint8_t u8v __attribute__((vector_size(VECTOR)));
typedef uint16_t u16v __attribute__((vector_size(VECTOR)));
typedef int16_t s16v __attribute__((vector_size(VECTOR)));
typedef uint8_t u8v_half __attribute__((vector_size(VECTOR / 2)));

#define LANES8 VECTOR
#define LANES16 (VECTOR / 2)

INLINE u8v load8(const void *from)
{
    u8v v;
    memcpy(&v, from, sizeof v);
    return v;
}

INLINE void store8(void *to, u8v v)
{
    memcpy(to, &v, sizeof v);
}

INLINE u16v load16(const void *from)
{
    u16v v;
    memcpy(&v, from, sizeof v);
    return v;
}

INLINE void store16(void *to, u16v v)
{
    memcpy(to, &v, sizeof v);
}

INLINE u8v all8(uint8_t value)
{
    return value - (u8v){0};
}

INLINE u16v all16(uint16_t value)
{
    return value - (u16v){0};
}

/*
 * min8, max8, adds8 (saturating), subs8 (saturating), min16, max16, subs16 (saturating)
 * distance8(a, b)    |a - b|
 * popcount8          bits of each byte
 * popcount4          the same of bytes below 16
 * shift_up(v, w)     lane i gets lane i - 1 of v, lane 0 the last of w
 * shift_down(v, w)   lane i gets lane i + 1 of v, the last lane the first of w
 * least8(v)          the smallest byte in all lanes
 * least16(v)         the smallest word
 * widen(p)           LANES16 bytes at P as words
 * narrow(v, w)       words as bytes, in an order that spread undoes; words above 127 become bytes above 126
 * spread(b, p, q)    bytes as words *P and *Q
 * lookup16(t, v)     T[v] for bytes V below 16, else 0; only where there is an instruction for it
 * store_words(p, v, n) stores LANES8 words of N bytes, 4 or 8, at P: byte k of all is V[k]
 * stream8(p, v)      stores V at P, which is aligned, past the caches, where that is possible
 * order_stream()     after it, what was streamed is stored before what comes next
 */
#define BINARY(type, name, instruction, raw)                                                                                   \
    INLINE type name(type a, type b)                                                                                           \
    {                                                                                                                          \
        return (type)instruction((raw)a, (raw)b);                                                                              \
    }

#if VECTOR > 16
INLINE __m128i least8_of_32(__m256i v)
{
    __m128i b = _mm_min_epu8(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    return _mm_minpos_epu16(_mm_min_epu8(b, _mm_srli_epi16(b, 8)));
}
#endif

#if VECTOR == 64

BINARY(u8v, min8, _mm512_min_epu8, __m512i)
BINARY(u8v, max8, _mm512_max_epu8, __m512i)
BINARY(u8v, adds8, _mm512_adds_epu8, __m512i)
BINARY(u8v, subs8, _mm512_subs_epu8, __m512i)
BINARY(u16v, min16, _mm512_min_epu16, __m512i)
BINARY(u16v, max16, _mm512_max_epu16, __m512i)
BINARY(u16v, subs16, _mm512_subs_epu16, __m512i)

INLINE u8v popcount8(u8v v)
{
    return (u8v)_mm512_popcnt_epi8((__m512i)v);
}

INLINE u8v shift_up(u8v v, u8v w)
{
    const __m512i high = _mm512_alignr_epi64((__m512i)v, (__m512i)w, 6); /* the 16-byte lane before each */
    return (u8v)_mm512_alignr_epi8((__m512i)v, high, 15);
}

INLINE u8v shift_down(u8v v, u8v w)
{
    const __m512i low = _mm512_alignr_epi64((__m512i)w, (__m512i)v, 2); /* the 16-byte lane after each */
    return (u8v)_mm512_alignr_epi8(low, (__m512i)v, 1);
}

INLINE u8v least8(u8v v)
{
    __m256i half = _mm256_min_epu8(_mm512_castsi512_si256((__m512i)v), _mm512_extracti64x4_epi64((__m512i)v, 1));
    return (u8v)_mm512_broadcastb_epi8(least8_of_32(half));
}

INLINE void stream8(void *to, u8v v)
{
    _mm512_stream_si512((__m512i *)to, (__m512i)v);
}

INLINE unsigned least16(u16v v)
{
    __m256i a = _mm256_min_epu16(_mm512_castsi512_si256((__m512i)v), _mm512_extracti64x4_epi64((__m512i)v, 1));
    __m128i b = _mm_min_epu16(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    return (unsigned)_mm_cvtsi128_si32(_mm_minpos_epu16(b)) & 0xFFFF;
}

INLINE u8v narrow(u16v v, u16v w)
{
    return (u8v)_mm512_packs_epi16((__m512i)v, (__m512i)w);
}

INLINE void spread(u8v bytes, u16v *ret_v, u16v *ret_w)
{
    *ret_v = (u16v)_mm512_unpacklo_epi8((__m512i)bytes, _mm512_setzero_si512());
    *ret_w = (u16v)_mm512_unpackhi_epi8((__m512i)bytes, _mm512_setzero_si512());
}

#    define lookup16 lookup16
INLINE u8v lookup16(const uint8_t *table, u8v index)
{
    const __m512i values = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i_u *)(const void *)table));
    return (u8v)_mm512_shuffle_epi8(values, _mm512_adds_epu8((__m512i)index, _mm512_set1_epi8(0x70))); /* 16 sets bit 7 */
}

INLINE u16v widen(const uint8_t *from)
{
    return (u16v)_mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i_u *)(const void *)from));
}

#elif VECTOR == 32

BINARY(u8v, min8, _mm256_min_epu8, __m256i)
BINARY(u8v, max8, _mm256_max_epu8, __m256i)
BINARY(u8v, adds8, _mm256_adds_epu8, __m256i)
BINARY(u8v, subs8, _mm256_subs_epu8, __m256i)
BINARY(u16v, min16, _mm256_min_epu16, __m256i)
BINARY(u16v, max16, _mm256_max_epu16, __m256i)
BINARY(u16v, subs16, _mm256_subs_epu16, __m256i)

INLINE u8v popcount8(u8v v)
{
    const __m256i table = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const __m256i nibble = _mm256_set1_epi8(15);
    __m256i low = _mm256_shuffle_epi8(table, _mm256_and_si256((__m256i)v, nibble));
    __m256i high = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16((__m256i)v, 4), nibble));
    return (u8v)_mm256_add_epi8(low, high);
}

#    define popcount4 popcount4
INLINE u8v popcount4(u8v v)
{
    const __m256i table = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    return (u8v)_mm256_shuffle_epi8(table, (__m256i)v);
}

INLINE u8v shift_up(u8v v, u8v w)
{
    return (u8v)_mm256_alignr_epi8((__m256i)v, _mm256_permute2x128_si256((__m256i)w, (__m256i)v, 0x21), 15);
}

INLINE u8v shift_down(u8v v, u8v w)
{
    return (u8v)_mm256_alignr_epi8(_mm256_permute2x128_si256((__m256i)v, (__m256i)w, 0x21), (__m256i)v, 1);
}

INLINE u8v least8(u8v v)
{
    return (u8v)_mm256_broadcastb_epi8(least8_of_32((__m256i)v));
}

INLINE void stream8(void *to, u8v v)
{
    _mm256_stream_si256((__m256i *)to, (__m256i)v);
}

INLINE unsigned least16(u16v v)
{
    __m128i a = _mm_min_epu16(_mm256_castsi256_si128((__m256i)v), _mm256_extracti128_si256((__m256i)v, 1));
    return (unsigned)_mm_cvtsi128_si32(_mm_minpos_epu16(a)) & 0xFFFF;
}

INLINE u8v narrow(u16v v, u16v w)
{
    return (u8v)_mm256_packs_epi16((__m256i)v, (__m256i)w);
}

INLINE void spread(u8v bytes, u16v *ret_v, u16v *ret_w)
{
    *ret_v = (u16v)_mm256_unpacklo_epi8((__m256i)bytes, _mm256_setzero_si256());
    *ret_w = (u16v)_mm256_unpackhi_epi8((__m256i)bytes, _mm256_setzero_si256());
}

#    define lookup16 lookup16
INLINE u8v lookup16(const uint8_t *table, u8v index)
{
    const __m256i values = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i_u *)(const void *)table));
    return (u8v)_mm256_shuffle_epi8(values, _mm256_adds_epu8((__m256i)index, _mm256_set1_epi8(0x70))); /* 16 sets bit 7 */
}

INLINE u16v widen(const uint8_t *from)
{
    return (u16v)_mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i_u *)(const void *)from));
}

#elif defined(PLX_NEON)

BINARY(u8v, min8, vminq_u8, uint8x16_t)
BINARY(u8v, max8, vmaxq_u8, uint8x16_t)
BINARY(u8v, adds8, vqaddq_u8, uint8x16_t)
BINARY(u8v, subs8, vqsubq_u8, uint8x16_t)
BINARY(u16v, min16, vminq_u16, uint16x8_t)
BINARY(u16v, max16, vmaxq_u16, uint16x8_t)
BINARY(u16v, subs16, vqsubq_u16, uint16x8_t)

#    define distance8 distance8
BINARY(u8v, distance8, vabdq_u8, uint8x16_t)

INLINE u8v popcount8(u8v v)
{
    return (u8v)vcntq_u8((uint8x16_t)v);
}

INLINE u8v shift_up(u8v v, u8v w)
{
    return (u8v)vextq_u8((uint8x16_t)w, (uint8x16_t)v, 15);
}

INLINE u8v shift_down(u8v v, u8v w)
{
    return (u8v)vextq_u8((uint8x16_t)v, (uint8x16_t)w, 1);
}

INLINE u8v least8(u8v v)
{
    return all8(vminvq_u8((uint8x16_t)v));
}

INLINE unsigned least16(u16v v)
{
    return vminvq_u16((uint16x8_t)v);
}

#    define store_words store_words
INLINE void store_words(uint8_t *to, const u8v *byte, int word_bytes)
{
    uint8x16x2_t pair[4];

    for (int k = 0; k < 4 && word_bytes == 8; k++)
        pair[k] = vzipq_u8((uint8x16_t)byte[2 * k], (uint8x16_t)byte[2 * k + 1]);
    for (int half = 0; half < 2 && word_bytes == 8; half++) {
        uint16x8x4_t words;
        for (int k = 0; k < 4; k++)
            words.val[k] = (uint16x8_t)pair[k].val[half];
        vst4q_u16((uint16_t *)(void *)to + half * 32, words);
    }
    if (word_bytes == 4)
        vst4q_u8(to, (uint8x16x4_t){{(uint8x16_t)byte[0], (uint8x16_t)byte[1], (uint8x16_t)byte[2], (uint8x16_t)byte[3]}});
}

INLINE u8v narrow(u16v v, u16v w)
{
    return (u8v)vqmovn_high_u16(vqmovn_u16((uint16x8_t)v), (uint16x8_t)w);
}

INLINE void spread(u8v bytes, u16v *ret_v, u16v *ret_w)
{
    *ret_v = (u16v)vmovl_u8(vget_low_u8((uint8x16_t)bytes));
    *ret_w = (u16v)vmovl_high_u8((uint8x16_t)bytes);
}

#    define lookup16 lookup16
INLINE u8v lookup16(const uint8_t *table, u8v index)
{
    return (u8v)vqtbl1q_u8(vld1q_u8(table), (uint8x16_t)index);
}

INLINE u16v widen(const uint8_t *from)
{
    return (u16v)vmovl_u8(vld1_u8(from));
}

#else /* any machine; compilers find the instructions where there are some */

#    define EACH(lanes) for (int i = 0; i < (lanes); i++)

INLINE u8v min8(u8v a, u8v b)
{
    u8v v = a;
    EACH(LANES8) v[i] = a[i] < b[i] ? a[i] : b[i];
    return v;
}

INLINE u8v max8(u8v a, u8v b)
{
    u8v v = a;
    EACH(LANES8) v[i] = a[i] > b[i] ? a[i] : b[i];
    return v;
}

INLINE u8v adds8(u8v a, u8v b)
{
    u8v sum = a + b;
    return sum | (u8v)(sum < a);
}

INLINE u8v subs8(u8v a, u8v b)
{
    return (a - b) & (u8v)(a > b);
}

INLINE u16v min16(u16v a, u16v b)
{
    u16v less = (u16v)(a < b);
    return (a & less) | (b & ~less);
}

INLINE u16v max16(u16v a, u16v b)
{
    u16v less = (u16v)(a < b);
    return (b & less) | (a & ~less);
}

INLINE u16v subs16(u16v a, u16v b)
{
    return (a - b) & (u16v)(a > b);
}

INLINE u8v popcount8(u8v v)
{
    v = v - (v >> 1 & 0x55);
    v = (v & 0x33) + (v >> 2 & 0x33);
    return (v + (v >> 4)) & 0x0F;
}

INLINE u8v shift_up(u8v v, u8v w)
{
    uint8_t both[2 * LANES8];
    store8(both, w);
    store8(both + LANES8, v);
    return load8(both + LANES8 - 1);
}

INLINE u8v shift_down(u8v v, u8v w)
{
    uint8_t both[2 * LANES8];
    store8(both, v);
    store8(both + LANES8, w);
    return load8(both + 1);
}

INLINE u8v least8(u8v v)
{
    uint8_t least = v[0];
    EACH(LANES8) least = v[i] < least ? v[i] : least;
    return all8(least);
}

INLINE unsigned least16(u16v v)
{
    unsigned least = v[0];
    EACH(LANES16) least = v[i] < least ? v[i] : least;
    return least;
}

INLINE u16v widen(const uint8_t *from)
{
    u8v_half half;
    memcpy(&half, from, sizeof half);
    return __builtin_convertvector(half, u16v);
}

INLINE u8v narrow(u16v v, u16v w)
{
    const u16v most = all16(127);
    uint16_t words[LANES8];
    uint8_t bytes[LANES8];
    store16(words, v | (u16v)(v > most));
    store16(words + LANES16, w | (u16v)(w > most));
    EACH(LANES8) bytes[i] = (uint8_t)words[i];
    return load8(bytes);
}

INLINE void spread(u8v bytes, u16v *ret_v, u16v *ret_w)
{
    uint8_t both[LANES8];
    store8(both, bytes);
    *ret_v = widen(both);
    *ret_w = widen(both + LANES16);
}

#    undef EACH
#endif

/* 0, 1, 2 ... */
INLINE u16v ramp(void)
{
    u16v v = {0};
    for (int i = 0; i < LANES16; i++)
        v[i] = (uint16_t)i;
    return v;
}

INLINE u16v distance16(u16v a, u16v b)
{
    return max16(a, b) - min16(a, b);
}

/* Writes the lanes of V that lie inside the row. */
INLINE void put(uint16_t *row, int x, int width, u16v v)
{
    if (x + LANES16 <= width) {
        store16(row + x, v);
    } else {
        const u16v copy = v; /* V has no address, and stays in a register */
        memcpy(row + x, &copy, (size_t)(width - x) * sizeof *row);
    }
}

#ifndef popcount4
#    define popcount4 popcount8
#endif

#ifndef store_words
INLINE void store_words(uint8_t *to, const u8v *byte, int word_bytes)
{
    uint8_t bytes[8][LANES8];

    for (int k = 0; k < word_bytes; k++)
        store8(bytes[k], byte[k]);
    for (int i = 0; i < LANES8; i++)
        for (int k = 0; k < word_bytes; k++)
            to[i * word_bytes + k] = bytes[k][i];
}
#endif

#ifndef distance8
INLINE u8v distance8(u8v a, u8v b)
{
    return max8(a, b) - min8(a, b);
}
#endif

#if VECTOR > 16
INLINE void order_stream(void)
{
    _mm_sfence();
}
#else
INLINE void stream8(void *to, u8v v)
{
    store8(to, v);
}

INLINE void order_stream(void)
{
}
#endif

#endif
