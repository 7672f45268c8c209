/* SPDX-License-Identifier: Apache-2.0 */
/* A few neighbouring elements of a row, moved by one instruction where they lie aligned. */
#ifndef PLX_GPU_DEVICE_VECTOR_CUH
#define PLX_GPU_DEVICE_VECTOR_CUH

#include "gpu/device/device.cuh"

template <class T, int N> struct alignas(sizeof(T) * N) plx_vector {
    T at[N];
};

/* The first N of COUNT elements from FROM; what lies beyond COUNT is 0. ALIGNED: to the vector's size. */
template <int N, class T> static __device__ __forceinline__ plx_vector<T, N> plx_load(const T *from, int count, bool aligned)
{
    if (aligned && count >= N)
        return *(const plx_vector<T, N> *)from;
    plx_vector<T, N> vector;
#pragma unroll
    for (int i = 0; i < N; i++)
        vector.at[i] = i < count ? from[i] : T(0);
    return vector;
}

/* Writes the first min(N, COUNT) elements of VECTOR. */
template <int N, class T>
static __device__ __forceinline__ void plx_store(const plx_vector<T, N> &vector, T *to, int count, bool aligned)
{
    if (aligned && count >= N) {
        *(plx_vector<T, N> *)to = vector;
        return;
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        if (i < count)
            to[i] = vector.at[i];
}

/* True if each row of IMAGE begins at a multiple of BYTES, a power of two. */
static inline bool plx_rows_aligned(const struct plx_image *image, size_t bytes)
{
    return (((uintptr_t)image->data | image->pitch) & (bytes - 1)) == 0;
}

#endif
