/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of `parallax selftest`: each is a function that checks this machine and fills an outcome. */
#ifndef PLX_APP_SELFTEST_CHECK_H
#define PLX_APP_SELFTEST_CHECK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "config/config.h"
#include "core/pipeline/stages.h"

struct plx_source;

enum check_verdict {
    CHECK_PASSED,
    CHECK_FAILED,
    CHECK_SKIPPED,
    CHECK_DOUBTED /* missed an expected value that is only an estimate: reported, without failing the run */
};

/* Plain data without pointers: a check runs in its own process and writes the outcome into shared memory. */
struct check_outcome {
    enum check_verdict verdict;
    char message[256]; /* one sentence on a failure, skip or doubt */
    char note[2048];   /* measured values, lines that end with \n */
};

struct check_options {
    bool full;                     /* more cases and longer measurements */
    enum plx_backend_kind backend; /* for the checks that test a backend */
    uint64_t seed;
    const char *config_path; /* configuration of the cameras that are checked */
    const char *root;        /* directory of /sys, /proc and /etc: "", except in tests */
};

extern const int check_count; /* selftest.c */

/* --- for checks: after the first failure the verdict and its message stay --- */
__attribute__((format(printf, 3, 4))) void check_conclude(struct check_outcome *outcome, enum check_verdict verdict,
                                                          const char *format, ...);
#define check_fail(outcome, ...) check_conclude(outcome, CHECK_FAILED, __VA_ARGS__)
#define check_skip(outcome, ...) check_conclude(outcome, CHECK_SKIPPED, __VA_ARGS__)
#define check_doubt(outcome, ...) check_conclude(outcome, CHECK_DOUBTED, __VA_ARGS__)
__attribute__((format(printf, 2, 3))) void check_note(struct check_outcome *outcome, const char *format, ...); /* adds a line */

/* Opens the CPU's or the GPU's backend. Without one sets the outcome to skipped (no GPU) or failed and returns false. */
bool check_backend(enum plx_backend_kind kind, const struct plx_limits *limits, struct plx_stages **ret_stages,
                   struct check_outcome *outcome);

/* The quantile Q (0..1) of COUNT sorted values; 0 if COUNT is 0. */
int64_t check_quantile(const int64_t *sorted, int count, double q);
void check_sort(int64_t *value, int count);

/* --- the checks, by file --- */
void check_stages(const struct check_options *options, struct check_outcome *ret);         /* stages.c */
void check_golden(const struct check_options *options, struct check_outcome *ret);         /* frames.c */
void check_gpu_equals_cpu(const struct check_options *options, struct check_outcome *ret); /* frames.c */
void check_latency(const struct check_options *options, struct check_outcome *ret);        /* latency.c */
void check_camera_pairs(const struct check_options *options, struct check_outcome *ret);   /* cameras.c */
void check_camera_control(const struct check_options *options, struct check_outcome *ret); /* cameras.c */
void check_throughput(const struct check_options *options, struct check_outcome *ret);     /* throughput.c */
void check_temperature(const struct check_options *options, struct check_outcome *ret);    /* machine.c */
void check_power(const struct check_options *options, struct check_outcome *ret);          /* machine.c */
void check_client_gpu(const struct check_options *options, struct check_outcome *ret);     /* machine.c */

/* Checks any source for SECONDS: pairs come at the rate of SOURCE, both eyes at the same time within TOLERANCE_NS, and no
 * picture is lost. cameras.c */
void check_source_pairs(struct plx_source *source, int64_t tolerance_ns, int seconds, struct check_outcome *ret);
/* Checks that a longer exposure time makes brighter pictures. STAGES must be able to read the source's buffers, and its limits
 * must allow the source's picture size. cameras.c */
void check_source_control(struct plx_source *source, struct plx_stages *stages, struct check_outcome *ret);

/* --- results for people and machines: TAP 14 (testanything.org) and the XML of JUnit. results.c --- */
struct check_result {
    const char *name;
    struct check_outcome outcome;
    double seconds;
};

/* NUMBER counts from 1. Notes go after the line, as comments. */
void results_tap(FILE *file, int number, const struct check_result *result);

/* Replaces the file at PATH at once. NOT_FOUND, PERMISSION, IO. */
int results_junit(const char *path, const struct check_result *result, int count, struct plx_error_message *message);

#endif
