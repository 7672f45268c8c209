/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether what the pictures show of a calibration's error may correct it. Rows correct rows: the four numbers must be
 * significant, plausible, the same in each quarter of at least 20 s, and better where they were not fitted and in each quarter
 * of the picture. Movements of pictures that were not taken at the same time look like an error, but not so long in one
 * direction. They say nothing about columns: those need the offset that the motion shows, twice.
 */
#ifndef PLX_CORE_DRIFT_CORRECTION_H
#define PLX_CORE_DRIFT_CORRECTION_H

#include "core/drift/rows.h"

enum plx_correction_verdict {
    PLX_CORRECTION_HOLDS,
    PLX_CORRECTION_UNKNOWN,       /* too few matches, or they do not determine it */
    PLX_CORRECTION_INSIGNIFICANT, /* nothing to correct */
    PLX_CORRECTION_UNCERTAIN,     /* at the corners of the picture */
    PLX_CORRECTION_BRIEF,         /* from too short a time */
    PLX_CORRECTION_UNSTEADY,      /* older and newer matches disagree */
    PLX_CORRECTION_NO_BETTER,     /* on the matches that it was not fitted to, or in a quarter of the picture */
    PLX_CORRECTION_IMPLAUSIBLE    /* larger than any drift: calibrate again with a board */
};

/* False if a number is larger than any drift: no estimate makes such a correction, so none comes from a file either. */
bool plx_correction_is_plausible(const struct plx_correction *correction);

/* The verdict on correcting the rows by what is left, drift->info. IN_FORCE: what is corrected already. WIDTH, HEIGHT,
 * CALIBRATION: of the picture. *ret_number is set where it holds. */
enum plx_correction_verdict plx_correction_of_rows(const struct plx_row_drift *drift, const struct plx_correction *in_force,
                                                   const struct plx_calibration_info *calibration, int width, int height,
                                                   struct plx_correction *ret_number);

/* Two measurements of the offset of disparities, px, with 25 frames of motion between them. */
struct plx_offset_pair {
    double offset[2], deviation[2]; /* older, newer; deviation 0: not measured */
};

/* The verdict on correcting the columns; *ret_columns is set where it holds. */
enum plx_correction_verdict plx_correction_of_columns(const struct plx_offset_pair *measured,
                                                      const struct plx_correction *in_force, float *ret_columns);

#endif
