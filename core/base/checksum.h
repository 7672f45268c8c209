/* SPDX-License-Identifier: Apache-2.0 */
/* Checksums: of words in shared memory, which detects a torn read (include/parallax/shm.h), and of bytes. */
#ifndef PLX_CORE_BASE_CHECKSUM_H
#define PLX_CORE_BASE_CHECKSUM_H

#include <stddef.h>
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

#define PLX_FNV1A_BEGIN UINT64_C(0xcbf29ce484222325)

/* FNV-1a of 64 bits over BYTES at DATA; HASH: PLX_FNV1A_BEGIN, or the sum of what is before. */
static inline uint64_t plx_fnv1a(uint64_t hash, const void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): a byte of a number that is set */
        hash = (hash ^ ((const unsigned char *)data)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
