/* SPDX-License-Identifier: Apache-2.0 */
/* The robot's own place in the map, and its camera's mount. */
#include "tests/unit/map_scene.h"

static void the_robot_is_cut_out(void **state)
{
    (void)state;
    plx_local_map_destroy(t.map);
    const struct plx_map_params params = {.memory_s = 5, .front_m = 0.4, .back_m = 0.2, .width_m = 0.5};
    assert_int_equal(plx_local_map_create(&params, &t.map), 0);
    see_ground(4);
    next(0);
    for (double x = -0.17; x < 0.38; x += 0.05)
        for (double y = -0.22; y < 0.23; y += 0.05)
            expect(x, y, PLX_CELL_FREE);
    expect(-0.3, 0, PLX_CELL_UNKNOWN);
    expect(0, 0.35, PLX_CELL_UNKNOWN);
}

/* Cells whose middle lies on the robot's outline are the robot's. */
static void the_outline_belongs_to_the_robot(void **state)
{
    (void)state;
    static const double cells[][3] = {{7.5, 3.5, 9}, {2.5, 9.5, 3}, {0.5, 0.5, 25}};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        plx_local_map_destroy(t.map);
        const struct plx_map_params params = {.memory_s = 5,
                                              .front_m = cells[i][0] * PLX_MAP_CELL_M,
                                              .back_m = cells[i][1] * PLX_MAP_CELL_M,
                                              .width_m = cells[i][2] * PLX_MAP_CELL_M};
        assert_int_equal(plx_local_map_create(&params, &t.map), 0);
        t.frame.motion.valid = 0;
        next(0);
        assert_int_equal(count(PLX_CELL_FREE), (int)((cells[i][0] + cells[i][1] + 1) * (cells[i][2] + 1)));
    }
}

/* The camera looks at the farthest corner of the map, which is the first cell in memory. */
static void the_corner_of_the_map_is_a_cell_as_any(void **state)
{
    (void)state;
    plx_mount_info(&(struct plx_mount){.z_m = CAMERA_M, .yaw_deg = -135}, &t.frame.ground, &t.frame.mount);
    see_ground(9);
    for (int i = 0; i < 3; i++)
        next(0);
    assert_int_equal(t.cell[0][0].kind, PLX_CELL_FREE);
    memset(t.scan, 0, sizeof t.scan);
    t.capture_ns += 5 * PLX_NS_PER_S;
    next(0);
    assert_int_equal(t.cell[0][0].kind, PLX_CELL_UNKNOWN);
}

/* A mount is a rotation: whatever way the camera looks, some axis of it says so. */
static void a_camera_may_look_anywhere(void **state)
{
    (void)state;
    static const double looks[][9] = {{1, 0, 0, 0, 0, 1, 0, -1, 0}, {0, 1, 0, -1, 0, 0, 0, 0, 1}, {0, 0, 1, 0, 1, 0, -1, 0, 0}};
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        memcpy(t.frame.mount.base_from_left.rotation, looks[i], sizeof looks[i]);
        next(0);
        assert_true(t.frame.map.valid);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(the_robot_is_cut_out),
        CASE(the_outline_belongs_to_the_robot),
        CASE(the_corner_of_the_map_is_a_cell_as_any),
        CASE(a_camera_may_look_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
