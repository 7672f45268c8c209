/* SPDX-License-Identifier: Apache-2.0 */
#include "app/calibrate/rig_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "app/calibrate/rig_fit.h"
#include "core/geometry/matrix3.h"

#define MIN_MOVE 0.01 /* share of the picture's width */

/* True if no corner that both pairs show in the left eye lies at another place. */
static bool is_same_place(const struct plx_board *board, const struct plx_board_pair *one, const struct plx_board_pair *other,
                          int width)
{
    for (int k = 0; k < plx_board_corners(board); k++) {
        const double *here = one->corner[PLX_LEFT][k], *there = other->corner[PLX_LEFT][k];
        if (hypot(here[0] - there[0], here[1] - there[1]) > MIN_MOVE * width) /* false for those that were not found */
            return false;
    }
    return true;
}

int plx_rig_check_moves(const struct plx_board *board, const struct plx_board_pair *pair, int pairs, int width,
                        struct plx_error_message *message)
{
    static const char advice[] = "expected a board that moves; record again, tilt the board up to 45 degrees and move it to "
                                 "all parts of both pictures";
    int places = 0;
    for (int p = 0; p < pairs && places < PLX_RIG_MIN_PAIRS; p++) {
        bool is_new = true;
        for (int q = 0; q < p && is_new; q++)
            is_new = !is_same_place(board, &pair[q], &pair[p], width);
        places += is_new;
    }
    if (places >= PLX_RIG_MIN_PAIRS)
        return 0;
    if (places == 1)
        return plx_fail(message, PLX_ERR_FORMAT, "all %d pairs show the board at one place; %s", pairs, advice);
    return plx_fail(message, PLX_ERR_FORMAT, "all %d pairs show the board at %d places; expected %d and better 20; %s", pairs,
                    places, PLX_RIG_MIN_PAIRS, advice);
}

static int fail_upside_down(const struct plx_rig *rig, struct plx_error_message *message)
{
    /* Seen from an upright left camera the right one stands to the right; from a left one that is upside down, to the left. */
    double back[3]; /* the left camera, seen from the right one, in axes of the left one */
    plx_mat3_apply_transposed(rig->right_from_left.rotation, rig->right_from_left.translation, back);
    const bool is_right = back[0] < 0;
    const char *one = is_right ? "right" : "left", *other = is_right ? "left" : "right";
    return plx_fail(
        message, PLX_ERR_FORMAT,
        "the %s camera stands upside down: its pictures are turned by 180 degrees against the %s ones (or it is the "
        "%s camera, and left and right are swapped); turn the camera or its pictures and record again",
        one, other, other);
}

/* The rig that fits the pairs once the board in the right pictures is taken from its other end. FORMAT: none does; NOMEM. */
static int fit_reversed(const struct plx_board *board, const struct plx_board_pair *pair, int pairs,
                        const struct plx_rig_options *options, struct plx_rig_fit *ret_fit)
{
    const int corners = plx_board_corners(board);
    double(*reversed)[2] = malloc((size_t)pairs * (size_t)corners * sizeof *reversed);
    struct plx_board_pair *other = malloc((size_t)pairs * sizeof *other);
    int result = reversed && other ? 0 : PLX_ERR_NOMEM;
    for (int p = 0; p < pairs && result == 0; p++) {
        double(*right)[2] = reversed + (size_t)p * (size_t)corners;
        for (int k = 0; k < corners; k++)
            memcpy(right[k], pair[p].corner[PLX_RIGHT][corners - 1 - k], sizeof *right);
        other[p] = (struct plx_board_pair){{pair[p].corner[PLX_LEFT], (const double(*)[2])right}};
    }
    if (result == 0)
        result = plx_rig_fit(board, other, pairs, options, ret_fit, NULL, NULL);
    free(other);
    free(reversed);
    return result == PLX_ERR_NOMEM || (result == 0 && ret_fit->rms_px <= PLX_RIG_MAX_RMS_PX) ? result : PLX_ERR_FORMAT;
}

static int fail_rms(const struct plx_board *board, const struct plx_board_pair *pair, int pairs,
                    const struct plx_rig_options *options, double rms_px, struct plx_error_message *message)
{
    struct plx_rig_fit reversed;
    const int result = board->kind == PLX_BOARD_CHESS ? fit_reversed(board, pair, pairs, options, &reversed) : PLX_ERR_FORMAT;
    if (result == PLX_ERR_NOMEM)
        return plx_fail(message, result, "%s", plx_strerror(result));
    if (result == 0)
        return fail_upside_down(&reversed.rig, message);
    return plx_fail(message, PLX_ERR_FORMAT,
                    "the corners are %.2f px rms from where the cameras would see them; expected at most %g px; is the board "
                    "flat, are both pictures of a pair taken at the same time, and does --model fit the lenses?",
                    rms_px, PLX_RIG_MAX_RMS_PX);
}

int plx_rig_check_fit(const struct plx_board *board, const struct plx_board_pair *pair, int pairs,
                      const struct plx_rig_options *options, const struct plx_rig_fit *fit, struct plx_error_message *message)
{
    static const char advice[] =
        "was the board hardly tilted? Record more pairs, with the board tilted up to 45 degrees to all "
        "sides and in all parts of both pictures";
    const double *t = fit->rig.right_from_left.translation, baseline = plx_vec3_length(t);
    const int own = (fit->parameters - 6) / PLX_EYES;
    if (!(fit->rms_px <= PLX_RIG_MAX_RMS_PX))
        return fail_rms(board, pair, pairs, options, fit->rms_px, message);
    const double *r = fit->rig.right_from_left.rotation;
    if (r[0] + r[4] + r[8] < 1) /* turned by more than 90 degrees: the numbers of tags tell, those of chessboards do not */
        return fail_upside_down(&fit->rig, message);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const double relative = fit->sigma[eye * own] / fabs(fit->rig.camera[eye].fx);
        if (!(relative <= PLX_RIG_MAX_SIGMA))
            return plx_fail(message, PLX_ERR_FORMAT,
                            "the focal length of the %s camera is uncertain by %.1f %%; expected at most %g %%; %s",
                            eye == PLX_LEFT ? "left" : "right", 100 * relative, 100 * PLX_RIG_MAX_SIGMA, advice);
    }
    if (!(fit->baseline_sigma_m <= PLX_RIG_MAX_SIGMA * baseline))
        return plx_fail(message, PLX_ERR_FORMAT, "the baseline is uncertain by %.1f %%; expected at most %g %%; %s",
                        100 * fit->baseline_sigma_m / baseline, 100 * PLX_RIG_MAX_SIGMA, advice);
    return 0;
}
