/* SPDX-License-Identifier: Apache-2.0 */
/* The synthetic scene as a frame source: a camera pair with a clock, a frame counter and controls that act with a delay. */
#ifndef PLX_DRIVERS_SYNTHETIC_SYNTHETIC_H
#define PLX_DRIVERS_SYNTHETIC_SYNTHETIC_H

#include "core/source/source.h"
#include "drivers/synthetic/scene.h"

struct plx_stages;

#define PLX_SYNTHETIC_RATE_HZ 30.0 /* capture times at rate 0 follow this rate */
#define PLX_SYNTHETIC_MAX_DELAY 15

/* Picture n, counted by its sequence from 0 at each start, shows the scene at n / rate seconds, both eyes at once. A reader
 * that is too slow misses pictures, as with a camera. At rate 0 a pair is made when the reader asks for it, and none is missed.
 */
struct plx_synthetic_options {
    struct plx_scene scene;
    double rate_hz;                 /* 0.1..1000; 0: as fast as the reader, with the times of PLX_SYNTHETIC_RATE_HZ */
    bool colour;                    /* left pictures in colour too */
    int exposure_delay, gain_delay; /* frames from setting to effect, 0..PLX_SYNTHETIC_MAX_DELAY */
};

/* Buffers come from STAGES' alloc; STAGES must outlive the source. Destroy it with its ops->destroy. NOMEM, RANGE. */
int plx_synthetic_create(struct plx_stages *stages, const struct plx_synthetic_options *options, struct plx_source **ret_source,
                         struct plx_error_message *message);

#endif
