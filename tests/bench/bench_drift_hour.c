/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Corrections that the learner of the calibration's drift makes in an hour of a robot that moves, with cameras that run freely
 * and have no error: none is right. Ends with 1 if there was one, or if the control was not corrected.
 *
 *   bench_drift_hour [SECONDS [SCENE]]   SECONDS (default 3600) of each scene, or of SCENE alone (a number from 0 on)
 *
 * Real: core/drift's learner in mode `rows`, its estimates and verdicts (without a worker, in this thread); its
 * bound of rows by skew and motion; the motion itself, found by core/motion's fit from corners of a key frame. The rule for key
 * frames, the place of the search, its reach, and the rule for steps that show the error of disparities are those of motion.c.
 *
 * Simulated: the robot, its cameras and what pictures would show. 640 x 480, f 530, baseline 10 cm, 20 pairs/s; points that
 * stand still 1.25 to 12 m away. Corners are found within 0.15 px, disparities within 0.2 px, 8 of 100 corners are wrong;
 * matches within 0.1 px, 5 of 100 are wrong by up to 3 px. Each camera sees each point where it is at the time of the point's
 * own row: depth, motion and offset are bent by skew and rolling shutter as they would be. The skew, told to within 0.2 ms,
 * goes from one period early to one period late in an hour. The movements, each minute other ones that begin and end at rest:
 *
 *   rock     pitch and roll by 0.2 to 3 degrees at 0.5 to 3 Hz, about an axis 0.5 m below the cameras
 *   shake    eight tones of up to 20 Hz about each axis, 0.03 to 0.3 degrees together
 *   rolling  either in turns, rows read in 30 ms
 *   drive    the same, and 0.4 m/s to and fro, 0.1 m/s sideways
 *   circle   the same, and always ahead and to the left, 0.4 m/s and 0.2 rad/s
 *   strobe   pitch and roll by 1 degree all the time, as often as the learner looks at pictures once it has many matches
 *   locked   pitch by 0.03 degrees all the time at the rate of the pictures, as by a motor: the left ones do not show it
 *   control  at rest with the right camera pitched by 0.05 degrees: must be corrected
 *
 * Beside it, a learner in mode `all` corrects columns too, and one without the bound gets all matches: what these movements
 * would do. `locked` may be corrected: nothing
 * but cameras that are triggered together tells it from a camera that was turned.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/drift/learner.h"
#include "core/drift/matches.h"
#include "core/drift/skew.h"
#include "core/motion/fit.h"
#include "oracle/test_image.h"

#define WIDTH 640
#define HEIGHT 480
#define FOCAL 530.0
#define BASELINE_M 0.1
#define PERIOD_S 0.05
#define SWEEP_S 3600.0
#define LOOKS_HZ (1 / 0.35)
#define MINUTE_S 60.0
#define DEGREE 0.017453292519943295
#define TURN 6.283185307179586
#define CORNERS 120
#define MIN_CORNERS 24 /* this and what follows as in core/motion/motion.c */
#define KEEP_PERCENT 60
#define LOST_FRAMES 2
#define REACH_PREDICTED_PX 24.0
#define REACH_AT_REST_PX 96.0

static const struct plx_calibration_info camera_info = {
    .fx = FOCAL, .fy = FOCAL, .cx = 319.5, .cy = 239.5, .cx_right = 319.5, .baseline_m = BASELINE_M};
static const struct plx_fit_camera camera = {FOCAL, FOCAL, 319.5, 239.5, FOCAL *BASELINE_M};

enum movement { REST, ROCK, SHAKE, EITHER, STROBE, LOCKED };

struct scene {
    const char *name;
    enum movement movement; /* EITHER: rocks and shakes in turns */
    double readout_s, to_and_fro_mps, ahead_mps, turn_radps, pitched_rad;
    int corrections; /* expected: 0; 1: some; -1: any number */
};

static const struct scene scenes[] = {
    {.name = "rock", .movement = ROCK},
    {.name = "shake", .movement = SHAKE},
    {.name = "rolling", .movement = EITHER, .readout_s = 0.03},
    {.name = "drive", .movement = EITHER, .readout_s = 0.03, .to_and_fro_mps = 0.4},
    {.name = "circle", .movement = EITHER, .readout_s = 0.03, .ahead_mps = 0.4, .turn_radps = 0.2},
    {.name = "strobe", .movement = STROBE, .readout_s = 0.03},
    {.name = "locked", .movement = LOCKED, .corrections = -1},
    {.name = "control", .movement = REST, .pitched_rad = 0.05 * DEGREE, .corrections = 1},
};
enum { SCENES = sizeof scenes / sizeof scenes[0] };

static uint64_t seed;

static double uniform(double low, double high)
{
    return low + (high - low) * random_below(&seed, 1 << 24) / (1 << 24);
}

/* --- the robot ----------------------------------------------------------------------------------------------------- */

#define TONES 8
#define ARM_M 0.5 /* from the axis up to the cameras */

struct tone {
    double amplitude, hz, phase;
};

static struct robot {
    const struct scene *scene;
    int minute;
    struct tone tone[3][TONES]; /* about x (pitch), y (yaw), z (roll) */
} robot;

/* Draws the movement of this minute. */
static void draw_movement(int minute)
{
    const enum movement chosen = robot.scene->movement;
    const enum movement movement = chosen != EITHER ? chosen : minute % 2 == 0 ? ROCK : SHAKE;
    const double amplitude = uniform(0.03, 0.3) * DEGREE / sqrt(TONES);

    memset(robot.tone, 0, sizeof robot.tone);
    robot.minute = minute;
    for (int axis = 0; axis < 3; axis += 2) {
        if (movement == ROCK)
            robot.tone[axis][0] = (struct tone){uniform(0.2, 3) * DEGREE, uniform(0.5, 3), uniform(0, TURN)};
        if (movement == STROBE)
            robot.tone[axis][0] = (struct tone){DEGREE, LOOKS_HZ, 0.3};
    }
    if (movement == LOCKED)
        robot.tone[0][0] = (struct tone){0.03 * DEGREE, 1 / PERIOD_S, 0.3};
    for (int axis = 0; axis < 3 && movement == SHAKE; axis++)
        for (int i = 0; i < TONES; i++)
            robot.tone[axis][i] = (struct tone){amplitude, uniform(0.5, 20), uniform(0, TURN)};
}

/* The angles by which the robot is rocked at TIME_S, about its cameras' axes. */
static void rock(double time_s, double ret_angle[3])
{
    const bool all_the_time = robot.scene->movement == STROBE || robot.scene->movement == LOCKED;
    const double in_minute = time_s - robot.minute * MINUTE_S,
                 share = all_the_time ? 1 : pow(sin(TURN / 2 * in_minute / MINUTE_S), 2);
    for (int axis = 0; axis < 3; axis++) {
        ret_angle[axis] = 0;
        for (int i = 0; i < TONES && robot.tone[axis][i].hz > 0; i++) {
            const struct tone *tone = &robot.tone[axis][i];
            ret_angle[axis] += share * tone->amplitude * sin(TURN * tone->hz * time_s + tone->phase);
        }
    }
}

/* Where the robot would be at TIME_S if nothing rocked it, as robot_from_world: on a circle, or to and fro. */
static struct plx_pose drive(double time_s)
{
    const struct scene *scene = robot.scene;
    const double heading = -scene->turn_radps * time_s; /* about y, which points down: to the left */
    const double c = cos(heading), s = sin(heading), radius = scene->turn_radps > 0 ? scene->ahead_mps / scene->turn_radps : 0;
    const double x = scene->to_and_fro_mps / 4 * 9 / TURN * sin(TURN * time_s / 9) - radius * (1 - c),
                 z = scene->to_and_fro_mps * 15 / TURN * sin(TURN * time_s / 15) - radius * s;
    return (struct plx_pose){{c, 0, -s, 0, 1, 0, s, 0, c}, {-c * x + s * z, 0, -s * x - c * z}};
}

/* The left camera at TIME_S: camera_from_world. */
static struct plx_pose pose_at(double time_s)
{
    static double last_s = -1;
    static struct plx_pose last;
    double angle[3];
    if (time_s == last_s)
        return last;
    rock(time_s, angle);
    const double move[6] = {ARM_M * angle[2], 0, -ARM_M * angle[0], angle[0], angle[1], angle[2]};
    last = drive(time_s);
    plx_pose_move(&last, move);
    last_s = time_s;
    return last;
}

/* --- the cameras --------------------------------------------------------------------------------------------------- */

/* When row V of a picture is taken whose middle row is taken at TIME_S. */
static double time_of_row(double time_s, double v)
{
    return time_s + robot.scene->readout_s * (v - camera.cy) / HEIGHT;
}

/* The pixel of a point of the world in the picture of EYE. False if it lies outside. */
static bool see(const double world[3], enum plx_eye eye, double time_s, double ret_pixel[2])
{
    ret_pixel[1] = camera.cy;
    for (int step = 0; step < (robot.scene->readout_s > 0 ? 3 : 1); step++) {
        const struct plx_pose pose = pose_at(time_of_row(time_s, ret_pixel[1]));
        double at[3];
        plx_pose_apply(&pose, world, at);
        at[0] -= eye == PLX_RIGHT ? BASELINE_M : 0;
        if (!plx_fit_project(&camera, at, ret_pixel))
            return false;
    }
    return ret_pixel[0] >= 0 && ret_pixel[0] < WIDTH && ret_pixel[1] >= 0 && ret_pixel[1] < HEIGHT;
}

/* Draws a pixel of the left picture and the point of the world there. */
static void draw_point(double time_s, double ret_pixel[2], double ret_world[3])
{
    double at[3];
    struct plx_pose world_from_camera;
    ret_pixel[0] = uniform(20, WIDTH - 20);
    ret_pixel[1] = uniform(20, HEIGHT - 20);
    plx_fit_unproject(&camera, ret_pixel[0], ret_pixel[1], FOCAL * BASELINE_M * uniform(0.08, 0.8), at);
    const struct plx_pose pose = pose_at(time_of_row(time_s, ret_pixel[1]));
    plx_pose_invert(&pose, &world_from_camera);
    plx_pose_apply(&world_from_camera, at, ret_world);
}

/* --- the motion ---------------------------------------------------------------------------------------------------- */

static struct motion {
    double world[CORNERS][3], pixel[CORNERS][2], disparity[CORNERS];
    struct plx_fit_point point[CORNERS];
    struct plx_pose last_from_key, step;
    double last_s, step_s;
    int corners, points, failures;
    bool took_step, took_key, key_gave_step, key_is_bent;
    struct plx_motion_steps steps;
} motion;

static void take_key(double time_s, double right_s)
{
    motion.corners = motion.failures = 0;
    for (int i = 0; i < CORNERS; i++) {
        const int k = motion.corners;
        double right[2];
        draw_point(time_s, motion.pixel[k], motion.world[k]);
        if (!see(motion.world[k], PLX_RIGHT, right_s, right))
            continue;
        motion.disparity[k] = motion.pixel[k][0] - right[0] + 0.2 * random_normal(&seed);
        motion.corners += motion.disparity[k] >= 0.5;
    }
    motion.last_from_key = PLX_POSE_IDENTITY;
    motion.last_s = time_s;
    motion.took_key = true;
    motion.key_gave_step = motion.key_is_bent = false;
}

/* Finds the corners within REACH of where PRIOR puts them. */
static int track(double time_s, double right_s, const struct plx_pose *prior, double reach)
{
    int count = 0;
    for (int i = 0; i < motion.corners; i++) {
        struct plx_fit_point *point = &motion.point[count];
        double moved[3], expected[2], right[2];
        *point = (struct plx_fit_point){.disparity = motion.disparity[i]};
        plx_fit_unproject(&camera, motion.pixel[i][0], motion.pixel[i][1], motion.disparity[i], point->at);
        plx_pose_apply(prior, point->at, moved);
        if (!plx_fit_project(&camera, moved, expected) || !see(motion.world[i], PLX_LEFT, time_s, point->seen) ||
            hypot(point->seen[0] - expected[0], point->seen[1] - expected[1]) > reach)
            continue;
        point->has_disparity = see(motion.world[i], PLX_RIGHT, right_s, right);
        point->seen[2] = point->seen[0] - right[0] + 0.2 * random_normal(&seed);
        const bool wrong = random_below(&seed, 100) < 8;
        for (int k = 0; k < 2; k++)
            point->seen[k] += wrong ? uniform(-8, 8) : 0.15 * random_normal(&seed);
        count++;
    }
    motion.points = count;
    return count;
}

static bool find_motion(double time_s, double right_s, struct plx_fit *ret_fit)
{
    struct plx_pose prior, step;
    if (motion.step_s > 0) {
        plx_pose_scale(&motion.step, (time_s - motion.last_s) / motion.step_s, &step);
        plx_pose_compose(&step, &motion.last_from_key, &prior);
        const int count = track(time_s, right_s, &prior, REACH_PREDICTED_PX);
        if (plx_fit_motion(&camera, motion.point, count, &prior, ret_fit))
            return true;
    }
    const int count = track(time_s, right_s, &motion.last_from_key, REACH_AT_REST_PX);
    return plx_fit_motion(&camera, motion.point, count, &motion.last_from_key, ret_fit);
}

static void distrust_disparities(void)
{
    if (motion.took_step) {
        plx_motion_steps_drop_newest(&motion.steps);
        motion.key_gave_step = false;
    }
    motion.key_is_bent |= motion.took_key;
}

static struct plx_motion_info measure_motion(double time_s, double right_s)
{
    struct plx_motion_info info = {.source = PLX_MOTION_VISUAL, .motion = PLX_POSE_IDENTITY};
    static const struct plx_disparity_error none;
    struct plx_fit fit;
    const int corners = motion.corners;
    motion.took_step = motion.took_key = false;
    if (corners > 0 && find_motion(time_s, right_s, &fit)) {
        struct plx_pose key_from_now;
        plx_pose_invert(&fit.pose, &key_from_now);
        plx_pose_compose(&motion.last_from_key, &key_from_now, &info.motion);
        info.valid = true;
        info.interval_ns = (int64_t)llround((time_s - motion.last_s) * 1e9);
        info.inliers = fit.inliers;
        motion.step_s = time_s - motion.last_s;
        plx_pose_invert(&info.motion, &motion.step);
        motion.last_from_key = fit.pose;
        motion.last_s = time_s;
        motion.failures = 0;
        if (!motion.key_gave_step && !motion.key_is_bent && fit.offset_weight >= PLX_STEP_MIN_WEIGHT) {
            plx_motion_steps_add(&motion.steps, motion.point, motion.points, &none, &fit.pose);
            motion.took_step = motion.key_gave_step = true;
        }
    } else {
        motion.failures++;
    }
    const bool lost = motion.failures >= LOST_FRAMES;
    if (corners < MIN_CORNERS || lost ||
        (info.valid && ((int)info.inliers * 100 < corners * KEEP_PERCENT || fit.offset_weight >= PLX_STEP_FULL_WEIGHT)))
        take_key(time_s, right_s);
    if (lost)
        motion.step_s = 0;
    return info;
}

/* --- the learners -------------------------------------------------------------------------------------------------- */

#define LEARNERS 3

struct tally {
    const char *name;
    enum plx_correction_mode mode;
    bool bounded;
    struct plx_learner *learner;
    uint32_t last_applied, last_proposed;
    float columns, curve; /* in force */
    int applied_rows, applied_columns, proposed_rows, proposed_columns;
    long found, counted;
};

/* Draws the match of a place. False if none is found. */
static bool draw_match(const struct tally *tally, double time_s, double right_s, struct plx_row_match *ret)
{
    double left[2], right[2], world[3];
    draw_point(time_s, left, world);
    if (!see(world, PLX_RIGHT, right_s, right))
        return false;
    const bool wrong = random_below(&seed, 100) < 5;
    const double disparity = left[0] - right[0] + 0.15 * random_normal(&seed);
    const double x = (right[0] - camera.cx) / FOCAL, y = (left[1] - camera.cy) / FOCAL;
    const struct plx_correction error = {.pitch_rad = (float)robot.scene->pitched_rad},
                                left_over = plx_correction_add(&error, &plx_learner_correction(tally->learner)->applied, -1);
    const double rows = right[1] - left[1] + plx_correction_rows(&left_over, FOCAL, x, y) +
                        (wrong ? uniform(-3, 3) : 0.1 * random_normal(&seed));
    const struct plx_drift_info *drift = plx_learner_drift(tally->learner);
    const struct plx_correction expected = {drift->pitch_rad, drift->roll_rad, drift->bend_rad, drift->scale, 0, 0};
    *ret = (struct plx_row_match){
        (float)x, (float)y, (float)rows, random_below(&seed, 2) == 0, (float)(FOCAL * BASELINE_M / disparity), 0};
    return disparity >= 0.5 && fabs(rows - plx_correction_rows(&expected, FOCAL, x, y)) < 4; /* MAX_ROWS of matches.c */
}

static void note_changes(struct tally *tally, double time_s)
{
    const struct plx_correction_info *state = plx_learner_correction(tally->learner);
    const struct plx_correction *now = &state->applied;

    if (state->number != tally->last_applied) {
        const bool columns = now->disparity_offset_px != tally->columns || now->curve_px != tally->curve;
        tally->applied_columns += columns;
        tally->applied_rows += !columns;
        tally->columns = now->disparity_offset_px;
        tally->curve = now->curve_px;
        printf("  %.0f s%s: pitch %.4f roll %.4f bend %.4f deg, scale %.5f, columns %.2f px, curve %.2f px\n", time_s,
               tally->name, (double)now->pitch_rad / DEGREE, (double)now->roll_rad / DEGREE, (double)now->bend_rad / DEGREE,
               (double)now->scale, (double)now->disparity_offset_px, (double)now->curve_px);
    }
    if (state->proposed_number != tally->last_proposed && state->proposed_number != 0) {
        const bool columns =
            state->proposed.disparity_offset_px != now->disparity_offset_px || state->proposed.curve_px != now->curve_px;
        tally->proposed_columns += columns;
        tally->proposed_rows += !columns;
    }
    tally->last_applied = state->number;
    tally->last_proposed = state->proposed_number;
}

/* As measure_drift of core/pipeline/process.c. */
static void learn(struct tally *tally, const struct plx_skew *skew, double time_s, double right_s)
{
    struct plx_row_match match[PLX_PLACES_MAX];
    const struct plx_remap *map;
    uint32_t place;
    int count = 0;

    plx_learner_take(tally->learner, &map);
    note_changes(tally, time_s);
    const int places = plx_learner_places(tally->learner, (int64_t)llround(time_s * 1e9), &place);
    for (int i = 0; i < places; i++) {
        if (!draw_match(tally, time_s, right_s, &match[count]))
            continue;
        tally->found++;
        count += !tally->bounded || plx_skew_rows(skew, &match[count], FOCAL) < PLX_SKEW_MAX_ROWS_PX;
    }
    tally->counted += count;
    plx_learner_add(tally->learner, match, count, &motion.steps);
}

/* From one period early to one late. */
static double skew_at(double time_s)
{
    return PERIOD_S * (2 * fmod(time_s / SWEEP_S, 1) - 1);
}

static void report(const struct tally *tally, int seconds)
{
    printf("%-8s%-12s %5d s, %6ld of %6ld matches: applied %d rows, %d columns; proposed %d rows, %d columns%s\n",
           robot.scene->name, tally->name, seconds, tally->counted, tally->found, tally->applied_rows, tally->applied_columns,
           tally->proposed_rows, tally->proposed_columns, plx_learner_gave_up(tally->learner) ? "; gave up" : "");
    fflush(stdout);
}

static void begin(const struct scene *scene, struct tally tally[LEARNERS])
{
    struct plx_stereo_calibration calibration;

    seed = 1;
    robot = (struct robot){.scene = scene, .minute = -1};
    memset(&motion, 0, sizeof motion);
    motion.steps.camera = camera;
    plx_calibration_pinhole(WIDTH, HEIGHT, &camera_info, &calibration);
    for (int i = 0; i < LEARNERS; i++)
        if (plx_learner_create(tally[i].mode, &calibration, &tally[i].learner) < 0)
            exit(1);
}

/* How many corrections were applied. */
static int run(const struct scene *scene, int seconds)
{
    struct tally tally[LEARNERS] = {{.name = "", .mode = PLX_CORRECTION_ROWS, .bounded = true},
                                    {.name = " (all)", .mode = PLX_CORRECTION_ALL, .bounded = true},
                                    {.name = " (no bound)", .mode = PLX_CORRECTION_ROWS, .bounded = false}};
    struct plx_skew skew = {0};

    begin(scene, tally);
    for (int frame = 0; frame * PERIOD_S < seconds; frame++) {
        const double time_s = frame * PERIOD_S, skew_s = skew_at(time_s);
        if ((int)(time_s / MINUTE_S) != robot.minute)
            draw_movement((int)(time_s / MINUTE_S));
        const struct plx_motion_info info = measure_motion(time_s, time_s + skew_s);
        plx_skew_update(&skew, &info, (int64_t)llround((skew_s + 2e-4 * random_normal(&seed)) * 1e9));
        if (plx_skew_columns(&skew, FOCAL) > PLX_SKEW_MAX_COLUMNS_PX)
            distrust_disparities();
        for (int i = 0; i < LEARNERS; i++)
            learn(&tally[i], &skew, time_s, time_s + skew_s);
    }
    for (int i = 0; i < LEARNERS; i++) {
        report(&tally[i], seconds);
        plx_learner_destroy(tally[i].learner);
    }
    return tally[0].applied_rows + tally[0].applied_columns;
}

int main(int argc, char **argv)
{
    const int seconds = argc > 1 ? atoi(argv[1]) : 3600, only = argc > 2 ? atoi(argv[2]) : -1;
    bool well = true;

    for (int i = 0; i < SCENES; i++)
        if (only < 0 || only == i) {
            const int applied = run(&scenes[i], seconds);
            well = well && (scenes[i].corrections < 0 || (applied > 0) == scenes[i].corrections);
        }
    return well ? 0 : 1;
}
