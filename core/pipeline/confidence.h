/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the confidence of a pixel says: tables that tests/bench/bench_confidence.c has fitted on real pairs with ground truth,
 * one set for each preset of matching. docs/matching.md says how well they hold on pairs that no table was fitted on.
 */
#ifndef PLX_CORE_PIPELINE_CONFIDENCE_H
#define PLX_CORE_PIPELINE_CONFIDENCE_H

#include <stdint.h>

#include <parallax/frame.h>

struct plx_match;

/* By the score of the stage: 255 times the probability that the dense disparity is within 1 px of the truth; at least 1. Static
 * storage, that of the preset which MATCH is nearest to. */
const uint8_t *plx_confidence_probability(const struct plx_match *match);

/* Errors of the strict disparity by that probability. All 0, not known, for settings that nobody has measured: those that
 * differ from a preset in more than the range of the search, the paths, uniqueness and the mask of repeating texture. */
void plx_confidence_errors(const struct plx_match *match, struct plx_error_info *ret_errors);

#endif
