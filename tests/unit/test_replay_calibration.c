/* SPDX-License-Identifier: Apache-2.0 */
/* Calibrations beside recorded pairs, in the forms of KITTI and Middlebury. */
#include <math.h>

#include "drivers/files/calib_txt.h"
#include "tests/unit/replay_files.h"

#define ROW_LEFT "700 0 320 0 0 701 240 0 0 0 1 0\n"
#define ROW_RIGHT "700 0 321 -350 0 701 240 0 0 0 1 0\n"

static void test_calibration(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int first;
        double baseline;
    } good[] = {
        {ROW_LEFT ROW_RIGHT, 0, 0.5},
        {"P0: " ROW_LEFT "P1: " ROW_RIGHT "Tr: 1 2 3\n", 0, 0.5},
        {"# a comment\nP1: " ROW_RIGHT "\nP0: " ROW_LEFT, 0, 0.5},
        {"P0: " ROW_LEFT "P1: " ROW_RIGHT "P2: 7e2 0 320 140 0 701 240 0 0 0 1 0\nP3: 7e2 0 321 -140 0 701 240 0 0 0 1 0\n", 2,
         0.4},
        {ROW_LEFT ROW_RIGHT, 2, 0.5},
        {"\xEF\xBB\xBFP0: " ROW_LEFT "P1: " ROW_RIGHT, 0, 0.5},
        {"calib_time: 09-Jan-2012\nS_00: 1 2\nP_rect_00: " ROW_LEFT "R_rect_01: 1 0\nP_rect_01: " ROW_RIGHT, 0, 0.5},
        {"cam0=[700 0 320; 0 701 240; 0 0 1]\ncam1=[700 0 321; 0 701 240; 0 0 1]\ndoffs=1\nbaseline=500\nwidth=640\n", 0, 0.5},
    };
    struct plx_calibration_info info;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        files_text("calib.txt", good[i].text);
        int result = plx_calib_txt_read(files_path("calib.txt"), good[i].first, &info, &message);
        if (result < 0)
            fail_msg("%s", message.text);
        assert_true(info.fx == 700.0 && info.fy == 701.0 && info.cx == 320.0 && info.cy == 240.0 && info.cx_right == 321.0);
        assert_true(fabs(info.baseline_m - good[i].baseline) < 1e-12);
    }
    static const struct {
        const char *text;
        int error;
        const char *words;
    } bad[] = {
        {"", PLX_ERR_FORMAT, "no calibration in it"},
        {"fx = 700\n", PLX_ERR_FORMAT, "expected lines P0: and P1: as in KITTI"},
        {"cam0=[1 2 3]\n", PLX_ERR_FORMAT, "calib.txt:1: expected 9 numbers, a matrix; number 4 is bad"},
        {"cam0=[-700 0 320; 0 701 240; 0 0 1]\ncam1=[-700 0 320; 0 701 240; 0 0 1]\nbaseline=500\n", PLX_ERR_RANGE,
         "the focal lengths -700 and 701 px are not both above 0"},
        {"cam0=[700 0 320; 0 701 240; 0 0 1]\nbaseline=500\n", PLX_ERR_FORMAT, "expected cam0=, cam1= and baseline="},
        {ROW_LEFT, PLX_ERR_FORMAT, "has P0, but no P1"},
        {ROW_LEFT "700 0 320\n", PLX_ERR_FORMAT, "calib.txt:2: expected 12 numbers, a matrix; number 4 is bad"},
        {"P0: 700 0 nan 0 0 701 240 0 0 0 1 0\n", PLX_ERR_FORMAT, "calib.txt:1: expected 12 numbers"},
        {"P0: 1 2 3 4 5 6 7 8 9 10 11 12 13\n", PLX_ERR_FORMAT, "calib.txt:1: more than the 12 numbers"},
        {ROW_LEFT ROW_LEFT, PLX_ERR_RANGE, "a baseline of 0 m"},
        {ROW_RIGHT ROW_LEFT, PLX_ERR_RANGE, "a baseline of -0.5 m"},
        {"0 0 320 0 0 701 240 0 0 0 1 0\n" ROW_RIGHT, PLX_ERR_RANGE, "focal lengths 0 and 701"},
        {"710 0 320 0 0 701 240 0 0 0 1 0\n" ROW_RIGHT, PLX_ERR_RANGE, "not rectified"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        files_text("calib.txt", bad[i].text);
        assert_int_equal(plx_calib_txt_read(files_path("calib.txt"), 0, &info, &message), bad[i].error);
        if (!strstr(message.text, "calib.txt") || !strstr(message.text, bad[i].words))
            fail_msg("expected '%s' in '%s'", bad[i].words, message.text);
    }

    static const char *const corrected[] = {"P0: " ROW_LEFT "P1: " ROW_RIGHT,
                                            "P0: " ROW_LEFT "P1: " ROW_RIGHT "corrected: 0 pitch 0 roll 0\n"};
    for (int i = 0; i < 2; i++) {
        struct plx_stereo_calibration calibration;
        files_text("calib.txt", corrected[i]);
        assert_int_equal(plx_calib_txt_find(files_path(""), 0, 640, 480, &calibration, &message), 0);
        assert_int_equal(calibration.corrected, i);
    }
    files_text("calib.txt", ROW_LEFT);

    put_sequence("left", "right", 1); /* beside the last of those */
    const struct plx_replay_options options = at(PLX_TIMING_MAXIMUM);
    static const struct {
        const char *text;
        int result;
    } beside[] = {{NULL, PLX_ERR_NOT_FOUND},
                  {PLX_KITTI_RAW "\n", PLX_ERR_NOT_FOUND},
                  {ROW_LEFT, PLX_ERR_FORMAT},
                  {ROW_LEFT ROW_RIGHT, 0}};
    struct plx_stereo_calibration calibration;
    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        unlink(files_path("calib.txt"));
        if (beside[i].text)
            files_text("calib.txt", beside[i].text);
        struct plx_source *source = opened(&options); /* it is judged when it is asked for */
        assert_int_equal(source->ops->calibration(source, &calibration, &message), beside[i].result);
        source->ops->destroy(source);
    }
    plx_calibration_info(&calibration, &info);
    assert_true(info.baseline_m == 0.5 && info.cx_right == 321.0 && calibration.rectified_width == WIDTH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_calibration, files_begin, files_end),
    };
    return cmocka_run_group_tests(tests, begin_all, end_all);
}
