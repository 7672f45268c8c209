/* SPDX-License-Identifier: Apache-2.0 */
/* The four numbers of an error of the rows, or of their correction, for calculation. Frames carry them in single precision, as
 * fields of struct plx_correction and struct plx_drift_info. */
#ifndef PLX_CORE_GEOMETRY_ROW_NUMBERS_H
#define PLX_CORE_GEOMETRY_ROW_NUMBERS_H

#include <parallax/frame.h>

enum plx_row_number { PLX_ROW_PITCH, PLX_ROW_ROLL, PLX_ROW_BEND, PLX_ROW_SCALE, PLX_ROW_NUMBERS };

struct plx_row_numbers {
    double at[PLX_ROW_NUMBERS]; /* rad, the scale a share */
};

static inline struct plx_row_numbers plx_row_numbers_of_correction(const struct plx_correction *correction)
{
    return (struct plx_row_numbers){
        {(double)correction->pitch_rad, (double)correction->roll_rad, (double)correction->bend_rad, (double)correction->scale}};
}

/* A correction of the rows by NUMBERS; its columns are 0. */
static inline struct plx_correction plx_row_numbers_to_correction(const struct plx_row_numbers *numbers)
{
    const double *at = numbers->at;
    return (struct plx_correction){.pitch_rad = (float)at[PLX_ROW_PITCH],
                                   .roll_rad = (float)at[PLX_ROW_ROLL],
                                   .bend_rad = (float)at[PLX_ROW_BEND],
                                   .scale = (float)at[PLX_ROW_SCALE]};
}

static inline struct plx_row_numbers plx_row_numbers_of_drift(const struct plx_drift_info *drift)
{
    return (struct plx_row_numbers){
        {(double)drift->pitch_rad, (double)drift->roll_rad, (double)drift->bend_rad, (double)drift->scale}};
}

/* Puts NUMBERS into DRIFT; the deviations stay. */
static inline void plx_row_numbers_to_drift(const struct plx_row_numbers *numbers, struct plx_drift_info *drift)
{
    drift->pitch_rad = (float)numbers->at[PLX_ROW_PITCH];
    drift->roll_rad = (float)numbers->at[PLX_ROW_ROLL];
    drift->bend_rad = (float)numbers->at[PLX_ROW_BEND];
    drift->scale = (float)numbers->at[PLX_ROW_SCALE];
}

/* By how many px a match at (X, Y) of the right image, in focal lengths FY, lies too low by NUMBERS. */
static inline double plx_row_numbers_at(const struct plx_row_numbers *numbers, double fy, double x, double y)
{
    const double *at = numbers->at;
    return fy * (at[PLX_ROW_PITCH] * (1 + y * y) - at[PLX_ROW_ROLL] * x - at[PLX_ROW_BEND] * x * y + at[PLX_ROW_SCALE] * y);
}

#endif
