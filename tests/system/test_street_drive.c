/* SPDX-License-Identifier: Apache-2.0 */
/* 50 s along the street through the whole pipeline: ground, ego-motion, obstacles and free ground, compared with the truth of
 * each pixel. */
#include <math.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "core/motion/pose.h"
#include "cpu/cpu.h"
#include "drivers/synthetic/raycast.h"
#include "tests/cmocka.h"
#include "tests/list_truth.h"
#include "tests/runner.h"

#define WIDTH 640
#define HEIGHT 480
#define FRAMES 300
#define RATE 6
#define MIN_HEIGHT_M 0.4 /* lower objects, such as the kerb, are no obstacles */
#define FAR_M 15.0

struct truth {
    float depth_m[HEIGHT][WIDTH];  /* along the optical axis */
    int16_t object[HEIGHT][WIDTH]; /* index; -1: ground or sky */
    bool ground[HEIGHT][WIDTH];
};

#define POLE 8 /* the first of three poles */
#define POLES 3
#define MIN_POLE_PX 12 /* narrower ones are not always found */
#define FOOT_PX 3

struct counts {
    long obstacle_pixels, found, ground_pixels, claimed;
    long free_columns, free_beyond; /* free ground claimed behind a thing */
    int joined_frames, ground_frames, motions;
    int poles, feet; /* poles that stand free in view; of those listed with the right foot */
};

static struct truth truth;
static struct list_truth objects; /* true objects of the same moment */

static void look(const struct plx_scene *scene, double time_s)
{
    float radiance[WIDTH], inverse_depth[WIDTH];
    uint8_t hit[WIDTH];
    const struct plx_ray_row row = {radiance, inverse_depth, hit};
    struct plx_ray_view view;

    plx_ray_view_init(&view, scene, time_s, PLX_LEFT);
    for (int y = 0; y < HEIGHT; y++) {
        plx_ray_cast(&view, y, &row);
        for (int x = 0; x < WIDTH; x++) {
            truth.depth_m[y][x] = 1 / inverse_depth[x];
            truth.ground[y][x] = hit[x] == PLX_HIT_GROUND;
            truth.object[y][x] = (int16_t)(hit[x] < PLX_HIT_FRONT ? -1 : (hit[x] - PLX_HIT_FRONT) % PLX_SCENE_MAX_OBJECTS);
        }
    }
}

static void count_pixels(const struct plx_scene *scene, const struct plx_image *labels, struct counts *counts)
{
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const int object = truth.object[y][x];
            const bool labelled = ((const uint16_t *)plx_row(labels, y))[x] != 0, near = truth.depth_m[y][x] <= FAR_M;
            const bool counts_here = near && object >= 0 && scene->object[object].height >= MIN_HEIGHT_M;
            counts->obstacle_pixels += counts_here;
            counts->found += counts_here && labelled;
            counts->ground_pixels += near && truth.ground[y][x];
            counts->claimed += near && truth.ground[y][x] && labelled;
        }
}

static void count_joined(struct plx_frame *frame, struct counts *counts)
{
    struct list_owner owner[PLX_MAX_OBSTACLES];
    bool joined = false;
    list_truth_find_owners(&objects, frame, owner);
    for (uint32_t i = 0; i < frame->obstacle_count; i++)
        joined = joined || owner[i].is_joined;
    counts->joined_frames += joined;
}

/* The nearest thing that is high enough in a column of the scan, metres; INFINITY if there is none. */
static float nearest_in(const struct plx_scene *scene, int column)
{
    float nearest = INFINITY;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = PLX_COLUMN_WIDTH * column; x < PLX_COLUMN_WIDTH * (column + 1); x++)
            if (truth.object[y][x] >= 0 && scene->object[truth.object[y][x]].height >= MIN_HEIGHT_M)
                nearest = fminf(nearest, truth.depth_m[y][x]);
    return nearest;
}

static void count_free(const struct plx_scene *scene, const struct plx_image *scan, struct counts *counts)
{
    const double disparity_m = PLX_DISPARITY_ONE * scene->calibration.fx * scene->calibration.baseline_m;
    for (int i = 0; i < scan->width; i++) {
        const struct plx_scan *column = (const struct plx_scan *)scan->data + i;
        const float nearest_m = nearest_in(scene, i);
        if (!(column->known & PLX_SCAN_KNOWN) || column->free == PLX_SCAN_NOTHING_FREE || nearest_m > FAR_M)
            continue;
        counts->free_columns++;
        counts->free_beyond += disparity_m / column->free > nearest_m + fmaxf(0.5F, 0.1F * nearest_m);
    }
}

/* The last row that shows OBJECT if it is all in view and stands on ground that is seen, and is wide enough; else -1. */
static int foot_of(int object)
{
    int x0 = WIDTH, x1 = -1, last = -1;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            if (truth.object[y][x] == object) {
                x0 = x < x0 ? x : x0;
                x1 = x > x1 ? x : x1;
                last = y;
            }
    const bool whole = x0 > 0 && x1 < WIDTH - 1 && x1 - x0 + 1 >= MIN_POLE_PX && last < HEIGHT - 2;
    return whole && truth.ground[last + 2][(x0 + x1) / 2] ? last : -1;
}

/* The obstacle whose label most pixels of OBJECT have, NULL if there is none. */
static const struct plx_obstacle *obstacle_of(const struct plx_frame *frame, const struct plx_image *labels, int object)
{
    int pixels[PLX_MAX_OBSTACLES + 1] = {0};
    const struct plx_obstacle *best = NULL;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const uint16_t label = ((const uint16_t *)plx_row(labels, y))[x];
            pixels[label <= PLX_MAX_OBSTACLES ? label : 0] += truth.object[y][x] == object;
        }
    for (uint32_t i = 0; i < frame->obstacle_count; i++)
        if (frame->obstacle[i].label > 0 && pixels[frame->obstacle[i].label] > (best ? pixels[best->label] : 0))
            best = &frame->obstacle[i];
    return best;
}

static void count_feet(const struct plx_frame *frame, const struct plx_image *labels, struct counts *counts)
{
    for (int object = POLE; object < POLE + POLES; object++) {
        const int foot = foot_of(object);
        if (foot < 0)
            continue;
        const struct plx_obstacle *obstacle = obstacle_of(frame, labels, object);
        counts->poles++;
        counts->feet += obstacle && abs(obstacle->y + obstacle->height - 1 - foot) <= FOOT_PX;
    }
}

static void judge(const struct plx_scene *scene, struct plx_frame *frame, struct counts *counts)
{
    const struct plx_image labels = plx_pipeline_plane(frame, PLX_PLANE_LABELS),
                           scan = plx_pipeline_plane(frame, PLX_PLANE_SCAN);

    counts->ground_frames += frame->ground.valid && fabs((double)frame->ground.camera_height_m - scene->camera_height_m) < 0.05;
    counts->motions += frame->motion.valid != 0;
    count_pixels(scene, &labels, counts);
    count_joined(frame, counts);
    count_free(scene, &scan, counts);
    count_feet(frame, &labels, counts);
}

/* Error of the last pose, metres and degrees, and the way, metres. */
static void judge_pose(const struct plx_scene *scene, const struct plx_pose *pose, double *ret_error_m, double *ret_degrees,
                       double *ret_way_m)
{
    struct plx_pose start, now, difference;
    *ret_way_m = 0;
    plx_scene_camera(scene, 0, &start);
    for (int i = 1; i < FRAMES; i++) {
        struct plx_pose before;
        plx_scene_camera(scene, (i - 1.0) / RATE, &before);
        plx_scene_camera(scene, (double)i / RATE, &now);
        *ret_way_m += hypot(now.translation[0] - before.translation[0], now.translation[2] - before.translation[2]);
    }
    plx_pose_invert(&start, &difference);
    plx_pose_compose(&difference, &now, &now); /* start_from_now */
    plx_pose_invert(&now, &difference);
    plx_pose_compose(&difference, pose, &difference);
    *ret_error_m = plx_pose_distance(&difference);
    *ret_degrees = 2 * asin(fmin(1, plx_pose_half_sine(&difference))) * 180 / M_PI;
}

static void fifty_seconds_along_the_street(void **state)
{
    (void)state;
    const struct plx_limits limits = {WIDTH, HEIGHT, 64, 0};
    struct plx_pipeline_params params;
    struct counts c = {.joined_frames = 0};
    struct plx_stages *stages;
    struct plx_scene scene;
    struct runner runner;
    double error_m, degrees, way_m;

    plx_scene_street(WIDTH, HEIGHT, 1, &scene);
    list_truth_create(WIDTH, HEIGHT, &objects);
    plx_pipeline_params_default(&params);
    params.correction = PLX_CORRECTION_OFF; /* a correction would begin with any frame */
    params.match.disparities = 64;
    assert_int_equal(plx_cpu_create(&limits, &stages), 0);
    runner_create(stages, &params, WIDTH, HEIGHT, &scene.calibration, &runner);
    for (uint32_t i = 0; i < FRAMES; i++) {
        const double time_s = (double)i / RATE;
        runner_draw(&runner, &scene, time_s, i);
        assert_int_equal(runner_run(&runner, PLX_NS_PER_S + (int64_t)(time_s * 1e9)), 0);
        look(&scene, time_s);
        list_truth_see(&objects, &scene, time_s);
        judge(&scene, runner.frame, &c);
    }
    judge_pose(&scene, &runner.frame->motion.pose, &error_m, &degrees, &way_m);
    print_message("    obstacle pixels found %.1f %%, ground claimed %.2f %%, free behind a thing %.2f %%\n",
                  100.0 * (double)c.found / (double)c.obstacle_pixels, 100.0 * (double)c.claimed / (double)c.ground_pixels,
                  100.0 * (double)c.free_beyond / (double)c.free_columns);
    print_message("    ground in %d, joined things in %d of %d frames; %d motions; drift %.2f %%, %.4f degrees/m in %.1f m\n",
                  c.ground_frames, c.joined_frames, FRAMES, c.motions, 100 * error_m / way_m, degrees / way_m, way_m);
    print_message("    %d of %d feet of poles within %d px\n", c.feet, c.poles, FOOT_PX);
    assert_true(c.poles >= 100 && c.feet >= 0.95 * c.poles);
    assert_true(c.found >= 0.8 * c.obstacle_pixels && c.claimed <= 0.001 * c.ground_pixels);
    assert_true(c.free_beyond <= 0.02 * c.free_columns);
    assert_true(c.joined_frames <= 0.03 * FRAMES); /* cars one behind the other, 17 m away */
    assert_int_equal(c.ground_frames, FRAMES);
    assert_int_equal(c.motions, FRAMES - 1);
    assert_true(error_m <= 0.005 * way_m && degrees <= 0.005 * way_m);
    runner_destroy(&runner);
    list_truth_destroy(&objects);
    stages->ops->destroy(stages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fifty_seconds_along_the_street)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
