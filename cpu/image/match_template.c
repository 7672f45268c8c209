/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Template matching by normalized cross-correlation of the deviations from the mean (Lewis, Fast Normalized
 * Cross-Correlation, 1995). With n pixels, patch t and window w, all sums integer and below 2^53:
 *   c = n S(wt) - S(w) S(t), vw = n S(ww) - S(w)^2, vt = n S(tt) - S(t)^2,
 *   score = round half to even of 32768 (c / sqrt(vw vt)), at most 32767; 0 where the window or the patch is flat.
 * The quotient is made of single IEEE operations in double, in that order.
 */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include <parallax/error.h>

#include "cpu/internal.h"

#define MAX_PATCH 65536 /* pixels */

struct match_job {
    const struct plx_image *image, *patch;
    int64_t pixels, patch_sum, patch_variance;
    atomic_ullong best; /* key of the best place so far */
};

/* Orders places: a higher score first, then the smaller y, then the smaller x. */
static unsigned long long make_key(int score, int x, int y)
{
    unsigned long long place = (unsigned long long)y * PLX_MAX_SIDE + (unsigned)x;
    return (unsigned long long)(score + 32768) << 32 | (0xFFFFFFFFu - place);
}

static struct plx_template_match read_key(unsigned long long key)
{
    uint32_t place = 0xFFFFFFFFu - (uint32_t)key;
    return (struct plx_template_match){(int32_t)(place % PLX_MAX_SIDE), (int32_t)(place / PLX_MAX_SIDE),
                                       (int32_t)(key >> 32) - 32768};
}

/* Sums over the columns of the rows that the patch covers now; those of a window follow from its neighbour's. */
struct columns {
    uint32_t sum[PLX_MAX_SIDE], squares[PLX_MAX_SIDE];
};

static void add_row(struct columns *columns, const uint8_t *row, int width)
{
    for (int x = 0; x < width; x++) {
        columns->sum[x] += row[x];
        columns->squares[x] += (uint32_t)row[x] * row[x];
    }
}

static void remove_row(struct columns *columns, const uint8_t *row, int width)
{
    for (int x = 0; x < width; x++) {
        columns->sum[x] -= row[x];
        columns->squares[x] -= (uint32_t)row[x] * row[x];
    }
}

static uint64_t products_at(const struct match_job *job, int x, int y)
{
    uint64_t products = 0;

    for (int row = 0; row < job->patch->height; row++) {
        const uint8_t *w = (const uint8_t *)plx_row(job->image, y + row) + x, *t = plx_row(job->patch, row);
        uint32_t row_products = 0;
        for (int i = 0; i < job->patch->width; i++)
            row_products += (uint32_t)w[i] * t[i];
        products += row_products;
    }
    return products;
}

static int score_of(const struct match_job *job, uint64_t products, uint64_t sum, uint64_t squares)
{
    int64_t covariance = job->pixels * (int64_t)products - (int64_t)sum * job->patch_sum;
    int64_t variance = job->pixels * (int64_t)squares - (int64_t)(sum * sum);
    if (variance == 0 || job->patch_variance == 0)
        return 0;
    double score = (double)covariance / sqrt((double)variance * (double)job->patch_variance) * 32768.0;
    long rounded = lrint(score);
    return rounded > INT16_MAX ? INT16_MAX : rounded < INT16_MIN ? INT16_MIN : (int)rounded;
}

/* The best place of row Y. */
static unsigned long long match_row(const struct match_job *job, const struct columns *columns, int y)
{
    const int width = job->patch->width, places = job->image->width - width + 1;
    unsigned long long best = 0;
    uint64_t sum = 0, squares = 0;

    for (int x = 0; x < width - 1; x++) {
        sum += columns->sum[x];
        squares += columns->squares[x];
    }
    for (int x = 0; x < places; x++) {
        sum += columns->sum[x + width - 1];
        squares += columns->squares[x + width - 1];
        const unsigned long long key = make_key(score_of(job, products_at(job, x, y), sum, squares), x, y);
        best = key > best ? key : best;
        sum -= columns->sum[x];
        squares -= columns->squares[x];
    }
    return best;
}

static void match_band(void *argument, int first, int last)
{
    struct match_job *job = argument;
    const int width = job->image->width, height = job->patch->height;
    struct columns columns;
    unsigned long long best = 0;

    memset(columns.sum, 0, (size_t)width * sizeof *columns.sum);
    memset(columns.squares, 0, (size_t)width * sizeof *columns.squares);
    for (int y = first; y < first + height - 1; y++)
        add_row(&columns, plx_row(job->image, y), width);
    for (int y = first; y < last; y++) {
        add_row(&columns, plx_row(job->image, y + height - 1), width);
        const unsigned long long key = match_row(job, &columns, y);
        best = key > best ? key : best;
        remove_row(&columns, plx_row(job->image, y), width);
    }
    /* relaxed: a maximum, read after the pool's own synchronisation */
    unsigned long long seen = atomic_load_explicit(&job->best, memory_order_relaxed);
    while (best > seen &&
           !atomic_compare_exchange_weak_explicit(&job->best, &seen, best, memory_order_relaxed, memory_order_relaxed))
        ;
}

int plx_cpu_match_template(struct plx_stages *self, const struct plx_image *image, const struct plx_image *patch,
                           struct plx_template_match *ret_best)
{
    struct plx_cpu *cpu = plx_cpu(self);
    if (!plx_image_ok(image, PLX_U8) || !plx_image_ok(patch, PLX_U8) || !ret_best || patch->width > image->width ||
        patch->height > image->height)
        return PLX_ERR_ARG;
    int64_t pixels = (int64_t)patch->width * patch->height, sum = 0, squares = 0;
    if (!plx_cpu_holds(cpu, image) || pixels > MAX_PATCH)
        return PLX_ERR_RANGE;

    for (int y = 0; y < patch->height; y++) {
        const uint8_t *row = plx_row(patch, y);
        for (int x = 0; x < patch->width; x++) {
            sum += row[x];
            squares += row[x] * row[x];
        }
    }
    struct match_job job = {
        .image = image, .patch = patch, .pixels = pixels, .patch_sum = sum, .patch_variance = pixels * squares - sum * sum};
    plx_pool_run_bands(cpu->pool, image->height - patch->height + 1, match_band, &job);
    *ret_best = read_key(atomic_load_explicit(&job.best, memory_order_relaxed));
    return 0;
}
