/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The matching of one pair as a list of calls, from census to confidence, with the images that the calls need. Tests and the
 * self-test run the list on a backend and compare each image with the oracle's. Benchmarks measure the calls.
 */
#ifndef PLX_ORACLE_MATCHING_H
#define PLX_ORACLE_MATCHING_H

#include "core/pipeline/stages.h"

enum matching_plane {
    MATCHING_CENSUS_LEFT,
    MATCHING_CENSUS_RIGHT,
    MATCHING_GRADIENT_LEFT,
    MATCHING_GRADIENT_RIGHT,
    MATCHING_CANDIDATE_LEFT,
    MATCHING_CANDIDATE_RIGHT,
    MATCHING_CANDIDATE_RAW,
    MATCHING_S1,
    MATCHING_S2,
    MATCHING_FACED, /* left candidate after the step of facing surfaces */
    MATCHING_MEDIAN_LEFT,
    MATCHING_MEDIAN_RIGHT,
    MATCHING_DISTINCT, /* U8: the left image, 0 where its texture repeats */
    MATCHING_CHECKED,  /* strict, after the left-right check */
    MATCHING_LOCAL_MEAN,
    MATCHING_STRICT,
    MATCHING_DENSE_MEDIAN,
    MATCHING_DENSE_CHECKED,
    MATCHING_DENSE_FILLED, /* disparity after the fill, before the last median */
    MATCHING_FILLED,       /* U8, 1: the fill set this pixel */
    MATCHING_DENSE_SMOOTH, /* after the last median */
    MATCHING_DENSE,
    MATCHING_CONFIDENCE,
    MATCHING_PLANES
};

extern const char *const matching_names[MATCHING_PLANES];

/* Calls that a benchmark reports as one number. */
enum matching_group {
    MATCHING_GROUP_CENSUS,
    MATCHING_GROUP_SGM,
    MATCHING_GROUP_MEDIAN,
    MATCHING_GROUP_CHECK,
    MATCHING_GROUP_FILL,
    MATCHING_GROUP_FACING,
    MATCHING_GROUP_LOCAL_MEAN, /* and cross_validate */
    MATCHING_GROUP_CONFIDENCE,
    MATCHING_GROUPS
};

#define MATCHING_CALLS 16
extern const struct matching_call {
    enum matching_group group;
    enum plx_stage stage;
    bool refines; /* the strict disparity of `classic` does not need it */
} matching_calls[MATCHING_CALLS];

/* The element type of PLANE with these parameters. */
enum plx_type matching_type(const struct plx_match *match, enum matching_plane plane);

/* Runs call NUMBER of the list. GREY is the left and the right image. PLANE has their size, matching_type each, and lies in
 * memory of the backend. Returns the stage's error, else 0, without waiting for the stage. */
int matching_run_call(struct plx_stages *stages, int number, const struct plx_image grey[PLX_EYES],
                      const struct plx_match *match, const struct plx_image plane[MATCHING_PLANES]);

/* Runs all calls. Returns the first error, else 0. */
int matching_run(struct plx_stages *stages, const struct plx_image grey[PLX_EYES], const struct plx_match *match,
                 const struct plx_image plane[MATCHING_PLANES]);

/* Runs all calls with the oracles instead of a backend. */
void matching_oracle(const struct plx_image grey[PLX_EYES], const struct plx_match *match,
                     const struct plx_image plane[MATCHING_PLANES]);

#endif
