/* SPDX-License-Identifier: Apache-2.0 */
/* plx_locate on drawn planes, whose answers are known. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/client.h>
#include <parallax/words.h>

#include "client/cluster.h"
#include "tests/cmocka.h"

#define WIDTH 320
#define HEIGHT 240
#define PITCH (WIDTH + 16)
#define COLUMNS (WIDTH / PLX_COLUMN_WIDTH)
#define FOCAL_BASELINE 100.0F /* px m */

struct scene {
    struct plx_frame frame;
    uint16_t disparity[HEIGHT][PITCH], labels[HEIGHT][PITCH];
    uint8_t confidence[HEIGHT][PITCH], filled[HEIGHT][PITCH];
    struct plx_stixel stixels[COLUMNS][PLX_COLUMN_STIXELS];
    struct plx_view view;
};

static struct scene scene;

static void show(enum plx_plane_id id, const void *memory, uint32_t width, uint32_t height, uint32_t pitch)
{
    scene.view.plane[id] = memory;
    scene.view.layout[id] =
        (struct plx_plane){.pitch = pitch, .width = width, .height = height, .element = plx_plane_element(id)};
}

/* No ground, nothing valid, full confidence. fx baseline = 100 px m, the principal point is the middle. */
static int make_scene(void **state)
{
    (void)state;
    memset(&scene, 0, sizeof scene);
    memset(scene.disparity, 0xFF, sizeof scene.disparity);
    memset(scene.confidence, 0xFF, sizeof scene.confidence);
    scene.frame.calibration = (struct plx_calibration_info){200, 200, 160, 120, 160, 0.5};
    scene.view.frame = &scene.frame;
    show(PLX_PLANE_DENSE, scene.disparity, WIDTH, HEIGHT, sizeof scene.disparity[0]);
    show(PLX_PLANE_CONFIDENCE, scene.confidence, WIDTH, HEIGHT, sizeof scene.confidence[0]);
    show(PLX_PLANE_FILLED, scene.filled, WIDTH, HEIGHT, sizeof scene.filled[0]);
    show(PLX_PLANE_LABELS, scene.labels, WIDTH, HEIGHT, sizeof scene.labels[0]);
    show(PLX_PLANE_STIXELS, scene.stixels, PLX_COLUMN_STIXELS, COLUMNS, sizeof scene.stixels[0]);
    return 0;
}

/* A wall that faces the camera. */
static void draw(int x, int y, int width, int height, float metres)
{
    for (int v = y; v < y + height; v++)
        for (int u = x; u < x + width; u++)
            scene.disparity[v][u] = (uint16_t)lroundf(FOCAL_BASELINE / metres * PLX_DISPARITY_ONE);
}

/* Ground 1 m below a level camera. */
static void draw_ground(void)
{
    scene.frame.ground = (struct plx_ground_info){.valid = 1, .camera_height_m = 1, .normal = {0, 1, 0}};
    for (int v = 125; v < HEIGHT; v++)
        draw(0, v, WIDTH, 1, 200 / ((float)v - 120));
}

static struct plx_location locate(struct plx_box box)
{
    struct plx_location location;
    memset(&location, 0x55, sizeof location);
    assert_int_equal(plx_locate(&scene.view, &box, 1, &location), 0);
    return location;
}

static bool is_near(float number, double expected, double tolerance)
{
    return fabs((double)number - expected) <= tolerance;
}

static void expect_unknown(struct plx_box box, enum plx_location_state state)
{
    const struct plx_location l = locate(box);
    if (l.state != state)
        fail_msg("%s, expected %s", plx_location_word(l.state), plx_location_word(state));
    assert_true(isnan(l.distance_m) && isnan(l.sigma_m) && isnan(l.size_m[0]) && isnan(l.size_m[1]));
    for (int i = 0; i < 3; i++)
        assert_true(isnan(l.position_m[i]) && isnan(l.base_m[i]) && isnan(l.velocity_mps[i]));
    assert_true(l.obstacle == -1 && l.track == 0);
}

static const struct plx_box middle = {.x = 140, .y = 100, .width = 80, .height = 60};

static void a_wall_is_where_it_is(void **state)
{
    (void)state;
    draw(140, 100, 80, 60, 5);
    const struct plx_location l = locate(middle);
    assert_int_equal(l.state, PLX_LOCATION_KNOWN);
    assert_true(is_near(l.distance_m, 5, 0.02) && l.sigma_m > 0.02F && l.sigma_m < 0.2F);
    assert_true(is_near(l.position_m[0], (179.5 - 160) / 200 * 5, 0.03) &&
                is_near(l.position_m[1], (129.5 - 120) / 200 * 5, 0.03));
    assert_true(l.position_m[2] == l.distance_m && l.share > 0.99F && l.share <= 1);
    assert_true(is_near(l.size_m[0], 80 / 200.0 * 5, 0.1) && is_near(l.size_m[1], 60 / 200.0 * 5, 0.1));
    assert_true(isnan(l.base_m[0]) && isnan(l.velocity_mps[0]) && l.obstacle == -1);
}

static void nothing_valid_is_no_disparity(void **state)
{
    (void)state;
    expect_unknown(middle, PLX_LOCATION_NO_DISPARITY);
    draw(140, 100, 3, 1, 5); /* too few */
    expect_unknown(middle, PLX_LOCATION_NO_DISPARITY);
}

static void ground_alone_is_no_thing(void **state)
{
    (void)state;
    draw_ground();
    const struct plx_box low = {.x = 60, .y = 160, .width = 100, .height = 70};
    expect_unknown(low, PLX_LOCATION_ONLY_GROUND);
    scene.frame.ground.valid = 0; /* nobody knows that it is ground, but it has no one depth either */
    assert_int_not_equal(locate(low).state, PLX_LOCATION_ONLY_GROUND);
}

static void a_thing_stands_out_of_its_ground(void **state)
{
    (void)state;
    draw_ground();
    draw(150, 110, 40, 59, 4); /* foot at row 170 */
    const struct plx_location l = locate((struct plx_box){.x = 140, .y = 105, .width = 60, .height = 100});
    assert_int_equal(l.state, PLX_LOCATION_KNOWN);
    assert_true(is_near(l.distance_m, 4, 0.05));
}

/* A few columns of a thing in much ground are none; twice as many, a tenth of the box and more, are one. */
static void little_of_a_thing_is_only_ground(void **state)
{
    (void)state;
    const struct plx_box low = {.x = 60, .y = 160, .width = 100, .height = 70};
    draw_ground();
    draw(108, 160, 4, 70, 1);
    expect_unknown(low, PLX_LOCATION_ONLY_GROUND);
    draw(106, 160, 8, 70, 1);
    const struct plx_location l = locate(low);
    assert_int_equal(l.state, PLX_LOCATION_KNOWN);
    assert_true(is_near(l.distance_m, 1, 0.01));
}

/* All samples lie in one line: the other side has no length. */
static void a_box_of_one_line_has_one_size(void **state)
{
    (void)state;
    draw(0, 0, WIDTH, HEIGHT, 5);
    const struct plx_location upright = locate((struct plx_box){.x = 171, .y = 100, .width = 1, .height = 60});
    assert_int_equal(upright.state, PLX_LOCATION_KNOWN);
    assert_true(upright.size_m[0] == 0 && is_near(upright.size_m[1], 60 / 200.0 * 5, 0.1));
    const struct plx_location flat = locate((struct plx_box){.x = 140, .y = 111, .width = 80, .height = 1});
    assert_int_equal(flat.state, PLX_LOCATION_KNOWN);
    assert_true(flat.size_m[1] == 0 && is_near(flat.size_m[0], 80 / 200.0 * 5, 0.1));
}

/* 10 cm high: below the limit for ground, but a stixel says that it stands. */
static void a_stixel_tells_a_low_thing(void **state)
{
    (void)state;
    const struct plx_box box = {.x = 152, .y = 165, .width = 16, .height = 5};
    draw_ground();
    draw(152, 165, 16, 5, 4);
    expect_unknown(box, PLX_LOCATION_ONLY_GROUND);
    for (int column = 38; column < 42; column++)
        scene.stixels[column][0] = (struct plx_stixel){.y0 = 165, .y1 = 170, .disparity = 400};
    assert_true(is_near(locate(box).distance_m, 4, 0.05));
}

static void the_nearer_of_two_things(void **state)
{
    (void)state;
    draw(140, 100, 80, 60, 9);
    draw(155, 100, 50, 60, 4);
    const struct plx_location l = locate(middle);
    assert_int_equal(l.state, PLX_LOCATION_KNOWN);
    assert_true(is_near(l.distance_m, 4, 0.05) && l.share < 0.95F);
    draw(140, 100, 40, 60, 4); /* half of the box each */
    draw(180, 100, 40, 60, 9);
    expect_unknown(middle, PLX_LOCATION_AMBIGUOUS);
    const float share = locate(middle).share;
    assert_true(share > 0.4F && share < 0.6F);
}

static void mask_left(uint8_t row[100])
{
    memset(row, 0, 100);
    memset(row, 1, 40);
}

static void a_mask_chooses_the_pixels(void **state)
{
    (void)state;
    static uint8_t mask[60][100];
    struct plx_box box = middle;
    draw(140, 100, 40, 60, 4);
    draw(180, 100, 40, 60, 9);
    box.mask = mask[0];
    box.mask_pitch = sizeof mask[0];
    expect_unknown(box, PLX_LOCATION_NO_DISPARITY); /* nothing counts */
    for (int y = 0; y < 60; y++)
        memset(&mask[y][40], 1, 40);
    assert_true(is_near(locate(box).distance_m, 9, 0.05));
    for (int y = 0; y < 60; y++)
        mask_left(mask[y]);
    assert_true(is_near(locate(box).distance_m, 4, 0.05));

    struct plx_location location = {.share = 7};
    box.mask_pitch = 79;
    assert_int_equal(plx_locate(&scene.view, &box, 1, &location), PLX_ERR_ARG);
    assert_true(location.share == 7);
}

/* A mask of exactly its size: sanitizers see a read beside it. */
static void a_mask_reaches_beyond_the_picture(void **state)
{
    (void)state;
    uint8_t *mask = malloc(100 * 100);
    assert_non_null(mask);
    memset(mask, 1, 100 * 100);
    draw(0, 0, WIDTH, HEIGHT, 5);
    for (int corner = 0; corner < 4; corner++) {
        const struct plx_box box = {
            .x = corner & 1 ? WIDTH - 50 : -50, .y = corner & 2 ? HEIGHT - 50 : -50, 100, 100, .mask = mask, .mask_pitch = 100};
        assert_true(is_near(locate(box).distance_m, 5, 0.02));
    }
    free(mask);
}

static void boxes_of_every_size_and_place(void **state)
{
    (void)state;
    draw(0, 0, WIDTH, HEIGHT, 5);
    static const int32_t number[] = {INT32_MIN, INT32_MIN + 1, -WIDTH,        -1,       0, 1, 2, HEIGHT - 1,
                                     WIDTH - 1, WIDTH,         INT32_MAX - 1, INT32_MAX};
    const int count = sizeof number / sizeof *number;
    for (int i = 0; i < count * count * count * count; i++) {
        const struct plx_box box = {number[i % count],
                                    number[i / count % count],
                                    number[i / count / count % count],
                                    number[i / count / count / count],
                                    NULL,
                                    0};
        const int64_t right = (int64_t)box.x + box.width, bottom = (int64_t)box.y + box.height;
        const bool inside = box.width > 0 && box.height > 0 && box.x < WIDTH && box.y < HEIGHT && right > 0 && bottom > 0;
        const struct plx_location l = locate(box);
        assert_int_equal(l.state == PLX_LOCATION_OUTSIDE, !inside);
        if (l.state == PLX_LOCATION_KNOWN)
            assert_true(is_near(l.distance_m, 5, 0.02));
    }
    expect_unknown((struct plx_box){.x = WIDTH, .width = 10, .height = 10}, PLX_LOCATION_OUTSIDE);
}

static void frames_that_cannot_tell(void **state)
{
    (void)state;
    draw(140, 100, 80, 60, 5);
    scene.frame.blind = PLX_BLIND_NO_PICTURE;
    expect_unknown(middle, PLX_LOCATION_BLIND);
    scene.frame.blind = PLX_BLIND_NOT_CALIBRATED;
    expect_unknown(middle, PLX_LOCATION_RAW);
    scene.frame.blind = PLX_BLIND_NO_GROUND | PLX_BLIND_OBSTACLES_OFF; /* no reason */
    assert_int_equal(locate(middle).state, PLX_LOCATION_KNOWN);
    scene.view.plane[PLX_PLANE_DENSE] = NULL;
    expect_unknown(middle, PLX_LOCATION_RAW);
    show(PLX_PLANE_DISPARITY, scene.disparity, WIDTH, HEIGHT, sizeof scene.disparity[0]); /* without a dense one */
    assert_int_equal(locate(middle).state, PLX_LOCATION_KNOWN);
}

static void too_far_and_infinite(void **state)
{
    (void)state;
    draw(140, 100, 80, 60, 40); /* 2.5 px */
    expect_unknown(middle, PLX_LOCATION_BEYOND_REACH);
    for (int y = 0; y < HEIGHT; y++)
        memset(scene.disparity[y], 0, WIDTH * sizeof scene.disparity[0][0]);
    expect_unknown(middle, PLX_LOCATION_BEYOND_REACH);
}

/* The right camera's principal point lies 5 px further left than the left one's, and the planes begin at 2 px. */
static void disparities_count_from_that_of_infinity(void **state)
{
    (void)state;
    scene.frame.calibration.cx_right = 155;
    scene.view.min_disparity = 2;
    for (int y = 100; y < 160; y++)
        for (int x = 140; x < 220; x++)
            scene.disparity[y][x] = (uint16_t)((FOCAL_BASELINE / 5 + 5 - 2) * PLX_DISPARITY_ONE);
    const struct plx_location l = locate(middle);
    assert_int_equal(l.state, PLX_LOCATION_KNOWN);
    assert_true(is_near(l.distance_m, 5, 0.02));
}

static void guesses_are_not_known(void **state)
{
    (void)state;
    draw(140, 100, 80, 60, 5);
    memset(scene.filled, 1, sizeof scene.filled);
    expect_unknown(middle, PLX_LOCATION_AMBIGUOUS);
}

static void its_obstacle_and_its_base(void **state)
{
    (void)state;
    draw(140, 100, 80, 60, 5);
    for (int y = 100; y < 160; y++)
        for (int x = 140; x < 220; x++)
            scene.labels[y][x] = 7;
    scene.view.obstacle_count = 2;
    scene.frame.obstacle[1] = (struct plx_obstacle){
        .label = 7, .track = 12, .world_velocity_mps = {1, 0, -2}, .world_velocity_variance = {0.1F, 0.1F, 0.1F}};
    /* x forward is z of the camera, y left is -x, z up is -y; half a metre above the ground */
    scene.frame.mount = (struct plx_mount_info){.known = 1, .base_from_left = {{0, 0, 1, -1, 0, 0, 0, -1, 0}, {0.2, 0, 0.5}}};
    struct plx_location l = locate(middle);
    assert_true(l.obstacle == 1 && l.track == 12 && l.velocity_mps[0] == 1 && l.velocity_mps[2] == -2);
    assert_true(is_near(l.base_m[0], (double)l.position_m[2] + 0.2, 1e-4));
    assert_true(is_near(l.base_m[1], -(double)l.position_m[0], 1e-4) &&
                is_near(l.base_m[2], 0.5 - (double)l.position_m[1], 1e-4));
    memset(scene.frame.obstacle[1].world_velocity_variance, 0, sizeof scene.frame.obstacle[1].world_velocity_variance);
    l = locate(middle);
    assert_true(l.obstacle == 1 && isnan(l.velocity_mps[0]));
    scene.frame.obstacle[1].label = 8;
    assert_int_equal(locate(middle).obstacle, -1);
}

/* An older frame had more obstacles: their records lie behind those that count, with labels of things that are not there. */
static void records_behind_the_obstacles_are_none(void **state)
{
    (void)state;
    draw(140, 100, 80, 60, 5);
    for (int y = 100; y < 160; y++)
        for (int x = 140; x < 220; x++)
            scene.labels[y][x] = 7;
    for (int i = 0; i < PLX_MAX_OBSTACLES; i++)
        scene.frame.obstacle[i] = (struct plx_obstacle){.label = 7, .track = (uint32_t)i};
    for (uint32_t count = 0; count < 3; count++) {
        scene.view.obstacle_count = count;
        assert_int_equal(locate(middle).obstacle, (int)count - 1);
    }
    scene.view.obstacle_count = PLX_MAX_OBSTACLES;
    assert_int_equal(locate(middle).obstacle, PLX_MAX_OBSTACLES - 1);
    scene.view.obstacle_count = UINT32_MAX; /* there are no more records */
    assert_int_equal(locate(middle).obstacle, PLX_MAX_OBSTACLES - 1);
}

/* A cluster begins at 16 px, a step of its bins, where its far pixels lie: they count for its obstacle. */
static void the_farthest_pixels_of_a_thing_tell_its_obstacle(void **state)
{
    (void)state;
    draw(140, 100, 80, 60, FOCAL_BASELINE / 19);
    draw(140, 100, 40, 60, FOCAL_BASELINE / 16);
    for (int y = 100; y < 160; y++) {
        memset(&scene.confidence[y][140], 0, 40); /* so that they spread its depth little */
        for (int x = 140; x < 180; x++)
            scene.labels[y][x] = 7;
    }
    scene.view.obstacle_count = 1;
    scene.frame.obstacle[0] = (struct plx_obstacle){.label = 7, .track = 12};
    const struct plx_location l = locate(middle);
    assert_int_equal(l.state, PLX_LOCATION_KNOWN);
    assert_true(l.share == 1 && l.obstacle == 0);
}

/* What lies in the memory behind the samples is older, and belongs to no thing. */
static void only_the_samples_of_a_box_make_a_cluster(void **state)
{
    (void)state;
    static struct plx_samples samples = {.columns = 1, .rows = 1, .valid_weight = 1000, .weight = 1000, .count = 10};
    struct plx_cluster cluster;
    for (int i = 0; i < samples.count; i++)
        samples.sample[i] = (struct plx_sample){.disparity_px = 20, .weight = 100};
    samples.sample[samples.count] = (struct plx_sample){.disparity_px = 80, .weight = 60000};
    assert_true(plx_cluster_find(&samples, &cluster));
    assert_true(cluster.count == 10 && cluster.share == 1 && is_near(cluster.median, 20, 0.1));
    samples.sample[samples.count].disparity_px = 20;
    assert_true(plx_cluster_find(&samples, &cluster));
    assert_true(cluster.count == 10 && cluster.share == 1);
}

static void samples_without_weight_make_no_cluster(void **state)
{
    (void)state;
    static struct plx_samples samples = {.columns = 1, .rows = 1, .count = 1, .sample = {{.disparity_px = 20}}};
    struct plx_cluster cluster;
    assert_false(plx_cluster_find(&samples, &cluster));
    samples.valid_weight = samples.weight = samples.sample[0].weight = 1; /* the least that one can have */
    assert_true(plx_cluster_find(&samples, &cluster));
    assert_true(cluster.count == 1 && cluster.share == 1 && is_near(cluster.median, 20, 0.1));
    samples.count = 0;
    assert_false(plx_cluster_find(&samples, &cluster));
}

/* Records and numbers of a damaged memory lead nowhere else; sanitizers watch. */
static void damaged_memory(void **state)
{
    (void)state;
    draw(0, 0, WIDTH, HEIGHT, 5);
    memset(scene.labels, 0xFE, sizeof scene.labels);
    memset(scene.stixels, 0xFE, sizeof scene.stixels);
    memset(&scene.frame.ground, 0xFF, sizeof scene.frame.ground); /* NAN */
    memset(scene.frame.obstacle, 0xFE, sizeof scene.frame.obstacle);
    scene.view.obstacle_count = PLX_MAX_OBSTACLES;
    assert_int_equal(locate(middle).state, PLX_LOCATION_KNOWN);
    scene.view.layout[PLX_PLANE_LABELS].width = 1; /* planes of another size than the disparity do not count */
    scene.view.layout[PLX_PLANE_CONFIDENCE].height = 1;
    scene.view.layout[PLX_PLANE_FILLED].width = WIDTH - 1;
    scene.view.layout[PLX_PLANE_STIXELS].height = 1;
    assert_int_equal(locate(middle).state, PLX_LOCATION_KNOWN);
    scene.frame.calibration.cx = NAN;
    expect_unknown(middle, PLX_LOCATION_RAW);
    scene.frame.calibration = (struct plx_calibration_info){200, 200, 160, 120, 160, 1e-60}; /* no distance is so small */
    expect_unknown(middle, PLX_LOCATION_RAW);
    memset(&scene.frame.calibration, 0, sizeof scene.frame.calibration);
    expect_unknown(middle, PLX_LOCATION_RAW);
}

static void arguments(void **state)
{
    (void)state;
    struct plx_location location[2];
    const struct plx_box box[2] = {middle, {.x = -10, .width = 5, .height = 5}};
    const struct plx_view empty = {0};
    assert_int_equal(plx_locate(NULL, box, 1, location), PLX_ERR_ARG);
    assert_int_equal(plx_locate(&empty, box, 1, location), PLX_ERR_ARG);
    assert_int_equal(plx_locate(&scene.view, NULL, 1, location), PLX_ERR_ARG);
    assert_int_equal(plx_locate(&scene.view, box, 1, NULL), PLX_ERR_ARG);
    assert_int_equal(plx_locate(&scene.view, NULL, 0, NULL), 0);
    draw(140, 100, 80, 60, 5);
    assert_int_equal(plx_locate(&scene.view, box, 2, location), 0);
    assert_true(location[0].state == PLX_LOCATION_KNOWN && location[1].state == PLX_LOCATION_OUTSIDE);
}

#define TEST(function) cmocka_unit_test_setup(function, make_scene)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_wall_is_where_it_is),
        TEST(nothing_valid_is_no_disparity),
        TEST(ground_alone_is_no_thing),
        TEST(a_thing_stands_out_of_its_ground),
        TEST(little_of_a_thing_is_only_ground),
        TEST(a_box_of_one_line_has_one_size),
        TEST(a_stixel_tells_a_low_thing),
        TEST(the_nearer_of_two_things),
        TEST(a_mask_chooses_the_pixels),
        TEST(a_mask_reaches_beyond_the_picture),
        TEST(boxes_of_every_size_and_place),
        TEST(frames_that_cannot_tell),
        TEST(too_far_and_infinite),
        TEST(disparities_count_from_that_of_infinity),
        TEST(guesses_are_not_known),
        TEST(its_obstacle_and_its_base),
        TEST(records_behind_the_obstacles_are_none),
        TEST(the_farthest_pixels_of_a_thing_tell_its_obstacle),
        TEST(only_the_samples_of_a_box_make_a_cluster),
        TEST(samples_without_weight_make_no_cluster),
        TEST(damaged_memory),
        TEST(arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
