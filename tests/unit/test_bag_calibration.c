/* SPDX-License-Identifier: Apache-2.0 */
/* The camera_info of MCAP files becomes a calibration, or a sentence. */
#include "tests/unit/bag_write.h"

/* As a driver publishes it that was calibrated; SHIFT: the fourth number of P. */
static struct ros_camera_info good_info(double shift)
{
    static const double distortion[5] = {0.1, 0, 0, 0, 0};
    return (struct ros_camera_info){.header = {.frame_id = "cam"},
                                    .height = HEIGHT,
                                    .width = WIDTH,
                                    .distortion_model = "plumb_bob",
                                    .d = {.data = distortion, .count = 5},
                                    .k = {10, 0, 1, 0, 11, 0.5, 0, 0, 1},
                                    .r = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                                    .p = {12, 0, 1.5, shift, 0, 12, 0.75, 0, 0, 0, 1, 0}};
}

/* One pair on TOPICS, with both camera_info of LEFT and RIGHT. */
static struct plx_bag *with_info(const char *const topic[PLX_EYES], const struct ros_camera_info *left,
                                 const struct ros_camera_info *right)
{
    bag_begin(topic[PLX_LEFT], topic[PLX_RIGHT]);
    bag_put(2, &ros_camera_info_type, left);
    bag_put(3, &ros_camera_info_type, right);
    bag_put_grey(PLX_LEFT, 0, 1);
    bag_put_grey(PLX_RIGHT, 0, 1);
    bag_finish();
    return bag_open(topic[PLX_LEFT], topic[PLX_RIGHT]);
}

static const char *const rectified[] = {"/cam/left/image_rect_color", "/cam/right/image_rect_color"};
static const char *const raw[] = {"/cam/left/image_correct", "/cam/right/image_correct"}; /* "rect" is no word of it */

static void calibration_beside_the_pictures(void **state)
{
    (void)state;
    const struct ros_camera_info left = good_info(0), right = good_info(-12 * 0.2);
    for (int is_raw = 0; is_raw < 2; is_raw++) {
        bag_is_compressed = is_raw; /* here as there */
        struct plx_bag *pairs = with_info(is_raw ? raw : rectified, &left, &right);
        struct plx_stereo_calibration calibration;
        struct plx_calibration_info numbers;
        struct plx_error_message message;
        assert_int_equal(plx_bag_calibration(pairs, &calibration, &message), 0);
        plx_calibration_info(&calibration, &numbers);
        assert_true(numbers.fx == 12 && numbers.cx == 1.5 && numbers.cy == 0.75);
        assert_true(numbers.baseline_m > 0.19999 && numbers.baseline_m < 0.20001);
        assert_int_equal(plx_calibration_is_identity(&calibration, PLX_LEFT), !is_raw);
        assert_true(is_raw ? calibration.camera[0].k[0] == 0.1 : calibration.camera[0].fx == 12);
        uint8_t left_grey[WIDTH * HEIGHT], right_grey[WIDTH * HEIGHT];
        bag_read_pair(pairs, 0, left_grey, right_grey);
        assert_true(left_grey[0] == 1 && right_grey[0] == 1);
        plx_bag_close(pairs);
    }
    bag_is_compressed = false;
}

static void camera_info_of_one_eye_is_named(void **state)
{
    (void)state;
    const struct ros_camera_info info = good_info(0);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        struct plx_stereo_calibration calibration;
        struct plx_error_message message;
        bag_begin(raw[PLX_LEFT], raw[PLX_RIGHT]);
        bag_put(2 + eye, &ros_camera_info_type, &info);
        bag_put_grey(PLX_LEFT, 0, 1);
        bag_put_grey(PLX_RIGHT, 0, 1);
        bag_finish();
        struct plx_bag *pairs = bag_open(raw[PLX_LEFT], raw[PLX_RIGHT]);
        assert_int_equal(plx_bag_calibration(pairs, &calibration, &message), PLX_ERR_NOT_FOUND);
        assert_non_null(strstr(message.text, eye == PLX_LEFT
                                                 ? "there is /cam/left/camera_info, but no /cam/right/camera_info"
                                                 : "there is /cam/right/camera_info, but no /cam/left/camera_info"));
        plx_bag_close(pairs);
    }
}

/* Binning, regions, empty messages before good ones: as the definition of the message says. */
static void calibration_of_a_part_of_the_picture(void **state)
{
    (void)state;
    struct plx_stereo_calibration calibration;
    struct plx_error_message message;
    for (int eye_with_zeros = 0; eye_with_zeros < 2; eye_with_zeros++) {
        struct ros_camera_info info[PLX_EYES] = {good_info(0), good_info(-24 * 0.2)}, empty = {.distortion_model = ""};
        for (int eye = 0; eye < PLX_EYES; eye++) {
            info[eye].width = 2 * WIDTH + 10;
            info[eye].height = 2 * HEIGHT + 20;
            info[eye].binning_x = info[eye].binning_y = 2;
            info[eye].roi =
                (struct ros_region_of_interest){.x_offset = 4, .y_offset = 6, .width = 2 * WIDTH, .height = 2 * HEIGHT};
            info[eye].k[0] = info[eye].k[4] = info[eye].p[0] = info[eye].p[5] = 24;
            info[eye].k[2] = info[eye].p[2] = 7;
            info[eye].k[5] = info[eye].p[6] = 8;
        }
        bag_begin(raw[PLX_LEFT], raw[PLX_RIGHT]);
        bag_put(2 + eye_with_zeros, &ros_camera_info_type, &empty);
        bag_put(2, &ros_camera_info_type, &info[PLX_LEFT]);
        bag_put(3, &ros_camera_info_type, &info[PLX_RIGHT]);
        bag_put_grey(PLX_LEFT, 0, 1);
        bag_put_grey(PLX_RIGHT, 0, 1);
        bag_finish();
        struct plx_bag *pairs = bag_open(raw[PLX_LEFT], raw[PLX_RIGHT]);
        if (plx_bag_calibration(pairs, &calibration, &message) < 0)
            fail_msg("%s", message.text);
        const struct plx_camera *camera = &calibration.camera[PLX_LEFT];
        assert_true(camera->width == WIDTH && camera->fx == 12 && camera->fy == 12 && camera->cx == 1.5 && camera->cy == 1);
        assert_true(calibration.projection[PLX_RIGHT][2] == 1.5 && calibration.projection[PLX_RIGHT][3] == -12 * 0.2);
        plx_bag_close(pairs);
    }
}

static const double prism[12] = {0.1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.5};

static void damage_nothing(struct ros_camera_info *info)
{
    (void)info;
}
static void damage_k(struct ros_camera_info *info)
{
    memset(info->k, 0, sizeof info->k);
}
static void damage_p(struct ros_camera_info *info)
{
    memset(info->p, 0, sizeof info->p);
}
static void damage_shift(struct ros_camera_info *info)
{
    info->p[3] = -info->p[3];
}
static void damage_unit(struct ros_camera_info *info)
{
    info->p[3] *= 1000;
}
static void damage_size(struct ros_camera_info *info)
{
    info->width = 640;
}
static void damage_rows(struct ros_camera_info *info)
{
    info->p[6] = 1.5;
}
static void damage_focus(struct ros_camera_info *info)
{
    info->p[0] = info->p[5] = 13;
}
static void damage_model(struct ros_camera_info *info)
{
    info->distortion_model = "omni";
}
static void damage_prism(struct ros_camera_info *info)
{
    info->d.data = prism, info->d.count = 12;
}

/* It is judged when somebody asks for it: the pictures are there in any case. */
static void a_calibration_that_is_none_is_said_when_asked_for(void **state)
{
    (void)state;
    static const struct {
        void (*damage)(struct ros_camera_info *info); /* for the right camera */
        int of_rectified, of_raw;                     /* results */
        const char *said;
    } cases[] = {
        {damage_nothing, 0, 0, ""},
        {damage_k, 0, PLX_ERR_RANGE, "right camera_info: K and P begin with 0 and 12"}, /* rectified ones need P only */
        {damage_p, PLX_ERR_RANGE, PLX_ERR_RANGE, "right camera_info: K and P begin with 10 and 0"},
        {damage_shift, PLX_ERR_RANGE, PLX_ERR_RANGE, "the fourth number is 2.4; expected -fx * baseline, below 0"},
        {damage_unit, PLX_ERR_RANGE, PLX_ERR_RANGE, "the baseline is 200 m; expected 0.01 to 2 m; is it in millimetres?"},
        {damage_size, PLX_ERR_RANGE, PLX_ERR_RANGE, "right camera_info: is for pictures of 640 x 2 pixels"},
        {damage_rows, PLX_ERR_RANGE, PLX_ERR_RANGE, "do not share focal length and rows"},
        {damage_focus, PLX_ERR_RANGE, PLX_ERR_RANGE, "do not share focal length and rows"},
        {damage_model, 0, PLX_ERR_UNSUPPORTED, "distortion model \"omni\""},
        {damage_prism, 0, PLX_ERR_UNSUPPORTED, "coefficient 12 of the distortion is not 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int is_raw = 0; is_raw < 2; is_raw++) {
            const struct ros_camera_info left = good_info(0);
            struct ros_camera_info right = good_info(-12 * 0.2);
            struct plx_stereo_calibration calibration;
            struct plx_error_message message = {""};
            const int expected = is_raw ? cases[i].of_raw : cases[i].of_rectified;
            cases[i].damage(&right);
            struct plx_bag *pairs = with_info(is_raw ? raw : rectified, &left, &right);
            const int result = plx_bag_calibration(pairs, &calibration, &message);
            if (result != expected || (expected < 0 && !strstr(message.text, cases[i].said)))
                fail_msg("case %zu, raw %d: %d, %s", i, is_raw, result, message.text);
            plx_bag_close(pairs);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calibration_beside_the_pictures),
        cmocka_unit_test(camera_info_of_one_eye_is_named),
        cmocka_unit_test(calibration_of_a_part_of_the_picture),
        cmocka_unit_test(a_calibration_that_is_none_is_said_when_asked_for),
    };
    return cmocka_run_group_tests(tests, bag_make_file, bag_remove_file);
}
