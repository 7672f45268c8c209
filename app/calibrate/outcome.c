/* SPDX-License-Identifier: Apache-2.0 */
#include "app/calibrate/outcome.h"

#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "app/calibrate/rig_check.h"
#include "app/calibrate/rig_fit.h"
#include "core/geometry/matrix3.h"

#define UNCERTAIN 0.005 /* share of the baseline: with a larger deviation more pairs are needed */
#define MAX_ROWS_PX 1.0
#define GOOD_ROWS_PX 0.2 /* row error of held-out pairs: less than matching itself errs */
#define BLOCKS 8         /* groups of neighbouring pairs, which are alike; every second group is held out */

static void fill_calibration(const struct plx_rig *rig, struct plx_stereo_calibration *ret)
{
    *ret = (struct plx_stereo_calibration){.camera = {rig->camera[PLX_LEFT], rig->camera[PLX_RIGHT]}};
    memcpy(ret->rotation, rig->right_from_left.rotation, sizeof ret->rotation);
    memcpy(ret->translation, rig->right_from_left.translation, sizeof ret->translation);
}

/* Row of a corner in the rectified picture. */
static double rectified_row(const struct plx_stereo_calibration *calibration, enum plx_eye eye, const double corner[2])
{
    double ray[3] = {0, 0, 1}, turned[3];
    plx_camera_unproject(&calibration->camera[eye], corner[0], corner[1], &ray[0], &ray[1]);
    plx_mat3_apply(calibration->rectification[eye], ray, turned);
    return calibration->projection[eye][5] * turned[1] / turned[2] + calibration->projection[eye][6];
}

double plx_row_error(const struct plx_board *board, const struct plx_board_pair *pair, int pairs,
                     const struct plx_stereo_calibration *calibration)
{
    double sum = 0;
    int count = 0;
    for (int p = 0; p < pairs; p++)
        for (int k = 0; k < plx_board_corners(board); k++) {
            const double *left = pair[p].corner[PLX_LEFT][k], *right = pair[p].corner[PLX_RIGHT][k];
            if (!plx_board_is_found(left) || !plx_board_is_found(right))
                continue;
            const double difference = rectified_row(calibration, PLX_RIGHT, right) - rectified_row(calibration, PLX_LEFT, left);
            sum += difference * difference;
            count++;
        }
    return sqrt(sum / count);
}

static int rectify(const struct plx_rig *rig, struct plx_stereo_calibration *ret, struct plx_error_message *message)
{
    fill_calibration(rig, ret);
    return plx_calibration_rectify(ret, 0, message);
}

/* Rows of the pairs that a calibration was not fitted to: each half of the pairs by that of the other half, the larger of both,
 * px. NOT_FOUND: a half does not determine the cameras. */
static int held_out_rows(const struct plx_boards *boards, double *ret_rows)
{
    const int block = boards->count > BLOCKS ? boards->count / BLOCKS : 1;
    struct plx_board_pair *half[2] = {malloc((size_t)boards->count * sizeof **half),
                                      malloc((size_t)boards->count * sizeof **half)};
    struct plx_stereo_calibration rectified;
    struct plx_error_message why;
    int count[2] = {0}, result = half[0] && half[1] ? 0 : PLX_ERR_NOMEM;
    double rows = 0;

    for (int p = 0; p < boards->count && result == 0; p++)
        half[p / block % 2][count[p / block % 2]++] = boards->pair[p];
    for (int fitted = 0; fitted < 2 && result == 0; fitted++) {
        struct plx_rig_fit fit;
        result = plx_rig_fit(&boards->board, half[fitted], count[fitted], &boards->options, &fit, NULL, &why);
        if (result == 0)
            result = plx_rig_check_fit(&boards->board, half[fitted], count[fitted], &boards->options, &fit, &why);
        if (result == 0)
            result = rectify(&fit.rig, &rectified, &why);
        if (result == 0)
            rows = fmax(rows, plx_row_error(&boards->board, half[!fitted], count[!fitted], &rectified));
    }
    free(half[0]);
    free(half[1]);
    if (result == 0)
        *ret_rows = rows;
    return result == 0 || result == PLX_ERR_NOMEM ? result : PLX_ERR_NOT_FOUND;
}

static void find_worst(double (*pair_rms)[PLX_EYES], int pairs, struct plx_outcome *outcome)
{
    for (int p = 1; p < pairs; p++)
        if (fmax(pair_rms[p][0], pair_rms[p][1]) > fmax(pair_rms[outcome->worst][0], pair_rms[outcome->worst][1]))
            outcome->worst = p;
    memcpy(outcome->worst_rms, pair_rms[outcome->worst], sizeof outcome->worst_rms);
}

static int fit_and_check(const struct plx_boards *boards, struct plx_outcome *outcome, double (*pair_rms)[PLX_EYES],
                         struct plx_error_message *message)
{
    struct plx_stereo_calibration rectified;
    int result = plx_rig_check_moves(&boards->board, boards->pair, boards->count, boards->options.width, message);
    if (result == 0)
        result = plx_rig_fit(&boards->board, boards->pair, boards->count, &boards->options, &outcome->fit, pair_rms, message);
    if (result == 0)
        result = plx_rig_check_fit(&boards->board, boards->pair, boards->count, &boards->options, &outcome->fit, message);
    if (result == 0)
        result = rectify(&outcome->fit.rig, &rectified, message);
    if (result != 0)
        return result;
    const double *t = outcome->fit.rig.right_from_left.translation;
    outcome->baseline_m = plx_vec3_length(t);
    outcome->rows = plx_row_error(&boards->board, boards->pair, boards->count, &rectified);
    outcome->held_out = -1;
    find_worst(pair_rms, boards->count, outcome);
    fill_calibration(&outcome->fit.rig, &outcome->calibration);
    return 0;
}

int plx_outcome_find(const struct plx_boards *boards, struct plx_outcome *ret_outcome, struct plx_error_message *message)
{
    struct plx_outcome outcome = {.worst = 0};
    double(*pair_rms)[PLX_EYES] = calloc((size_t)boards->count + 1, sizeof *pair_rms);
    int result = pair_rms ? fit_and_check(boards, &outcome, pair_rms, message)
                          : plx_fail(message, PLX_ERR_NOMEM, "%s", plx_strerror(PLX_ERR_NOMEM));
    free(pair_rms);
    if (result < 0)
        return result;
    if (held_out_rows(boards, &outcome.held_out) == PLX_ERR_NOMEM)
        return plx_fail(message, PLX_ERR_NOMEM, "%s", plx_strerror(PLX_ERR_NOMEM));
    const double worst = fmax(outcome.rows, outcome.held_out);
    if (worst > MAX_ROWS_PX)
        return plx_fail(message, PLX_ERR_FORMAT, "rows%s are %.2f px rms apart after rectification; expected at most %g px; %s",
                        worst > outcome.rows ? " of pairs that were held out" : "", worst, MAX_ROWS_PX,
                        "record more pairs, with the board in all parts of both pictures");
    *ret_outcome = outcome;
    return 0;
}

static bool is_uncertain(const struct plx_outcome *outcome)
{
    return outcome->fit.baseline_sigma_m > UNCERTAIN * outcome->baseline_m;
}

bool plx_outcome_is_good(const struct plx_outcome *outcome)
{
    return outcome->held_out >= 0 && outcome->held_out <= GOOD_ROWS_PX && !is_uncertain(outcome);
}

const char *plx_outcome_verdict(const struct plx_outcome *outcome)
{
    if (plx_outcome_is_good(outcome))
        return "good";
    if (outcome->held_out < 0)
        return "unknown: too few pairs to hold half of them out; record 20 or more";
    return is_uncertain(outcome) ? "uncertain: the baseline; record more pairs, with the board tilted up to 45 degrees and in "
                                   "all parts of the view"
                                 : "fair: rows of new pairs differ; record more pairs, in all parts of the view";
}
