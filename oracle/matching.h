/* SPDX-License-Identifier: Apache-2.0 */
/* All that the matching stages make of one pair, by a backend and by the oracles, to be compared plane by plane. */
#ifndef PLX_ORACLE_MATCHING_H
#define PLX_ORACLE_MATCHING_H

#include "core/stages.h"

enum matching_plane {
    MATCHING_CENSUS_LEFT,
    MATCHING_CENSUS_RIGHT,
    MATCHING_GRADIENT_LEFT,
    MATCHING_GRADIENT_RIGHT,
    MATCHING_CANDIDATE_LEFT,
    MATCHING_CANDIDATE_RIGHT,
    MATCHING_CANDIDATE_RAW,
    MATCHING_WIN_S1,
    MATCHING_WIN_S2,
    MATCHING_MEDIAN_LEFT,
    MATCHING_MEDIAN_RIGHT,
    MATCHING_CHECKED,
    MATCHING_DENSE,
    MATCHING_FILLED,
    MATCHING_CONFIDENCE,
    MATCHING_PLANES
};

extern const char *const matching_names[MATCHING_PLANES];

/* The elements of PLANE with these parameters. */
enum plx_type matching_type(const struct plx_match *match, enum matching_plane plane);

/* GREY, left and right, through the stages into planes of its size, of matching_type each and in memory of the backend. Returns
 * the first stage's error, else 0; nothing is waited for. */
int matching_run(struct plx_stages *stages, const struct plx_image grey[PLX_EYES], const struct plx_match *match,
                 const struct plx_image plane[MATCHING_PLANES]);
/* The same by the oracles. */
void matching_oracle(const struct plx_image grey[PLX_EYES], const struct plx_match *match,
                     const struct plx_image plane[MATCHING_PLANES]);

#endif
