/* SPDX-License-Identifier: Apache-2.0 */
/* The normal equations of a rig's calibration: corners, their derivatives, and the Schur complement of the boards' poses. */
#ifndef PLX_APP_CALIBRATE_EQUATIONS_H
#define PLX_APP_CALIBRATE_EQUATIONS_H

#include <stdbool.h>

#include "app/calibrate/rig.h"

#define PLX_RIG_POSE 6 /* parameters of a pose: rotation vector, translation; the rotation vector turns from the left */

/* One pair's share of the normal equations; lower triangles. */
struct plx_rig_block {
    double pp[PLX_RIG_POSE * PLX_RIG_POSE], gp[PLX_RIG_MAX_PARAMETERS * PLX_RIG_POSE], b[PLX_RIG_POSE];
};

struct plx_rig_problem {
    const struct plx_board *board;
    const struct plx_board_pair *pair;
    int pairs, parameters, coefficients;
    double huber_px;
    struct plx_rig rig;
    struct plx_pose *pose;       /* [pairs] left_from_board */
    struct plx_rig_block *block; /* [pairs] */
    double gg[PLX_RIG_MAX_PARAMETERS * PLX_RIG_MAX_PARAMETERS], b[PLX_RIG_MAX_PARAMETERS];
};

/* A corner in one eye: from the board, turned (TURNED), moved into the left camera, and for the right eye turned again. */
struct plx_rig_corner {
    double turned[3], left[3], turned_again[3], point[3]; /* POINT: in the eye that sees it */
    double residual[2];
};

static inline bool plx_rig_is_found(const struct plx_rig_problem *problem, int p, enum plx_eye eye, int k)
{
    return plx_board_is_found(problem->pair[p].corner[eye][k]);
}

/* Corner K of pair P as EYE would see it, and its difference from where it was found. False if it is not in front of the
 * camera. */
bool plx_rig_project(const struct plx_rig_problem *problem, int p, enum plx_eye eye, int k, struct plx_rig_corner *ret);

/* Sum of the squares of all differences, of far ones less (Huber). INFINITY: a corner lies behind a camera. */
double plx_rig_cost(const struct plx_rig_problem *problem);

/* Fills gg, b and the blocks at the present rig and poses. */
void plx_rig_build(struct plx_rig_problem *problem);

/* The lower triangle of the Schur complement of the poses, S = gg - gp pp^-1 pg, with diagonals 1 + DAMPING times as large, and
 * its right side B. L [pairs] keeps the Cholesky factors of pp. False if a pose is not determined. */
bool plx_rig_reduce(const struct plx_rig_problem *problem, double damping,
                    double s[PLX_RIG_MAX_PARAMETERS * PLX_RIG_MAX_PARAMETERS], double b[PLX_RIG_MAX_PARAMETERS],
                    double (*l)[PLX_RIG_POSE * PLX_RIG_POSE]);

#endif
