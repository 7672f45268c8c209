/* SPDX-License-Identifier: Apache-2.0 */
/* The frame sources. Each create gives a struct plx_source to be destroyed with its ops->destroy. */
#ifndef PLX_DRIVERS_SOURCES_H
#define PLX_DRIVERS_SOURCES_H

#include "core/calibration.h"
#include "core/source.h"
#include "drivers/scene.h"

enum plx_pace { PLX_PACE_RECORDED, PLX_PACE_FIXED, PLX_PACE_MAXIMUM };

struct plx_replay_options {
    const char *path; /* KITTI-style (image_0, image_1, times.txt), or left/ and right/; PNG and PGM */
    enum plx_pace pace;
    double rate_hz; /* for FIXED */
    bool loop;
};

struct plx_synthetic_options {
    struct plx_scene scene;
    double rate_hz;                 /* 0: as fast as the reader, with the times of 30 Hz */
    int exposure_delay, gain_delay; /* frames */
};

/* Buffers come from STAGES' alloc, so that a backend reads them in place; STAGES must outlive the source. */
int plx_replay_create(struct plx_stages *stages, const struct plx_replay_options *options, struct plx_source **ret_source,
                      struct plx_why *why);
int plx_synthetic_create(struct plx_stages *stages, const struct plx_synthetic_options *options, struct plx_source **ret_source,
                         struct plx_why *why);

/* The calibration that a source knows by itself (synthetic: always; replay: from calib.txt in its directory). NOT_FOUND. */
int plx_source_calibration(struct plx_source *source, struct plx_stereo_calibration *ret_calibration);

#endif
