/* SPDX-License-Identifier: Apache-2.0 */
/* The levelled scan of a camera that looks down and is turned about its view axis, at a wall whose distance is known, its frame
 * on /tf, what is said where nothing stands, and where the ground falls away. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "bridge/frame_messages.h"
#include "tests/cmocka.h"
#include "tests/unit/frame_plane.h"

#define WIDTH 642 /* the last column is narrower */
#define HEIGHT 480
#define COLUMNS 161
#define FOCAL 500.0
#define BASELINE 0.12
#define CAMERA_HEIGHT 0.8
#define CX 320.0
#define CY 240.0

static struct {
    struct plx_frame frame;
    struct plx_scan scan[COLUMNS];
    struct plx_stixel stixel[COLUMNS][PLX_COLUMN_STIXELS];
    uint16_t disparity[HEIGHT][WIDTH];
} published;

static struct plx_frame_messages messages;

static int setup(void **state)
{
    (void)state;
    struct plx_frame *f = init_frame(&published.frame, sizeof published, WIDTH, HEIGHT);
    f->disparities = 64;
    f->calibration =
        (struct plx_calibration_info){.fx = FOCAL, .fy = FOCAL, .cx = CX, .cy = CY, .cx_right = CX, .baseline_m = BASELINE};
    place_plane(f, PLX_PLANE_SCAN, published.scan, sizeof published.scan, COLUMNS, 1);
    place_plane(f, PLX_PLANE_STIXELS, published.stixel, sizeof published.stixel[0], PLX_COLUMN_STIXELS, COLUMNS);
    place_plane(f, PLX_PLANE_DISPARITY, published.disparity, sizeof published.disparity[0], WIDTH, HEIGHT);
    messages = (struct plx_frame_messages){f, 5, &plx_frame_names, malloc(plx_frame_messages_scratch(f)), NULL};
    return messages.scratch ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    free(messages.scratch);
    return 0;
}

/* Camera axes in the levelled ones (forward, left, up), for a camera that looks down by PITCH, then turned clockwise by ROLL.
 */
static void camera_axes(double pitch, double roll, double ret_axis[3][3])
{
    const double right[3] = {0, -1, 0}, down[3] = {-sin(pitch), 0, -cos(pitch)}, view[3] = {cos(pitch), 0, -sin(pitch)};
    for (int i = 0; i < 3; i++) {
        ret_axis[0][i] = cos(roll) * right[i] + sin(roll) * down[i];
        ret_axis[1][i] = cos(roll) * down[i] - sin(roll) * right[i];
        ret_axis[2][i] = view[i];
    }
}

/* The disparity of a wall at WALL metres across the way, in direction (X, DOWN, 1); 0 if it is behind the camera. */
static double wall_disparity(double axis[3][3], double wall, double x, double down)
{
    const double forward = x * axis[0][0] + down * axis[1][0] + axis[2][0];
    return fmax(0, 16 * FOCAL * BASELINE * forward / wall);
}

/* A wall across the way at WALL metres, as high as the picture: each column sees its foot. The stixel's nearest disparity is
 * that of its part up to 2 m above the ground, which is its top if the camera looks down. */
static void see_wall(double pitch, double roll, double wall)
{
    double axis[3][3];
    camera_axes(pitch, roll, axis);
    published.frame.ground = (struct plx_ground_info){
        .valid = 1, .normal = {-(float)axis[0][2], -(float)axis[1][2], -(float)axis[2][2]}, .camera_height_m = CAMERA_HEIGHT};
    for (int column = 0; column < COLUMNS; column++) {
        /* z (x, v, 1) is at WALL forward and CAMERA_HEIGHT down: two equations for z and z v. */
        const double x = (4 * column + 1.5 - CX) / FOCAL;
        const double a = x * axis[0][0] + axis[2][0], b = axis[1][0], c = x * axis[0][2] + axis[2][2], d = axis[1][2];
        const double z = (wall * d + CAMERA_HEIGHT * b) / (a * d - b * c), v = (wall - a * z) / b / z;
        const uint16_t foot = (uint16_t)fmin(lround(CY + v * FOCAL), HEIGHT - 1);
        uint16_t near = 0;
        for (int y = 0; y < HEIGHT; y++)
            for (int i = 0; i < 4 && 4 * column + i < WIDTH; i++) {
                const double down = (y - CY) / FOCAL, here = wall_disparity(axis, wall, (4 * column + i - CX) / FOCAL, down);
                const double height =
                    CAMERA_HEIGHT + 16 * FOCAL * BASELINE / here * (x * axis[0][2] + down * axis[1][2] + axis[2][2]);
                const uint16_t rounded = (uint16_t)lround(here);
                published.disparity[y][4 * column + i] = y <= foot && here > 0 ? rounded : PLX_DISPARITY_INVALID;
                near = y <= foot && height < 2 && rounded > near ? rounded : near;
            }
        published.scan[column] = (struct plx_scan){near, near, 1, 1};
        published.stixel[column][0] = (struct plx_stixel){
            .y0 = 0, .y1 = foot, .disparity = (uint16_t)lround(16 * FOCAL * BASELINE / z), .near_disparity = near};
    }
}

static void a_wall_across_the_way(void **state)
{
    (void)state;
    struct ros_laser_scan scan;
    const double turns[][2] = {{1e-6, 0}, {0.3, 0}, {0.2, 0.1}, {-0.1, -0.05}};
    for (size_t k = 0; k < sizeof turns / sizeof *turns; k++) {
        see_wall(turns[k][0], turns[k][1], 2);
        assert_int_equal(plx_message_scan(&messages, &scan), 0);
        assert_string_equal(scan.header.frame_id, "parallax_scan");
        const float end = scan.angle_min + scan.angle_increment * (float)(scan.ranges.count - 1);
        assert_true(fabs((double)(end - scan.angle_max)) < 1e-5);
        assert_true(scan.ranges.count >= COLUMNS && scan.angle_min < -0.5F && scan.angle_max > 0.5F && scan.range_max == 10 &&
                    fabs((double)scan.range_min - 60.0 / 64) < 1e-6);
        uint32_t seen = 0;
        for (uint32_t i = 0; i < scan.ranges.count; i++) {
            const double angle = (double)(scan.angle_min + scan.angle_increment * (float)i);
            if (isnan(scan.ranges.data[i])) {
                assert_true(fabs(angle) > 0.5); /* what the camera does not see */
                continue;
            }
            seen++;
            const double forward = (double)scan.ranges.data[i] * cos(angle);
            if (!(fabs(forward - 2) < 0.03)) /* 1/16 px of 30 px, and half a column */
                fail_msg("turn %zu, beam %u: the wall is %.3f m ahead, expected 2", k, i, forward);
        }
        assert_true(seen > COLUMNS * 3 / 4);
    }
}

/* Where a wall's foot was, the ground falls away. */
static void an_edge_across_the_way(void **state)
{
    (void)state;
    struct ros_laser_scan drops, scan;
    const double turns[][2] = {{1e-6, 0}, {0.3, 0}, {0.2, 0.1}, {-0.1, -0.05}};
    for (size_t k = 0; k < sizeof turns / sizeof *turns; k++) {
        see_wall(turns[k][0], turns[k][1], 2);
        for (int column = 0; column < COLUMNS; column++)
            published.scan[column] =
                (struct plx_scan){0, published.stixel[column][0].disparity, PLX_SCAN_KNOWN | PLX_SCAN_DROP, 0};
        memset(published.stixel, 0, sizeof published.stixel);
        assert_int_equal(plx_message_drops(&messages, &drops), 0);
        assert_string_equal(drops.header.frame_id, "parallax_scan");
        uint32_t seen = 0;
        for (uint32_t i = 0; i < drops.ranges.count; i++) {
            const double angle = (double)(drops.angle_min + drops.angle_increment * (float)i);
            const double forward = (double)drops.ranges.data[i] * cos(angle);
            seen += !isnan(forward);
            if (!isnan(forward) && !(fabs(forward - 2) < 0.03))
                fail_msg("turn %zu, beam %u: the edge is %.3f m ahead, expected 2", k, i, forward);
        }
        assert_true(seen > COLUMNS * 3 / 4);
        const struct ros_laser_scan before = drops;
        assert_int_equal(plx_message_scan(&messages, &scan), 0);
        assert_true(scan.ranges.count == before.ranges.count && scan.angle_min == before.angle_min &&
                    scan.angle_increment == before.angle_increment && scan.range_max == before.range_max);
        for (uint32_t i = 0; i < scan.ranges.count; i++) /* neither a thing nor free to the end */
            assert_true(isnan(scan.ranges.data[i]));
    }
}

/* The range of the beam that leaves the picture at column X of the row at the horizon; PITCH is 0.2. */
static float range_at(const struct ros_laser_scan *scan, int x)
{
    const double azimuth = -atan((x - CX) / FOCAL * cos(0.2));
    return scan->ranges.data[lround((azimuth - (double)scan->angle_min) / (double)scan->angle_increment)];
}

static void where_nothing_stands(void **state)
{
    (void)state;
    struct ros_laser_scan scan;
    see_wall(0.2, 0, 2);
    for (int column = 0; column < COLUMNS; column++) /* ground to 10 m; to 9 m; nothing known; a thing at 12 m */
        published.scan[column] = column < 40    ? (struct plx_scan){0, 96, 1, 0}
                                 : column < 80  ? (struct plx_scan){0, 107, 1, 0}
                                 : column < 120 ? (struct plx_scan){0, PLX_SCAN_NOTHING_FREE, 0, 0}
                                                : (struct plx_scan){80, 80, 1, 1};
    assert_int_equal(plx_message_scan(&messages, &scan), 0);
    assert_true(isinf(range_at(&scan, 40)) && isnan(range_at(&scan, 200)) && isnan(range_at(&scan, 400)) &&
                isinf(range_at(&scan, 600)));
    /* For drops only the first of them is free to the end; a drop beyond it says nothing. */
    published.scan[100] = (struct plx_scan){0, 80, PLX_SCAN_KNOWN | PLX_SCAN_DROP, 0};
    assert_int_equal(plx_message_drops(&messages, &scan), 0);
    assert_true(isinf(range_at(&scan, 40)) && isnan(range_at(&scan, 200)) && isnan(range_at(&scan, 402)));
    published.frame.ground.valid = 0;
    assert_int_equal(plx_message_scan(&messages, &scan), PLX_ERR_NOT_FOUND);
    assert_int_equal(plx_message_drops(&messages, &scan), PLX_ERR_NOT_FOUND);
}

/* Turns V by the quaternion Q. */
static void turn(const struct ros_quaternion *q, const double v[3], double ret[3])
{
    const double t[3] = {2 * (q->y * v[2] - q->z * v[1]), 2 * (q->z * v[0] - q->x * v[2]), 2 * (q->x * v[1] - q->y * v[0])};
    ret[0] = v[0] + q->w * t[0] + q->y * t[2] - q->z * t[1];
    ret[1] = v[1] + q->w * t[1] + q->z * t[0] - q->x * t[2];
    ret[2] = v[2] + q->w * t[2] + q->x * t[1] - q->y * t[0];
}

static void assert_vector(const double got[3], double x, double y, double z)
{
    if (fabs(got[0] - x) > 1e-6 || fabs(got[1] - y) > 1e-6 || fabs(got[2] - z) > 1e-6)
        fail_msg("(%g %g %g), expected (%g %g %g)", got[0], got[1], got[2], x, y, z);
}

static void frames_on_tf(void **state)
{
    (void)state;
    const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, z[3] = {0, 0, 1};
    struct ros_tf_message tf;
    double got[3];
    plx_message_optical_transform(&messages, &tf);
    const struct ros_quaternion optical = tf.transforms.data->transform.rotation;
    assert_true(tf.transforms.count == 1 && fabs(fabs(optical.w) - 0.5) < 1e-12 && optical.x == -optical.w &&
                optical.y == optical.w && optical.z == -optical.w); /* (-0.5, 0.5, -0.5, 0.5), or its negative */
    turn(&optical, z, got);
    assert_vector(got, 1, 0, 0); /* the view is forward */
    turn(&optical, x, got);
    assert_vector(got, 0, -1, 0);
    see_wall(0.3, 0, 2); /* looks down: the link's forward is 0.3 below the scan's */
    plx_message_scan_transform(&messages, &tf);
    assert_string_equal(tf.transforms.data->header.frame_id, "parallax_link");
    assert_string_equal(tf.transforms.data->child_frame_id, "parallax_scan");
    turn(&tf.transforms.data->transform.rotation, x, got);
    assert_vector(got, cos(0.3), 0, sin(0.3));
    turn(&tf.transforms.data->transform.rotation, y, got);
    assert_vector(got, 0, 1, 0);
    published.frame.ground.valid = 0;
    plx_message_scan_transform(&messages, &tf);
    turn(&tf.transforms.data->transform.rotation, x, got);
    assert_vector(got, 1, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_wall_across_the_way, setup, teardown),
        cmocka_unit_test_setup_teardown(an_edge_across_the_way, setup, teardown),
        cmocka_unit_test_setup_teardown(where_nothing_stands, setup, teardown),
        cmocka_unit_test_setup_teardown(frames_on_tf, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
