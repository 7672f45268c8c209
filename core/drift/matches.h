/* SPDX-License-Identifier: Apache-2.0 */
/* Matches of a rectified pair that show how far its rows are apart: a few in each frame, spread over the image, each found by
 * Lucas and Kanade's alignment (core/motion/flow.h) from where the strict disparity puts it, in both directions. */
#ifndef PLX_CORE_DRIFT_MATCHES_H
#define PLX_CORE_DRIFT_MATCHES_H

#include <parallax/frame.h>

#include "core/base/image.h"
#include "core/drift/rows.h"

#define PLX_PLACES_FIRST 24 /* places that are looked at in a frame, while there are few matches, */
#define PLX_PLACES_LATER 3
#define PLX_FEW_MATCHES 256
#define PLX_PLACES_SINGLE                                                                                                      \
    144 /* for a picture that is no part of a sequence: fewer than a correction needs, so that it takes two */
#define PLX_PLACES_MAX PLX_PLACES_SINGLE

/* LEFT and RIGHT U8, DISPARITY U16 relative to MIN_DISPARITY, all of one size. Looks at PLACES (at most PLX_PLACES_MAX), from
 * number PLACE on of an endless list that goes round the cells of the image. EXPECTED: an estimate, or all zeros; the search
 * begins there. Returns how many were found. Allocates nothing. */
int plx_row_matches_find(const struct plx_image *left, const struct plx_image *right, const struct plx_image *disparity,
                         int min_disparity, const struct plx_calibration_info *calibration, uint32_t place, int places,
                         const struct plx_drift_info *expected, struct plx_row_match ret[PLX_PLACES_MAX]);

#endif
