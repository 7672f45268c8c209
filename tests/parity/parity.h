/* SPDX-License-Identifier: Apache-2.0 */
/* The harness of the parity tests: the CPU backend as the reference, the GPU backend under test, and a count of the
 * comparisons. */
#ifndef PLX_TESTS_PARITY_PARITY_H
#define PLX_TESTS_PARITY_PARITY_H

#include <parallax/frame.h>

#include "core/pipeline/stages.h"
#include "oracle/test_image.h"
#include "oracle/twin.h"

/* NOLINTNEXTLINE(bugprone-sizeof-expression): also of arrays of pointers */
#define PARITY_COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

struct parity {
    struct plx_stages *cpu, *gpu;
    int failures, comparisons;
};

/* Opens both backends; exits with 77 where there is no GPU, with 1 on any other failure. */
void parity_open(const struct plx_limits *limits, struct parity *ret_parity);

/* Says how many comparisons held, closes; returns the exit code. */
int parity_close(struct parity *parity);

/* If RESULT is an error, prints MESSAGE and exits with 1. */
void parity_must(int result, const struct plx_error_message *message);

/* Checks the ROWS of a test's table, of which CHECK says 1 where row INDEX is wrong, else 0; returns the exit code. */
int parity_rows(int rows, int (*check)(int index));

/* Waits for the GPU, then compares its image with the CPU's, padding included; says WHAT differs where. */
void parity_compare(struct parity *parity, const struct twin *twin, const char *what);

/* Compares BYTES of two frames, header and planes; says WHAT differs from which byte on. */
void parity_frames(struct parity *parity, const struct plx_frame *cpu, const struct plx_frame *gpu, uint32_t bytes,
                   const char *what);

/* Both backends must have returned 0. */
void parity_done(struct parity *parity, int cpu, int gpu, const char *what);

/* Both backends must have refused, with the same error. */
void parity_refused(struct parity *parity, int cpu, int gpu, const char *what);

#endif
