/* SPDX-License-Identifier: Apache-2.0 */
/* Census words and gradient of one image. It is copied, smoothed or not, with a clamped border, and read from there. */
#include <string.h>

#include <parallax/error.h>

#include "cpu/internal.h"

#define RADIUS_Y 3 /* half height of the largest window; PLX_PAD columns are enough for its width */
#define MAX_SAMPLES 62

struct census_job {
    const struct plx_kernels *kernels;
    const struct plx_image *src;
    const struct plx_match *match;
    const struct plx_features *features;
    struct plx_image grey, smooth; /* the scratch, without its padding */
    struct plx_census_sample samples[MAX_SAMPLES];
    int count, radius_x, radius_y;
};

/* Samples in raster order; of the symmetric kinds the first half, each against its mirror. */
static void choose_samples(struct census_job *job)
{
    const enum plx_census_kind kind = job->match->census;
    const bool symmetric = kind == PLX_CENSUS_SYMMETRIC_9X7 || kind == PLX_CENSUS_SYMMETRIC_5X5;
    const int bits = plx_census_bits(kind);

    job->radius_x = kind == PLX_CENSUS_SYMMETRIC_5X5 ? 2 : 4;
    job->radius_y = kind == PLX_CENSUS_SYMMETRIC_5X5 ? 2 : 3;
    for (int y = -job->radius_y; y <= job->radius_y; y++) {
        for (int x = -job->radius_x; x <= job->radius_x && job->count < bits; x++) {
            if ((x == 0 && y == 0) || (kind == PLX_CENSUS_CHECKER_9X7 && (x + y) % 2 != 0))
                continue;
            job->samples[job->count++] =
                (struct plx_census_sample){(int8_t)x, (int8_t)y, (int8_t)(symmetric ? -x : 0), (int8_t)(symmetric ? -y : 0)};
        }
    }
}

static void pad(uint8_t *row, int width)
{
    memset(row - PLX_PAD, row[0], PLX_PAD);
    memset(row + width, row[width - 1], PLX_PAD);
}

static const uint8_t *row_near(const struct plx_image *image, int y)
{
    return plx_row(image, y < 0 ? 0 : y >= image->height ? image->height - 1 : y);
}

static void copy_row(void *argument, int y)
{
    const struct census_job *job = argument;
    uint8_t *row = plx_row(&job->grey, y);

    memcpy(row, plx_row(job->src, y), (size_t)job->src->width);
    pad(row, job->src->width);
}

static void smooth_row(void *argument, int y)
{
    const struct census_job *job = argument;
    const struct plx_image *grey = &job->grey;
    uint8_t *row = plx_row(&job->smooth, y);

    job->kernels->smooth(row_near(grey, y - 1), plx_row(grey, y), row_near(grey, y + 1), grey->width, row);
    pad(row, grey->width);
}

/* Clears the words whose window leaves the image. */
static void clear_border(const struct census_job *job, int y)
{
    const struct plx_image *census = &job->features->census;
    const size_t word = (size_t)census->type;
    const int width = census->width, side = job->radius_x < width ? job->radius_x : width;
    uint8_t *row = plx_row(census, y);

    if (y < job->radius_y || y >= census->height - job->radius_y) {
        memset(row, 0, (size_t)width * word);
        return;
    }
    memset(row, 0, (size_t)side * word);
    memset(row + (size_t)(width - side) * word, 0, (size_t)side * word);
}

static void census_row(void *argument, int y)
{
    const struct census_job *job = argument;
    const struct plx_match *match = job->match;
    const struct plx_image *image = match->smooth ? &job->smooth : &job->grey;
    const uint8_t *rows[2 * RADIUS_Y + 1], *const *middle = rows + RADIUS_Y;

    for (int dy = -RADIUS_Y; dy <= RADIUS_Y; dy++)
        rows[RADIUS_Y + dy] = row_near(image, y + dy);
    job->kernels->census(job->samples, job->count, middle, image->width, match->census == PLX_CENSUS_FULL_9X7,
                         plx_row(&job->features->census, y));
    if (match->census_zero_border)
        clear_border(job, y);
    if (match->gradient_cap > 0)
        job->kernels->gradients(middle[-1], middle[0], middle[1], image->width, plx_row(&job->features->gradient, y));
}

/* SCRATCH as an image of the size of SRC, without its padding. */
static struct plx_image scratch_image(const struct plx_image *src, uint8_t *scratch)
{
    return (struct plx_image){scratch + PLX_PAD, src->width, src->height, PLX_PADDED(src->width), PLX_U8};
}

int plx_cpu_census(struct plx_stages *self, const struct plx_image *grey, const struct plx_match *match,
                   const struct plx_features *ret_features)
{
    struct plx_cpu *cpu = plx_cpu(self);
    const int result = plx_census_check(grey, match, ret_features);
    if (result < 0)
        return result;
    if (!plx_cpu_holds(cpu, grey))
        return PLX_ERR_RANGE;

    struct census_job job = {.kernels = cpu->kernels,
                             .src = grey,
                             .match = match,
                             .features = ret_features,
                             .grey = scratch_image(grey, cpu->grey),
                             .smooth = scratch_image(grey, cpu->smooth)};
    choose_samples(&job);
    plx_pool_run_rows(cpu->pool, grey->height, copy_row, &job);
    if (match->smooth)
        plx_pool_run_rows(cpu->pool, grey->height, smooth_row, &job);
    plx_pool_run_rows(cpu->pool, grey->height, census_row, &job);
    return 0;
}
