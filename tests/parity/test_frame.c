/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole frames: header, planes, ground, obstacles and their tracks of the GPU are the CPU's, byte by byte, over successive
 * frames of the demonstration scene, and on real pairs (golden_pgm.py's, under PLX_PARITY_DATA or the directory given), with
 * each kind of shared memory that the device has, and each way to launch stage sgm. The first frame of each pipeline is
 * recorded as a graph, the others replay it.
 */
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/selftest/fixture.h"
#include "core/base/clock.h"
#include "cpu/cpu.h"
#include "drivers/files/picture.h"
#include "gpu/gpu.h"
#include "tests/parity/parity.h"

#define FRAMES 4
#define SLOTS 4
#define REAL_PAIRS 6

static void classic(struct plx_pipeline_params *p)
{
    plx_match_classic(&p->match);
}
static void four_paths(struct plx_pipeline_params *p)
{
    p->match.paths = 4;
}
static void every_filter(struct plx_pipeline_params *p)
{
    p->prefilter_width = 5;
    p->prefilter_height = 3;
    p->speckle.max_size = 50;
    p->temporal.max_step = 16;
    p->right = true;
}
static void nothing_more(struct plx_pipeline_params *p)
{
    p->refine = false;
    p->ground = false;
    p->obstacles = false;
}
static void before_infinity(struct plx_pipeline_params *p)
{
    p->match.min_disparity = -16;
}
static void near_only(struct plx_pipeline_params *p)
{
    p->match.min_disparity = 16;
    p->obstacles = false;
}
static void corrected(struct plx_pipeline_params *p)
{
    p->correction = PLX_CORRECTION_ROWS;
}

static void as_it_is(struct plx_pipeline_params *p)
{
    (void)p;
}

static const struct {
    const char *name;
    int width, height, disparities;
    bool distorted;
    enum plx_format format;
    void (*change)(struct plx_pipeline_params *params);
} cases[] = {
    {"default", 640, 480, 64, false, PLX_FORMAT_GREY, as_it_is},
    {"default, rectified", 640, 480, 128, true, PLX_FORMAT_GREY, as_it_is},
    {"default, odd size", 513, 377, 64, true, PLX_FORMAT_GREY, as_it_is},
    {"default, as KITTI", 1241, 377, 128, false, PLX_FORMAT_GREY, as_it_is},
    {"default, D 256", 641, 243, 256, false, PLX_FORMAT_GREY, as_it_is},
    {"classic", 640, 480, 128, false, PLX_FORMAT_GREY, classic},
    {"classic, rectified, odd size", 321, 239, 64, true, PLX_FORMAT_GREY, classic},
    {"4 paths", 640, 480, 64, true, PLX_FORMAT_GREY, four_paths},
    {"every filter", 513, 241, 64, true, PLX_FORMAT_GREY, every_filter},
    {"disparity only", 513, 241, 64, false, PLX_FORMAT_GREY, nothing_more},
    {"correction", 640, 480, 64, true, PLX_FORMAT_GREY, corrected},
    {"correction, pictures that are rectified", 513, 377, 64, false, PLX_FORMAT_GREY, corrected},
    {"minimum -16", 640, 480, 128, true, PLX_FORMAT_GREY, before_infinity},
    {"minimum 16", 640, 480, 64, false, PLX_FORMAT_GREY, near_only},
    {"small", 200, 120, 64, false, PLX_FORMAT_GREY, as_it_is},
};

/* Frames of both backends after the same pairs; sgm as SCHEDULE says, by itself below 0. */
static void compare(struct parity *parity, const struct fixture_kind *kind, enum plx_gpu_memory memory, int schedule,
                    const char *name)
{
    const struct plx_limits limits = fixture_limits(kind);
    struct fixture cpu, gpu;
    struct plx_stages *stages;
    struct plx_error_message message = {""};
    char what[128];

    if (plx_cpu_create(&limits, &stages) < 0)
        exit(1);
    parity_must(fixture_open(stages, kind, &cpu, &message), &message);
    if (plx_gpu_create_memory(&limits, memory, &stages, &message) < 0) {
        printf("%s: %s\n", name, message.text);
        fixture_close(&cpu);
        return;
    }
    parity_must(plx_gpu_set_schedule(stages, schedule), &message);
    parity_must(fixture_open(stages, kind, &gpu, &message), &message);
    for (int i = 0; i < FRAMES; i++) {
        snprintf(what, sizeof what, "%s, memory %d, schedule %d, format %d, frame %d", name, (int)memory, schedule,
                 kind->format, i);
        const int on_cpu = fixture_run(&cpu, i), on_gpu = fixture_run(&gpu, i);
        parity_done(parity, on_cpu, on_gpu, what);
        parity_frames(parity, cpu.frame, gpu.frame, cpu.bytes, what);
    }
    if (cpu.frame->obstacle_count == 0 && kind->params.obstacles && !kind->images)
        printf("%s: the scene shows no obstacle\n", name);
    fixture_close(&cpu);
    fixture_close(&gpu);
}

/* Wants correction number *CONTEXT. */
static bool wanted(void *context, struct plx_correction_order *order)
{
    const uint32_t number = *(const uint32_t *)context;

    *order = (struct plx_correction_order){.number = number, .hold = true};
    order->correction =
        (struct plx_correction){.pitch_rad = 0.001F * (float)number, .disparity_offset_px = 0.5F * (float)number};
    return true;
}

/* Takes no job: what an estimate changes is not compared here. */
static bool refuses(void *context, const struct plx_drift_job *job)
{
    (void)context;
    (void)job;
    return false;
}

static void compare_corrections(struct parity *parity, bool distorted)
{
    struct fixture_kind kind = {640, 480, PLX_FORMAT_GREY, distorted, {.refine = false}, NULL};
    struct plx_error_message message = {""};
    struct plx_stages *stages;
    struct fixture cpu, gpu;

    plx_pipeline_params_default(&kind.params);
    kind.params.match.disparities = 64;
    kind.params.correction = PLX_CORRECTION_ALL;
    const struct plx_limits limits = fixture_limits(&kind);
    for (uint32_t number = 1; number < 4; number++) {
        const struct plx_correction_worker worker = {.context = &number, .wanted = wanted, .ask = refuses};
        parity_must(plx_cpu_create(&limits, &stages), &message);
        parity_must(fixture_open(stages, &kind, &cpu, &message), &message);
        parity_must(plx_gpu_create(&limits, &stages, &message), &message);
        parity_must(fixture_open(stages, &kind, &gpu, &message), &message);
        parity_must(fixture_run(&cpu, 0), &message);
        parity_must(fixture_run(&gpu, 0), &message); /* a recorded frame reads the map that is written after it */
        parity_must(plx_pipeline_use_worker(cpu.pipeline, &worker), &message);
        parity_must(plx_pipeline_use_worker(gpu.pipeline, &worker), &message);
        for (int i = 1; i < 3; i++) {
            const int on_cpu = fixture_run(&cpu, i), on_gpu = fixture_run(&gpu, i);
            parity_done(parity, on_cpu, on_gpu, "corrections");
            parity_frames(parity, cpu.frame, gpu.frame, cpu.bytes, "corrections");
        }
        fixture_close(&cpu);
        fixture_close(&gpu);
    }
}

/* A GPU's frame tells how long each stage took: the sum is nearly the frame's time, and matching has a good part of it. */
static void check_stage_times(struct parity *parity)
{
    struct fixture_kind kind = {640, 480, PLX_FORMAT_GREY, true, {.refine = false}, NULL};
    struct plx_error_message message = {""};
    struct plx_stages *stages;
    struct fixture gpu;

    plx_pipeline_params_default(&kind.params);
    kind.params.match.disparities = 128;
    kind.params.motion = PLX_MOTION_NONE; /* it takes longer than all stages of a GPU */
    const struct plx_limits limits = fixture_limits(&kind);
    parity_must(plx_gpu_create(&limits, &stages, &message), &message);
    parity_must(fixture_open(stages, &kind, &gpu, &message), &message);
    for (int i = 0; i < FRAMES; i++) {
        const int64_t start_ns = plx_now_ns();
        parity_must(plx_pipeline_process(gpu.pipeline, gpu.raw[0], i, gpu.frame), &stages->message);
        const int64_t all_us = (plx_now_ns() - start_ns) / PLX_NS_PER_US;
        const uint32_t *us = gpu.frame->stage_us;
        int64_t sum_us = 0;
        for (int stage = 0; stage < PLX_STAGE_COUNT; stage++)
            sum_us += us[stage];
        parity->comparisons++;
        if (us[PLX_STAGE_RECTIFY] > 0 && us[PLX_STAGE_CENSUS] > 0 && us[PLX_STAGE_SGM] > us[PLX_STAGE_CENSUS] &&
            us[PLX_STAGE_OBSTACLES] > 0 && (i == 0 || 10 * us[PLX_STAGE_SGM] > sum_us) && sum_us <= all_us)
            continue; /* what the frame took besides is for other programs to say */
        parity->failures++;
        printf("FAILED: frame %d took %lld us, its stages %lld:", i, (long long)all_us, (long long)sum_us);
        for (int stage = 0; stage < PLX_STAGE_COUNT; stage++)
            printf(" %u", us[stage]);
        printf("\n");
    }
    fixture_close(&gpu);
}

/* The service's way: slots in a sealed memfd that the backend adopts, written in turn. */
static void compare_slots(struct parity *parity, const struct fixture_kind *kind, enum plx_gpu_memory memory)
{
    const struct plx_limits limits = fixture_limits(kind);
    struct fixture cpu, gpu;
    struct plx_stages *stages;
    struct plx_error_message message = {""};

    if (plx_cpu_create(&limits, &stages) < 0)
        exit(1);
    parity_must(fixture_open(stages, kind, &cpu, &message), &message);
    if (plx_gpu_create_memory(&limits, memory, &stages, &message) < 0) {
        printf("slots: %s\n", message.text);
        fixture_close(&cpu);
        return;
    }
    parity_must(fixture_open(stages, kind, &gpu, &message), &message);

    const size_t bytes = (size_t)SLOTS * gpu.bytes;
    const int fd = memfd_create("slots", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    uint8_t *slots =
        fd < 0 || ftruncate(fd, (off_t)bytes) ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (slots == MAP_FAILED || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)) {
        perror("slots");
        exit(1);
    }
    parity_done(parity, 0, stages->ops->adopt(stages, slots, bytes), "adopt");
    struct plx_frame *own = gpu.frame;
    for (int i = 0; i < 3 * SLOTS; i++) {
        gpu.frame = (struct plx_frame *)(slots + (size_t)(i % SLOTS) * gpu.bytes);
        parity_done(parity, fixture_run(&cpu, i), fixture_run(&gpu, i), "a frame in a slot");
        parity_frames(parity, cpu.frame, gpu.frame, cpu.bytes, "a frame in a slot");
    }
    stages->ops->disown(stages, slots);
    gpu.frame = own;
    fixture_close(&cpu);
    fixture_close(&gpu);
    munmap(slots, bytes);
    close(fd);
}

/* Both presets on real pairs, cut to odd sizes. */
static void compare_real(struct parity *parity, const char *data)
{
    struct fixture_kind kind;
    char pattern[4096], name[96];
    glob_t found;

    snprintf(pattern, sizeof pattern, "%s/stereo/*", data);
    if (glob(pattern, 0, NULL, &found) != 0) {
        printf("real pairs: skipped: nothing in %s/stereo\n", data);
        return;
    }
    for (size_t i = 0; i < found.gl_pathc && i < REAL_PAIRS; i++) {
        const char *last = strrchr(found.gl_pathv[i], '/') + 1;
        struct plx_image pictures[PLX_EYES];
        for (int eye = 0; eye < PLX_EYES; eye++) {
            struct plx_error_message message;
            snprintf(pattern, sizeof pattern, "%s/%s.pgm", found.gl_pathv[i], eye ? "right" : "left");
            parity_must(plx_pgm_read(pattern, &pictures[eye], &message), &message);
        }
        for (int set = 0; set < 2; set++) {
            kind = (struct fixture_kind){321 + 10 * (int)i, 241, PLX_FORMAT_GREY, set == 1, {.refine = false}, pictures};
            plx_pipeline_params_default(&kind.params);
            if (set == 1)
                classic(&kind.params);
            kind.params.match.disparities = 128;
            snprintf(name, sizeof name, "%.60s, %s", last, set == 1 ? "classic, rectified" : "default");
            compare(parity, &kind, PLX_GPU_MEMORY_AUTO, -1, name);
        }
        for (int eye = 0; eye < PLX_EYES; eye++)
            free(pictures[eye].data);
    }
    globfree(&found);
}

int main(int argc, char **argv)
{
    const struct plx_limits small = {64, 64, 64, 1};
    struct fixture_kind kind;
    struct parity parity;

    parity_open(&small, &parity);
    for (int i = 0; i < PARITY_COUNT(cases); i++) {
        kind = (struct fixture_kind){cases[i].width,     cases[i].height,   cases[i].format,
                                     cases[i].distorted, {.refine = false}, NULL};
        plx_pipeline_params_default(&kind.params);
        kind.params.correction = PLX_CORRECTION_OFF; /* pictures that are rectified are not copied */
        cases[i].change(&kind.params);
        kind.params.match.disparities = cases[i].disparities;
        compare(&parity, &kind, PLX_GPU_MEMORY_AUTO, -1, cases[i].name);
        compare(&parity, &kind, i % 2 ? PLX_GPU_MEMORY_MANAGED : PLX_GPU_MEMORY_MAPPED, -1, cases[i].name);
        kind.params.obstacle.method = PLX_OBSTACLES_OF_STIXELS;
        compare(&parity, &kind, i % 2 ? PLX_GPU_MEMORY_MAPPED : PLX_GPU_MEMORY_MANAGED, -1, cases[i].name);
        for (int schedule = 0; schedule < PLX_GPU_SCHEDULES && cases[i].width == 640; schedule++)
            compare(&parity, &kind, PLX_GPU_MEMORY_AUTO, schedule, cases[i].name);
    }
    for (int format = 0; format < PLX_FORMAT_COUNT; format++) {
        kind = (struct fixture_kind){320, 240, (enum plx_format)format, true, {.refine = false}, NULL};
        plx_pipeline_params_default(&kind.params);
        kind.params.match.disparities = 64;
        compare(&parity, &kind, PLX_GPU_MEMORY_AUTO, -1, "every format");
        kind.params.colour.enabled = true;
        kind.distorted = format % 2;
        compare(&parity, &kind, PLX_GPU_MEMORY_AUTO, -1, "every format, in colour");
    }
    for (int memory = PLX_GPU_MEMORY_AUTO; memory <= PLX_GPU_MEMORY_COPIED; memory++)
        compare_slots(&parity, &kind, (enum plx_gpu_memory)memory);
    compare_corrections(&parity, true);
    compare_corrections(&parity, false);
    check_stage_times(&parity);
    compare_real(&parity, argc > 1 ? argv[1] : PLX_PARITY_DATA);
    return parity_close(&parity);
}
