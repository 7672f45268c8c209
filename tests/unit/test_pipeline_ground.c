/* SPDX-License-Identifier: Apache-2.0 */
/* The pipeline holds the ground while frames show none, and says so. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/pipeline/pipeline.h"
#include "cpu/cpu.h"
#include "drivers/synthetic/scene.h"
#include "tests/cmocka.h"

#define WIDTH 320
#define HEIGHT 240
#define PERIOD_NS INT64_C(33000000)
#define HELD 8 /* frames */

struct setup {
    struct plx_stereo_calibration calibration;
    struct plx_stages *stages;
    struct plx_pipeline *pipeline;
    struct plx_frame *frame;
    struct plx_scene scene;
    uint8_t grey[PLX_EYES][WIDTH * HEIGHT];
    int frames;
};

/* The demo's cameras are 1 m high, and look 0.10 rad down with a roll of 0.015 rad. */
static int set_up_mount(void **state, const struct plx_mount *mount)
{
    struct setup *s = calloc(1, sizeof *s);
    const struct plx_limits limits = {WIDTH, HEIGHT, 64, 2};
    struct plx_plane plane[PLX_PLANE_COUNT];
    struct plx_pipeline_params params;

    assert_non_null(s);
    plx_pipeline_params_default(&params);
    params.match.disparities = 64;
    params.mount = *mount;
    plx_scene_demo(WIDTH, HEIGHT, 1, &s->scene);
    plx_calibration_pinhole(WIDTH, HEIGHT, &s->scene.calibration, &s->calibration);
    assert_int_equal(plx_cpu_create(&limits, &s->stages), 0);
    assert_int_equal(plx_pipeline_create(s->stages, &params, &s->calibration, &s->pipeline, NULL), 0);
    const uint32_t bytes = plx_pipeline_layout(&params, WIDTH, HEIGHT, plane);
    s->frame = aligned_alloc(4096, bytes);
    assert_non_null(s->frame);
    *state = s;
    return 0;
}

static int set_up_plain(void **state)
{
    return set_up_mount(state, &(struct plx_mount){.z_m = 0});
}

static int set_up(void **state)
{
    return set_up_mount(state, &(struct plx_mount){.x_m = 0.25, .z_m = 1, .roll_deg = 0.86, .pitch_deg = 5.73});
}

static int set_up_moved(void **state)
{
    return set_up_mount(state, &(struct plx_mount){.x_m = 0.25, .z_m = 1, .roll_deg = 0.86, .pitch_deg = 7.3});
}

static int tear_down(void **state)
{
    struct setup *s = *state;
    plx_pipeline_destroy(s->pipeline);
    s->stages->ops->destroy(s->stages);
    free(s->frame);
    free(s);
    return 0;
}

/* The next frame: the scene, or pictures without any texture. */
static const struct plx_frame *next(struct setup *s, bool scene)
{
    struct plx_raw raw[PLX_EYES];
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const struct plx_image image = {s->grey[eye], WIDTH, HEIGHT, WIDTH, PLX_U8};
        memset(s->grey[eye], 100, sizeof s->grey[eye]);
        if (scene)
            assert_int_equal(
                plx_scene_render(&s->scene, s->frames * 0.033, (uint32_t)s->frames, (enum plx_eye)eye, 10000, 1, &image), 0);
        raw[eye] = (struct plx_raw){.data = s->grey[eye],
                                    .bytes = WIDTH * HEIGHT,
                                    .width = WIDTH,
                                    .height = HEIGHT,
                                    .pitch = WIDTH,
                                    .eye_width = WIDTH};
    }
    assert_int_equal(plx_pipeline_process(s->pipeline, raw, ++s->frames * PERIOD_NS, s->frame), 0);
    return s->frame;
}

static bool is_lost(const struct plx_frame *frame)
{
    return frame->health & PLX_HEALTH_GROUND_LOST;
}

static void the_ground_is_held_for_a_while(void **state)
{
    struct setup *s = *state;
    for (int round = 0; round < 2; round++) {
        const struct plx_frame *frame = next(s, true);
        assert_true(frame->ground.valid && !is_lost(frame) && frame->ground.inlier_ratio > 0.25f);
        const struct plx_ground_info last = frame->ground;
        for (int i = 0; i < HELD; i++) {
            frame = next(s, false);
            assert_true(frame->ground.valid && is_lost(frame));
            assert_true(frame->ground.inlier_ratio == 0);
            assert_true(frame->ground.camera_height_m == last.camera_height_m && frame->ground.pitch_rad == last.pitch_rad);
        }
        frame = next(s, false);
        assert_true(!frame->ground.valid && is_lost(frame) && frame->ground.camera_height_m == 0);
    }
}

#define TWO_SECONDS 61 /* frames */

static void the_mount_agrees_with_the_ground(void **state)
{
    const struct plx_frame *frame = NULL;
    for (int i = 0; i < TWO_SECONDS + 10; i++) {
        frame = next(*state, true);
        assert_false(frame->health & PLX_HEALTH_CAMERA_MOVED);
    }
    const struct plx_mount_info *mount = &frame->mount;
    assert_true(mount->known && mount->measured && mount->x_m == 0.25F && mount->z_m == 1);
    assert_true(mount->base_from_left.translation[0] == 0.25 &&
                mount->base_from_left.translation[2] == (double)frame->ground.camera_height_m);
}

static void a_camera_that_was_moved_is_a_fault(void **state)
{
    const struct plx_frame *frame = NULL;
    for (int i = 0; i < TWO_SECONDS; i++) {
        frame = next(*state, true);
        assert_false(frame->health & PLX_HEALTH_CAMERA_MOVED);
    }
    for (int i = 0; i < 10; i++)
        frame = next(*state, true);
    assert_true(frame->health & PLX_HEALTH_CAMERA_MOVED);
}

/* What the robot stands on does not go away with its picture. */
static void the_mount_holds_the_ground(void **state)
{
    for (int i = 0; i < 5; i++)
        next(*state, true);
    for (int i = 0; i < 4 * HELD; i++) {
        const struct plx_frame *frame = next(*state, false);
        assert_true(is_lost(frame) && frame->ground.valid && fabsf(frame->ground.camera_height_m - 1) < 0.03F);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_ground_is_held_for_a_while, set_up_plain, tear_down),
        cmocka_unit_test_setup_teardown(the_mount_agrees_with_the_ground, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_mount_holds_the_ground, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_camera_that_was_moved_is_a_fault, set_up_moved, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
