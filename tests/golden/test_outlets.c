/* SPDX-License-Identifier: Apache-2.0 */
/* Things with known places, seen by cameras that look down and are turned about their view axis, through the whole pipeline and
 * every message of it: all must say the same places. A message that mixes up two rows, axes or heights is off by more than the
 * few percent that stereo is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/client.h>

#include "bridge/frame_messages.h"
#include "tests/cmocka.h"
#include "tests/places.h"

#define ERROR 0.025 /* share of the distance, and */
#define ERROR_M 0.03

static struct view {
    struct places places;
    struct plx_frame_messages messages;
} view;

static void open_view(double pitch_degrees, double roll_degrees)
{
    assert_int_equal(places_open(pitch_degrees, roll_degrees, &view.places), 0);
    const struct plx_frame *frame = view.places.runner.frame;
    assert_true(frame->ground.valid);
    view.messages =
        (struct plx_frame_messages){frame, PLX_NS_PER_S, &plx_frame_names, malloc(plx_frame_messages_scratch(frame)), NULL};
    assert_non_null(view.messages.scratch);
}

static void close_view(void)
{
    free(view.messages.scratch);
    places_close(&view.places);
}

static void expect(const char *outlet, int thing, const char *what, double got, double truth, double distance)
{
    const double allowed = ERROR * distance + ERROR_M;
    print_message("    %-16s thing %d %-9s %7.3f m, truly %7.3f\n", outlet, thing, what, got, truth);
    if (!(fabs(got - truth) <= allowed))
        fail_msg("%s, thing %d: %s is %.3f m, truly %.3f; %.3f is allowed", outlet, thing, what, got, truth, allowed);
}

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* The beams that meet the middle of a face end there. */
static void check_scan(void)
{
    struct ros_laser_scan scan;
    assert_int_equal(plx_message_scan(&view.messages, &scan), 0);
    for (int n = 0; n < PLACES_THINGS; n++) {
        const struct plx_scene_object *thing = &places_thing[n];
        double forward[1000];
        int count = 0;
        for (uint32_t i = 0; i < scan.ranges.count && count < 1000; i++) {
            const double azimuth = (double)(scan.angle_min + (float)i * scan.angle_increment);
            const double left = thing->z * tan(azimuth), range = (double)scan.ranges.data[i];
            if (fabs(-left - thing->x) < thing->width / 2 - 0.04)
                forward[count++] = isfinite(range) ? range * cos(azimuth) : 99;
        }
        assert_true(count >= 3);
        qsort(forward, (size_t)count, sizeof *forward, compare);
        expect("scan", n, "median", forward[count / 2], thing->z, thing->z);
        expect("scan", n, "nearest", forward[0], thing->z, thing->z);
    }
}

/* Whether a point on the ground's axes is on or near the face of THING, well above the ground. */
static bool on_face(const struct plx_scene_object *thing, const double at[3])
{
    return fabs(at[0] - thing->x) < thing->width / 2 - 0.04 && at[1] < -0.15 && at[1] > -thing->height + 0.1 &&
           fabs(at[2] - thing->z) < 0.3;
}

static void check_cloud(const char *outlet, const struct ros_point_cloud2 *cloud)
{
    for (int n = 0; n < PLACES_THINGS; n++) {
        static double forward[PLACES_WIDTH * PLACES_HEIGHT];
        int count = 0;
        for (uint32_t i = 0; i < cloud->width * cloud->height; i++) {
            float point[3];
            double at[3];
            memcpy(point, cloud->data.data + (size_t)i * cloud->point_step, sizeof point);
            places_on_ground(&view.places, (const double[3]){(double)point[0], (double)point[1], (double)point[2]}, at);
            if (on_face(&places_thing[n], at))
                forward[count++] = at[2];
        }
        assert_true(count >= 30);
        qsort(forward, (size_t)count, sizeof *forward, compare);
        expect(outlet, n, "median", forward[count / 2], places_thing[n].z, places_thing[n].z);
    }
}

/* Looks for the box whose centre is nearest to the middle of THING's face, which must be in it. */
static void check_boxes(const char *outlet, const struct ros_pose *poses[], const struct ros_vector3 *sizes[], uint32_t count)
{
    for (int n = 0; n < PLACES_THINGS; n++) {
        const struct plx_scene_object *thing = &places_thing[n];
        double middle[3], nearest, best = INFINITY;
        uint32_t at = 0;
        places_face(&view.places, n, middle, &nearest);
        for (uint32_t i = 0; i < count; i++) {
            const struct ros_point *p = &poses[i]->position;
            const double away = hypot(hypot(p->x - middle[0], p->y - middle[1]), p->z - middle[2]);
            if (away < best) {
                best = away;
                at = i;
            }
        }
        if (at >= count) {
            fail_msg("%s has no poses", outlet);
            return;
        }
        assert_true(best < 0.6);
        const struct ros_point *p = &poses[at]->position;
        const struct ros_vector3 *size = sizes[at];
        expect(outlet, n, "x", p->x, middle[0], thing->z);
        assert_true(fabs(p->y - middle[1]) < size->y / 2 && fabs(p->z - middle[2]) < size->z / 2 + ERROR * thing->z + ERROR_M);
        expect(outlet, n, "nearest z", p->z - size->z / 2, nearest, thing->z);
    }
}

static void check_obstacles(void)
{
    const struct ros_pose *poses[PLX_MAX_OBSTACLES];
    const struct ros_vector3 *sizes[PLX_MAX_OBSTACLES];
    struct ros_detection_3d_array found;
    struct ros_marker_array markers;
    uint32_t count = 0;

    plx_message_obstacles(&view.messages, &found);
    for (uint32_t i = 0; i < found.detections.count; i++) {
        poses[i] = &found.detections.data[i].bbox.center;
        sizes[i] = &found.detections.data[i].bbox.size;
    }
    check_boxes("obstacles", poses, sizes, found.detections.count);
    plx_message_markers(&view.messages, &markers);
    for (uint32_t i = 0; i < markers.markers.count; i += 2) { /* each box has a label behind it */
        poses[count] = &markers.markers.data[i].pose;
        sizes[count++] = &markers.markers.data[i].scale;
    }
    check_boxes("markers", poses, sizes, count);
}

static void check_all(double pitch_degrees, double roll_degrees)
{
    struct ros_point_cloud2 cloud;
    print_message("pitch %g, roll %g degrees\n", pitch_degrees, roll_degrees);
    open_view(pitch_degrees, roll_degrees);
    assert_int_equal(plx_message_points(&view.messages, &cloud), 0);
    check_cloud("points", &cloud);
    assert_int_equal(plx_message_obstacle_points(&view.messages, &cloud), 0);
    check_cloud("points_obstacles", &cloud);
    check_scan();
    check_obstacles();
    close_view();
}

static void level(void **state)
{
    (void)state;
    check_all(0, 0);
}

static void looking_down(void **state)
{
    (void)state;
    check_all(6, 0);
    check_all(20, 0);
}

static void turned(void **state)
{
    (void)state;
    check_all(0, 5);
    check_all(6, -5);
    check_all(20, 5);
}

/* Matching draws disparities towards whole pixels (pixel locking). A box across the way, at disparities between them: where it
 * begins, by its record, is where it is. */
static void the_nearest_part_is_refined(void **state)
{
    (void)state;
    double sum = 0, worst = 0;
    int count = 0;
    for (; count < 16; count++) {
        const double disparity = 5.1 + 0.25 * count;
        struct plx_scene scene;
        struct plx_stages *stages;
        struct runner runner;
        plx_scene_demo(PLACES_WIDTH, PLACES_HEIGHT, 1, &scene);
        const struct plx_calibration_info *c = &scene.calibration;
        const double z = c->fx * c->baseline_m / disparity;
        scene.drive = (struct plx_scene_drive){0};
        scene.pitch_rad = 0;
        scene.object_count = 1;
        scene.object[0] = (struct plx_scene_object){.z = z, .width = 2, .height = 1.5, .depth = 0.5};
        runner_create_for_scene(&scene, PLX_OBSTACLES_OF_STIXELS, &stages, &runner);
        for (uint32_t i = 0; i < PLACES_FRAMES; i++) {
            runner_draw(&runner, &scene, 0, i);
            assert_int_equal(runner_run(&runner, PLX_NS_PER_S + i * 100 * PLX_NS_PER_MS), 0);
        }
        const struct plx_obstacle *box = runner.frame->obstacle;
        assert_true(runner.frame->obstacle_count >= 1);
        const double off = c->fx * c->baseline_m / (double)box->nearest_m - disparity;
        print_message("    disparity %.2f: %.2f m, nearest %.2f (%+.3f px), position %.2f\n", disparity, z,
                      (double)box->nearest_m, off, (double)box->position_m[2]);
        sum += off;
        worst = fmax(worst, fabs(off));
        runner_destroy(&runner);
        stages->ops->destroy(stages);
    }
    print_message("    mean %+.3f px, worst %.3f px\n", sum / count, worst);
    assert_true(worst < 0.15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(level),
        cmocka_unit_test(looking_down),
        cmocka_unit_test(turned),
        cmocka_unit_test(the_nearest_part_is_refined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
