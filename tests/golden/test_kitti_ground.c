/* SPDX-License-Identifier: Apache-2.0 */
/* The ground in 24 pairs of KITTI, through the whole pipeline: found in each, with the camera 1.65 m above it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "cpu/cpu.h"
#include "drivers/files/picture.h"
#include "tests/cmocka.h"
#include "tests/golden/golden.h"
#include "tests/runner.h"

#define PAIRS 24
#define RATE 10.0
#define CAMERA_HEIGHT_M 1.65 /* Geiger, Lenz, Stiller, Urtasun 2013 */

static const char folder[] = PLX_TEST_DATA "/sequence/kitti_seq1";

/* P0 and P1 of calib.txt, row-major 3x4 each. */
static bool read_calibration(struct plx_calibration_info *ret)
{
    char path[512];
    double p[24];
    int count = 0;
    snprintf(path, sizeof path, "%s/calib.txt", folder);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    while (count < 24 && fscanf(file, "%lf", &p[count]) == 1)
        count++;
    fclose(file);
    assert_int_equal(count, 24);
    *ret = (struct plx_calibration_info){p[0], p[5], p[2], p[6], p[14], -p[15] / p[12]};
    return true;
}

static void ground_of_every_pair(void **state)
{
    (void)state;
    struct plx_calibration_info calibration;
    struct plx_pipeline_params params;
    struct plx_picture_info size;
    struct plx_stages *stages;
    struct runner runner;
    char path[512];

    assert_true(read_calibration(&calibration));
    snprintf(path, sizeof path, "%s/left/%06d.png", folder, 0);
    assert_int_equal(plx_picture_info(path, &size, NULL), 0);
    plx_pipeline_params_default(&params);
    params.dense = params.confidence = false;
    const struct plx_limits limits = {size.width, size.height, params.match.disparities, 0};
    assert_int_equal(plx_cpu_create(&limits, &stages), 0);
    runner_create(stages, &params, size.width, size.height, &calibration, &runner);

    double worst = 0;
    for (int i = 0; i < PAIRS; i++) {
        for (int eye = 0; eye < PLX_EYES; eye++) {
            snprintf(path, sizeof path, "%s/%s/%06d.png", folder, eye == PLX_LEFT ? "left" : "right", i);
            assert_int_equal(plx_picture_read_into(path, &runner.raw[eye], NULL), 0);
        }
        assert_int_equal(runner_run(&runner, PLX_NS_PER_S + (int64_t)(i / RATE * 1e9)), 0);
        const struct plx_ground_info *ground = &runner.frame->ground;
        const double error = (double)ground->camera_height_m / CAMERA_HEIGHT_M - 1;
        print_message("pair %2d: camera %.3f m high (%+.1f %%), pitch %+.4f, roll %+.4f rad, %.0f %% inliers, %u obstacles\n",
                      i, (double)ground->camera_height_m, 100 * error, (double)ground->pitch_rad, (double)ground->roll_rad,
                      100 * (double)ground->inlier_ratio, runner.frame->obstacle_count);
        assert_int_equal(ground->valid, 1);
        worst = fmax(worst, fabs(error));
    }
    print_message("ground in %d of %d pairs, camera height within %.1f %%\n", PAIRS, PAIRS, 100 * worst);
    assert_true(worst <= 0.10);
    runner_destroy(&runner);
    stages->ops->destroy(stages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ground_of_every_pair)};
    return golden_run(tests, NULL, NULL);
}
