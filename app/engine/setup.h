/* SPDX-License-Identifier: Apache-2.0 */
/* Opening everything that an engine works with, in the order of the data. */
#ifndef PLX_APP_ENGINE_SETUP_H
#define PLX_APP_ENGINE_SETUP_H

#include "app/engine/report.h"
#include "config/config.h"
#include "core/source.h"

struct plx_setup {
    bool patient;              /* cameras that refuse are asked again */
    struct plx_stages *memory; /* backend that holds the source's buffers: a source is opened before its size is known */
    struct plx_source *source;
    struct plx_stereo_calibration calibration; /* all zeros: none, and frames are raw */
    bool calibrated;                           /* that is known */
    struct plx_stages *stages;                 /* backend that works, made for that size */
    struct plx_error_message backend_note;     /* why that is the CPU where the configuration left the choice */
    uint32_t gpu_schedule;                     /* as plx_gpu_schedule */
    struct plx_error_message tune_note;        /* why what `parallax tune` measured is not used, if there is such a file */
    struct plx_error_message fifo_note;        /* why engine.realtime_priority is not in force */
    struct plx_error_message raw_note;         /* why frames are raw, if they are, and what to do */
    struct plx_pipeline *pipeline;
    uint32_t frame_bytes;
    struct plx_exposure *exposure;
};

/* Opens all of it without starting the source. KNOWN: a probe found all this to work, with this calibration: a camera that
 * refuses now is no failure, but is asked again. NULL: reads the calibration from where CONFIG says. On failure SETUP is closed
 * again and *ret_report says FAILED: error, exit code, sentence. Returns 0 or a negative plx_error. */
int plx_setup_open(struct plx_setup *setup, const struct plx_config *config, const struct plx_stereo_calibration *known,
                   struct plx_report *ret_report);

/* What FAILED reports say of ERROR, and whether it may mend itself: one of the source's or not (OF_SOURCE). */
bool plx_setup_is_transient(const struct plx_config *config, bool of_source, int error);

/* Closes what is open; a zeroed SETUP is fine. */
void plx_setup_close(struct plx_setup *setup);

#endif
