/* SPDX-License-Identifier: Apache-2.0 */
/* LiDAR truth and the measures made with it, of a drawn road with one box, whose answers are known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "app/evaluate/lidar_truth.h"
#include "app/evaluate/obstacle_measures.h"
#include "core/pipeline/pipeline.h"
#include "tests/cmocka.h"

#define WIDTH 640
#define HEIGHT 400
#define SCALE 256.0
#define BOX_Z 8.0
#define BOX_X0 280 /* columns */
#define BOX_X1 359
#define BOX_Y0 175 /* row; 1.5 m high: it stands where the road is 8 m away */
#define BOX_Y1 249

/* fx baseline = 400 px m; the road lies 1.6 m below the camera, level. */
static const struct plx_calibration_info camera = {
    .fx = 400, .fy = 400, .cx = 320, .cy = 170, .cx_right = 320, .baseline_m = 1};

static double depth_of(int x, int y)
{
    const double road = y > 170 ? 1.6 * 400 / (y - 170) : INFINITY;
    return x >= BOX_X0 && x <= BOX_X1 && y >= BOX_Y0 && y <= BOX_Y1 && road >= BOX_Z ? BOX_Z : road;
}

static struct plx_image draw(void)
{
    struct plx_image image = {calloc(WIDTH * HEIGHT, 2), WIDTH, HEIGHT, WIDTH * 2, PLX_U16};
    assert_non_null(image.data);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            if (isfinite(depth_of(x, y)))
                ((uint16_t *)plx_row(&image, y))[x] = (uint16_t)lround(fmin(400 / depth_of(x, y) * SCALE, 65535));
    return image;
}

static void road_and_box(void **state)
{
    (void)state;
    struct plx_image image = draw();
    struct plx_lidar_truth truth;
    assert_int_equal(plx_lidar_truth_read(&image, SCALE, &camera, &truth), 0);
    assert_true(truth.scored);
    assert_true(fabs(truth.intercept - 1.6) < 0.01 && fabs(truth.slope_x) < 0.002 && fabs(truth.slope_z) < 0.002);
    const struct {
        int x, y;
        enum plx_lidar_class class;
    } cases[] = {{320, 200, PLX_LIDAR_OBSTACLE}, {320, 246, PLX_LIDAR_GROUND}, /* 8 cm above the foot of the box */
                 {320, 253, PLX_LIDAR_GROUND},                                 /* 0.3 m before the box */
                 {320, 300, PLX_LIDAR_CLEAR},    {100, 230, PLX_LIDAR_CLEAR},  {100, 190, PLX_LIDAR_UNKNOWN}, /* 32 m away */
                 {100, 100, PLX_LIDAR_UNKNOWN}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct plx_lidar_point *p = &truth.point[cases[i].y * WIDTH + cases[i].x];
        if (p->class != cases[i].class)
            fail_msg("(%d, %d) is of class %d, expected %d", cases[i].x, cases[i].y, p->class, cases[i].class);
    }
    assert_true(fabsf(truth.point[200 * WIDTH + 320].height_m - 1.0F) < 0.02F);
    free(truth.point);
    free(image.data);
}

#define COLUMNS (WIDTH / PLX_COLUMN_WIDTH)

/* The box as stixels and in the scan of FRAME, if LISTED; all ground before it is free. */
static void publish_columns(struct plx_frame *frame, uint32_t offset, double depth, bool listed)
{
    const uint16_t d = (uint16_t)lround(400 / depth * PLX_DISPARITY_ONE);
    const uint32_t size = PLX_COLUMN_STIXELS * sizeof(struct plx_stixel);
    struct plx_scan *scan = (void *)((uint8_t *)frame + offset);
    struct plx_stixel *stixels = (void *)(scan + COLUMNS);

    frame->plane[PLX_PLANE_SCAN] = (struct plx_plane){offset, COLUMNS * sizeof *scan, COLUMNS, 1, sizeof *scan, 0};
    frame->plane[PLX_PLANE_STIXELS] =
        (struct plx_plane){(uint32_t)(offset + COLUMNS * sizeof *scan), size, PLX_COLUMN_STIXELS, COLUMNS, sizeof *stixels, 0};
    for (int i = 0; i < COLUMNS; i++) {
        const bool box = listed && i >= BOX_X0 / PLX_COLUMN_WIDTH && i <= BOX_X1 / PLX_COLUMN_WIDTH;
        scan[i] = (struct plx_scan){box ? d : 0, box ? d : 16, 1, box};
        if (box)
            stixels[i * PLX_COLUMN_STIXELS] =
                (struct plx_stixel){.y0 = BOX_Y0, .y1 = BOX_Y1, .disparity = d, .near_disparity = d};
    }
}

/* A frame with the box as obstacle 1, at DEPTH, if LISTED. */
static struct plx_frame *publish(double depth, bool listed)
{
    const size_t plane = (size_t)WIDTH * HEIGHT * 2;
    const size_t columns = COLUMNS * (sizeof(struct plx_scan) + PLX_COLUMN_STIXELS * sizeof(struct plx_stixel));
    struct plx_frame *frame = calloc(1, sizeof *frame + 2 * plane + columns);
    assert_non_null(frame);
    frame->calibration = camera;
    frame->width = WIDTH;
    frame->height = HEIGHT;
    frame->plane[PLX_PLANE_LABELS] = (struct plx_plane){sizeof *frame, WIDTH * 2, WIDTH, HEIGHT, 2, 0};
    frame->plane[PLX_PLANE_DENSE] = (struct plx_plane){(uint32_t)(sizeof *frame + plane), WIDTH * 2, WIDTH, HEIGHT, 2, 0};
    uint16_t *labels = (uint16_t *)(void *)(frame + 1), *dense = labels + plane / 2;
    for (int y = BOX_Y0; y <= BOX_Y1; y++)
        for (int x = BOX_X0; x <= BOX_X1; x++) {
            labels[y * WIDTH + x] = 1;
            dense[y * WIDTH + x] = (uint16_t)lround(400 / depth * PLX_DISPARITY_ONE);
        }
    publish_columns(frame, (uint32_t)(sizeof *frame + 2 * plane), depth, listed);
    frame->ground = (struct plx_ground_info){.valid = 1, .camera_height_m = 1.6F, .normal = {0, 1, 0}};
    frame->obstacle_count = listed;
    frame->obstacle[0] = (struct plx_obstacle){.label = 1,
                                               .x = BOX_X0,
                                               .y = BOX_Y0,
                                               .width = BOX_X1 - BOX_X0 + 1,
                                               .height = BOX_Y1 - BOX_Y0 + 1,
                                               .nearest_m = (float)depth,
                                               .disparity_near = (float)(400 / depth),
                                               .disparity_median = (float)(400 / depth)};
    for (int part = 0; part < PLX_OUTLINE_PARTS; part++)
        frame->obstacle[0].outline[part] = (uint16_t)lround(400 / depth * PLX_DISPARITY_ONE);
    return frame;
}

static void measures_of_a_frame(void **state)
{
    (void)state;
    static const struct {
        double depth;
        bool listed;
        bool right, missed, phantom;
    } cases[] = {{8, true, true, false, false},
                 {12, true, false, true, false},
                 {5, true, false, false, true},
                 {8, false, false, true, false}};
    struct plx_image image = draw();
    struct plx_lidar_truth truth;
    assert_int_equal(plx_lidar_truth_read(&image, SCALE, &camera, &truth), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plx_frame *frame = publish(cases[i].depth, cases[i].listed);
        struct plx_obstacle_counts sum = {0};
        struct plx_ground_error ground;
        assert_int_equal(plx_obstacle_measures_add(frame, &truth, &sum, &ground), 0);
        assert_true(sum.frames == 1 && sum.scored == 1 && sum.ground_found == 1 && sum.things == 1);
        assert_true(ground.height_m < 0.01 && ground.pitch_rad < 0.002 && ground.at_10_m < 0.02);
        assert_int_equal(sum.found, cases[i].right);
        assert_int_equal(sum.records, cases[i].listed);
        assert_int_equal(sum.blocked, (BOX_X1 - BOX_X0 + 1) / 8);
        assert_int_equal(sum.free_beyond, cases[i].missed ? sum.blocked : 0);
        assert_true(sum.before_pixels > 10000);
        assert_true(cases[i].phantom ? sum.free_pixels < sum.before_pixels : sum.free_pixels == sum.before_pixels);
        for (int c = 0; c < PLX_CLAIMS; c++) {
            assert_int_equal(sum.claim[c].bearings, (BOX_X1 - BOX_X0 + 1) / 8);
            assert_int_equal(sum.claim[c].correct, cases[i].right ? sum.claim[c].bearings : 0);
            assert_int_equal(sum.claim[c].missed, cases[i].missed ? sum.claim[c].bearings : 0);
            assert_int_equal(sum.claim[c].phantom, cases[i].phantom ? sum.claim[c].bearings : 0);
            assert_int_equal(sum.claim[c].recalled, cases[i].right && c != PLX_CLAIM_OUTLINE ? sum.obstacle_pixels : 0);
        }
        free(frame);
    }
    free(truth.point);
    free(image.data);
}

/* Nothing is read beyond the planes of a frame. */
static void frames_without_the_planes_are_refused(void **state)
{
    (void)state;
    static const enum plx_plane_id needed[] = {PLX_PLANE_LABELS, PLX_PLANE_DENSE, PLX_PLANE_SCAN, PLX_PLANE_STIXELS};
    struct plx_image image = draw();
    struct plx_lidar_truth truth;
    struct plx_frame *frame = publish(8, true);
    struct plx_obstacle_counts sum = {0};
    struct plx_ground_error ground;
    assert_int_equal(plx_lidar_truth_read(&image, SCALE, &camera, &truth), 0);
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        struct plx_plane *plane = &frame->plane[needed[i]];
        const struct plx_plane whole = *plane;
        plane->width = 0; /* switched off */
        assert_int_equal(plx_obstacle_measures_add(frame, &truth, &sum, &ground), PLX_ERR_ARG);
        *plane = whole;
        plane->height--;
        assert_int_equal(plx_obstacle_measures_add(frame, &truth, &sum, &ground), PLX_ERR_ARG);
        *plane = whole;
    }
    assert_int_equal(sum.frames, 0);
    free(frame);
    free(truth.point);
    free(image.data);
}

/* A wall right ahead is no road; nothing at all is none either. */
static void no_road(void **state)
{
    (void)state;
    struct plx_image image = draw();
    struct plx_lidar_truth truth;
    for (int filled = 0; filled < 2; filled++) {
        for (int i = 0; i < WIDTH * HEIGHT; i++)
            ((uint16_t *)image.data)[i] = filled ? 40 * 256 : 0;
        assert_int_equal(plx_lidar_truth_read(&image, SCALE, &camera, &truth), 0);
        assert_false(truth.scored);
        free(truth.point);
    }
    image.type = PLX_U8;
    assert_int_equal(plx_lidar_truth_read(&image, SCALE, &camera, &truth), PLX_ERR_ARG);
    free(image.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(road_and_box),
        cmocka_unit_test(measures_of_a_frame),
        cmocka_unit_test(frames_without_the_planes_are_refused),
        cmocka_unit_test(no_road),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
