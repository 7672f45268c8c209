/* SPDX-License-Identifier: Apache-2.0 */
#include "app/calibrate/rig_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#define LEAST_MOVE 0.01 /* of the picture's width */

int plx_rig_check_moves(const struct plx_board *board, const struct plx_board_pair *pair, int pairs, int width,
                        struct plx_error_message *message)
{
    for (int p = 1; p < pairs; p++)
        for (int k = 0; k < plx_board_corners(board); k++) {
            const double *first = pair[0].corner[PLX_LEFT][k], *here = pair[p].corner[PLX_LEFT][k];
            if (hypot(here[0] - first[0], here[1] - first[1]) > LEAST_MOVE * width)
                return 0;
        }
    return plx_fail(message, PLX_ERR_FORMAT,
                    "all %d pairs show the board at one place; expected a board that moves; record again, tilt the board up to "
                    "45 degrees and move it to all parts of both pictures",
                    pairs);
}

/* True if the pairs fit well once the board in the right pictures is taken from its other end. */
static int try_upside_down(const struct plx_board *board, const struct plx_board_pair *pair, int pairs,
                           const struct plx_rig_options *options, bool *ret_upside_down)
{
    const int corners = plx_board_corners(board);
    double(*reversed)[2] = malloc((size_t)pairs * (size_t)corners * sizeof *reversed);
    struct plx_board_pair *other = malloc((size_t)pairs * sizeof *other);
    struct plx_rig_fit fit;
    if (!reversed || !other) {
        free(other);
        free(reversed);
        return PLX_ERR_NOMEM;
    }
    for (int p = 0; p < pairs; p++) {
        double(*right)[2] = reversed + (size_t)p * (size_t)corners;
        for (int k = 0; k < corners; k++)
            memcpy(right[k], pair[p].corner[PLX_RIGHT][corners - 1 - k], sizeof *right);
        other[p] = (struct plx_board_pair){{pair[p].corner[PLX_LEFT], (const double(*)[2])right}};
    }
    *ret_upside_down = plx_rig_fit(board, other, pairs, options, &fit, NULL, NULL) == 0 && fit.rms_px <= PLX_RIG_MOST_RMS_PX;
    free(other);
    free(reversed);
    return 0;
}

static int fail_rms(const struct plx_board *board, const struct plx_board_pair *pair, int pairs,
                    const struct plx_rig_options *options, double rms_px, struct plx_error_message *message)
{
    bool upside_down;
    const int result = try_upside_down(board, pair, pairs, options, &upside_down);
    if (result < 0)
        return plx_fail(message, result, "%s", plx_strerror(result));
    if (upside_down)
        return plx_fail(message, PLX_ERR_FORMAT,
                        "one camera stands upside down: the right pictures are turned by 180 degrees against the left ones; "
                        "expected both upright; turn the camera or its pictures and record again");
    return plx_fail(message, PLX_ERR_FORMAT,
                    "the corners are %.2f px rms from where the cameras would see them; expected at most %g px; is the board "
                    "flat, are both pictures of a pair taken at the same time, and does --model fit the lenses?",
                    rms_px, PLX_RIG_MOST_RMS_PX);
}

int plx_rig_check_fit(const struct plx_board *board, const struct plx_board_pair *pair, int pairs,
                      const struct plx_rig_options *options, const struct plx_rig_fit *fit, struct plx_error_message *message)
{
    static const char advice[] =
        "was the board hardly tilted? Record more pairs, with the board tilted up to 45 degrees to all "
        "sides and in all parts of both pictures";
    const double *t = fit->rig.right_from_left.translation, baseline = sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]);
    const int own = (fit->parameters - 6) / PLX_EYES;
    if (!(fit->rms_px <= PLX_RIG_MOST_RMS_PX))
        return fail_rms(board, pair, pairs, options, fit->rms_px, message);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const double relative = fit->sigma[eye * own] / fabs(fit->rig.camera[eye].fx);
        if (!(relative <= PLX_RIG_MOST_SIGMA))
            return plx_fail(message, PLX_ERR_FORMAT,
                            "the focal length of the %s camera is uncertain by %.1f %%; expected at most %g %%; %s",
                            eye == PLX_LEFT ? "left" : "right", 100 * relative, 100 * PLX_RIG_MOST_SIGMA, advice);
    }
    if (!(fit->baseline_sigma_m <= PLX_RIG_MOST_SIGMA * baseline))
        return plx_fail(message, PLX_ERR_FORMAT, "the baseline is uncertain by %.1f %%; expected at most %g %%; %s",
                        100 * fit->baseline_sigma_m / baseline, 100 * PLX_RIG_MOST_SIGMA, advice);
    return 0;
}
