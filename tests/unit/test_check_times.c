/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many frames pass from a fault of the pictures to stop, for each check that looks at them: the whole pipeline on rendered
 * ground, 30 pairs a second of the scene's time. The numbers are the same on every machine; a camera, the stages and the loop
 * of the robot add their times, which tests/vm measures.
 */
#include <stdbool.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/checks/alignment.h"
#include "core/checks/picture_check.h"
#include "cpu/cpu.h"
#include "tests/cmocka.h"
#include "tests/robot.h"

#define WIDTH 320
#define HEIGHT 240
#define FOCAL 265.0
#define HORIZON 64 /* from this row on the pictures show the floor */
#define WALL_M 3.5 /* ahead, behind the zone */
#define RATE_HZ 30
#define TRIP 2                                 /* frames of the zone of robot_zone */
#define SETTLED (PLX_FROZEN_CHECK_PAIRS + 1)   /* good frames before the fault: all checks have seen enough */
#define ROWS_KNOWN (4 * PLX_ALIGNMENT_OFFSETS) /* the same where rows are to be off: its window is full then */
#define MOUNT_KNOWN (2 * RATE_HZ + SETTLED)    /* the same where the camera is to be moved */

struct fault {
    const char *name;
    void (*move)(struct plx_scene *scene);         /* NULL: the camera stays */
    void (*spoil)(struct plx_image eye[PLX_EYES]); /* NULL: the pictures stay as rendered */
    uint32_t flag;                                 /* health flag; 0: too little depth in the zone */
    int most;                                      /* frames until its check says so: the bar */
    const char *window;                            /* why so many */
    bool bare;                                     /* there is no wall behind the floor */
};

/* --- faults -------------------------------------------------------------------------------------------------------------- */

/* One grey with the noise of a sensor, from row FIRST on: nothing to match, and not frozen. */
static void flatten(const struct plx_image *image, int first)
{
    static uint64_t random = 1;
    for (int y = first; y < image->height; y++)
        for (int x = 0; x < image->width; x++)
            ((uint8_t *)plx_row(image, y))[x] = (uint8_t)robot_random(&random, 100, 104);
}

static void hide_everything(struct plx_image eye[PLX_EYES])
{
    flatten(&eye[PLX_LEFT], 0);
    flatten(&eye[PLX_RIGHT], 0);
}

static void hide_floor(struct plx_image eye[PLX_EYES])
{
    flatten(&eye[PLX_LEFT], HORIZON);
    flatten(&eye[PLX_RIGHT], HORIZON);
}

static void scale(const struct plx_image *image, int percent)
{
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++) {
            uint8_t *pixel = (uint8_t *)plx_row(image, y) + x;
            *pixel = (uint8_t)(*pixel * percent / 100 > 255 ? 255 : *pixel * percent / 100);
        }
}

static void overexpose(struct plx_image eye[PLX_EYES])
{
    scale(&eye[PLX_LEFT], 1000);
    scale(&eye[PLX_RIGHT], 1000);
}

static void darken_right(struct plx_image eye[PLX_EYES])
{
    scale(&eye[PLX_RIGHT], 40);
}

/* As a greasy lens: a mean over 7 x 7 pixels. */
static void smear_right(struct plx_image eye[PLX_EYES])
{
    static uint8_t sharp[HEIGHT][WIDTH];
    memcpy(sharp, eye[PLX_RIGHT].data, sizeof sharp);
    for (int y = 3; y < HEIGHT - 3; y++)
        for (int x = 3; x < WIDTH - 3; x++) {
            int sum = 0;
            for (int i = 0; i < 49; i++)
                sum += sharp[y + i / 7 - 3][x + i % 7 - 3];
            ((uint8_t *)plx_row(&eye[PLX_RIGHT], y))[x] = (uint8_t)(sum / 49);
        }
}

static void lower(const struct plx_image *image, int rows)
{
    memmove(plx_row(image, rows), image->data, (size_t)(image->height - rows) * image->pitch);
}

static void lower_right_by_2(struct plx_image eye[PLX_EYES])
{
    lower(&eye[PLX_RIGHT], 2);
}

static void lower_right_by_8(struct plx_image eye[PLX_EYES])
{
    lower(&eye[PLX_RIGHT], 8);
}

static void look_lower(struct plx_scene *scene)
{
    scene->pitch_rad += 2 * ROBOT_DEGREE;
}

static void sink(struct plx_scene *scene)
{
    scene->camera_height_m -= 0.04;
}

static void sink_far(struct plx_scene *scene)
{
    scene->camera_height_m -= 0.15;
}

#define LIGHT PLX_BRIGHTNESS_CHECK_FRAMES, "so many frames in a row"
#define ROWS 2 * PLX_ALIGNMENT_OFFSETS, "20 offsets of rows; two frames give one"
#define MOVED 2 * RATE_HZ + 1, "2 s"

static const struct fault faults[] = {
    {"both pictures without texture", NULL, hide_everything, 0, TRIP, "`frames` of the zone", false},
    {"floor without texture", NULL, hide_floor, PLX_HEALTH_GROUND_LOST, 1, "each frame", false},
    {"both pictures overexposed", NULL, overexpose, PLX_HEALTH_OVEREXPOSED, LIGHT, false},
    {"right picture 60 % darker", NULL, darken_right, PLX_HEALTH_BRIGHTNESS_MISMATCH, LIGHT, false},
    {"right picture blurred", NULL, smear_right, PLX_HEALTH_BLURRED, LIGHT, false},
    {"right picture 2 rows lower", NULL, lower_right_by_2, PLX_HEALTH_MISALIGNED, ROWS, false},
    {"right picture 8 rows lower", NULL, lower_right_by_8, PLX_HEALTH_MISALIGNED, ROWS, false},
    {"the same, nothing but floor in view", NULL, lower_right_by_8, PLX_HEALTH_MISALIGNED, 3 * PLX_ALIGNMENT_OFFSETS,
     "20 offsets of rows; four frames give one", true},
    {"camera turned down by 2 degrees", look_lower, NULL, PLX_HEALTH_CAMERA_MOVED, MOVED, false},
    {"camera 4 cm lower", sink, NULL, PLX_HEALTH_CAMERA_MOVED, MOVED, false},
    {"camera 15 cm lower", sink_far, NULL, PLX_HEALTH_GROUND_LOST, 1, "no ground within a tenth of `mount.z_m`", false},
};

/* --- the robot ----------------------------------------------------------------------------------------------------------- */

/* A robot that stops for the check of FAULT alone, and for its zone. */
static void create(const struct fault *fault, const struct plx_scene *scene, struct plx_stages **ret_stages,
                   struct runner *ret_runner)
{
    const struct plx_limits limits = {.width = WIDTH, .height = HEIGHT, .disparities = 64};
    struct plx_pipeline_params params;
    plx_pipeline_params_default(&params);
    params.match.disparities = 64;
    params.mount = (struct plx_mount){.z_m = scene->camera_height_m, .pitch_deg = scene->pitch_rad / ROBOT_DEGREE};
    params.verdict.stop_flags = fault->flag;
    params.verdict.slow_flags = 0;
    params.zones = robot_zone(1, 2.5, 0.3, 0.5);
    assert_int_equal(plx_cpu_create(&limits, ret_stages), 0);
    runner_create(*ret_stages, &params, WIDTH, HEIGHT, &scene->calibration, ret_runner);
}

static void make_scene(const struct fault *fault, struct plx_scene *ret_scene)
{
    robot_scene(0, 7, ret_scene);
    ret_scene->width = WIDTH;
    ret_scene->height = HEIGHT;
    ret_scene->calibration =
        (struct plx_calibration_info){FOCAL, FOCAL, WIDTH / 2 - 0.5, HEIGHT / 2 - 0.5, WIDTH / 2 - 0.5, ROBOT_BASELINE};
    if (!fault->bare)
        ret_scene->object[ret_scene->object_count++] =
            (struct plx_scene_object){.z = WALL_M, .width = 8, .height = 2, .depth = 0.1};
}

/* The verdict of the FRAMEth pair; SPOIL may be NULL. */
static const struct plx_verdict_info *see(struct runner *runner, const struct plx_scene *scene, int frame,
                                          void (*spoil)(struct plx_image eye[PLX_EYES]))
{
    runner_draw(runner, scene, 0, (uint32_t)frame);
    if (spoil)
        spoil(runner->raw);
    assert_int_equal(runner_run(runner, PLX_NS_PER_S + frame * PLX_NS_PER_S / RATE_HZ), 0);
    return &runner->frame->verdict;
}

/* Frames from the first bad one, which is 1, to the first stop for the check's own reason, and for any reason; 0: none. */
struct count {
    int check, any;
};

static int frames_to_settle(const struct fault *fault)
{
    return fault->flag == PLX_HEALTH_MISALIGNED ? ROWS_KNOWN : fault->flag == PLX_HEALTH_CAMERA_MOVED ? MOUNT_KNOWN : SETTLED;
}

static struct count count_frames(const struct fault *fault)
{
    const int settled = frames_to_settle(fault);
    bool is_settled = false;
    struct plx_scene scene;
    struct plx_stages *stages;
    struct runner runner;
    struct count count = {0, 0};
    int frame = 0;
    make_scene(fault, &scene);
    create(fault, &scene, &stages, &runner);
    for (; frame < settled; frame++) {
        const struct plx_verdict_info *verdict = see(&runner, &scene, frame, NULL);
        const bool is_go = verdict->verdict == PLX_VERDICT_GO;
        if (!is_go && (is_settled || (verdict->reasons != PLX_REASON_SETTLING && frame >= ROBOT_FIRST)))
            fail_msg("%s: reasons %x, faults %x in good frame %d", fault->name, verdict->reasons, verdict->faults, frame);
        is_settled = is_go;
    }
    assert_true(is_settled);
    if (fault->move)
        fault->move(&scene);
    for (int i = 1; i <= fault->most && count.check == 0; i++) {
        const struct plx_verdict_info *verdict = see(&runner, &scene, frame++, fault->spoil);
        const bool stops = verdict->verdict == PLX_VERDICT_STOP;
        if (stops && count.any == 0)
            count.any = i;
        if (stops && (fault->flag ? verdict->faults == fault->flag : (verdict->reasons & PLX_REASON_LITTLE_DEPTH) != 0))
            count.check = i;
    }
    runner_destroy(&runner);
    stages->ops->destroy(stages);
    return count;
}

static void each_check_stops_the_robot_in_its_time(void **state)
{
    (void)state;
    bool in_time = true;
    print_message("| %-35s | %6s | %5s | %4s | %5s | window |\n", "fault", "frames", "s", "most", "first");
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        const struct fault *fault = &faults[i];
        const struct count count = count_frames(fault);
        print_message("| %-35s | %6d | %5.2f | %4d | %5d | %s | %s\n", fault->name, count.check, (double)count.check / RATE_HZ,
                      fault->most, count.any, fault->window, count.check > 0 ? "" : "LATE");
        in_time &= count.check > 0;
    }
    assert_true(in_time);
}

/* A fault that is there from the first pair on: its check has never seen good pictures, and the robot must not go meanwhile. */
static void a_fault_at_the_start_is_never_go(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        const struct fault *fault = &faults[i];
        struct plx_scene scene;
        struct plx_stages *stages;
        struct runner runner;
        make_scene(fault, &scene);
        create(fault, &scene, &stages, &runner);
        if (fault->move)
            fault->move(&scene);
        bool is_found = false;
        for (int frame = 0; frame < 2 * fault->most + SETTLED && !is_found; frame++) {
            const struct plx_verdict_info *verdict = see(&runner, &scene, frame, fault->spoil);
            if (verdict->verdict == PLX_VERDICT_GO)
                fail_msg("%s from the start: go in frame %d", fault->name, frame);
            is_found = fault->flag && verdict->faults == fault->flag;
        }
        assert_true(is_found || !fault->flag);
        runner_destroy(&runner);
        stages->ops->destroy(stages);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_check_stops_the_robot_in_its_time),
        cmocka_unit_test(a_fault_at_the_start_is_never_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
