/* SPDX-License-Identifier: Apache-2.0 */
/* The camera on the robot: where its points are in the base, and when the ground says that it was moved. */
#include <math.h>

#include "core/checks/mount_check.h"
#include "core/motion/pose.h"
#include "tests/cmocka.h"

#define DEGREE 0.017453292519943295
#define SECOND INT64_C(1000000000)

static struct plx_ground_info ground_of(double height, double pitch_deg, double roll_deg)
{
    const double p = pitch_deg * DEGREE, r = roll_deg * DEGREE;
    return (struct plx_ground_info){.valid = 1,
                                    .camera_height_m = (float)height,
                                    .pitch_rad = (float)p,
                                    .roll_rad = (float)r,
                                    .normal = {(float)(cos(p) * sin(r)), (float)(cos(p) * cos(r)), (float)sin(p)}};
}

static void assert_at(const struct plx_mount_info *info, double right, double down, double ahead, double x, double y, double z)
{
    double in[3];
    plx_pose_apply(&info->base_from_left, (const double[]){right, down, ahead}, in);
    if (hypot(hypot(in[0] - x, in[1] - y), in[2] - z) > 1e-6)
        fail_msg("%.4f %.4f %.4f, expected %.4f %.4f %.4f", in[0], in[1], in[2], x, y, z);
}

static void axes_are_those_of_the_base(void **state)
{
    (void)state;
    const struct plx_ground_info none = {.valid = 0};
    struct plx_mount_info info;
    plx_mount_info(&(struct plx_mount){.x_m = 0.2, .y_m = -0.1, .z_m = 1}, &none, &info);
    assert_at(&info, 0, 0, 0, 0.2, -0.1, 1);
    assert_at(&info, 0.5, 1, 2, 2.2, -0.6, 0); /* right is -y, down is -z, ahead is x */
    plx_mount_info(&(struct plx_mount){.z_m = 1, .pitch_deg = 30}, &none, &info);
    assert_at(&info, 0, 0, 2, sqrt(3), 0, 0); /* looks down to the ground */
    plx_mount_info(&(struct plx_mount){.z_m = 1, .yaw_deg = 90}, &none, &info);
    assert_at(&info, 0, 0, 2, 0, 2, 1); /* looks to the left */
    plx_mount_info(&(struct plx_mount){.z_m = 1, .roll_deg = 90}, &none, &info);
    assert_at(&info, 1, 0, 0, 0, 0, 0); /* its right side is below */
}

/* Points of the plane that a frame sees lie at height 0, whatever the mount says. */
static void the_ground_levels_it(void **state)
{
    (void)state;
    const struct plx_mount mount = {.x_m = 0.3, .z_m = 0.9, .pitch_deg = 9, .yaw_deg = 20};
    struct plx_mount_info info;
    for (int i = 0; i < 27; i++) {
        const struct plx_ground_info ground = ground_of(1, 12 * (i % 3 - 1), 5 * (i / 3 % 3 - 1));
        const double x = i / 9 - 1, z = 3;
        const double y = (1 - (double)ground.normal[0] * x - (double)ground.normal[2] * z) / (double)ground.normal[1];
        double in[3];
        plx_mount_info(i % 2 ? &mount : &(struct plx_mount){0}, &ground, &info);
        plx_pose_apply(&info.base_from_left, (const double[]){x, y, z}, in);
        assert_true(fabs(in[2]) < 1e-6);
        assert_int_equal(info.measured, 1);
        assert_int_equal(info.known, i % 2);
    }
    plx_mount_info(&(struct plx_mount){0}, &(struct plx_ground_info){.valid = 0}, &info);
    assert_true(info.known + info.measured == 0 && info.base_from_left.rotation[1] == 0);
}

static void it_moved_after_two_seconds(void **state)
{
    (void)state;
    static const struct {
        double height, pitch, roll;
        bool moved;
    } cases[] = {{0.5, 10, 0, false},  {0.52, 10.9, -0.9, false}, {0.535, 10, 0, true}, {0.465, 10, 0, true},
                 {0.5, 11.1, 0, true}, {0.5, 8.9, 0, true},       {0.5, 10, 1.1, true}, {0.5, 10, -1.1, true}};
    const struct plx_mount mount = {.z_m = 0.5, .pitch_deg = 10};
    const struct plx_ground_info good = ground_of(0.5, 10, 0), lost = {.valid = 0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct plx_ground_info off = ground_of(cases[i].height, cases[i].pitch, cases[i].roll);
        struct plx_mount_check check = {.moved = false};
        int64_t now = SECOND;
        for (; now < 3 * SECOND; now += SECOND / 10)
            assert_false(plx_mount_check_update(&check, &mount, now % (SECOND / 2) == 0 ? &lost : &off, now));
        now += SECOND / 10;
        assert_int_equal(plx_mount_check_update(&check, &mount, &off, now), cases[i].moved);
        assert_int_equal(plx_mount_check_update(&check, &mount, &lost, now), cases[i].moved);
        assert_int_equal(plx_mount_check_update(&check, &mount, &good, now + 1), cases[i].moved);
        assert_false(plx_mount_check_update(&check, &mount, &good, now + 1 + 2 * SECOND));
    }
}

/* A bump, and a robot without the key. */
static void what_passes_is_no_fault(void **state)
{
    (void)state;
    const struct plx_mount mount = {.z_m = 0.5, .pitch_deg = 10};
    const struct plx_ground_info good = ground_of(0.5, 10, 0), off = ground_of(0.4, 14, 3);
    struct plx_mount_check check = {.moved = false};
    for (int i = 0; i < 100; i++)
        assert_false(plx_mount_check_update(&check, &mount, i % 19 == 0 ? &good : &off, (i + 1) * SECOND / 10));
    for (int i = 0; i < 100; i++)
        assert_false(plx_mount_check_update(&check, &(struct plx_mount){0}, &off, (i + 101) * SECOND / 10));
}

/* Right or off: nothing is known before the ground has said so for 2 s. */
static void at_first_nothing_is_known(void **state)
{
    (void)state;
    const struct plx_mount mount = {.z_m = 0.5, .pitch_deg = 10};
    const struct plx_ground_info good = ground_of(0.5, 10, 0), off = ground_of(0.4, 14, 3), lost = {.valid = 0};
    for (int moved = 0; moved < 2; moved++) {
        struct plx_mount_check check = {.moved = false};
        plx_mount_check_update(&check, &mount, &lost, SECOND);
        plx_mount_check_update(&check, &mount, &good, 5 * SECOND);
        plx_mount_check_update(&check, &mount, &off, 6 * SECOND); /* a bump: it begins anew */
        plx_mount_check_update(&check, &mount, moved ? &off : &good, 6 * SECOND + 1);
        plx_mount_check_update(&check, &mount, moved ? &off : &good, 8 * SECOND - 1);
        assert_false(check.is_known);
        plx_mount_check_update(&check, &mount, &lost, 9 * SECOND);
        assert_false(check.is_known);
        assert_int_equal(plx_mount_check_update(&check, &mount, moved ? &off : &good, 9 * SECOND), moved);
        assert_true(check.is_known);
        plx_mount_check_update(&check, &mount, moved ? &good : &off, 10 * SECOND);
        assert_true(check.is_known);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_are_those_of_the_base), cmocka_unit_test(the_ground_levels_it),
        cmocka_unit_test(it_moved_after_two_seconds), cmocka_unit_test(what_passes_is_no_fault),
        cmocka_unit_test(at_first_nothing_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
