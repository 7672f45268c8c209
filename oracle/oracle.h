/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The matching stages in plain scalar code that follows docs/matching.md sentence by sentence and shares nothing with cpu/: the
 * reference for the backends. Arguments are as in core/pipeline/stages.h and are not checked. Volumes are
 * [height][width][disparities] without padding.
 */
#ifndef PLX_ORACLE_ORACLE_H
#define PLX_ORACLE_ORACLE_H

#include "core/pipeline/stages.h"

void oracle_census(const struct plx_image *grey, const struct plx_match *match, const struct plx_features *ret_features);

/* C(p, d) */
void oracle_cost(const struct plx_features *left, const struct plx_features *right, const struct plx_match *match,
                 uint8_t *ret_cost);
/* S(p, d) = sum of L(p, d) over the paths; GREY is the left image */
void oracle_aggregate(const uint8_t *cost, const struct plx_image *grey, const struct plx_match *match, uint16_t *ret_sum);
void oracle_winner(const uint16_t *sum, const struct plx_match *match, const struct plx_candidates *ret_candidates);
/* The three above, one after the other. Exits when out of memory. */
void oracle_sgm(const struct plx_features *left, const struct plx_features *right, const struct plx_image *grey,
                const struct plx_match *match, const struct plx_candidates *ret_candidates);

void oracle_median(const struct plx_image *src, enum plx_median kind, const struct plx_image *dst);
void oracle_repeats(const struct plx_image *src, const struct plx_image *dst);
void oracle_check(const struct plx_image *left, const struct plx_image *right, const struct plx_image *grey,
                  const struct plx_match *match, const struct plx_image *ret_disparity);
void oracle_facing(const struct plx_image *src, const struct plx_image *left, const struct plx_image *right,
                   const struct plx_match *match, const struct plx_image *dst);
void oracle_local_mean(const struct plx_image *src, const struct plx_image *dst);
void oracle_cross_validate(const struct plx_image *strict, const struct plx_image *dense, const struct plx_image *raw,
                           const struct plx_image *grey, const struct plx_image *dst);
void oracle_fill(const struct plx_image *src, const struct plx_image *dst, const struct plx_image *ret_filled);
/* What the tables of core/pipeline/confidence.c turn into the confidence. */
void oracle_confidence_score(const struct plx_candidates *candidates, const struct plx_image *checked,
                             const struct plx_match *match, const struct plx_image *ret_score);
void oracle_confidence(const struct plx_candidates *candidates, const struct plx_image *checked,
                       const struct plx_image *disparity, const struct plx_image *grey, const struct plx_match *match,
                       const struct plx_image *ret_confidence);

#endif
