/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/parity/parity.h"

#include <stdio.h>
#include <stdlib.h>

#include <parallax/error.h>

#include "cpu/cpu.h"
#include "gpu/gpu.h"

#define SKIPPED 77
#define SHOWN 20 /* failures that are described */

void parity_open(const struct plx_limits *limits, struct parity *ret_parity)
{
    struct plx_error_message message = {""};

    *ret_parity = (struct parity){0};
    int result = plx_gpu_create(limits, &ret_parity->gpu, &message);
    if (result == PLX_ERR_UNSUPPORTED) {
        printf("skipped: %s\n", message.text);
        exit(SKIPPED);
    }
    if (result == 0)
        result = plx_cpu_create(limits, &ret_parity->cpu);
    if (result < 0) {
        printf("no backend: %s: %s\n", plx_strerror(result), message.text);
        exit(1);
    }
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
    return wrong ? 1 : 0;
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
