/* SPDX-License-Identifier: Apache-2.0 */
/* What parallax-selftest is made of: checks of this very machine, each a function that fills an outcome. */
#ifndef PLX_APP_SELFTEST_CHECK_H
#define PLX_APP_SELFTEST_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "core/stages.h"

enum check_verdict {
    CHECK_PASSED,
    CHECK_FAILED,
    CHECK_SKIPPED,
    CHECK_DOUBTED /* did not hold, but what was expected is an estimate: reported, without failing the run */
};

/* Plain data without pointers: a check runs in a process of its own and leaves it in shared memory. */
struct check_outcome {
    enum check_verdict verdict;
    char message[256]; /* of a failure, skip or doubt: one sentence */
    char note[2048];   /* what was measured, lines that end with \n */
};

struct check_options {
    bool full; /* more cases and longer measurements */
    uint64_t seed;
    const char *config_path; /* whose cameras are tried */
    const char *root;        /* where /sys, /proc and /etc are looked for: "" but in tests */
};

struct check {
    const char *name;
    void (*run)(const struct check_options *options, struct check_outcome *ret);
};

extern const struct check check_table[];
extern const int check_count;

/* --- for checks: the first failure stays --- */
__attribute__((format(printf, 2, 3))) void check_fail(struct check_outcome *outcome, const char *format, ...);
__attribute__((format(printf, 2, 3))) void check_skip(struct check_outcome *outcome, const char *format, ...);
__attribute__((format(printf, 2, 3))) void check_doubt(struct check_outcome *outcome, const char *format, ...);
__attribute__((format(printf, 2, 3))) void check_note(struct check_outcome *outcome, const char *format, ...); /* adds a line */

/* Opens the CPU's or the GPU's backend; false where there is none, with the outcome skipped (no GPU) or failed. */
bool check_backend(enum plx_backend_kind kind, const struct plx_limits *limits, struct plx_stages **ret_stages,
                   struct check_outcome *outcome);

/* The value at Q (0..1) of COUNT sorted ones; 0 of none. */
int64_t check_quantile(const int64_t *sorted, int count, double q);
void check_sort(int64_t *value, int count);

/* --- the checks, by file --- */
void check_stages_cpu(const struct check_options *options, struct check_outcome *ret); /* stages.c */
void check_stages_gpu(const struct check_options *options, struct check_outcome *ret);
void check_golden_cpu(const struct check_options *options, struct check_outcome *ret); /* frames.c */
void check_golden_gpu(const struct check_options *options, struct check_outcome *ret);
void check_gpu_like_cpu(const struct check_options *options, struct check_outcome *ret);
void check_latency(const struct check_options *options, struct check_outcome *ret);        /* latency.c */
void check_camera_pairs(const struct check_options *options, struct check_outcome *ret);   /* cameras.c */
void check_camera_control(const struct check_options *options, struct check_outcome *ret); /* cameras.c */
void check_throughput_cpu(const struct check_options *options, struct check_outcome *ret); /* throughput.c */
void check_throughput_gpu(const struct check_options *options, struct check_outcome *ret);
void check_temperature(const struct check_options *options, struct check_outcome *ret); /* machine.c */
void check_power(const struct check_options *options, struct check_outcome *ret);

/* The board's name as its device tree says it, "" on machines without one. machine.c */
void check_model(const struct check_options *options, char *ret_text, int size);

#endif
