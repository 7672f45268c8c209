/* SPDX-License-Identifier: Apache-2.0 */
/* The file of `parallax tune`: the schedule of the fastest frames, which the engine uses under the same conditions. It changes
 * the speed and no result. */
#ifndef PLX_APP_TUNE_H
#define PLX_APP_TUNE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/pipeline/stages.h"

#define PLX_TUNE_FILE "/var/lib/parallax/tune.yaml"

/* A measurement is valid for this GPU, picture size, matching and program version. */
struct plx_tune_conditions {
    const char *device; /* plx_gpu_device */
    int width, height;
    const struct plx_match *match;
};

/* Writes SCHEDULE, with which a frame took MS, into the file at PATH, completely or not at all. IO, PERMISSION, NOT_FOUND (the
 * directory), RANGE. */
int plx_tune_save(const char *path, const struct plx_tune_conditions *conditions, int schedule, double ms,
                  struct plx_error_message *message);

/*
 * The schedule that the file at PATH names. NOT_FOUND (no file), FORMAT (another kind of file), UNSUPPORTED (other
 * CONDITIONS), IO, PERMISSION; MESSAGE names the line of the file.
 */
int plx_tune_load(const char *path, const struct plx_tune_conditions *conditions, int *ret_schedule,
                  struct plx_error_message *message);

/* A schedule as gpu_schedule of parallax/shm.h has it: packed here, and its parts. */
uint32_t plx_tune_pack(int schedule, bool is_measured);
const char *plx_tune_schedule_name(uint32_t packed); /* static storage; NULL on the CPU */
bool plx_tune_is_measured(uint32_t packed);

#endif
