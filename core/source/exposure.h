/* SPDX-License-Identifier: Apache-2.0 */
/* The exposure controller: one for both cameras, on their merged histograms. It does no I/O. */
#ifndef PLX_CORE_SOURCE_EXPOSURE_H
#define PLX_CORE_SOURCE_EXPOSURE_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

#include "core/base/image.h"
#include "core/base/range.h"

struct plx_control_range;

struct plx_exposure_params {
    bool enabled;
    double target;          /* wanted mean luma, 0..1 of full scale */
    double highlight_limit; /* largest share of pixels at or above 250, 0..1 */
    double dead_band;       /* in stops: no change while the error is smaller */
    double damping;         /* share of the error corrected per frame, 0..1; an error above half a stop is corrected in full */
    uint32_t max_exposure_us; /* motion-blur cap */
    double max_gain;
    int flicker_hz; /* 0, 50 or 60: shutter times are whole flicker periods (1/100 s, 1/120 s) where long enough */
    uint8_t tile_weight[PLX_HISTOGRAM_TILES * PLX_HISTOGRAM_TILES]; /* row by row; all 0 = all alike */
};

struct plx_exposure; /* the controller's state; one thread at a time */

/* The same for both eyes. */
struct plx_exposure_setting {
    uint32_t exposure_us;
    float gain;
};

/* The ranges of its parameters. */
extern const struct plx_parameters plx_exposure_parameters;

/* RANGE if a parameter is out of its range, NOMEM. */
int plx_exposure_create(const struct plx_exposure_params *params, struct plx_exposure **ret_exposure,
                        struct plx_error_message *message);
void plx_exposure_destroy(struct plx_exposure *exposure); /* NULL is fine */

/* Computes the next setting; to be called once for every published frame. HISTOGRAM: PLX_PLANE_HISTOGRAM, U32, 256 wide and 130
 * high. CAPTURE: of both eyes, with the settings in force in that frame; 0 = unknown: the settings from RANGE's delay ago
 * count. RANGE: from the source. Returns 1 with *ret_setting for the source's `control`, or 0 if nothing changes. ARG for a
 * histogram of another shape, UNSUPPORTED if the source has no exposure control. Allocates nothing. */
int plx_exposure_update(struct plx_exposure *exposure, const struct plx_image *histogram,
                        const struct plx_capture_info *capture, const struct plx_control_range *range,
                        struct plx_exposure_setting *ret_setting);

#endif
