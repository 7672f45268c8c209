/* SPDX-License-Identifier: Apache-2.0 */
/* The map as an OccupancyGrid: what each kind of cell becomes, and where the cells are in axes of parallax_scan, for a camera
 * that looks down and to the side, on a robot that has driven and turned. The verdict as a word. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "bridge/topics.h"
#include "tests/cmocka.h"
#include "tests/unit/frame_plane.h"

#define CAMERA_HEIGHT 0.8
#define PITCH 0.3

static struct {
    struct plx_frame frame;
    struct plx_cell cell[PLX_MAP_CELLS][PLX_MAP_CELLS];
} published;

static struct plx_frame_messages messages;

static int setup(void **state)
{
    (void)state;
    struct plx_frame *f = init_frame(&published.frame, sizeof published, 64, 48);
    place_plane(f, PLX_PLANE_MAP, published.cell, sizeof published.cell[0], PLX_MAP_CELLS, PLX_MAP_CELLS);
    messages = (struct plx_frame_messages){f, 5000000007, &plx_frame_names, malloc(plx_frame_messages_scratch(f)), NULL};
    f->map.valid = 1;
    return messages.scratch ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    free(messages.scratch);
    return 0;
}

/* The camera looks down by PITCH and YAW to the left, and is at (X, Y) in the robot's base. */
static void mount_camera(double yaw, double x, double y)
{
    const double right[3] = {sin(yaw), -cos(yaw), 0};
    const double down[3] = {-sin(PITCH) * cos(yaw), -sin(PITCH) * sin(yaw), -cos(PITCH)};
    const double view[3] = {cos(PITCH) * cos(yaw), cos(PITCH) * sin(yaw), -sin(PITCH)};
    struct plx_pose *pose = &published.frame.mount.base_from_left;
    for (int i = 0; i < 3; i++) {
        pose->rotation[3 * i] = right[i];
        pose->rotation[3 * i + 1] = down[i];
        pose->rotation[3 * i + 2] = view[i];
    }
    memcpy(pose->translation, (const double[3]){x, y, CAMERA_HEIGHT}, sizeof pose->translation);
    published.frame.ground = (struct plx_ground_info){
        .valid = 1, .normal = {-(float)right[2], -(float)down[2], -(float)view[2]}, .camera_height_m = CAMERA_HEIGHT};
}

/* Where the corner of cell [ROW][COLUMN] is in axes of parallax_scan, as a reader of GRID computes it. */
static void place_of(const struct ros_occupancy_grid *grid, int row, int column, double ret_place[3])
{
    const struct ros_quaternion *q = &grid->info.origin.orientation;
    const struct ros_point *at = &grid->info.origin.position;
    const double yaw = 2 * atan2(q->z, q->w), resolution = (double)grid->info.resolution;
    const double x = column * resolution, y = row * resolution;
    assert_true(fabs(q->x) < 1e-6 && fabs(q->y) < 1e-6); /* the cells are level */
    ret_place[0] = at->x + x * cos(yaw) - y * sin(yaw);
    ret_place[1] = at->y + x * sin(yaw) + y * cos(yaw);
    ret_place[2] = at->z;
}

static void each_kind_of_cell(void **state)
{
    (void)state;
    struct ros_occupancy_grid grid;
    mount_camera(0, 0, 0);
    published.cell[0][1].kind = PLX_CELL_FREE;
    published.cell[2][0].kind = PLX_CELL_OCCUPIED;
    published.cell[199][198].kind = PLX_CELL_DROP;
    published.cell[7][7].kind = 200; /* a kind that a newer service may know */
    assert_int_equal(plx_message_map(&messages, &grid), 0);
    assert_string_equal(grid.header.frame_id, "parallax_scan");
    assert_true(grid.header.stamp.sec == 5 && grid.header.stamp.nanosec == 7);
    assert_true(grid.info.width == 200 && grid.info.height == 200 && grid.info.resolution == 0.05F);
    assert_int_equal(grid.data.count, 40000);
    assert_int_equal(grid.data.data[1], 0);
    assert_int_equal(grid.data.data[2 * 200], 100);
    assert_int_equal(grid.data.data[199 * 200 + 198], 100);
    int unknown = 0;
    for (int i = 0; i < 40000; i++)
        unknown += grid.data.data[i] == -1;
    assert_int_equal(unknown, 40000 - 3);
}

/* A place that the camera sees is that of its cell, wherever the robot is in the map. */
static void cells_are_where_the_camera_sees_them(void **state)
{
    (void)state;
    static const struct {
        double camera_yaw, camera_x, camera_y, x, y, yaw;
        int origin_x, origin_y;
    } cases[] = {{0, 0, 0, 0, 0, 0, -100, -100},
                 {0, 0.3, -0.1, 2, 1, 0, -60, -80},
                 {0.5, 0.3, -0.1, 0, 0, 0, -100, -100},
                 {-0.7, 0.2, 0.4, -3, 12, 2.5, -160, 140}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct ros_occupancy_grid grid;
        double place[3];
        mount_camera(cases[k].camera_yaw, cases[k].camera_x, cases[k].camera_y);
        published.frame.map = (struct plx_map_info){.valid = 1,
                                                    .origin_x = cases[k].origin_x,
                                                    .origin_y = cases[k].origin_y,
                                                    .x_m = cases[k].x,
                                                    .y_m = cases[k].y,
                                                    .yaw_rad = cases[k].yaw};
        assert_int_equal(plx_message_map(&messages, &grid), 0);
        /* A point on the ground AHEAD of the camera and to its LEFT, in the base, in the map, and in cells. */
        const double ahead = 2, left = -0.7, a = cases[k].camera_yaw, b = cases[k].yaw;
        const double x = cases[k].camera_x + ahead * cos(a) - left * sin(a);
        const double y = cases[k].camera_y + ahead * sin(a) + left * cos(a);
        const double column = (cases[k].x + x * cos(b) - y * sin(b)) / PLX_MAP_CELL_M - cases[k].origin_x;
        const double row = (cases[k].y + x * sin(b) + y * cos(b)) / PLX_MAP_CELL_M - cases[k].origin_y;
        place_of(&grid, (int)lround(row), (int)lround(column), place);
        if (!(fabs(place[0] - ahead) < 0.05 && fabs(place[1] - left) < 0.05 && fabs(place[2] + CAMERA_HEIGHT) < 1e-5))
            fail_msg("case %zu: the cell is at %.3f, %.3f, %.3f; expected 2, -0.7, -0.8", k, place[0], place[1], place[2]);
    }
}

/* The cost where a reader, which knows no turned raster, finds the point (X, Y) of parallax_scan. */
static uint8_t cost_at(const struct ros_costmap *costmap, double x, double y)
{
    const struct ros_pose *origin = &costmap->metadata.origin;
    const int column = (int)floor((x - origin->position.x) / (double)costmap->metadata.resolution);
    const int row = (int)floor((y - origin->position.y) / (double)costmap->metadata.resolution);
    assert_true(origin->orientation.w == 1 && origin->orientation.z == 0);
    assert_true(column >= 0 && row >= 0 && column < 200 && row < 200);
    return costmap->data.data[row * 200 + column];
}

/* For each cell that stands, is a drop, or is not known among free ones: the costmap says so at its place, however it is
 * turned, and two cells away all is free. */
static void a_costmap_loses_nothing(void **state)
{
    (void)state;
    static const uint8_t kinds[] = {PLX_CELL_OCCUPIED, PLX_CELL_DROP, PLX_CELL_UNKNOWN, 200}, costs[] = {254, 254, 255, 255};
    static const double yaws[] = {0, 0.4, -0.785, 1.5708, 3};
    mount_camera(0.2, 0.3, -0.1);
    for (size_t i = 0; i < 20; i++) {
        const double yaw = yaws[i / 4];
        const int row = 60 + (int)(i * 7 % 90), column = 70 + (int)(i * 13 % 70);
        struct ros_occupancy_grid grid;
        struct ros_costmap costmap;
        double place[3], next[3];
        for (int k = 0; k < PLX_MAP_CELLS * PLX_MAP_CELLS; k++)
            published.cell[k / PLX_MAP_CELLS][k % PLX_MAP_CELLS].kind = PLX_CELL_FREE;
        published.cell[row][column].kind = kinds[i % 4];
        published.frame.map = (struct plx_map_info){.valid = 1, .origin_x = -100, .origin_y = -100, .yaw_rad = yaw};
        assert_int_equal(plx_message_map(&messages, &grid), 0);
        place_of(&grid, row, column, place);
        place_of(&grid, row + 1, column + 1, next);
        const double x = (place[0] + next[0]) / 2, y = (place[1] + next[1]) / 2;
        assert_int_equal(plx_message_costmap(&messages, &costmap), 0);
        assert_string_equal(costmap.header.frame_id, "parallax_scan");
        assert_true(costmap.header.stamp.sec == 5 && costmap.metadata.update_time.nanosec == 7);
        assert_true(fabs(costmap.metadata.origin.position.z + CAMERA_HEIGHT) < 1e-5);
        if (cost_at(&costmap, x, y) != costs[i % 4])
            fail_msg("turned by %.2f, cell [%d][%d] costs %d, not %d", yaw, row, column, cost_at(&costmap, x, y), costs[i % 4]);
        assert_int_equal(cost_at(&costmap, x + 0.11, y), 0);
        assert_int_equal(cost_at(&costmap, x, y - 0.11), 0);
    }
    struct ros_costmap costmap;
    assert_int_equal(plx_message_costmap(&messages, &costmap), 0);
    assert_int_equal(costmap.data.data[0], 255); /* a corner, beyond the turned map */
    published.frame.map.valid = 0;
    assert_int_equal(plx_message_costmap(&messages, &costmap), PLX_ERR_NOT_FOUND);
    published.frame.map.valid = 1;
    memset(published.cell, 0, sizeof published.cell);
}

static void nothing_without_a_map(void **state)
{
    (void)state;
    union plx_topic_message message;
    mount_camera(0, 0, 0);
    assert_int_equal(plx_topic_fill(PLX_TOPIC_MAP, &messages, &message), 0);
    published.frame.map.valid = 0;
    assert_int_equal(plx_topic_fill(PLX_TOPIC_MAP, &messages, &message), PLX_ERR_NOT_FOUND);
    published.frame.map.valid = 1;
    published.frame.health = PLX_HEALTH_NOT_CALIBRATED;
    assert_int_equal(plx_topic_fill(PLX_TOPIC_MAP, &messages, &message), PLX_ERR_NOT_FOUND);
    published.frame.health = 0;
    memset(&published.frame.plane[PLX_PLANE_MAP], 0, sizeof published.frame.plane[PLX_PLANE_MAP]);
    assert_int_equal(plx_topic_fill(PLX_TOPIC_MAP, &messages, &message), PLX_ERR_NOT_FOUND);
}

/* The verdict's word, and what is neither go nor slow. */
static void the_verdict_is_a_word(void **state)
{
    (void)state;
    static const struct {
        uint32_t verdict;
        const char *word;
    } cases[] = {{PLX_VERDICT_STOP, "stop"}, {PLX_VERDICT_SLOW, "slow"}, {PLX_VERDICT_GO, "go"}, {PLX_VERDICT_GO + 1, "stop"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ros_string message;
        struct ros_diagnostic_array info;
        int found = 0;
        published.frame.verdict.verdict = cases[i].verdict;
        published.frame.verdict.reasons = PLX_REASON_DROP | PLX_REASON_NO_SERVICE;
        plx_message_verdict(&messages, &message);
        assert_string_equal(message.data, cases[i].word);
        plx_message_frame_info(&messages, &info);
        for (uint32_t k = 0; k < info.status.data->values.count; k++) {
            const struct ros_key_value *value = &info.status.data->values.data[k];
            found += strcmp(value->key, "verdict") == 0 && strcmp(value->value, cases[i].word) == 0;
            found += strcmp(value->key, "reasons") == 0 && strcmp(value->value, "drop no_service") == 0;
        }
        assert_int_equal(found, 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_kind_of_cell, setup, teardown),
        cmocka_unit_test_setup_teardown(cells_are_where_the_camera_sees_them, setup, teardown),
        cmocka_unit_test_setup_teardown(a_costmap_loses_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_without_a_map, setup, teardown),
        cmocka_unit_test_setup_teardown(the_verdict_is_a_word, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
