/* SPDX-License-Identifier: Apache-2.0 */
#include "app/calibrate/rig_fit.h"

#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "app/calibrate/ascending.h"
#include "app/calibrate/equations.h"
#include "app/calibrate/initial.h"
#include "app/calibrate/uncertainty.h"
#include "core/geometry/cholesky.h"
#include "core/geometry/matrix3.h"
#include "core/motion/pose.h"

#define ITERATIONS 100
#define MIN_GAIN 1e-10 /* relative gain in cost: a smaller one ends the search */
#define FIRST_HUBER_PX 5.0
#define HUBER_SIGMAS 12
#define MIN_HUBER_PX 0.05

/* Coefficients of distortion of MODEL. */
static int coefficients_of(enum plx_distortion model)
{
    return model == PLX_DISTORTION_NONE ? 0 : model == PLX_DISTORTION_PLUMB_BOB ? 5 : model == PLX_DISTORTION_RATIONAL ? 8 : 4;
}

/* --- a step --------------------------------------------------------------------------------------------------------- */

static void move_rig(struct plx_rig *rig, int coefficients, const double *step)
{
    for (int eye = 0; eye < PLX_EYES; eye++) {
        struct plx_camera *camera = &rig->camera[eye];
        const double *own = step + eye * (4 + coefficients);
        camera->fx += own[0];
        camera->fy += own[1];
        camera->cx += own[2];
        camera->cy += own[3];
        for (int c = 0; c < coefficients; c++)
            camera->k[c] += own[4 + c];
    }
}

/* Turns PLX_RIG_POSE by a rotation vector, then moves it; unlike plx_pose_move it turns the rotation alone. */
static void move_pose(struct plx_pose *pose, const double step[PLX_RIG_POSE])
{
    double turn[9], turned[9];
    plx_mat3_from_vector(step, turn);
    plx_mat3_multiply(turn, pose->rotation, turned);
    plx_mat3_orthonormalize(turned, pose->rotation);
    for (int i = 0; i < 3; i++)
        pose->translation[i] += step[3 + i];
}

/* Applies the step for DAMPING to the rig and to PLX_RIG_POSES [pairs]; false if the equations cannot be solved. */
static bool take_step(const struct plx_rig_problem *problem, double damping, struct plx_rig *rig, struct plx_pose *poses,
                      double (*l)[PLX_RIG_POSE * PLX_RIG_POSE])
{
    double s[PLX_RIG_MAX_PARAMETERS * PLX_RIG_MAX_PARAMETERS], b[PLX_RIG_MAX_PARAMETERS];
    const int n = problem->parameters;
    if (!plx_rig_reduce(problem, damping, s, b, l) || !plx_cholesky_decompose(s, n, 0, s))
        return false;
    plx_cholesky_solve(s, n, b, b);
    for (int p = 0; p < problem->pairs; p++) {
        double step[PLX_RIG_POSE];
        for (int c = 0; c < PLX_RIG_POSE; c++) {
            step[c] = problem->block[p].b[c];
            for (int a = 0; a < n; a++)
                step[c] -= problem->block[p].gp[a * PLX_RIG_POSE + c] * b[a];
        }
        plx_cholesky_solve(l[p], PLX_RIG_POSE, step, step);
        move_pose(&poses[p], step);
    }
    move_rig(rig, problem->coefficients, b);
    move_pose(&rig->right_from_left, b + n - PLX_RIG_POSE);
    return true;
}

/* --- the fit -------------------------------------------------------------------------------------------------------- */

/* Levenberg-Marquardt until the cost stays. Returns how many steps it tried. SPARE and L: [pairs]. */
static int minimise(struct plx_rig_problem *problem, struct plx_pose *spare, double (*l)[PLX_RIG_POSE * PLX_RIG_POSE])
{
    double damping = 1e-3, cost = plx_rig_cost(problem);
    int tried = 0;
    for (bool again = true; again && tried < ITERATIONS;) {
        plx_rig_build(problem);
        for (again = false; !again && damping < 1e12 && tried < ITERATIONS; tried++) {
            const struct plx_rig rig = problem->rig;
            struct plx_pose *const poses = problem->pose;
            memcpy(spare, poses, (size_t)problem->pairs * sizeof *spare);
            problem->pose = spare;
            const bool moved = take_step(problem, damping, &problem->rig, spare, l);
            const double now = moved ? plx_rig_cost(problem) : INFINITY;
            problem->pose = poses;
            if (now < cost) {
                memcpy(poses, spare, (size_t)problem->pairs * sizeof *spare);
                again = cost - now > MIN_GAIN * cost;
                cost = now;
                damping = damping > 1e-9 ? damping / 10 : damping;
                if (!again)
                    return tried + 1;
            } else {
                problem->rig = rig;
                damping *= 10;
            }
        }
    }
    return tried;
}

/* Twelve standard deviations of the corners, by the median of their distances, which outliers do not move (Rayleigh: 1.1774).
 * Corners beyond are wrong; nearer ones are not, for on real boards their errors have longer tails than noise. */
static int find_huber(struct plx_rig_problem *problem)
{
    const int corners = plx_board_corners(problem->board), all = problem->pairs * PLX_EYES * corners;
    int count = 0;
    double *distance = malloc((size_t)all * sizeof *distance);
    if (!distance)
        return PLX_ERR_NOMEM;
    for (int i = 0; i < all; i++) {
        const int p = i / (PLX_EYES * corners), k = i % corners;
        const enum plx_eye eye = (enum plx_eye)(i / corners % PLX_EYES);
        struct plx_rig_corner corner;
        if (!plx_rig_is_found(problem, p, eye, k))
            continue;
        const bool seen = plx_rig_project(problem, p, eye, k, &corner);
        distance[count++] = seen ? hypot(corner.residual[0], corner.residual[1]) : INFINITY;
    }
    qsort(distance, (size_t)count, sizeof *distance, plx_ascending);
    problem->huber_px = fmax(HUBER_SIGMAS * distance[count / 2] / 1.1774, MIN_HUBER_PX);
    free(distance);
    return 0;
}

/* The pose of the right camera that fits all pairs best, of those that single pairs give. */
static int initial_rig(struct plx_rig_problem *problem, struct plx_error_message *message)
{
    struct plx_pose best = {.rotation = {0}};
    double least = INFINITY;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const int result = plx_initial_camera(problem->board, problem->pair, problem->pairs, (enum plx_eye)eye,
                                              &problem->rig.camera[eye], message);
        if (result < 0)
            return result;
    }
    for (int p = 0; p < problem->pairs; p++)
        if (plx_initial_pose(problem->board, &problem->pair[p], PLX_LEFT, &problem->rig.camera[PLX_LEFT], &problem->pose[p]) <
            0)
            return plx_fail(message, PLX_ERR_FORMAT, "pair %d: the corners do not form a board", p + 1);
    for (int p = 0; p < problem->pairs; p++) {
        struct plx_pose right, board_from_left;
        if (plx_initial_pose(problem->board, &problem->pair[p], PLX_RIGHT, &problem->rig.camera[PLX_RIGHT], &right) < 0)
            continue;
        plx_pose_invert(&problem->pose[p], &board_from_left);
        plx_pose_compose(&right, &board_from_left, &problem->rig.right_from_left);
        const double cost = plx_rig_cost(problem);
        if (cost < least) {
            least = cost;
            best = problem->rig.right_from_left;
        }
    }
    problem->rig.right_from_left = best;
    return isfinite(least) ? 0 : plx_fail(message, PLX_ERR_FORMAT, "no pair shows the board in front of both cameras");
}

static void find_rms(const struct plx_rig_problem *problem, struct plx_rig_fit *fit, double (*ret_pair_rms)[PLX_EYES])
{
    const int corners = plx_board_corners(problem->board);
    double all = 0;
    int all_found = 0;
    for (int p = 0; p < problem->pairs; p++)
        for (int eye = 0; eye < PLX_EYES; eye++) {
            double sum = 0;
            int found = 0;
            struct plx_rig_corner corner;
            for (int k = 0; k < corners; k++) {
                if (!plx_rig_is_found(problem, p, (enum plx_eye)eye, k))
                    continue;
                plx_rig_project(problem, p, (enum plx_eye)eye, k, &corner);
                sum += corner.residual[0] * corner.residual[0] + corner.residual[1] * corner.residual[1];
                found++;
            }
            if (ret_pair_rms)
                ret_pair_rms[p][eye] = sqrt(sum / found);
            all += sum;
            all_found += found;
        }
    fit->rms_px = sqrt(all / all_found);
}

static int check(const struct plx_board *board, int pairs, const struct plx_rig_options *options,
                 struct plx_error_message *message)
{
    if (pairs < PLX_RIG_MIN_PAIRS || pairs > PLX_RIG_MAX_PAIRS)
        return plx_fail(message, PLX_ERR_RANGE, "%d pairs show the board; expected %d to %d", pairs, PLX_RIG_MIN_PAIRS,
                        PLX_RIG_MAX_PAIRS);
    if (!plx_board_is_valid(board))
        return plx_fail(message, PLX_ERR_RANGE,
                        "a board of %d x %d with squares of %g m; expected 3 to %d corners a side, or 2 to %d tags",
                        board->columns, board->rows, board->square_m, PLX_BOARD_MAX_SIDE, PLX_BOARD_MAX_TAGS);
    if (options->width < 16 || options->height < 16 || options->width > PLX_MAX_SIDE || options->height > PLX_MAX_SIDE)
        return plx_fail(message, PLX_ERR_RANGE, "pictures of %d x %d pixels; expected 16 to %d", options->width,
                        options->height, PLX_MAX_SIDE);
    return 0;
}

int plx_rig_fit(const struct plx_board *board, const struct plx_board_pair *pair, int pairs,
                const struct plx_rig_options *options, struct plx_rig_fit *ret_fit, double (*ret_pair_rms)[PLX_EYES],
                struct plx_error_message *message)
{
    int result = check(board, pairs, options, message);
    if (result < 0)
        return result;
    struct plx_rig_fit fit = {.iterations = 0};
    struct plx_rig_problem *problem = calloc(1, sizeof *problem);
    struct plx_pose *pose = malloc((size_t)pairs * sizeof *pose), *spare = malloc((size_t)pairs * sizeof *spare);
    struct plx_rig_block *block = malloc((size_t)pairs * sizeof *block);
    double(*l)[PLX_RIG_POSE * PLX_RIG_POSE] = malloc((size_t)pairs * sizeof *l);
    if (!problem || !pose || !spare || !block || !l) {
        result = plx_fail(message, PLX_ERR_NOMEM, "out of memory");
        goto done;
    }
    *problem = (struct plx_rig_problem){
        .board = board, .pair = pair, .pairs = pairs, .huber_px = FIRST_HUBER_PX, .pose = pose, .block = block};
    problem->coefficients = coefficients_of(options->model);
    problem->parameters = PLX_EYES * (4 + problem->coefficients) + PLX_RIG_POSE;
    for (int eye = 0; eye < PLX_EYES; eye++)
        problem->rig.camera[eye] =
            (struct plx_camera){.width = options->width, .height = options->height, .model = options->model};
    result = initial_rig(problem, message);
    if (result < 0)
        goto done;
    fit.iterations = minimise(problem, spare, l);
    result = find_huber(problem);
    if (result < 0)
        goto done;
    fit.iterations += minimise(problem, spare, l);
    fit.rig = problem->rig;
    fit.parameters = problem->parameters;
    find_rms(problem, &fit, ret_pair_rms);
    result = plx_rig_uncertainty(problem, l, &fit, message);
    if (result == 0)
        *ret_fit = fit;

done:
    free(l);
    free(block);
    free(spare);
    free(pose);
    free(problem);
    return result;
}
