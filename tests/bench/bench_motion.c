/* SPDX-License-Identifier: Apache-2.0 */
/* Ego-motion on one core: mean and longest processor time per frame, in ms, of a rendered drive, and of a camera that stands
 * still, whose key frame never changes. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/base/clock.h"
#include "oracle/test_image.h"
#include "tests/motion_camera.h"
#include "tests/motion_scene.h"

#define FRAMES 30

/* Time that this thread used: other processes do not count. */
static double processor_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void measure(int width, int height, double step_m)
{
    struct motion_scene scene;
    struct motion_camera *camera;
    struct plx_motion_info info;
    struct plx_image left = test_image_new(width, height, PLX_U8, 0), disparity = test_image_new(width, height, PLX_U16, 0);
    struct plx_pose pose = PLX_POSE_IDENTITY;
    uint64_t state = 1;
    double sum = 0, longest = 0;
    int inliers = 0;

    motion_scene_init(&scene, width, height);
    scene.disparity_noise = 0.15;
    if (motion_camera_create(width, height, &scene.calibration, &camera) < 0)
        exit(1);
    for (int i = 0; i < FRAMES; i++) {
        motion_scene_render(&scene, &pose, 0, &state, &left, &disparity);
        const double begun = processor_ms();
        motion_camera_see(camera, &left, &disparity, i * PLX_NS_PER_S / 15, &info);
        const double taken = processor_ms() - begun;
        sum += taken;
        longest = taken > longest ? taken : longest;
        inliers += info.inliers;
        pose.translation[2] += step_m;
    }
    printf("%4dx%-4d %5.2f m a frame   mean %5.2f  longest %5.2f ms   %d inliers\n", width, height, step_m, sum / FRAMES,
           longest, inliers / (FRAMES - 1));
    motion_camera_destroy(camera);
    test_image_free(&left);
    test_image_free(&disparity);
}

int main(void)
{
    static const int size[][2] = {{640, 480}, {1240, 374}, {1920, 1080}};
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        measure(size[i][0], size[i][1], 0);
        measure(size[i][0], size[i][1], 0.4);
    }
    return 0;
}
