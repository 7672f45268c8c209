/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/parity/parity.h"

#include <stdio.h>
#include <stdlib.h>

#include <parallax/error.h>

#include "app/selftest/check.h"

#define SKIPPED 77
#define SHOWN 20 /* failures that are described */

void parity_open(const struct plx_limits *limits, struct parity *ret_parity)
{
    struct check_outcome outcome = {.verdict = CHECK_PASSED};

    *ret_parity = (struct parity){0};
    if (check_backend(PLX_BACKEND_GPU, limits, &ret_parity->gpu, &outcome) &&
        check_backend(PLX_BACKEND_CPU, limits, &ret_parity->cpu, &outcome))
        return;
    printf("%s: %s\n", outcome.verdict == CHECK_SKIPPED ? "skipped" : "FAILED", outcome.message);
    exit(outcome.verdict == CHECK_SKIPPED ? SKIPPED : 1);
}

void parity_must(int result, const struct plx_error_message *message)
{
    if (result == 0)
        return;
    printf("%s\n", message->text[0] ? message->text : plx_strerror(result));
    exit(1);
}

int parity_rows(int rows, int (*check)(int index))
{
    int wrong = 0;

    for (int i = 0; i < rows; i++)
        wrong += check(i);
    printf("%d rows, %d wrong\n", rows, wrong);
    return wrong || rows == 0 ? 1 : 0;
}

int parity_close(struct parity *parity)
{
    printf("%d of %d comparisons equal\n", parity->comparisons - parity->failures, parity->comparisons);
    parity->cpu->ops->destroy(parity->cpu);
    parity->gpu->ops->destroy(parity->gpu);
    return parity->failures > 0 || parity->comparisons == 0;
}

static void fail(struct parity *parity, const char *what, const char *how)
{
    if (parity->failures++ < SHOWN)
        printf("FAILED: %s: %s; PLX_TEST_SEED=%llu\n", what, how, (unsigned long long)test_seed());
}

void parity_compare(struct parity *parity, const struct twin *twin, const char *what)
{
    char how[256];

    parity->comparisons++;
    if (parity->gpu->ops->finish(parity->gpu) < 0) {
        fail(parity, what, parity->gpu->message.text);
        exit(parity_close(parity)); /* after a CUDA error nothing works */
    }
    if (!twin_equal(twin, how, sizeof how))
        fail(parity, what, how);
}

void parity_frames(struct parity *parity, const struct plx_frame *cpu, const struct plx_frame *gpu, uint32_t bytes,
                   const char *what)
{
    const uint8_t *a = (const uint8_t *)cpu, *b = (const uint8_t *)gpu;
    uint32_t first = 0;
    int plane = -1;
    char how[128];

    parity->comparisons++;
    while (first < bytes && a[first] == b[first])
        first++;
    if (first == bytes)
        return;
    for (int id = 0; id < PLX_PLANE_COUNT; id++)
        if (cpu->plane[id].offset > 0 && first >= cpu->plane[id].offset)
            plane = id; /* planes lie in the order of their numbers */
    snprintf(how, sizeof how, "first different byte %u of %u, in plane %d (-1: the header)", first, bytes, plane);
    fail(parity, what, how);
}

void parity_done(struct parity *parity, int cpu, int gpu, const char *what)
{
    char how[640];
    if (cpu == 0 && gpu == 0)
        return;
    snprintf(how, sizeof how, "cpu: %s; gpu: %s (%s)", plx_strerror(cpu), plx_strerror(gpu), parity->gpu->message.text);
    fail(parity, what, how);
}

void parity_refused(struct parity *parity, int cpu, int gpu, const char *what)
{
    char how[128];

    parity->comparisons++;
    if (cpu < 0 && cpu == gpu)
        return;
    snprintf(how, sizeof how, "expected one error, cpu: %d; gpu: %d", cpu, gpu);
    fail(parity, what, how);
}
