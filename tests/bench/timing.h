/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the time of a stage on a backend, for benchmarks that compare CPU and GPU. */
#ifndef PLX_TESTS_BENCH_TIMING_H
#define PLX_TESTS_BENCH_TIMING_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "cpu/cpu.h"
#include "gpu/gpu.h"

#define TIMING_BATCHES 21
#define TIMING_CALLS 20 /* calls in a batch; the GPU executes them while the CPU still makes calls */

typedef int timing_run(struct plx_stages *stages, const void *what);

static inline int timing_ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Prints NAME and the microseconds of a call: median, tenth and ninetieth percentile of batches. */
static inline void timing_report(struct plx_stages *stages, const char *name, timing_run *run, const void *what)
{
    double us[TIMING_BATCHES];
    for (int batch = -1; batch < TIMING_BATCHES; batch++) { /* one to warm up */
        const int64_t begun = plx_now_ns();
        for (int call = 0; call < TIMING_CALLS; call++)
            if (run(stages, what) < 0) {
                fprintf(stderr, "%s failed: %s\n", name, stages->message.text);
                exit(1);
            }
        if (stages->ops->finish(stages) < 0) {
            fprintf(stderr, "%s failed: %s\n", name, stages->message.text);
            exit(1);
        }
        us[batch < 0 ? 0 : batch] = (double)(plx_now_ns() - begun) / 1e3 / TIMING_CALLS;
    }
    qsort(us, TIMING_BATCHES, sizeof us[0], timing_ascending);
    printf("%-4s %-24s %10.2f %10.2f %10.2f us\n", stages->ops->name, name, us[TIMING_BATCHES / 2], us[TIMING_BATCHES / 10],
           us[TIMING_BATCHES * 9 / 10]);
    fflush(stdout);
}

/* An image in the backend's local memory, with the pixels of HOST, which has no padding; HOST NULL: zeros. */
static inline struct plx_image timing_image(struct plx_stages *stages, int width, int height, enum plx_type type,
                                            const void *host)
{
    const struct plx_stages_ops *ops = stages->ops;
    const size_t pitch = (size_t)width * type, bytes = pitch * (size_t)height;
    struct plx_image image = {NULL, width, height, pitch, type};

    if (ops->alloc_local(stages, bytes, host, &image.data) < 0) {
        fprintf(stderr, "no image of %d x %d: %s\n", width, height, stages->message.text);
        exit(1);
    }
    return image;
}

/* Runs MEASURE on the CPU, and on the GPU where there is one. */
static inline void timing_on_both(int width, int height, void (*measure)(struct plx_stages *stages, const void *what),
                                  const void *what)
{
    const struct plx_limits limits = {width, height, 64, 0};
    struct plx_error_message message = {""};
    struct plx_stages *stages;

    printf("%d x %d, whole machine; median, p10, p90 of a call\n", width, height);
    if (plx_cpu_create(&limits, &stages) < 0)
        exit(1);
    measure(stages, what);
    stages->ops->destroy(stages);
    if (plx_gpu_create(&limits, &stages, &message) < 0) {
        printf("gpu  skipped: %s\n", message.text);
        return;
    }
    measure(stages, what);
    stages->ops->destroy(stages);
}

#endif
