/* SPDX-License-Identifier: Apache-2.0 */
/* Census words and gradient of one image. It is copied, smoothed or not, with a clamped border, and read from there. */
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "cpu/internal.h"

#define RADIUS_Y 3 /* of the largest window; PLX_PAD columns are enough for its width */
#define MAX_SAMPLES 62

struct plx_census_scratch {
    uint8_t *grey, *smooth; /* padded rows */
};

struct census_job {
    const struct plx_kernels *kernels;
    const struct plx_image *src;
    const struct plx_match *match;
    const struct plx_features *features;
    struct plx_image grey, smooth; /* the scratch, without its padding */
    struct plx_census_sample samples[MAX_SAMPLES];
    int count, radius_x, radius_y;
    int bands;
};

int plx_census_scratch_create(int width, int height, struct plx_census_scratch **ret_scratch)
{
    const size_t bytes = PLX_PADDED(width) * (size_t)height;
    struct plx_census_scratch *scratch = calloc(1, sizeof *scratch);
    if (!scratch)
        return PLX_ERR_NOMEM;
    scratch->grey = calloc(bytes, 1);
    scratch->smooth = calloc(bytes, 1);
    if (!scratch->grey || !scratch->smooth) {
        plx_census_scratch_destroy(scratch);
        return PLX_ERR_NOMEM;
    }
    *ret_scratch = scratch;
    return 0;
}

void plx_census_scratch_destroy(struct plx_census_scratch *scratch)
{
    if (!scratch)
        return;
    free(scratch->grey);
    free(scratch->smooth);
    free(scratch);
}

/* Samples in raster order; of the symmetric kinds the first half, each against its mirror. */
static void choose_samples(struct census_job *job)
{
    const enum plx_census_kind kind = job->match->census;
    const bool symmetric = kind == PLX_CENSUS_SYMMETRIC_9X7 || kind == PLX_CENSUS_SYMMETRIC_7X5;
    const int bits = plx_census_bits(kind);

    job->radius_x = kind == PLX_CENSUS_SYMMETRIC_7X5 ? 3 : 4;
    job->radius_y = kind == PLX_CENSUS_SYMMETRIC_7X5 ? 2 : 3;
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

static void copy_band(void *argument, int index)
{
    const struct census_job *job = argument;
    const struct plx_band band = plx_band(index, job->bands, job->src->height);

    for (int y = band.first; y < band.last; y++) {
        uint8_t *row = plx_row(&job->grey, y);
        memcpy(row, plx_row(job->src, y), (size_t)job->src->width);
        pad(row, job->src->width);
    }
}

static void smooth_band(void *argument, int index)
{
    const struct census_job *job = argument;
    const struct plx_band band = plx_band(index, job->bands, job->src->height);

    for (int y = band.first; y < band.last; y++) {
        uint8_t *row = plx_row(&job->smooth, y);
        job->kernels->smooth(row_near(&job->grey, y - 1), plx_row(&job->grey, y), row_near(&job->grey, y + 1), job->src->width,
                             row);
        pad(row, job->src->width);
    }
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

static void census_band(void *argument, int index)
{
    const struct census_job *job = argument;
    const struct plx_match *match = job->match;
    const struct plx_image *image = match->smooth ? &job->smooth : &job->grey;
    const struct plx_band band = plx_band(index, job->bands, job->src->height);
    const uint8_t *rows[2 * RADIUS_Y + 1], *const *middle = rows + RADIUS_Y;

    for (int y = band.first; y < band.last; y++) {
        for (int dy = -RADIUS_Y; dy <= RADIUS_Y; dy++)
            rows[RADIUS_Y + dy] = row_near(image, y + dy);
        job->kernels->census(job->samples, job->count, middle, image->width, match->census == PLX_CENSUS_FULL_9X7,
                             plx_row(&job->features->census, y));
        if (match->census_zero_border)
            clear_border(job, y);
        if (match->gradient_cap > 0)
            job->kernels->gradient(middle[-1], middle[0], middle[1], image->width, plx_row(&job->features->gradient, y));
    }
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

    struct plx_image scratch = {.width = grey->width, .height = grey->height, .pitch = PLX_PADDED(grey->width), .type = PLX_U8};
    struct census_job job = {.kernels = cpu->kernels,
                             .src = grey,
                             .match = match,
                             .features = ret_features,
                             .grey = scratch,
                             .smooth = scratch,
                             .bands = plx_band_count(cpu, grey->height)};
    job.grey.data = cpu->census->grey + PLX_PAD;
    job.smooth.data = cpu->census->smooth + PLX_PAD;
    choose_samples(&job);
    plx_pool_run(cpu->pool, job.bands, copy_band, &job);
    if (match->smooth)
        plx_pool_run(cpu->pool, job.bands, smooth_band, &job);
    plx_pool_run(cpu->pool, job.bands, census_band, &job);
    return 0;
}
