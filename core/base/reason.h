/* SPDX-License-Identifier: Apache-2.0 */
/* A checksum that detects a torn read of the reason in shared memory (include/parallax/shm.h). */
#ifndef PLX_CORE_BASE_REASON_H
#define PLX_CORE_BASE_REASON_H

#include <stdint.h>

#include <parallax/shm.h>

#define PLX_REASON_WORDS (PLX_REASON_BYTES / 8)

static inline uint64_t plx_reason_checksum(const uint64_t word[PLX_REASON_WORDS])
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < PLX_REASON_WORDS; i++)
        sum = (sum ^ word[i]) * UINT64_C(0x100000001B3); /* the prime of FNV-1a */
    return sum;
}

#endif
