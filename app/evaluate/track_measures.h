/* SPDX-License-Identifier: Apache-2.0 */
/* How steady the tracks of a sequence with true poses are: identities, lives, and the world velocity of what stands. */
#ifndef PLX_APP_EVALUATE_TRACK_MEASURES_H
#define PLX_APP_EVALUATE_TRACK_MEASURES_H

#include <cjson/cJSON.h>

#include <parallax/frame.h>

struct plx_track_measures;

/* NOMEM. */
int plx_track_measures_create(struct plx_track_measures **ret_measures);
void plx_track_measures_destroy(struct plx_track_measures *measures); /* NULL is fine */

/* The next frame. TRUE_STEP: then_from_now of its left camera since the frame before. */
void plx_track_measures_add(struct plx_track_measures *measures, const struct plx_frame *frame,
                            const struct plx_pose *true_step);

void plx_track_measures_print(struct plx_track_measures *measures);
/* The same numbers, to be owned by the caller; null where there are none. */
cJSON *plx_track_measures_json(struct plx_track_measures *measures);

#endif
