/* SPDX-License-Identifier: Apache-2.0 */
/* Image operations pixel by pixel: two images into one, inversion, threshold, and the sum. */
#include <stdatomic.h>

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
    int number, bands;
};

static void pixel_band(void *argument, int index)
{
    const struct pixel_job *job = argument;
    struct plx_band band = plx_band(index, job->bands, job->dst->height);
    for (int y = band.first; y < band.last; y++)
        job->row(plx_row(job->a, y), plx_row(job->b, y), job->number, plx_row(job->dst, y), job->dst->width);
}

static int run(struct plx_stages *self, pixel_row *row, const struct plx_image *a, const struct plx_image *b, int number,
               const struct plx_image *dst)
{
    struct plx_cpu *cpu = plx_cpu(self);
    if (!plx_image_ok(a, PLX_U8) || !plx_image_ok(b, PLX_U8) || !plx_image_ok(dst, PLX_U8) || !plx_same_size(a, b) ||
        !plx_same_size(a, dst))
        return PLX_ERR_ARG;
    if (!plx_cpu_holds(cpu, a))
        return PLX_ERR_RANGE;
    struct pixel_job job = {row, a, b, dst, number, plx_band_count(cpu, dst->height)};
    plx_pool_run(cpu->pool, job.bands, pixel_band, &job);
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
    int bands;
    atomic_ullong sum;
};

static void sum_band(void *argument, int index)
{
    struct sum_job *job = argument;
    struct plx_band band = plx_band(index, job->bands, job->src->height);
    unsigned long long sum = 0;
    for (int y = band.first; y < band.last; y++) {
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
    if (!plx_image_ok(src, PLX_U8) || !ret_sum)
        return PLX_ERR_ARG;
    if (!plx_cpu_holds(cpu, src))
        return PLX_ERR_RANGE;
    struct sum_job job = {src, plx_band_count(cpu, src->height), 0};
    plx_pool_run(cpu->pool, job.bands, sum_band, &job);
    *ret_sum = atomic_load_explicit(&job.sum, memory_order_relaxed);
    return 0;
}
