/* SPDX-License-Identifier: Apache-2.0 */
/* A checksum that detects a torn read of what lies as 64-bit words in shared memory (include/parallax/shm.h). */
#ifndef PLX_CORE_BASE_CHECKSUM_H
#define PLX_CORE_BASE_CHECKSUM_H

#include <stdint.h>

#include <parallax/shm.h>

#define PLX_REASON_WORDS (PLX_REASON_BYTES / 8)
#define PLX_VERDICT_WORDS (PLX_VERDICT_BYTES / 8)
_Static_assert(sizeof(struct plx_verdict_now) == PLX_VERDICT_BYTES, "the verdict fills its words");

static inline uint64_t plx_words_checksum(const uint64_t *word, unsigned count)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < count; i++)
        sum = (sum ^ word[i]) * UINT64_C(0x100000001B3); /* the prime of FNV-1a */
    return sum;
}

#endif
