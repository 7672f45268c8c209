/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether what the pictures show of a calibration's error may correct it. Rows correct rows: the four numbers must be
 * significant, plausible, the same in each quarter of at least 20 s, and better where they were not fitted and in each quarter
 * of the image. Movements of pictures that were not taken at the same time look like an error, but not so long in one
 * direction. They say nothing about disparities: correcting those takes the error that the motion shows, in both halves of its
 * steps.
 */
#ifndef PLX_CORE_DRIFT_CORRECTION_H
#define PLX_CORE_DRIFT_CORRECTION_H

#include "core/drift/rows.h"
#include "core/motion/disparity_error.h"

enum plx_correction_verdict {
    PLX_CORRECTION_HOLDS,
    PLX_CORRECTION_UNKNOWN,       /* too few matches, or they do not determine it */
    PLX_CORRECTION_INSIGNIFICANT, /* nothing to correct */
    PLX_CORRECTION_UNCERTAIN,     /* at the corners of the image */
    PLX_CORRECTION_BRIEF,         /* from too short a time */
    PLX_CORRECTION_UNSTEADY,      /* older and newer matches disagree */
    PLX_CORRECTION_NO_BETTER,     /* on the matches that it was not fitted to, or in a quarter of the image */
    PLX_CORRECTION_IMPLAUSIBLE    /* larger than any drift: calibrate again with a board */
};

/* What CORRECTION corrects of the error of disparities. */
static inline struct plx_disparity_error plx_correction_disparity_error(const struct plx_correction *correction)
{
    return (struct plx_disparity_error){(double)correction->disparity_offset_px, (double)correction->curve_px};
}

/* False if a number is larger than any drift: no estimate makes such a correction, so none comes from a file either. */
bool plx_correction_is_plausible(const struct plx_correction *correction);

/* The verdict on correcting the rows by what is left, drift->info. IN_FORCE: what is corrected already. WIDTH, HEIGHT,
 * CALIBRATION: of the image. *ret_number is set where it holds. */
enum plx_correction_verdict plx_correction_of_rows(const struct plx_row_drift *drift, const struct plx_correction *in_force,
                                                   const struct plx_calibration_info *calibration, int width, int height,
                                                   struct plx_correction *ret_number);

/* Estimates of the error of disparities from the older half, the newer half and all of the steps; steps 0: not measured. */
struct plx_disparity_drift {
    struct plx_disparity_estimate part[PLX_STEPS_PARTS];
    bool is_full; /* the newest PLX_STEPS steps were there */
};

/* Measures RET by STEPS, of which PLX_STEPS_ALL is all unknown if they say too little. Takes milliseconds. */
void plx_disparity_drift_measure(const struct plx_motion_steps *steps, struct plx_disparity_drift *ret);

/* The verdict on correcting disparities by what IN_FORCE leaves of their error. REFINES: a correction from few steps is in
 * force, which more steps may refine. SIDE: x^2 at the side of the image. *ret_change is set where it holds. */
enum plx_correction_verdict plx_correction_of_disparities(const struct plx_disparity_drift *drift,
                                                          const struct plx_disparity_error *in_force, bool refines, double side,
                                                          struct plx_disparity_error *ret_change);

#endif
