/* SPDX-License-Identifier: Apache-2.0 */
/* How steady the list of obstacles of a drive is: lives and identities of tracks, how long a list for people shows them, and
 * the speed over the ground of what stands. */
#ifndef PLX_APP_EVALUATE_STEADINESS_H
#define PLX_APP_EVALUATE_STEADINESS_H

#include <cjson/cJSON.h>

#include <parallax/frame.h>

struct plx_steadiness;

/* NAN: nothing counts for it. LOST obstacles count nowhere but in `shown`. */
struct plx_steadiness_figures {
    int frames;
    uint32_t tracks, one_frame;  /* tracks that were seen; of those, seen in one frame that is not the last */
    double life_frames;          /* mean of the frames in which a track was seen */
    uint32_t shown, shown_short; /* tracks that a list for people shows, which are those that became TRACKED
                                    (core/tracks/confirmed.h); of those, in at most two frames, and not in the last */
    /* Obstacles that continue in the next frame where a standing thing would be, and in per cent those whose track is another
     * there: of the nearest, and of all. */
    uint32_t continued_nearest, continued;
    double changed_nearest_percent, changed_percent;
    /* Speeds over the ground (x, z) of TRACKED obstacles, one for each frame: all, and those that are not called moving. */
    uint32_t speeds, moving;
    double speed_median_mps, speed_p95_mps, standing_p95_mps;
};

/* NOMEM. */
int plx_steadiness_create(struct plx_steadiness **ret_steadiness);
void plx_steadiness_destroy(struct plx_steadiness *steadiness); /* NULL is fine */

/* The next frame. THEN_FROM_NOW: the left camera's step since the frame before; NULL: not known, no identity is compared.
 * NOMEM. */
int plx_steadiness_add(struct plx_steadiness *steadiness, const struct plx_frame *frame, const struct plx_pose *then_from_now);

void plx_steadiness_figures(struct plx_steadiness *steadiness, struct plx_steadiness_figures *ret_figures);
/* Prints the figures as lines for people. */
void plx_steadiness_print(struct plx_steadiness *steadiness);
/* The same numbers, to be owned by the caller. */
cJSON *plx_steadiness_json(struct plx_steadiness *steadiness);

#endif
