/* SPDX-License-Identifier: Apache-2.0 */
/* The pipeline around its stages: layout of frames, refusals, and the same bytes however many threads and frames there are. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/ground/predictions.h"
#include "core/motion/pose.h"
#include "core/pipeline/pipeline.h"
#include "cpu/cpu.h"
#include "drivers/synthetic/scene.h"
#include "tests/cmocka.h"

#define GUARD 4096
#define GUARD_BYTE 0xA5

/* --- layout ------------------------------------------------------------------------------------------------------ */

static void check_layout(const struct plx_pipeline_params *params, int width, int height)
{
    struct plx_plane plane[PLX_PLANE_COUNT];
    uint32_t bytes = plx_pipeline_layout(params, width, height, plane);
    uint32_t end = sizeof(struct plx_frame); /* planes follow each other in the order of their ids */

    for (int i = 0; i < PLX_PLANE_COUNT; i++) {
        if (plane[i].width == 0) {
            assert_memory_equal(&plane[i], &(struct plx_plane){0}, sizeof plane[i]);
            continue;
        }
        assert_int_equal(plane[i].offset % 4096, 0);
        assert_true(plane[i].offset >= end);
        assert_true(plane[i].pitch >= plane[i].width * plane[i].element && plane[i].pitch % 64 == 0);
        end = plane[i].offset + plane[i].pitch * plane[i].height;
    }
    assert_true(bytes >= end && bytes < end + 4096 && bytes % 4096 == 0);
    assert_int_equal(plane[PLX_PLANE_DISPARITY].width, width);
    assert_int_equal(plane[PLX_PLANE_DISPARITY].height, height);
    assert_int_equal(plane[PLX_PLANE_DISPARITY].element, 2);
    assert_int_equal(plane[PLX_PLANE_HISTOGRAM].width, 256);
    assert_int_equal(plane[PLX_PLANE_HISTOGRAM].height, 130);
    assert_int_equal(plane[PLX_PLANE_DENSE].width > 0, params->refine && params->dense);
    assert_int_equal(plane[PLX_PLANE_FILLED].width > 0, params->refine && params->dense);
    assert_int_equal(plane[PLX_PLANE_CONFIDENCE].width > 0, params->refine && params->confidence);
    assert_int_equal(plane[PLX_PLANE_LABELS].width > 0, params->obstacles);
    assert_int_equal(plane[PLX_PLANE_RIGHT].width > 0, params->right);
    assert_int_equal(plane[PLX_PLANE_SCAN].width, params->stixels ? (width + 3) / 4 : 0);
    assert_int_equal(plane[PLX_PLANE_SCAN].height, params->stixels);
    assert_int_equal(plane[PLX_PLANE_SCAN].element, params->stixels ? 8 : 0);
    assert_int_equal(plane[PLX_PLANE_STIXELS].width, params->stixels ? 8 : 0);
    assert_int_equal(plane[PLX_PLANE_STIXELS].height, params->stixels ? (width + 3) / 4 : 0);
    assert_int_equal(plane[PLX_PLANE_STIXELS].element, params->stixels ? 16 : 0);
}

static void planes_follow_each_other_and_fit(void **state)
{
    (void)state;
    static const int sizes[][2] = {{1, 1}, {2, 7}, {7, 2}, {64, 1}, {513, 61}, {640, 480}, {PLX_MAX_SIDE, PLX_MAX_SIDE}};
    struct plx_pipeline_params params;

    plx_pipeline_params_default(&params);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int switches = 0; switches < 64; switches++) {
            params.refine = switches & 1;
            params.dense = switches & 2;
            params.confidence = switches & 4;
            params.obstacles = switches & 8;
            params.right = switches & 16;
            params.stixels = switches & 32;
            check_layout(&params, sizes[i][0], sizes[i][1]);
        }
    }
}

/* The planes of 513 x 61 pixels, all that there are, in bytes: each begins on a page. */
static void planes_have_the_sizes_written_out_here(void **state)
{
    (void)state;
    static const struct {
        enum plx_plane_id id;
        uint32_t width, height, element, pitch, pages;
    } expected[] = {
        {PLX_PLANE_LEFT, 513, 61, 1, 576, 9},
        {PLX_PLANE_DISPARITY, 513, 61, 2, 1088, 17},
        {PLX_PLANE_DENSE, 513, 61, 2, 1088, 17},
        {PLX_PLANE_FILLED, 513, 61, 1, 576, 9},
        {PLX_PLANE_CONFIDENCE, 513, 61, 1, 576, 9},
        {PLX_PLANE_LABELS, 513, 61, 2, 1088, 17},
        {PLX_PLANE_HISTOGRAM, 256, 130, 4, 1024, 33},
        {PLX_PLANE_RIGHT, 513, 61, 1, 576, 9},
        {PLX_PLANE_SCAN, 129, 1, 8, 1088, 1},
        {PLX_PLANE_STIXELS, 8, 129, 16, 128, 5},
        {PLX_PLANE_MAP, 200, 200, sizeof(struct plx_cell), (200 * sizeof(struct plx_cell) + 63) / 64 * 64, 0},
    };
    struct plx_plane plane[PLX_PLANE_COUNT];
    struct plx_pipeline_params params;
    uint32_t offset = (sizeof(struct plx_frame) + 4095) / 4096 * 4096;
    plx_pipeline_params_default(&params);
    params.refine = params.dense = params.confidence = params.obstacles = params.right = params.stixels = true;
    const uint32_t bytes = plx_pipeline_layout(&params, 513, 61, plane);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const struct plx_plane *got = &plane[expected[i].id];
        if (expected[i].id == PLX_PLANE_MAP && got->width == 0)
            continue; /* nothing to be seen without a mount */
        if (got->width != expected[i].width || got->height != expected[i].height || got->element != expected[i].element ||
            got->pitch != expected[i].pitch || got->offset != offset)
            fail_msg("plane %d: %u x %u of %u bytes, pitch %u, at %u instead of %u", (int)expected[i].id, got->width,
                     got->height, got->element, got->pitch, got->offset, offset);
        offset += expected[i].pages ? 4096 * expected[i].pages : (expected[i].pitch * 200 + 4095) / 4096 * 4096;
    }
    assert_int_equal(bytes, offset);
    /* Raw: both pictures and the histograms. */
    const uint32_t begin = plane[PLX_PLANE_LEFT].offset, raw = plx_pipeline_layout_raw(513, 61, plane);
    assert_int_equal(plane[PLX_PLANE_LEFT].offset, begin);
    assert_int_equal(plane[PLX_PLANE_HISTOGRAM].offset, begin + 4096 * 9);
    assert_int_equal(plane[PLX_PLANE_RIGHT].offset, begin + 4096 * (9 + 33));
    assert_int_equal(raw, begin + 4096 * (9 + 33 + 9));
    assert_int_equal(plane[PLX_PLANE_DISPARITY].width, 0);
}

/* --- refusals ---------------------------------------------------------------------------------------------------- */

static void wide(struct plx_pipeline_params *p)
{
    p->match.disparities = 256;
}
static void far_off(struct plx_pipeline_params *p)
{
    p->match.min_disparity = 200;
}
static void odd_paths(struct plx_pipeline_params *p)
{
    p->match.paths = 5;
}
static void even_window(struct plx_pipeline_params *p)
{
    p->prefilter_width = 4;
}
static void large_window(struct plx_pipeline_params *p)
{
    p->obstacle.open_size = 33;
}
static void turned_range(struct plx_pipeline_params *p)
{
    p->obstacle.range_min_m = p->obstacle.range_max_m;
}
static void turned_heights(struct plx_pipeline_params *p)
{
    p->obstacle.min_height_m = p->obstacle.max_height_m + 1;
}
static void no_number(struct plx_pipeline_params *p)
{
    p->obstacle.range_max_m = strtod("nan", NULL);
}
static void no_weight(struct plx_pipeline_params *p)
{
    p->temporal.weight = 0;
}

static void wrong_parameters_are_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        void (*spoil)(struct plx_pipeline_params *params);
        const char *says;
    } table[] = {
        {wide, "match.disparities"},
        {far_off, "match.min_disparity"},
        {odd_paths, "paths"},
        {even_window, "prefilter_width"},
        {large_window, "obstacle.open_size"},
        {turned_range, "obstacle.range_min_m"},
        {turned_heights, "obstacle.min_height_m"},
        {no_number, "obstacle.range_max_m"},
        {no_weight, "temporal.weight"},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        struct plx_pipeline_params params;
        struct plx_parameter_error error = {.name = ""};
        plx_pipeline_params_default(&params);
        assert_int_equal(plx_pipeline_params_check(&params, 200, 100, &error), 0);
        table[i].spoil(&params);
        int result = plx_pipeline_params_check(&params, 200, 100, &error);
        if (result != PLX_ERR_RANGE || strcmp(error.name, table[i].says) != 0)
            fail_msg("row %zu: result %d, \"%s\"; expected %s", i, result, error.name, table[i].says);
    }
    struct plx_pipeline_params params;
    plx_pipeline_params_default(&params);
    assert_int_equal(plx_pipeline_params_check(&params, 0, 100, NULL), PLX_ERR_RANGE);
    assert_int_equal(plx_pipeline_params_check(&params, 200, PLX_MAX_SIDE + 1, NULL), PLX_ERR_RANGE);
}

/* Parameters that leave each other room, for images of 128 x 100. */
static struct plx_pipeline_params roomy(void)
{
    struct plx_pipeline_params params;
    plx_pipeline_params_default(&params);
    params.match.disparities = 64;
    params.match.p2 = 100;
    params.match.p2_min = 50;
    params.match.p1_straight = params.match.p1_diagonal = 20;
    params.obstacle.range_min_m = 1;
    params.obstacle.range_max_m = 2;
    params.obstacle.min_height_m = 0.25;
    params.obstacle.max_height_m = 0.5;
    return params;
}

/* The last value that the other parameters allow, and the first one that they do not. */
static void combinations_are_refused_at_their_limits(void **state)
{
    (void)state;
#define PLACE(field) offsetof(struct plx_pipeline_params, field)
    static const struct {
        size_t offset;
        bool is_real;
        double last, first;
        const char *says;
    } table[] = {
        {PLACE(match.disparities), false, 128, 256, "match.disparities"}, /* one of 64, 128, 256 */
        {PLACE(match.min_disparity), false, 127, 128, "match.min_disparity"},
        {PLACE(match.min_disparity), false, -191, -192, "match.min_disparity"},
        {PLACE(match.p2_min), false, 100, 101, "p2_min"},
        {PLACE(match.p2), false, 50, 49, "p2_min"},
        {PLACE(match.p1_straight), false, 50, 51, "p1_straight"},
        {PLACE(match.p1_diagonal), false, 50, 51, "p1_diagonal"},
        {PLACE(colour.temperature_k), true, 0, 1, "colour.temperature_k"},
        {PLACE(colour.temperature_k), true, 1700, 1699, "colour.temperature_k"},
        {PLACE(colour.red_gain), true, 0, 0.5, "colour.red_gain"},
        {PLACE(colour.blue_gain), true, 0, 0.5, "colour.red_gain"},
        {PLACE(colour.matrix[0]), true, 8, 8.5, "colour.matrix"},
        {PLACE(colour.matrix[8]), true, -8, -8.5, "colour.matrix"},
        {PLACE(obstacle.range_min_m), true, 1.5, 2, "obstacle.range_min_m"},
        {PLACE(obstacle.range_max_m), true, 1.5, 1, "obstacle.range_min_m"},
        {PLACE(obstacle.min_height_m), true, 0.375, 0.5, "obstacle.min_height_m"},
        {PLACE(obstacle.max_height_m), true, 0.375, 0.25, "obstacle.min_height_m"},
    };
    for (size_t i = 0; i < 2 * sizeof table / sizeof table[0]; i++) {
        const double value = i % 2 ? table[i / 2].first : table[i / 2].last;
        const int whole = (int)value;
        struct plx_pipeline_params params = roomy();
        struct plx_parameter_error error = {.name = ""};
        char *place = (char *)&params + table[i / 2].offset;
        memcpy(place, table[i / 2].is_real ? (const void *)&value : &whole, table[i / 2].is_real ? sizeof value : sizeof whole);
        const int result = plx_pipeline_params_check(&params, 128, 100, &error);
        if (result != (i % 2 ? PLX_ERR_RANGE : 0) || strcmp(error.name, i % 2 ? table[i / 2].says : "") != 0)
            fail_msg("%s: %g: result %d, \"%s\"", table[i / 2].says, value, result, error.name);
    }
    struct plx_pipeline_params params = roomy();
    params.colour.red_gain = params.colour.blue_gain = 0.5;
    assert_int_equal(plx_pipeline_params_check(&params, 128, 100, NULL), 0);
    assert_int_equal(plx_pipeline_params_check(&params, 1, 100, NULL), PLX_ERR_RANGE);
}

/* --- whole frames ------------------------------------------------------------------------------------------------ */

#define FRAMES 3

struct input {
    int width, height;
    struct plx_stereo_calibration calibration;
    uint8_t *grey[FRAMES][PLX_EYES];
    struct plx_raw raw[FRAMES][PLX_EYES];
};

/* The demonstration scene where it fits, else a random texture 10 pixels away. DISTORTED: through lenses. */
static void make_input(struct input *input, int width, int height, bool distorted)
{
    struct plx_scene scene;
    uint32_t random = 12345;

    memset(input, 0, sizeof *input);
    input->width = width;
    input->height = height;
    plx_scene_demo(width < 64 ? 64 : width, height < 64 ? 64 : height, 1, &scene);
    plx_calibration_pinhole(width, height, &scene.calibration, &input->calibration);
    for (int frame = 0; frame < FRAMES; frame++) {
        for (int eye = 0; eye < PLX_EYES; eye++) {
            uint8_t *grey = malloc((size_t)width * (size_t)height);
            assert_non_null(grey);
            const struct plx_image image = {grey, width, height, (size_t)width, PLX_U8};
            if (height >= 64)
                assert_int_equal(plx_scene_render(&scene, frame * 0.1, (uint32_t)frame, (enum plx_eye)eye, 10000, 1, &image),
                                 0);
            for (int i = 0; height < 64 && i < width * height; i++) {
                random = random * 1664525u + 1013904223u;
                grey[i] = eye == PLX_RIGHT && i % width + 10 < width ? input->grey[frame][PLX_LEFT][i + 10] : random >> 24;
            }
            input->grey[frame][eye] = grey;
            input->raw[frame][eye] = (struct plx_raw){.data = grey,
                                                      .bytes = (size_t)width * (size_t)height,
                                                      .width = width,
                                                      .height = height,
                                                      .pitch = (size_t)width,
                                                      .format = PLX_FORMAT_GREY,
                                                      .eye_width = width};
        }
    }
    if (!distorted)
        return;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        input->calibration.camera[eye].model = PLX_DISTORTION_PLUMB_BOB;
        input->calibration.camera[eye].k[0] = -0.1;
    }
    input->calibration.rectified = false;
    assert_int_equal(plx_calibration_rectify(&input->calibration, 0, NULL), 0);
}

static void free_input(struct input *input)
{
    for (int i = 0; i < FRAMES * PLX_EYES; i++)
        free(input->grey[i / PLX_EYES][i % PLX_EYES]);
}

static const struct plx_stages_ops *cpu_ops; /* what a spy calls */

/* Runs all frames of INPUT and returns the last one, its times cleared; *ret_bytes as laid out. The caller frees it. SPY,
 * unless NULL, replaces stages by its own. */
static struct plx_frame *run_with_spy(const struct input *input, const struct plx_pipeline_params *params, int threads,
                                      void (*spy)(struct plx_stages_ops *ops), uint32_t *ret_bytes)
{
    const int width = input->calibration.rectified_width, height = input->calibration.rectified_height;
    const struct plx_limits limits = {.width = width > input->width ? width : input->width,
                                      .height = height > input->height ? height : input->height,
                                      .disparities = params->match.disparities,
                                      .threads = threads};
    struct plx_plane plane[PLX_PLANE_COUNT];
    struct plx_stages *stages;
    struct plx_pipeline *pipeline;
    struct plx_error_message message = {""};

    assert_int_equal(plx_cpu_create(&limits, &stages), 0);
    cpu_ops = stages->ops;
    struct plx_stages_ops ops = *cpu_ops;
    if (spy)
        spy(&ops);
    stages->ops = &ops;
    if (plx_pipeline_create(stages, params, &input->calibration, &pipeline, &message) < 0)
        fail_msg("%s", message.text);
    const uint32_t bytes = plx_pipeline_layout(params, width, height, plane);
    uint8_t *memory = aligned_alloc(4096, bytes + GUARD);
    assert_non_null(memory);
    memset(memory, 0, bytes);
    memset(memory + bytes, GUARD_BYTE, GUARD);
    struct plx_frame *frame = (struct plx_frame *)memory;
    for (int i = 0; i < FRAMES; i++)
        assert_int_equal(plx_pipeline_process(pipeline, input->raw[i], i * INT64_C(100000000), frame), 0);
    plx_pipeline_destroy(pipeline);
    stages->ops = cpu_ops;
    stages->ops->destroy(stages);

    for (int i = 0; i < GUARD; i++)
        assert_int_equal(memory[bytes + (uint32_t)i], GUARD_BYTE);
    memset(frame->stage_us, 0, sizeof frame->stage_us);
    *ret_bytes = bytes;
    return frame;
}

static struct plx_frame *run(const struct input *input, const struct plx_pipeline_params *params, int threads,
                             uint32_t *ret_bytes)
{
    return run_with_spy(input, params, threads, NULL, ret_bytes);
}

static void check_header(const struct plx_frame *frame, const struct input *input, const struct plx_pipeline_params *params,
                         uint32_t bytes)
{
    assert_int_equal(frame->bytes, bytes);
    assert_int_equal(frame->width, input->calibration.rectified_width);
    assert_int_equal(frame->height, input->calibration.rectified_height);
    assert_int_equal(frame->disparities, params->match.disparities);
    assert_true(frame->calibration.fx > 0 && frame->calibration.baseline_m > 0);
    assert_true(frame->obstacle_count <= PLX_MAX_OBSTACLES);
    assert_int_equal(!frame->ground.valid, (frame->health & PLX_HEALTH_GROUND_LOST) != 0);
    assert_int_equal(!frame->ground.valid, (frame->blind & PLX_BLIND_NO_GROUND) != 0);
    assert_int_equal((frame->health & (PLX_HEALTH_DARK | PLX_HEALTH_OVEREXPOSED | PLX_HEALTH_FROZEN)) != 0,
                     (frame->blind & PLX_BLIND_NO_PICTURE) != 0);
    assert_int_equal(!params->obstacles, (frame->blind & PLX_BLIND_OBSTACLES_OFF) != 0);
}

/* Planes next to each other are not touched beyond their own rows: what lies between rows stays as it was, 0. */
static void check_padding(struct plx_frame *frame)
{
    for (int id = 0; id < PLX_PLANE_COUNT; id++) {
        const struct plx_image plane = plx_pipeline_plane(frame, (enum plx_plane_id)id);
        const size_t used = (size_t)plane.width * (size_t)plane.type;
        for (int y = 0; plane.data && y < plane.height; y++)
            for (size_t i = used; i < plane.pitch; i++)
                assert_int_equal(((uint8_t *)plx_row(&plane, y))[i], 0);
    }
}

static void check_same_bytes(int width, int height, bool distorted, const struct plx_pipeline_params *params)
{
    struct input input;
    uint32_t bytes;

    make_input(&input, width, height, distorted);
    struct plx_frame *expected = run(&input, params, 1, &bytes);
    check_header(expected, &input, params, bytes);
    check_padding(expected);
    for (int threads = 1; threads <= 3; threads++) {
        struct plx_frame *frame = run(&input, params, threads, &bytes);
        if (memcmp(frame, expected, bytes) != 0)
            fail_msg("%d x %d, %d threads: another frame than with one", width, height, threads);
        free(frame);
    }
    free(expected);
    free_input(&input);
}

static void frames_are_the_same_with_any_number_of_threads(void **state)
{
    (void)state;
    static const int sizes[][2] = {{64, 1}, {65, 2}, {129, 7}, {513, 61}, {320, 240}};
    struct plx_pipeline_params params;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        plx_pipeline_params_default(&params);
        params.correction = PLX_CORRECTION_OFF; /* pictures that are rectified are not copied */
        params.match.disparities = 64;
        check_same_bytes(sizes[i][0], sizes[i][1], false, &params);
        params.prefilter_width = 5; /* and with every switch the other way */
        params.prefilter_height = 3;
        params.speckle.max_size = 50;
        params.temporal.max_step = 16;
        params.right = true;
        check_same_bytes(sizes[i][0], sizes[i][1], false, &params);
        plx_match_classic(&params.match);
        params.match.disparities = 64;
        params.match.paths = 4;
        params.refine = params.ground = params.stixels = params.obstacles = false;
        struct input input;
        uint32_t bytes;
        make_input(&input, sizes[i][0], sizes[i][1], false);
        struct plx_frame *frame = run(&input, &params, 2, &bytes);
        assert_int_equal(frame->obstacle_count, 0);
        assert_int_equal(frame->health, 0);
        free(frame);
        free_input(&input);
    }
}

static void lenses_are_undone_with_any_number_of_threads(void **state)
{
    (void)state;
    struct plx_pipeline_params params;

    plx_pipeline_params_default(&params);
    params.match.disparities = 64;
    check_same_bytes(320, 240, true, &params);
}

/* The way is there: the scene's boxes are found, and all that one may ask for has something in it. */
static void the_scene_is_seen(void **state)
{
    (void)state;
    struct plx_pipeline_params params;
    struct input input;
    uint32_t bytes;

    plx_pipeline_params_default(&params);
    params.match.disparities = 64;
    params.right = params.colour.enabled = true;
    make_input(&input, 640, 480, false);
    struct plx_frame *frame = run(&input, &params, 2, &bytes);
    assert_true(frame->ground.valid);
    assert_true(frame->obstacle_count > 0 && frame->region_count >= frame->obstacle_count);
    for (int id = 0; id < PLX_PLANE_COUNT; id++) {
        const struct plx_image plane = plx_pipeline_plane(frame, (enum plx_plane_id)id);
        bool something = false;
        for (int y = 0; y < plane.height && !something; y++)
            for (size_t i = 0; i < (size_t)plane.width * (size_t)plane.type && !something; i++)
                something = ((uint8_t *)plx_row(&plane, y))[i] != 0;
        assert_true(something);
    }
    free(frame);
    free_input(&input);
}

/* Rows FIRST .. END - 1 of the confidence say nothing. */
static void expect_no_statement(struct plx_frame *frame, int first, int end)
{
    const struct plx_image confidence = plx_pipeline_plane(frame, PLX_PLANE_CONFIDENCE);
    for (int y = first; y < end; y++)
        for (int x = 0; x < confidence.width; x++)
            assert_int_equal(((uint8_t *)plx_row(&confidence, y))[x], 0);
}

/* Obstacles say how sure their distance is. Where the left picture is black or has no texture, no confidence is stated; nor are
 * errors without the plane, or with settings that nobody measured. */
static void how_sure_is_in_the_frame(void **state)
{
    (void)state;
    static const struct plx_error_info none;
    struct plx_pipeline_params params;
    struct input input;
    uint32_t bytes;

    plx_pipeline_params_default(&params);
    params.match.disparities = 64;
    make_input(&input, 640, 480, false);
    for (int i = 0; i < FRAMES; i++)
        memset(input.grey[i][PLX_LEFT] + 400 * 640, 0, 10 * 640);
    struct plx_frame *frame = run(&input, &params, 2, &bytes);
    const struct plx_image confidence = plx_pipeline_plane(frame, PLX_PLANE_CONFIDENCE);
    expect_no_statement(frame, 400, 410);
    assert_true(((uint8_t *)plx_row(&confidence, 240))[400] > 0);
    assert_true(frame->errors.known && frame->errors.sigma_px[255] > 0);
    int sure = 0;
    for (uint32_t i = 0; i < frame->obstacle_count; i++)
        sure += frame->obstacle[i].nearest_sigma_m > 0 && frame->obstacle[i].nearest_sigma_m < frame->obstacle[i].nearest_m / 4;
    assert_true(sure > 0);
    free(frame);

    for (int i = 0; i < FRAMES * PLX_EYES; i++)
        memset(input.grey[i / PLX_EYES][i % PLX_EYES], 255, 640 * 480);
    frame = run(&input, &params, 2, &bytes); /* without texture every disparity fits as well */
    expect_no_statement(frame, 0, 480);
    free(frame);

    params.match.p2 = 100;
    frame = run(&input, &params, 2, &bytes);
    assert_memory_equal(&frame->errors, &none, sizeof none);
    for (uint32_t i = 0; i < frame->obstacle_count; i++)
        assert_true(frame->obstacle[i].nearest_sigma_m == 0);
    free(frame);
    plx_match_default(&params.match);
    params.match.disparities = 64;
    params.confidence = false;
    frame = run(&input, &params, 2, &bytes);
    assert_memory_equal(&frame->errors, &none, sizeof none);
    free(frame);
    free_input(&input);
}

/* The camera of the scene stands. */
static void motion_is_in_the_frame_unless_switched_off(void **state)
{
    (void)state;
    const struct plx_motion_info none = {.valid = 0};
    struct plx_pipeline_params params;
    struct input input;
    uint32_t bytes;

    plx_pipeline_params_default(&params);
    params.match.disparities = 64;
    make_input(&input, 640, 480, false);
    struct plx_frame *frame = run(&input, &params, 2, &bytes);
    assert_int_equal(frame->motion.source, PLX_MOTION_VISUAL);
    assert_true(frame->motion.valid && frame->motion.inliers > 100);
    assert_int_equal(frame->motion.interval_ns, 100000000);
    assert_true(plx_pose_distance(&frame->motion.motion) < 0.002);
    assert_true(plx_pose_distance(&frame->motion.pose) < 0.005);
    free(frame);

    params.motion = PLX_MOTION_NONE;
    frame = run(&input, &params, 2, &bytes);
    assert_memory_equal(&frame->motion, &none, sizeof none);
    free(frame);
    free_input(&input);
}

static struct plx_predictions predicted[FRAMES]; /* what the stage segments got */
static int predicted_frames;

static int spy_records(struct plx_stages *self, const struct plx_image *disparity, const struct plx_ground *ground,
                       const struct plx_segments_params *params, const struct plx_predictions *predictions,
                       const struct plx_image *stixels, const struct plx_image *ret_labels, uint32_t *ret_count)
{
    predicted[predicted_frames++] = *predictions;
    return cpu_ops->segments(self, disparity, ground, params, predictions, stixels, ret_labels, ret_count);
}

static void spy_on_records(struct plx_stages_ops *ops)
{
    ops->segments = spy_records;
}

/* What was seen in two frames is predicted for the third; the scene moves by less than the margins there. */
static void the_stage_records_gets_what_tracks_predict(void **state)
{
    (void)state;
    struct plx_pipeline_params params;
    struct input input;
    uint32_t bytes;

    plx_pipeline_params_default(&params);
    params.match.disparities = 64;
    make_input(&input, 320, 240, false);
    struct plx_frame *frame = run_with_spy(&input, &params, 2, spy_on_records, &bytes);
    assert_int_equal(predicted_frames, FRAMES);
    assert_int_equal(predicted[0].count, 0);
    assert_int_equal(predicted[1].count, 0);
    assert_in_range(predicted[2].count, 1, PLX_MAX_OBSTACLES);
    int found = 0;
    for (int i = 0; i < predicted[2].count; i++)
        for (uint32_t k = 0; k < frame->obstacle_count; k++) {
            const struct plx_predicted_box *box = &predicted[2].box[i];
            const struct plx_obstacle *o = &frame->obstacle[k];
            found += abs(box->left + 4 - o->x) <= 8 && abs(box->right - 4 - o->x - o->width) <= 8 && box->top <= o->y &&
                     box->bottom >= o->y + o->height;
        }
    assert_true(found >= predicted[2].count / 2);
    free(frame);
    free_input(&input);
}

static int frames_filtered;
static bool history_was_valid[FRAMES]; /* somewhere, when the filter began */

static int spy_temporal(struct plx_stages *self, const struct plx_image *src, const struct plx_temporal *temporal,
                        const struct plx_image *history, const struct plx_image *dst)
{
    bool valid = false;
    for (int y = 0; y < history->height; y++) {
        const uint16_t *row = plx_row(history, y);
        for (int x = 0; x < history->width; x++)
            valid = valid || row[x] != PLX_DISPARITY_INVALID;
    }
    history_was_valid[frames_filtered++] = valid;
    return cpu_ops->temporal(self, src, temporal, history, dst);
}

static void spy_on_temporal(struct plx_stages_ops *ops)
{
    ops->temporal = spy_temporal;
}

/* Before the first frame nothing is known: zeros would be disparities of 0. */
static void the_temporal_filter_begins_without_a_history(void **state)
{
    (void)state;
    struct plx_pipeline_params params;
    struct input input;
    uint32_t bytes;

    plx_pipeline_params_default(&params);
    params.match.disparities = 64;
    params.temporal.max_step = 16;
    make_input(&input, 320, 240, false);
    struct plx_frame *frame = run_with_spy(&input, &params, 2, spy_on_temporal, &bytes);
    assert_int_equal(frames_filtered, FRAMES);
    assert_true(!history_was_valid[0] && history_was_valid[1] && history_was_valid[2]);
    free(frame);
    free_input(&input);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_follow_each_other_and_fit),
        cmocka_unit_test(planes_have_the_sizes_written_out_here),
        cmocka_unit_test(wrong_parameters_are_refused_by_name),
        cmocka_unit_test(combinations_are_refused_at_their_limits),
        cmocka_unit_test(frames_are_the_same_with_any_number_of_threads),
        cmocka_unit_test(lenses_are_undone_with_any_number_of_threads),
        cmocka_unit_test(the_scene_is_seen),
        cmocka_unit_test(how_sure_is_in_the_frame),
        cmocka_unit_test(motion_is_in_the_frame_unless_switched_off),
        cmocka_unit_test(the_stage_records_gets_what_tracks_predict),
        cmocka_unit_test(the_temporal_filter_begins_without_a_history),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
