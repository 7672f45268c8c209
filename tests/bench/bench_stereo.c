/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time of the matching stages on the GPU:
 *
 *     bench_stereo [-s WIDTHxHEIGHT] [-d DISPARITIES] [-p PATHS] [-m MULTIPROCESSORS] [-l WARPS[,PAUSE_NS]]
 *                  [-N beside|process] [-c CHOICE] [-n ROUNDS]
 *
 * A row for each size and preset, of one size or of those that the documentation lists: median milliseconds of each stage
 * alone, then median, tenth and ninetieth percentile of all stages. Each is one graph launch with all images in GPU memory,
 * timed until the CPU sees its end; an empty launch takes about 0.01 ms. `classic` computes the strict disparity, as libSGM
 * does; `default` strict disparity, dense disparity and confidence, as the service does. -m confines it to a part of the GPU,
 * -l lets the others read memory at random places while all stages are timed (tests/parity/contention.h), and prints what a
 * copy gets meanwhile; -N times all stages beside a neural network too (tests/bench/network.h), on the others or from a process
 * of its own, and prints what both lose; -c forces a schedule. The last columns: the schedule, the waves (warps of the
 * aggregation lines divided by the warps that the GPU holds at once), and the waste (share of the pixel positions of those
 * warps that lie outside of the image).
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "gpu/gpu.h"
#include "gpu/internal.h"
#include "oracle/matching.h"
#include "oracle/test_image.h"
#include "tests/bench/network.h"
#include "tests/bench/timing.h"
#include "tests/parity/confine.h"
#include "tests/parity/contention.h"

#define WARM_UP 20

struct bench {
    struct plx_stages *stages;
    struct plx_match match;
    int width, height;
    struct plx_image grey[PLX_EYES], plane[MATCHING_PLANES];
    struct plx_step step[MATCHING_CALLS]; /* that run */
    int call[MATCHING_CALLS];             /* what each does: a number of matching_calls */
    int steps;
    struct contention *load; /* NULL: none */
    struct network *network; /* NULL: none */
};

static void must(struct bench *bench, int result)
{
    if (result < 0) {
        fprintf(stderr, "failed: %s: %s\n", plx_strerror(result), bench->stages->message.text);
        exit(1);
    }
}

#define MUST_CUDA(bench, call) must(bench, PLX_CUDA(plx_gpu((bench)->stages), call))

static struct plx_image allocate(struct bench *bench, enum plx_type type)
{
    struct plx_image image = {.width = bench->width, .height = bench->height, .type = type};
    image.pitch = ((size_t)bench->width * type + 63) / 64 * 64;
    must(bench, bench->stages->ops->alloc_local(bench->stages, image.pitch * (size_t)bench->height, NULL, &image.data));
    return image;
}

/* A textured pair, shifted by a disparity that grows downwards, with a little noise. */
static void paint(struct bench *bench)
{
    uint64_t state = test_seed();
    struct plx_image host[2] = {test_image_new(bench->width, bench->height, PLX_U8, 0),
                                test_image_new(bench->width, bench->height, PLX_U8, 0)};

    for (int y = 0; y < bench->height; y++) {
        uint8_t *left = plx_row(&host[0], y), *right = plx_row(&host[1], y);
        const int shift = 4 + 50 * y / bench->height;
        for (int x = 0; x < bench->width; x++)
            right[x] = (uint8_t)(x % 3 ? right[x - 1] + (int)random_below(&state, 9) - 4 : (int)random_below(&state, 256));
        for (int x = 0; x < bench->width; x++)
            left[x] = (uint8_t)(right[x >= shift ? x - shift : 0] + random_below(&state, 3));
    }
    for (int eye = 0; eye < 2; eye++) {
        MUST_CUDA(bench, cudaMemcpy2D(bench->grey[eye].data, bench->grey[eye].pitch, host[eye].data, host[eye].pitch,
                                      (size_t)bench->width, (size_t)bench->height, cudaMemcpyHostToDevice));
        test_image_free(&host[eye]);
    }
}

static void open_bench(struct bench *bench)
{
    const struct plx_limits limits = {.width = bench->width, .height = bench->height, .disparities = bench->match.disparities};
    struct plx_error_message message;

    if (plx_gpu_create(&limits, &bench->stages, &message) < 0) {
        printf("skipped: %s\n", message.text);
        exit(77);
    }
    for (int eye = 0; eye < PLX_EYES; eye++)
        bench->grey[eye] = allocate(bench, PLX_U8);
    for (int i = 0; i < MATCHING_PLANES; i++)
        bench->plane[i] = allocate(bench, matching_type(&bench->match, (enum matching_plane)i));
    paint(bench);
}

static int run_call(const struct plx_step *step, void *context)
{
    const struct bench *bench = context;
    return matching_run_call(bench->stages, bench->call[step - bench->step], bench->grey, &bench->match, bench->plane);
}

/* Makes steps of groups FIRST .. LAST of a frame's calls. The backend runs refining calls beside the others. */
static void choose_calls(struct bench *bench, int first, int last)
{
    bench->steps = 0;
    for (int i = 0; i < MATCHING_CALLS; i++) {
        const struct matching_call *call = &matching_calls[i];
        if ((call->refines && !bench->match.smooth) || (int)call->group < first || (int)call->group > last) /* classic */
            continue;
        bench->step[bench->steps] = (struct plx_step){.stage = call->stage, .place = PLX_STEP_BACKEND, .run = run_call};
        bench->call[bench->steps++] = i;
    }
}

/* Times groups FIRST .. LAST as one graph launch, ROUNDS times; MS gets the times, ascending. False if no call is in them. */
static bool measure(struct bench *bench, int first, int last, int rounds, double *ms)
{
    static const char key[MATCHING_GROUPS][MATCHING_GROUPS];
    uint32_t stage_us[PLX_STAGE_COUNT] = {0};

    choose_calls(bench, first, last);
    if (bench->steps == 0)
        return false;
    const struct plx_frame_run frame = {.step = bench->step,
                                        .backend_steps = bench->steps,
                                        .context = bench,
                                        .key = &key[first][last],
                                        .ret_stage_us = stage_us};
    for (int round = -WARM_UP; round < rounds; round++) {
        if (round == 0) {
            contention_begin(bench->load);
            network_begin(bench->network);
        }
        const int64_t start = plx_now_ns();
        must(bench, bench->stages->ops->run_frame(bench->stages, &frame));
        if (round >= 0)
            ms[round] = (double)(plx_now_ns() - start) / 1e6;
    }
    contention_end(bench->load);
    network_end(bench->network);
    qsort(ms, (size_t)rounds, sizeof *ms, timing_ascending);
    return true;
}

struct row {
    int width, height, disparities, paths;
};

struct conditions {
    int multiprocessors; /* how many the stages may use; 0: all. The backend itself still counts the whole GPU's */
    struct contention *load;
    struct network *network;
    int schedule, rounds;
};

/* Times all stages beside the network, in MS as well. */
static void measure_beside(struct bench *bench, struct network *network, int rounds, double *ms)
{
    const struct network_times alone = network_times(ms, rounds);

    if (!network)
        return;
    bench->network = network;
    measure(bench, 0, MATCHING_GROUPS - 1, rounds, ms);
    network_report(network, "whole", alone, network_times(ms, rounds));
}

static void measure_row(const struct row *row, bool classic, const struct conditions *conditions, double *ms)
{
    struct plx_gpu_plan plan;
    struct bench bench = {.width = row->width, .height = row->height};
    const int rounds = conditions->rounds;

    (classic ? plx_match_classic : plx_match_default)(&bench.match);
    bench.match.disparities = row->disparities;
    bench.match.paths = row->paths;
    open_bench(&bench);
    confine_stages(bench.stages, conditions->multiprocessors);
    plx_gpu(bench.stages)->times_stages = false;
    must(&bench, plx_gpu_set_schedule(bench.stages, conditions->schedule));
    plx_gpu_plan(bench.stages, row->width, row->height, &bench.match, &plan);
    printf("%4dx%-4d D %-3d %d paths %-7s     ", row->width, row->height, row->disparities, row->paths,
           classic ? "classic" : "default");
    for (int group = 0; group < MATCHING_GROUPS; group++) {
        if (measure(&bench, group, group, rounds, ms))
            printf(" %7.3f", ms[rounds / 2]);
        else
            printf("       -");
    }
    bench.load = conditions->load;
    measure(&bench, 0, MATCHING_GROUPS - 1, rounds, ms);
    printf("  %7.3f %7.3f %7.3f  %-16s %5.2f %5.2f %%\n", ms[rounds / 2], ms[rounds / 10], ms[rounds * 9 / 10],
           plx_gpu_schedule_name(plan.schedule), (double)plan.warps / plan.resident, plan.waste * 100);
    fflush(stdout);
    measure_beside(&bench, conditions->network, rounds, ms);
    bench.stages->ops->destroy(bench.stages); /* the end of the process frees the images */
}

static int usage(void)
{
    fputs("usage: bench_stereo [-s WIDTHxHEIGHT] [-d 64|128|256] [-p 4|8] [-m MULTIPROCESSORS] [-l WARPS[,PAUSE_NS] | "
          "-N " NETWORK_WAYS "] "
          "[-c CHOICE] [-n ROUNDS]\n",
          stderr);
    return 64;
}

/* False if the command line is wrong. */
static bool parse(int argc, char **argv, struct row *asked, struct conditions *ret, enum network_way *ret_way, int load[2])
{
    for (int option; (option = getopt(argc, argv, "s:d:p:m:l:N:c:n:")) != -1;) {
        if (option == '?' || (option == 's' && sscanf(optarg, "%dx%d", &asked->width, &asked->height) != 2) ||
            (option == 'l' && sscanf(optarg, "%d,%d", &load[0], &load[1]) < 1) ||
            (option == 'N' && !network_parse(optarg, ret_way)))
            return false;
        else if (option == 'd')
            asked->disparities = atoi(optarg);
        else if (option == 'p')
            asked->paths = atoi(optarg);
        else if (option == 'm')
            ret->multiprocessors = atoi(optarg);
        else if (option == 'c')
            ret->schedule = atoi(optarg);
        else if (option == 'n')
            ret->rounds = atoi(optarg);
    }
    return optind == argc && ret->rounds >= 1 && ret->multiprocessors >= 0 && load[0] >= 0 && load[0] <= 64 &&
           (load[0] == 0 || *ret_way == NETWORK_NONE); /* each would take all of the other multiprocessors */
}

int main(int argc, char **argv)
{
    static const struct row listed[] = {{1240, 374, 128, 8}, {1240, 374, 128, 4},  {640, 480, 64, 8},  {640, 480, 128, 8},
                                        {1280, 720, 128, 8}, {1920, 1080, 128, 8}, {512, 374, 128, 8}, {513, 374, 128, 8}};
    struct row asked = {.disparities = 128, .paths = 8};
    struct conditions conditions = {.rounds = 200, .schedule = -1};
    enum network_way way = NETWORK_NONE;
    int load[2] = {0, 0}; /* warps, pause in ns */

    if (!parse(argc, argv, &asked, &conditions, &way, load))
        return usage();
    double *ms = malloc((size_t)conditions.rounds * sizeof *ms);
    if (!ms)
        return 1;
    conditions.network = network_create(way);
    conditions.multiprocessors = confine(conditions.multiprocessors);
    conditions.load = contention_create(conditions.multiprocessors, load[0], load[1]);
    network_start(conditions.network);
    printf("%-36s %7s %7s %7s %7s %7s %7s %7s %7s  %7s %7s %7s  %-16s %5s %7s, ms\n", "", "census", "sgm", "median", "check",
           "dense", "facing", "even", "conf", "whole", "p10", "p90", "lines", "waves", "waste");
    const struct row *rows = asked.width ? &asked : listed;
    const size_t count = asked.width ? 1 : sizeof listed / sizeof listed[0];
    for (size_t i = 0; i < count; i++)
        for (int classic = 1; classic >= 0; classic--)
            measure_row(&rows[i], classic, &conditions, ms);
    network_destroy(conditions.network);
    free(ms);
    return 0;
}
