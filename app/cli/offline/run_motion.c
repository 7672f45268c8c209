/* SPDX-License-Identifier: Apache-2.0 */
/* The motion table: ego-motion of a sequence beside the true poses of its left camera, in poses.txt as in KITTI's odometry. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "app/cli/offline/run.h"
#include "app/evaluate/steadiness.h"
#include "app/exit.h"
#include "app/view/frame_text.h"
#include "app/view/json.h"
#include "core/base/clock.h"
#include "core/geometry/cholesky.h"
#include "core/geometry/matrix3.h"
#include "core/motion/pose.h"
#include "drivers/files/file.h"

#define CHI_SQUARE_95 12.592 /* 95 % quantile of the chi-square distribution with six degrees of freedom */

/* Standard deviations of the truth itself, a step: what GPS and an inertial unit leave in KITTI's poses, measured on
 * kitti_seq1; about the camera's x, y and z axes. */
#define TRUTH_M 0.002
static const double truth_rad[3] = {2.0e-4, 3.5e-5, 2.0e-4};

/* Two steps in a row whose rotation is the same but for so much about each axis: their poses are interpolated. */
#define INTERPOLATED_RAD 1.75e-5

/* Distance of a measured pose from the true pose. */
struct error {
    double m, degrees;
    bool covered;      /* explained by the published covariance and the truth's own deviations; of a step only */
    bool interpolated; /* the true poses of the step are no measurement */
};

struct table {
    struct plx_pose *truth; /* [pairs], start_from_frame */
    struct plx_steadiness *steadiness;
    cJSON *list; /* with --json; else NULL, and lines are printed */
    int count;   /* poses in TRUTH */
    int frames, valid, covered;
    int measured;          /* valid motions whose truth is not interpolated: COVERED is of these */
    double way_m, seconds; /* true distance travelled; processing time of the motion */
    struct error step;     /* sums over the motions that are valid */
    struct error end;      /* error of the last pose */
    uint32_t breaks;
    struct plx_drift_info drift; /* drift in the last frame */
    struct plx_correction_info correction;
};

static int read_poses(const char *path, int count, struct plx_pose *ret_pose, struct plx_error_message *message)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return plx_file_fail(path, message);
    const bool is_empty = fscanf(file, "\xEF\xBB\xBF") == EOF; /* and passes a byte order mark */
    int numbers = 0;
    double number;
    while (!is_empty && numbers < 12 * count && fscanf(file, "%lf", &number) == 1 && isfinite(number)) {
        struct plx_pose *pose = &ret_pose[numbers / 12];
        const int row = numbers % 12 / 4, column = numbers % 4;
        *(column < 3 ? &pose->rotation[3 * row + column] : &pose->translation[row]) = number;
        numbers++;
    }
    fclose(file);
    if (numbers < 12 * count)
        return plx_fail(message, PLX_ERR_FORMAT,
                        "%s: line %d has no 12 numbers, expected a pose (3x4, row by row) for each of %d pairs", path,
                        numbers / 12 + 1, count);
    return 0;
}

/* The pose of B in the axes of A; both poses are given in the same axes. */
static struct plx_pose relative_pose(const struct plx_pose *a, const struct plx_pose *b)
{
    struct plx_pose ret;
    plx_pose_invert(a, &ret);
    plx_pose_compose(&ret, b, &ret);
    return ret;
}

static struct error error_of(const struct plx_pose *difference)
{
    return (struct error){.m = plx_pose_distance(difference),
                          .degrees = 2 * asin(fmin(1, plx_pose_half_sine(difference))) * PLX_DEGREES_PER_RAD};
}

/* True if the published covariance and the truth's own deviations explain DIFFERENCE: 95 % of normal errors would be smaller.
 */
static bool is_covered(const struct plx_pose *difference, const double covariance[36])
{
    double error[6], both[36], lower[36], solved[6], squared = 0;

    memcpy(error, difference->translation, sizeof difference->translation);
    plx_mat3_sine_axis(difference->rotation, &error[3]);
    memcpy(both, covariance, sizeof both);
    for (int i = 0; i < 3; i++) {
        both[7 * i] += TRUTH_M * TRUTH_M;
        both[7 * (i + 3)] += truth_rad[i] * truth_rad[i];
    }
    if (!plx_cholesky_decompose(both, 6, PLX_CHOLESKY_ROUNDING, lower))
        return false;
    plx_cholesky_solve(lower, 6, error, solved);
    for (int i = 0; i < 6; i++)
        squared += error[i] * solved[i];
    return squared <= CHI_SQUARE_95;
}

/* True if the true rotations of the steps to the frames A and A + 1 are the same; false where there are no such steps. */
static bool same_rotation(const struct table *table, int a)
{
    double before[3], after[3];

    if (a < 1 || a + 1 >= table->count)
        return false;
    const struct plx_pose first = relative_pose(&table->truth[a - 1], &table->truth[a]),
                          second = relative_pose(&table->truth[a], &table->truth[a + 1]);
    plx_mat3_sine_axis(first.rotation, before);
    plx_mat3_sine_axis(second.rotation, after);
    for (int i = 0; i < 3; i++)
        if (fabs(before[i] - after[i]) > INTERPOLATED_RAD)
            return false;
    return true;
}

static void print_frame(const char *name, const struct plx_motion_info *info, double step_m, const struct error *step,
                        const struct error *pose, double seconds)
{
    printf("%-12s %7u %7u %7u", name, info->inliers, info->tracked, info->corners);
    if (info->valid)
        printf("  %7.3f %8.1f %7.3f", step_m, step->m * 1e3, step->degrees);
    else
        printf("  %7.3f %8s %7s", step_m, "-", "-");
    printf("  %7.3f %7.3f  %6.2f ms%s\n", pose->m, pose->degrees, seconds * 1e3, step->interpolated ? "  interpolated" : "");
}

static cJSON *frame_json(const char *name, const struct plx_motion_info *info, double step_m, const struct error *step,
                         const struct error *pose, double seconds)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "name", name);
    cJSON_AddBoolToObject(item, "valid", info->valid);
    cJSON_AddNumberToObject(item, "corners", info->corners);
    cJSON_AddNumberToObject(item, "tracked", info->tracked);
    cJSON_AddNumberToObject(item, "inliers", info->inliers);
    cJSON_AddItemToObject(item, "way_m", plx_json_number(step_m, 4));
    cJSON_AddItemToObject(item, "error_m", plx_json_number(info->valid ? step->m : NAN, 5));
    cJSON_AddItemToObject(item, "error_degrees", plx_json_number(info->valid ? step->degrees : NAN, 5));
    cJSON_AddBoolToObject(item, "truth_interpolated", step->interpolated);
    cJSON_AddItemToObject(item, "covered", info->valid ? cJSON_CreateBool(step->covered) : cJSON_CreateNull());
    cJSON_AddItemToObject(item, "pose_error_m", plx_json_number(pose->m, 4));
    cJSON_AddItemToObject(item, "pose_error_degrees", plx_json_number(pose->degrees, 4));
    cJSON_AddItemToObject(item, "motion_ms", plx_json_number(seconds * 1e3, 3));
    return item;
}

/* The true step of the left camera to frame table->frames: then_from_now. */
static struct plx_pose true_step_of(const struct table *table)
{
    const int i = table->frames;
    return relative_pose(&table->truth[i > 0 ? i - 1 : 0], &table->truth[i]);
}

static int add_steadiness(struct table *table, const struct plx_frame *frame)
{
    const struct plx_pose true_step = true_step_of(table);
    return plx_steadiness_add(table->steadiness, frame, &true_step);
}

/* Compares the motion of frame table->frames with the truth. */
static void compare(struct plx_run *run, const struct plx_pair *pair, const struct plx_frame *frame, struct table *table)
{
    const struct plx_motion_info *info = &frame->motion;
    const double seconds = frame->stage_us[PLX_STAGE_MOTION] / 1e6;
    const int i = table->frames;
    const struct plx_pose true_step = true_step_of(table);
    const struct plx_pose true_pose = relative_pose(&table->truth[0], &table->truth[i]);
    const struct plx_pose step_difference = relative_pose(&true_step, &info->motion),
                          difference = relative_pose(&true_pose, &info->pose);
    struct error step = error_of(&step_difference);
    step.interpolated = same_rotation(table, i - 1) || same_rotation(table, i);
    const double step_m = plx_pose_distance(&true_step);
    table->end = error_of(&difference);
    table->breaks = info->breaks;
    table->drift = frame->drift;
    table->correction = frame->correction;
    table->way_m += step_m;
    table->seconds += seconds;
    table->frames++;
    if (info->valid) {
        table->valid++;
        step.covered = is_covered(&step_difference, info->covariance);
        table->measured += !step.interpolated;
        table->covered += step.covered && !step.interpolated;
        table->step.m += step.m;
        table->step.degrees += step.degrees;
    }
    if (table->list) {
        cJSON_AddItemToArray(table->list, frame_json(pair->name, info, step_m, &step, &table->end, seconds));
        return;
    }
    plx_progress_end(&run->progress);
    if (i == 0)
        printf("%-12s %7s %7s %7s  %7s %8s %7s  %7s %7s  %9s\n", "frame", "inliers", "tracked", "corners", "way m", "error mm",
               "deg", "pose m", "deg", "time");
    print_frame(pair->name, info, step_m, &step, &table->end, seconds);
}

static int measure(struct plx_run *run, const struct plx_pair *pair, const struct plx_pair_images *images, void *context)
{
    struct table *table = context;
    struct plx_error_message message = {""};
    struct plx_pair_result done = {.evaluated = false};
    const int64_t capture_ns = (int64_t)llround(pair->time_s * PLX_NS_PER_S);
    if (!run->pipeline) {
        const int result = plx_run_prepare(run, images->left.width, images->left.height, &run->config.pipeline, &message);
        if (result < 0)
            return plx_run_fail(result, true, &message);
    }
    int result = plx_run_images(run, images, capture_ns, &done, &message);
    if (result < 0)
        return plx_run_fail(result, false, &message);
    if (!run->calibrated)
        return plx_exit_error("parallax run", PLX_EXIT_USAGE,
                              "--truth poses needs metres; name a calibration with --calibration");
    if (done.frame->motion.source == PLX_MOTION_NONE)
        return plx_exit_error("parallax run", PLX_EXIT_USAGE, "--truth poses needs motion.source=visual");
    result = add_steadiness(table, done.frame);
    if (result < 0)
        return plx_exit_error("parallax run", PLX_EXIT_OS, "%s", plx_strerror(result));
    compare(run, pair, done.frame, table);
    return PLX_EXIT_OK;
}

static double per_metre(const struct table *table, double value)
{
    return table->way_m > 0 ? value / table->way_m : NAN;
}

static void print_summary(const struct table *table)
{
    const double valid = table->valid;
    printf("\nmotion known       %d of %d frames after the first, %u breaks\n", table->valid, table->frames - 1, table->breaks);
    if (table->valid > 0)
        printf("of each frame      %.1f mm, %.4f deg off (mean)\n", table->step.m / valid * 1e3, table->step.degrees / valid);
    if (table->measured > 0)
        printf("covariance         covers %.1f %% of %d frames whose true poses are not interpolated (95 %% expected)\n",
               100.0 * table->covered / table->measured, table->measured);
    printf("at the end         %.3f m, %.3f deg off after %.2f m: drift %.2f %%, %.4f deg/m\n", table->end.m,
           table->end.degrees, table->way_m, per_metre(table, 100 * table->end.m), per_metre(table, table->end.degrees));
    if (table->drift.disparity_offset_deviation_px > 0)
        printf("disparities        %.2f +- %.2f px too small in the middle, %.2f +- %.2f px at the sides, by the motion\n",
               (double)table->drift.disparity_offset_px, (double)table->drift.disparity_offset_deviation_px,
               (double)table->drift.side_px, (double)table->drift.side_deviation_px);
    printf("time               %.2f ms (mean)\n", table->seconds / table->frames * 1e3);
    plx_steadiness_print(table->steadiness);
}

static void print_json(struct table *table)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddNumberToObject(item, "frames", table->frames);
    cJSON_AddNumberToObject(item, "valid", table->valid);
    cJSON_AddNumberToObject(item, "breaks", table->breaks);
    cJSON_AddItemToObject(item, "error_m", plx_json_number(table->step.m / table->valid, 5));
    cJSON_AddItemToObject(item, "error_degrees", plx_json_number(table->step.degrees / table->valid, 5));
    cJSON_AddNumberToObject(item, "truth_measured", table->measured);
    cJSON_AddItemToObject(item, "covered_percent", plx_json_number(100.0 * table->covered / table->measured, 2));
    cJSON_AddItemToObject(item, "way_m", plx_json_number(table->way_m, 3));
    cJSON_AddItemToObject(item, "drift_percent", plx_json_number(per_metre(table, 100 * table->end.m), 4));
    cJSON_AddItemToObject(item, "degrees_per_m", plx_json_number(per_metre(table, table->end.degrees), 5));
    cJSON_AddItemToObject(item, "drift", plx_json_drift(&table->drift));
    cJSON_AddItemToObject(item, "correction", plx_json_corrections(&table->correction));
    cJSON_AddItemToObject(item, "motion_ms", plx_json_number(table->seconds / table->frames * 1e3, 3));
    cJSON_AddItemToObject(item, "tracks", plx_steadiness_json(table->steadiness));
    cJSON_AddItemToObject(item, "frame", table->list);
    table->list = NULL;
    plx_json_print(item);
}

/* Returns an exit code. */
static int load_truth(const struct plx_run *run, const char *directory, struct table *table)
{
    struct plx_error_message message = {""};
    char *path = NULL;
    if (!run->pairs.sequence)
        return plx_exit_error("parallax run", PLX_EXIT_USAGE, "--truth poses needs a sequence with poses.txt; %s is none",
                              directory);
    table->count = run->pairs.count;
    table->truth = calloc((size_t)run->pairs.count, sizeof *table->truth);
    if (!table->truth || plx_steadiness_create(&table->steadiness) < 0 || asprintf(&path, "%s/poses.txt", directory) < 0)
        return plx_exit_error("parallax run", PLX_EXIT_OS, "%s", plx_strerror(PLX_ERR_NOMEM));
    const int result = read_poses(path, run->pairs.count, table->truth, &message);
    free(path);
    return result < 0 ? plx_run_fail(result, false, &message) : PLX_EXIT_OK;
}

int plx_run_motion_table(struct plx_run *run, const char *directory)
{
    struct table table = {.list = run->options.json ? cJSON_CreateArray() : NULL};
    int exit_code = load_truth(run, directory, &table);
    if (exit_code == PLX_EXIT_OK)
        exit_code = plx_run_each_pair(run, measure, &table);
    if (exit_code == PLX_EXIT_OK && run->options.json)
        print_json(&table);
    else if (exit_code == PLX_EXIT_OK)
        print_summary(&table);
    cJSON_Delete(table.list);
    free(table.truth);
    plx_steadiness_destroy(table.steadiness);
    return exit_code;
}
