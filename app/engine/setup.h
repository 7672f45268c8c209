/* SPDX-License-Identifier: Apache-2.0 */
/* Opens everything that an engine needs, in the order of the data. */
#ifndef PLX_APP_ENGINE_SETUP_H
#define PLX_APP_ENGINE_SETUP_H

#include "app/corrections/store.h"
#include "app/engine/report.h"
#include "config/config.h"
#include "core/source/source.h"
#include "drivers/v4l2/v4l2.h"

struct plx_setup {
    bool retries_refusals;     /* a camera that fails to open is tried again */
    struct plx_stages *memory; /* backend of the source's buffers: it opens before the picture size is known */
    struct plx_source *source;
    struct plx_stereo_calibration calibration; /* all zeros: none, and frames are raw */
    bool calibrated;                           /* calibration is final, also if it is none */
    struct plx_stages *stages;                 /* backend of the stages, for the picture size */
    struct plx_error_message backend_note;     /* backend: auto chose the CPU: the reason */
    uint32_t gpu_schedule;                     /* as in parallax/shm.h */
    struct plx_error_message tune_note;        /* the reason for not using the file of `parallax tune` */
    struct plx_error_message fifo_note;        /* the reason for an engine.realtime_priority that is not in force */
    struct plx_error_message raw_note;         /* the reason for raw frames, and what to do */
    struct plx_corrections corrections;        /* what is added to the calibration over time */
    struct plx_worker *worker;                 /* that makes them; NULL for raw frames */
    struct plx_pipeline *pipeline;
    uint32_t frame_bytes;
    struct plx_exposure *exposure;
};

/* Opens everything without starting the source. KNOWN: the calibration from a probe that opened all of this; a camera that
 * fails to open now is tried again. NULL: reads the calibration that CONFIG names. On failure SETUP is closed again and
 * *ret_report is FAILED with error, exit code and sentence. Returns 0 or a negative plx_error. */
int plx_setup_open(struct plx_setup *setup, const struct plx_config *config, const struct plx_stereo_calibration *known,
                   struct plx_report *ret_report);

/* A FAILED report of ERROR, explained by MESSAGE. OF_SOURCE: the source returned the error. */
struct plx_report plx_setup_failure(const struct plx_config *config, bool of_source, int error,
                                    const struct plx_error_message *message);

/* What CONFIG says about real cameras. */
struct plx_v4l2_options plx_setup_camera_options(const struct plx_config *config);

/* Closes what is open; a zeroed SETUP is fine. */
void plx_setup_close(struct plx_setup *setup);

#endif
