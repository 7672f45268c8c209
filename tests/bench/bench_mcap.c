/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it costs to record frames into an MCAP file: processor time, as a share of one core at 30 Hz, and bytes.
 *
 *   bench_mcap [DIR]   the file is made in DIR (default: .) and removed
 *
 * The frames are those of the street, 1226 x 370, D 128: pictures with noise, so that they compress as a camera's do.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/bag_writer/bag_writer.h"
#include "core/base/clock.h"
#include "cpu/cpu.h"
#include "drivers/synthetic/scene.h"
#include "tests/runner.h"

#define WIDTH 1226
#define HEIGHT 370
#define SCENES 4   /* different frames */
#define FRAMES 300 /* recorded */
#define RATE 30

static void must(int result, const char *text)
{
    if (result < 0) {
        fprintf(stderr, "bench_mcap: %s: %s\n", plx_strerror(result), text);
        exit(1);
    }
}

static void make_frames(struct plx_frame *ret_frame[SCENES])
{
    const struct plx_limits limits = {WIDTH, HEIGHT, 128, 0};
    struct plx_pipeline_params params;
    struct plx_stages *stages;
    struct plx_scene scene;
    struct runner runner;

    plx_scene_street(WIDTH, HEIGHT, 1, &scene);
    plx_pipeline_params_default(&params);
    params.right = true;
    must(plx_cpu_create(&limits, &stages), "CPU");
    runner_create(stages, &params, WIDTH, HEIGHT, &scene.calibration, &runner);
    for (int i = 0; i < SCENES; i++) {
        for (int eye = 0; eye < PLX_EYES; eye++)
            must(plx_scene_render(&scene, i / (double)RATE, (uint32_t)i, (enum plx_eye)eye, 10000, 1, &runner.raw[eye]),
                 "scene");
        must(runner_run(&runner, plx_now_ns()), "pipeline");
        ret_frame[i] = malloc(runner.frame->bytes);
        must(ret_frame[i] ? 0 : PLX_ERR_NOMEM, "frame");
        memcpy(ret_frame[i], runner.frame, runner.frame->bytes);
        ret_frame[i]->capture[PLX_LEFT].capture_ns = plx_now_ns();
    }
    runner_destroy(&runner);
    stages->ops->destroy(stages);
}

static double processor_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / PLX_NS_PER_S;
}

static void record(const char *path, const char *topics, struct plx_frame *const frame[SCENES])
{
    struct plx_error_message message = {""};
    struct plx_bag_writer *writer;
    struct stat file;
    uint32_t selected;

    unlink(path);
    must(plx_bag_topics(topics, &selected, &message), message.text);
    must(plx_bag_writer_create(path, selected, PLX_BAG_COMPRESSED, frame[0], &writer, &message), message.text);
    const double begun = processor_s();
    for (int i = 0; i < FRAMES; i++)
        must(plx_bag_writer_add(writer, frame[i % SCENES], NULL, &message), message.text);
    must(plx_bag_writer_finish(writer, &message), message.text);
    const double frame_s = (processor_s() - begun) / FRAMES;
    must(stat(path, &file), path);
    printf("%-28s %6.2f ms a frame, %5.1f %% of a core at %d Hz, %5.1f MB/s\n", topics, frame_s * 1e3, frame_s * RATE * 100,
           RATE, (double)file.st_size / FRAMES * RATE / 1e6);
    unlink(path);
}

int main(int argc, char **argv)
{
    struct plx_frame *frame[SCENES];
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/bench_mcap.mcap", argc > 1 ? argv[1] : ".");
    make_frames(frame);
    record(path, "left,right", frame);
    record(path, "left,right,disparity", frame);
    record(path, "obstacles,odom", frame);
    for (int i = 0; i < SCENES; i++)
        free(frame[i]);
    return 0;
}
