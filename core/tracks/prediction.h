/* SPDX-License-Identifier: Apache-2.0 */
/* Where a track will be seen in the next frame, as an input of the stage segments. Internal to core/tracks/tracks.c. */
#ifndef PLX_CORE_TRACKS_PREDICTION_H
#define PLX_CORE_TRACKS_PREDICTION_H

#include "core/ground/predictions.h"
#include "core/tracks/track.h"

/* The box of TRACK, which was matched in the last frame, DT seconds after that frame: a camera that goes on as in its last step
 * sees a thing that stands, or that moves on if it is moving. False if the thing would be too near to be seen. */
bool plx_track_predict_box(const struct plx_track *track, const struct plx_track_camera *camera,
                           const struct plx_calibration_info *calibration, double dt, struct plx_predicted_box *ret_box);

#endif
