/* SPDX-License-Identifier: Apache-2.0 */
/* Scratch files, which are removed with the test, and seeded random numbers. */
#ifndef PLX_TESTS_SCRATCH_H
#define PLX_TESTS_SCRATCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct scratch {
    char directory[64], path[128];
};

/* A fresh directory, and the path of a file in it that is not there yet. */
static inline int scratch_begin(struct scratch *scratch, const char *name)
{
    snprintf(scratch->directory, sizeof scratch->directory, "/tmp/plx-test-XXXXXX");
    if (!mkdtemp(scratch->directory))
        return -1;
    snprintf(scratch->path, sizeof scratch->path, "%s/%s", scratch->directory, name);
    return 0;
}

/* The file now holds exactly SIZE bytes of TEXT. */
static inline int scratch_write(const struct scratch *scratch, const void *text, size_t size)
{
    FILE *out = fopen(scratch->path, "we");
    if (!out)
        return -1;
    size_t written = fwrite(text, 1, size, out);
    return fclose(out) == 0 && written == size ? 0 : -1;
}

static inline void scratch_end(struct scratch *scratch)
{
    unlink(scratch->path);
    rmdir(scratch->directory);
}

/* Teardown of tests whose state is a struct scratch. */
static inline int scratch_teardown(void **state)
{
    scratch_end(*state);
    return 0;
}

/* The seed of $PLX_TEST_SEED, or a fixed one. */
static inline uint64_t scratch_seed(void)
{
    const char *text = getenv("PLX_TEST_SEED");
    return text ? strtoull(text, NULL, 0) : 1;
}

/* splitmix64 (Steele, Lea, Flood 2014). */
static inline uint64_t scratch_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

#endif
