/* SPDX-License-Identifier: Apache-2.0 */
/* The separable filter with windows of every shape, on CPU and GPU: `bench_filter [width height]`, 4096 x 4096 by default. */
#include "core/pipeline/stages.h"
#include "oracle/test_image.h"
#include "tests/bench/timing.h"

struct job {
    struct plx_filter filter;
    struct plx_image src, dst;
};

struct size {
    int width, height;
};

static int run(struct plx_stages *stages, const void *what)
{
    const struct job *job = what;
    return stages->ops->filter(stages, &job->src, &job->filter, &job->dst);
}

static void measure(struct plx_stages *stages, const void *what)
{
    static const int sides[][2] = {{3, 3}, {5, 5}, {7, 7}, {11, 11}, {15, 15}, {21, 21}, {31, 31}, {31, 3}, {3, 31}};
    const struct size *size = what;
    struct plx_image noise = test_image_new(size->width, size->height, PLX_U8, 0);
    uint64_t random = test_seed();

    for (size_t i = 0; i < (size_t)size->width * (size_t)size->height; i++)
        ((uint8_t *)noise.data)[i] = (uint8_t)random_next(&random);
    struct job job = {.src = timing_image(stages, size->width, size->height, PLX_U8, noise.data),
                      .dst = timing_image(stages, size->width, size->height, PLX_U8, NULL)};
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        char name[32];
        snprintf(name, sizeof name, "gaussian %dx%d", sides[i][0], sides[i][1]);
        plx_filter_make(true, sides[i][0], sides[i][1], &job.filter);
        timing_report(stages, name, run, &job);
    }
    plx_filter_make(false, 11, 11, &job.filter);
    timing_report(stages, "box 11x11", run, &job);
    stages->ops->free(stages, job.src.data);
    stages->ops->free(stages, job.dst.data);
    test_image_free(&noise);
}

int main(int argc, char **argv)
{
    const struct size size = {argc > 2 ? atoi(argv[1]) : 4096, argc > 2 ? atoi(argv[2]) : 4096};
    if (size.width < 1 || size.height < 1 || size.width > PLX_MAX_SIDE || size.height > PLX_MAX_SIDE) {
        fputs("usage: bench_filter [width height]\n", stderr);
        return 64;
    }
    timing_on_both(size.width, size.height, measure, &size);
    return 0;
}
