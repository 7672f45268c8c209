/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In 1,000 frames after its first ones, neither backend asks for memory (the linker puts the functions below in front of the
 * real ones) nor takes a page fault. The service with cameras is judged in a guest (vm/vm_steady.c).
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "app/selftest/fixture.h"
#include "cpu/cpu.h"
#include "gpu/gpu.h"
#include "tests/parity/parity.h"

#define WARM_UP 100
#define FRAMES 1000

static atomic_long allocations;

#define COUNTED(name, parameters, arguments)                                                                                   \
    void *__real_##name parameters;                                                                                            \
    void *__wrap_##name parameters;                                                                                            \
    void *__wrap_##name parameters                                                                                             \
    {                                                                                                                          \
        atomic_fetch_add(&allocations, 1);                                                                                     \
        return __real_##name arguments;                                                                                        \
    }

COUNTED(malloc, (size_t bytes), (bytes))
COUNTED(calloc, (size_t count, size_t bytes), (count, bytes))
COUNTED(realloc, (void *old, size_t bytes), (old, bytes))
COUNTED(aligned_alloc, (size_t to, size_t bytes), (to, bytes))

static long page_faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

/* As the service does before its first frame (app/realtime.c): what fills up over minutes is there from the start. */
static char *heap;

static void touch_heap(void)
{
    for (volatile char *at = heap; at < (char *)sbrk(0); at += 4096)
        *at = *at;
}

static bool is_steady(const char *backend, struct plx_stages *stages, const struct fixture_kind *kind)
{
    struct plx_error_message message = {""};
    struct fixture fixture;
    parity_must(fixture_open(stages, kind, &fixture, &message), &message);
    long faults = 0, before = 0;
    for (int i = 0; i < WARM_UP + FRAMES; i++) {
        if (i == WARM_UP) {
            touch_heap();
            faults = page_faults();
            before = atomic_load(&allocations);
        }
        if (fixture_run(&fixture, i) < 0) {
            printf("frame %d: %s\n", i, stages->message.text);
            exit(1);
        }
    }
    faults = page_faults() - faults;
    const long taken = atomic_load(&allocations) - before;
    printf("%s: %ld allocations, %ld page faults in %d frames\n", backend, taken, faults, FRAMES);
    fixture_close(&fixture);
    return taken == 0 && faults == 0 && before > 0;
}

int main(void)
{
    struct fixture_kind kind = {320, 240, PLX_FORMAT_GREY, true, {.refine = false}, NULL};
    struct plx_error_message message = {""};
    struct plx_stages *cpu, *gpu;

    heap = sbrk(0);
    plx_pipeline_params_default(&kind.params);
    kind.params.match.disparities = 64;
    const struct plx_limits limits = fixture_limits(&kind);
    if (plx_gpu_create(&limits, &gpu, &message) < 0) {
        printf("skipped: %s\n", message.text);
        return 77;
    }
    if (plx_cpu_create(&limits, &cpu) < 0)
        return 1;
    const bool cpu_is_steady = is_steady("cpu", cpu, &kind), gpu_is_steady = is_steady("gpu", gpu, &kind);
    return cpu_is_steady && gpu_is_steady ? 0 : 1;
}
