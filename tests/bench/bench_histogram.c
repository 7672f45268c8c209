/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The histogram with its zones on random, constant and natural images, on CPU and GPU: `bench_histogram [width height [bins
 * [picture]]]`, 4096 x 4096 and 256 bins by default. The natural image is a PNG or PGM, repeated to fill the size; by default a
 * picture of the test data, if there is any.
 */
#include "drivers/files/picture.h"
#include "oracle/test_image.h"
#include "tests/bench/timing.h"

struct job {
    int width, height, bins;
    const char *picture;
    struct plx_image image, result;
};

enum kind { RANDOM, BLACK, WHITE, NATURAL, KINDS };

static int run(struct plx_stages *stages, const void *what)
{
    const struct job *job = what;
    return stages->ops->histogram(stages, &job->image, job->bins, &job->result);
}

/* False if there is no such image. */
static bool paint(struct plx_image *image, enum kind kind, const char *path)
{
    struct plx_image picture = {.data = NULL};
    uint64_t random = test_seed();

    if (kind == NATURAL && plx_picture_read(path, PLX_U8, &picture, NULL) < 0)
        return false;
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++) {
            uint8_t *pixel = (uint8_t *)plx_row(image, y) + x;
            if (kind == NATURAL)
                *pixel = ((const uint8_t *)plx_row(&picture, y % picture.height))[x % picture.width];
            else
                *pixel = kind == RANDOM ? (uint8_t)random_next(&random) : kind == WHITE ? 255 : 0;
        }
    free(picture.data);
    return true;
}

static void measure(struct plx_stages *stages, const void *what)
{
    static const char *const name[KINDS] = {"random", "black", "white", "natural"};
    struct job job = *(const struct job *)what;
    struct plx_image host = test_image_new(job.width, job.height, PLX_U8, 0);

    job.result = timing_image(stages, job.bins, PLX_HISTOGRAM_EYE_ROWS, PLX_U32, NULL);
    for (enum kind kind = RANDOM; kind < KINDS; kind++) {
        if (!paint(&host, kind, job.picture)) {
            printf("%-4s %-24s skipped: cannot read %s\n", stages->ops->name, name[kind], job.picture);
            continue;
        }
        job.image = timing_image(stages, job.width, job.height, PLX_U8, host.data);
        timing_report(stages, name[kind], run, &job);
        stages->ops->free(stages, job.image.data);
    }
    stages->ops->free(stages, job.result.data);
    test_image_free(&host);
}

int main(int argc, char **argv)
{
    const struct job job = {.width = argc > 2 ? atoi(argv[1]) : 4096,
                            .height = argc > 2 ? atoi(argv[2]) : 4096,
                            .bins = argc > 3 ? atoi(argv[3]) : 256,
                            .picture = argc > 4 ? argv[4] : PLX_TEST_DATA "/stereo/kitti12_000003/left.png"};
    if (job.width < 1 || job.height < 1 || job.width > PLX_MAX_SIDE || job.height > PLX_MAX_SIDE || job.bins < 1 ||
        256 % job.bins != 0) {
        fputs("usage: bench_histogram [width height [bins (a divisor of 256) [picture]]]\n", stderr);
        return 64;
    }
    printf("%d bins; ", job.bins);
    timing_on_both(job.width, job.height, measure, &job);
    return 0;
}
