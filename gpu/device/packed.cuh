/* SPDX-License-Identifier: Apache-2.0 */
/* Two unsigned 16-bit numbers in one register: low and high half. */
#ifndef PLX_GPU_DEVICE_PACKED_CUH
#define PLX_GPU_DEVICE_PACKED_CUH

#include <cuda_fp16.h>

#include "gpu/device/device.cuh"

/* Compute capability 9.0 has instructions for packed minima. On 8.x, and on 11.0 (Thor), where the compiler needs six
 * instructions, the minimum of two half floats gives the same result while every number is below 0x7C00: non-negative floats
 * are in the order of their bits. GPUs before 8.0 have neither and are slow. */
#if PLX_ARCH < 900 || PLX_ARCH == 1100
#    define PLX_PACKED_HALF2 1
#    define PLX_PACKED_MAX 0x7BFF7BFFu
#else
#    define PLX_PACKED_HALF2 0
#    define PLX_PACKED_MAX 0xFFFFFFFFu
#endif

static __device__ __forceinline__ uint32_t plx_min2(uint32_t a, uint32_t b)
{
#if PLX_PACKED_HALF2 && PLX_ARCH >= 800
    uint32_t least;
    asm("min.f16x2 %0, %1, %2;" : "=r"(least) : "r"(a), "r"(b));
    return least;
#else
    return __vminu2(a, b);
#endif
}

static __device__ __forceinline__ uint32_t plx_max2(uint32_t a, uint32_t b)
{
#if PLX_PACKED_HALF2 && PLX_ARCH >= 800
    uint32_t largest;
    asm("max.f16x2 %0, %1, %2;" : "=r"(largest) : "r"(a), "r"(b));
    return largest;
#else
    return __vmaxu2(a, b);
#endif
}

static __device__ __forceinline__ uint32_t plx_min3(uint32_t a, uint32_t b, uint32_t c)
{
#if PLX_PACKED_HALF2
    return plx_min2(plx_min2(a, b), c);
#else
    return __vimin3_u16x2(a, b, c);
#endif
}

static __device__ __forceinline__ uint32_t plx_max3(uint32_t a, uint32_t b, uint32_t c)
{
#if PLX_PACKED_HALF2
    return plx_max2(plx_max2(a, b), c);
#else
    return __vimax3_u16x2(a, b, c);
#endif
}

/* min(a + b, c) */
static __device__ __forceinline__ uint32_t plx_add_min(uint32_t a, uint32_t b, uint32_t c)
{
#if PLX_PACKED_HALF2
    return plx_min2(a + b, c);
#else
    return __viaddmin_u16x2(a, b, c);
#endif
}

static __device__ __forceinline__ uint32_t plx_broadcast2(uint32_t value)
{
    return value << 16 | value;
}

static __device__ __forceinline__ __half2 plx_as_half2(uint32_t pair)
{
    return *(const __half2 *)&pair;
}

static __device__ __forceinline__ uint32_t plx_bits_of(__half2 pair)
{
    return *(const uint32_t *)&pair;
}

/* 1 / X with a relative error of at most 2^-23. Assembly: CUDA has no such function. */
static __device__ __forceinline__ float plx_reciprocal(float x)
{
    float inverse;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(x));
    return inverse;
}

/* The disjunction of the disparities of FOUR pixels, without the invalid ones, whose bit 15 is set: PRMT makes a mask of that
 * bit. */
static __device__ __forceinline__ uint32_t plx_valid_bits(uint2 four)
{
    uint32_t invalid_x, invalid_y;
    asm("prmt.b32 %0, %1, 0, 0xBB99;" : "=r"(invalid_x) : "r"(four.x));
    asm("prmt.b32 %0, %1, 0, 0xBB99;" : "=r"(invalid_y) : "r"(four.y));
    return (four.x & ~invalid_x) | (four.y & ~invalid_y);
}

/* True if a number with one of these bits is above 0x7FF. Smaller ones, and 0x800, are the bits of half floats that are the
 * number * 2^-24: additions of half floats are exact. */
static __device__ __forceinline__ bool plx_exceeds_half(uint32_t bits)
{
    return (bits & 0xF800F800u) != 0;
}

/* a * b + c on another pipe than additions. Assembly: the compiler would turn it into shifts. */
static __device__ __forceinline__ uint32_t plx_mad(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t sum;
    asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(c));
    return sum;
}

/* Bytes 0 and 2 of WORD, and bytes 1 and 3; each result by another integer pipe. */
static __device__ __forceinline__ void plx_split_bytes(uint32_t word, uint32_t *ret_even, uint32_t *ret_odd)
{
    *ret_odd = __byte_perm(word, 0, 0x4341);
    *ret_even = plx_mad(*ret_odd, (uint32_t)-256, word);
}

/* The 16 bytes of a chunk as eight registers: gpu/sgm/sgm.cuh. */
static __device__ __forceinline__ void plx_unpack_chunk(uint4 chunk, uint32_t ret_values[8])
{
    plx_split_bytes(chunk.x, &ret_values[0], &ret_values[1]);
    plx_split_bytes(chunk.y, &ret_values[2], &ret_values[3]);
    plx_split_bytes(chunk.z, &ret_values[4], &ret_values[5]);
    plx_split_bytes(chunk.w, &ret_values[6], &ret_values[7]);
}

static __device__ __forceinline__ uint32_t plx_min_of_8(const uint32_t v[8])
{
    return plx_min3(plx_min3(v[0], v[1], v[2]), plx_min3(v[3], v[4], v[5]), plx_min2(v[6], v[7]));
}

#endif
