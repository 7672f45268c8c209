/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of a block by key, in shared memory: a hash table of a few places, so that most of what goes to memory is added up
 * before. */
#ifndef PLX_GPU_DEVICE_COUNTERS_CUH
#define PLX_GPU_DEVICE_COUNTERS_CUH

#include "gpu/device/device.cuh"

#define PLX_NO_KEY 0xFFFFFFFFu

/* PROBES: slots, side by side, that a key may have. */
template <int SLOT_BITS, int PROBES> struct plx_counters {
    static constexpr int SLOTS = 1 << SLOT_BITS;

    uint32_t key[SLOTS], count[SLOTS]; /* a key of PLX_NO_KEY: free, and counts 0 */

    /* By all THREADS of a block, of which this is THREAD; a barrier has to follow. */
    __device__ __forceinline__ void clear(int thread, int threads)
    {
        for (int i = thread; i < SLOTS; i += threads) {
            key[i] = PLX_NO_KEY;
            count[i] = 0;
        }
    }

    /* The first slot that a key may have: multiplicative hashing, Knuth: the art of computer programming. */
    static __device__ __forceinline__ uint32_t slot_of(uint32_t to)
    {
        return to * 2654435761u >> (32 - SLOT_BITS);
    }

    /* False if there is no room: then the caller has to count. */
    __device__ __forceinline__ bool add(uint32_t to, uint32_t n)
    {
        uint32_t slot = slot_of(to);
#pragma unroll
        for (int i = 0; i < PROBES; i++, slot = (slot + 1) % SLOTS) {
            const uint32_t was = atomicCAS(&key[slot], PLX_NO_KEY, to);
            if (was == PLX_NO_KEY || was == to) {
                atomicAdd(&count[slot], n);
                return true;
            }
        }
        return false;
    }
};

#endif
