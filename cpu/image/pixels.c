/* SPDX-License-Identifier: Apache-2.0 */
/* Stages that look at each pixel alone: two images into one, inversion, threshold, sum and histogram. */
#include <stdatomic.h>
#include <string.h>

#include <parallax/error.h>

#include "cpu/internal.h"

/* OUT from the rows A and B (A again where there is one image) and a number. */
typedef void pixel_row(const uint8_t *a, const uint8_t *b, int number, uint8_t *out, int width);

#define DEFINE_PIXEL_ROW(name, expression)                                                                                     \
    static void name(const uint8_t *a, const uint8_t *b, int number, uint8_t *out, int width)                                  \
    {                                                                                                                          \
        for (int x = 0; x < width; x++) {                                                                                      \
            int p = a[x], q = b[x];                                                                                            \
            (void)q;                                                                                                           \
            (void)number;                                                                                                      \
            out[x] = (uint8_t)(expression);                                                                                    \
        }                                                                                                                      \
    }

DEFINE_PIXEL_ROW(absdiff_row, p > q ? p - q : q - p)
DEFINE_PIXEL_ROW(add_row, p + q > 255 ? 255 : p + q)
DEFINE_PIXEL_ROW(sub_row, p > q ? p - q : 0)
DEFINE_PIXEL_ROW(min_row, p < q ? p : q)
DEFINE_PIXEL_ROW(max_row, p > q ? p : q)
DEFINE_PIXEL_ROW(and_row, p &q)
DEFINE_PIXEL_ROW(or_row, p | q)
DEFINE_PIXEL_ROW(xor_row, p ^ q)
DEFINE_PIXEL_ROW(invert_row, 255 - p)
DEFINE_PIXEL_ROW(threshold_row, p > number ? 255 : 0)

static pixel_row *const binary_rows[] = {
    [PLX_OP_ABSDIFF] = absdiff_row, [PLX_OP_ADD] = add_row, [PLX_OP_SUB] = sub_row, [PLX_OP_MIN] = min_row,
    [PLX_OP_MAX] = max_row,         [PLX_OP_AND] = and_row, [PLX_OP_OR] = or_row,   [PLX_OP_XOR] = xor_row,
};

struct pixel_job {
    pixel_row *row;
    const struct plx_image *a, *b, *dst;
    int number;
};

static void pixel_job_row(void *argument, int y)
{
    const struct pixel_job *job = argument;
    job->row(plx_row(job->a, y), plx_row(job->b, y), job->number, plx_row(job->dst, y), job->dst->width);
}

static int run(struct plx_stages *self, pixel_row *row, const struct plx_image *a, const struct plx_image *b, int number,
               const struct plx_image *dst)
{
    struct plx_cpu *cpu = plx_cpu(self);
    const int result = PLX_CPU_CHECK_IMAGES(cpu, {a, PLX_U8}, {b, PLX_U8}, {dst, PLX_U8});
    if (result < 0)
        return result;
    struct pixel_job job = {row, a, b, dst, number};
    plx_pool_run_rows(cpu->pool, dst->height, pixel_job_row, &job);
    return 0;
}

int plx_cpu_binary(struct plx_stages *self, enum plx_binary_op op, const struct plx_image *a, const struct plx_image *b,
                   const struct plx_image *dst)
{
    return (unsigned)op > PLX_OP_XOR ? PLX_ERR_ARG : run(self, binary_rows[op], a, b, 0, dst);
}

int plx_cpu_invert(struct plx_stages *self, const struct plx_image *src, const struct plx_image *dst)
{
    return run(self, invert_row, src, src, 0, dst);
}

int plx_cpu_threshold(struct plx_stages *self, const struct plx_image *src, int threshold, const struct plx_image *dst)
{
    return run(self, threshold_row, src, src, threshold, dst);
}

struct sum_job {
    const struct plx_image *src;
    atomic_ullong sum;
};

static void sum_band(void *argument, int first, int last)
{
    struct sum_job *job = argument;
    unsigned long long sum = 0;
    for (int y = first; y < last; y++) {
        const uint8_t *row = plx_row(job->src, y);
        uint32_t row_sum = 0;
        for (int x = 0; x < job->src->width; x++)
            row_sum += row[x];
        sum += row_sum;
    }
    /* relaxed: a sum, read after the pool's own synchronisation */
    atomic_fetch_add_explicit(&job->sum, sum, memory_order_relaxed);
}

int plx_cpu_sum(struct plx_stages *self, const struct plx_image *src, uint64_t *ret_sum)
{
    struct plx_cpu *cpu = plx_cpu(self);
    const int result = ret_sum ? PLX_CPU_CHECK_IMAGES(cpu, {src, PLX_U8}) : PLX_ERR_ARG;
    if (result < 0)
        return result;
    struct sum_job job = {src, 0};
    plx_pool_run_bands(cpu->pool, src->height, sum_band, &job);
    *ret_sum = atomic_load_explicit(&job.sum, memory_order_relaxed);
    return 0;
}

#define LANES 4 /* private counters, so that equal neighbours do not wait for each other */
#define LEVELS 256

/* Histogram: a task counts one row of zones, so that no two threads share a counter. */
struct histogram_job {
    const struct plx_image *grey, *bins;
};

/* First row or column of zone INDEX: pixel i of COUNT lies in zone i * PLX_HISTOGRAM_TILES / count. */
static int zone_start(int index, int count)
{
    return (int)(((int64_t)count * index + PLX_HISTOGRAM_TILES - 1) / PLX_HISTOGRAM_TILES);
}

static void count_pixels(const struct plx_image *grey, int x0, int x1, int y0, int y1, uint32_t counter[LANES][LEVELS])
{
    for (int y = y0; y < y1; y++) {
        const uint8_t *row = plx_row(grey, y);
        for (int x = x0; x < x1; x++)
            counter[x % LANES][row[x]]++;
    }
}

static void count_zone_row(void *argument, int zone_y)
{
    const struct histogram_job *job = argument;
    int y0 = zone_start(zone_y, job->grey->height), y1 = zone_start(zone_y + 1, job->grey->height);
    int levels_per_bin = LEVELS / job->bins->width;

    for (int zone_x = 0; zone_x < PLX_HISTOGRAM_TILES; zone_x++) {
        uint32_t counter[LANES][LEVELS] = {{0}};
        int x0 = zone_start(zone_x, job->grey->width), x1 = zone_start(zone_x + 1, job->grey->width);
        count_pixels(job->grey, x0, x1, y0, y1, counter);

        uint32_t *out = plx_row(job->bins, 1 + zone_y * PLX_HISTOGRAM_TILES + zone_x);
        memset(out, 0, (size_t)job->bins->width * sizeof *out);
        for (int level = 0; level < LEVELS; level++)
            for (int lane = 0; lane < LANES; lane++)
                out[level / levels_per_bin] += counter[lane][level];
    }
}

int plx_cpu_histogram(struct plx_stages *self, const struct plx_image *grey, int bins, const struct plx_image *ret_bins)
{
    if (!plx_image_ok(grey, PLX_U8) || !plx_image_ok(ret_bins, PLX_U32) || bins < 1 || LEVELS % bins != 0 ||
        ret_bins->width != bins || ret_bins->height != PLX_HISTOGRAM_EYE_ROWS)
        return PLX_ERR_ARG;
    if (!plx_cpu_holds(plx_cpu(self), grey))
        return PLX_ERR_RANGE;

    struct histogram_job job = {grey, ret_bins};
    plx_pool_run(plx_cpu(self)->pool, PLX_HISTOGRAM_TILES, count_zone_row, &job);

    uint32_t *whole = plx_row(ret_bins, 0);
    memset(whole, 0, (size_t)bins * sizeof *whole);
    for (int zone = 1; zone <= PLX_HISTOGRAM_TILES * PLX_HISTOGRAM_TILES; zone++) {
        const uint32_t *part = plx_row(ret_bins, zone);
        for (int i = 0; i < bins; i++)
            whole[i] += part[i];
    }
    return 0;
}
