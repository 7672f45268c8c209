/* SPDX-License-Identifier: Apache-2.0 */
/* Time of a whole frame, stage by stage: the demonstration scene at 640 x 480, D 64, 8 paths, the default set. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/clock.h"
#include "core/pipeline/pipeline.h"
#include "core/text.h"
#include "cpu/cpu.h"
#include "drivers/synthetic/scene.h"

#define WIDTH 640
#define HEIGHT 480
#define PAIRS 8 /* different pictures, used in turn */
#define WARM 3

static uint8_t picture[PAIRS][PLX_EYES][HEIGHT][WIDTH];

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *value, int count)
{
    qsort(value, (size_t)count, sizeof *value, compare);
    return value[count / 2];
}

static int render(struct plx_scene *scene, struct plx_raw raw[PAIRS][PLX_EYES])
{
    plx_scene_demo(WIDTH, HEIGHT, 1, scene);
    for (int i = 0; i < PAIRS * PLX_EYES; i++) {
        const int pair = i / PLX_EYES, eye = i % PLX_EYES;
        const struct plx_image image = {picture[pair][eye], WIDTH, HEIGHT, WIDTH, PLX_U8};
        if (plx_scene_render(scene, pair * 0.1, (uint32_t)pair, (enum plx_eye)eye, 10000, 1, &image) < 0)
            return PLX_ERR_RANGE;
        raw[pair][eye] = (struct plx_raw){.data = image.data,
                                          .bytes = sizeof picture[pair][eye],
                                          .width = WIDTH,
                                          .height = HEIGHT,
                                          .pitch = WIDTH,
                                          .format = PLX_FORMAT_GREY,
                                          .eye_width = WIDTH};
    }
    return 0;
}

static void print(double *total, double (*stage)[PLX_STAGE_COUNT], int frames)
{
    double column[1000];

    for (int i = 0; i < PLX_STAGE_COUNT; i++) {
        for (int frame = 0; frame < frames; frame++)
            column[frame] = stage[frame][i];
        printf("  %-10s %8.2f ms\n", plx_stage_word(i), median(column, frames) / 1000);
    }
    const double all = median(total, frames);
    printf("  %-10s %8.2f ms = %.1f pairs/s (median of %d)\n", "all", all, 1000 / all, frames);
}

int main(int argc, char **argv)
{
    const int threads = argc > 1 ? atoi(argv[1]) : 2, frames = argc > 2 ? atoi(argv[2]) : 100;
    static double total[1000], stage[1000][PLX_STAGE_COUNT];
    static struct plx_raw raw[PAIRS][PLX_EYES];
    struct plx_scene scene;
    struct plx_stereo_calibration calibration;
    struct plx_pipeline_params params;
    struct plx_plane plane[PLX_PLANE_COUNT];
    struct plx_stages *stages = NULL;
    struct plx_pipeline *pipeline = NULL;
    struct plx_error_message message = {""};
    void *frame = NULL;

    if (threads < 0 || frames < 1 || frames > 1000) {
        fprintf(stderr, "usage: bench_frame [THREADS [FRAMES]]  (default 2 100; at most 1000 frames)\n");
        return 64;
    }
    plx_pipeline_params_default(&params);
    params.match.disparities = 64;
    const struct plx_limits limits = {.width = WIDTH, .height = HEIGHT, .disparities = 64, .threads = threads};
    int result = render(&scene, raw);
    plx_calibration_pinhole(WIDTH, HEIGHT, &scene.calibration, &calibration);
    if (result == 0)
        result = plx_cpu_create(&limits, &stages);
    if (result == 0)
        result = plx_pipeline_create(stages, &params, &calibration, &pipeline, &message);
    if (result == 0)
        result = stages->ops->alloc(stages, plx_pipeline_layout(&params, WIDTH, HEIGHT, plane), &frame);

    for (int i = -WARM; i < frames && result == 0; i++) {
        const int pair = (i + WARM) % PAIRS;
        const int64_t start = plx_now_ns();
        result = plx_pipeline_process(pipeline, raw[pair], start, frame);
        if (i < 0)
            continue;
        total[i] = (double)(plx_now_ns() - start) / PLX_NS_PER_MS;
        for (int j = 0; j < PLX_STAGE_COUNT; j++)
            stage[i][j] = ((const struct plx_frame *)frame)->stage_us[j];
    }
    if (result == 0) {
        printf("whole frame, %d x %d, D 64, 8 paths, default set, %d threads\n", WIDTH, HEIGHT, threads);
        print(total, stage, frames);
    } else {
        fprintf(stderr, "bench_frame: %s\n", message.text[0] ? message.text : plx_strerror(result));
    }
    plx_pipeline_destroy(pipeline);
    if (stages) {
        stages->ops->free(stages, frame);
        stages->ops->destroy(stages);
    }
    return result < 0;
}
