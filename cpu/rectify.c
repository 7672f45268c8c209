/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resampling by a fixed-point map: bilinear with 5 fractional bits, a neighbour outside the source counts as 0. With 8-bit
 * pixels the numbers are those of OpenCV's remap (INTER_LINEAR, BORDER_CONSTANT 0): its Q15 weights are products of two
 * fractions of 32, so a Q10 sum of 32-bit integers loses nothing.
 */
#include <stdatomic.h>

#include <parallax/error.h>

#include "cpu/band.h"

#define FRACTION_ONE 32

struct rectify_job {
    const struct plx_image *src, *dst;
    const struct plx_remap *map;
    int bands;
    atomic_uint masked;
};

static inline unsigned blend(unsigned top_left, unsigned top_right, unsigned bottom_left, unsigned bottom_right, unsigned fx,
                             unsigned fy)
{
    unsigned top = top_left * (FRACTION_ONE - fx) + top_right * fx;
    unsigned bottom = bottom_left * (FRACTION_ONE - fx) + bottom_right * fx;
    return (top * (FRACTION_ONE - fy) + bottom * fy + FRACTION_ONE * FRACTION_ONE / 2) / (FRACTION_ONE * FRACTION_ONE);
}

static unsigned pixel_or_zero(const struct plx_image *src, int x, int y)
{
    if (x < 0 || x >= src->width || y < 0 || y >= src->height)
        return 0;
    return src->type == PLX_U8 ? ((const uint8_t *)plx_row(src, y))[x] : ((const uint16_t *)plx_row(src, y))[x];
}

/* The sample at an entry one of whose neighbours lies outside. */
static unsigned sample_edge(const struct plx_image *src, struct plx_remap_entry at)
{
    return blend(pixel_or_zero(src, at.x, at.y), pixel_or_zero(src, at.x + 1, at.y), pixel_or_zero(src, at.x, at.y + 1),
                 pixel_or_zero(src, at.x + 1, at.y + 1), at.fx, at.fy);
}

/* True if a neighbour that counts lies outside, that is, the position is not within 0..width-1, 0..height-1. */
static bool lies_outside(const struct plx_image *src, struct plx_remap_entry at)
{
    return at.x < 0 || at.y < 0 || at.x + (at.fx > 0) >= src->width || at.y + (at.fy > 0) >= src->height;
}

/* One row of dst by PIXEL type; the same text for both depths. Returns the masked pixels. */
#define DEFINE_RECTIFY_ROW(name, pixel)                                                                                        \
    static unsigned name(const struct plx_image *src, const struct plx_remap_entry *entry, int width, pixel *out)              \
    {                                                                                                                          \
        const uint8_t *data = src->data;                                                                                       \
        unsigned inner_x = (unsigned)src->width - 1, inner_y = (unsigned)src->height - 1, masked = 0;                          \
        for (int i = 0; i < width; i++) {                                                                                      \
            struct plx_remap_entry at = entry[i];                                                                              \
            if ((unsigned)at.x < inner_x && (unsigned)at.y < inner_y) {                                                        \
                const pixel *top = (const pixel *)(const void *)(data + (size_t)at.y * src->pitch) + at.x;                     \
                const pixel *bottom = (const pixel *)(const void *)((const uint8_t *)top + src->pitch);                        \
                out[i] = (pixel)blend(top[0], top[1], bottom[0], bottom[1], at.fx, at.fy);                                     \
            } else {                                                                                                           \
                out[i] = (pixel)sample_edge(src, at);                                                                          \
                masked += lies_outside(src, at);                                                                               \
            }                                                                                                                  \
        }                                                                                                                      \
        return masked;                                                                                                         \
    }

DEFINE_RECTIFY_ROW(rectify_row_u8, uint8_t)
DEFINE_RECTIFY_ROW(rectify_row_u16, uint16_t)

static void rectify_band(void *argument, int index)
{
    struct rectify_job *job = argument;
    struct plx_band band = plx_band(index, job->bands, job->dst->height);
    unsigned masked = 0;

    for (int y = band.first; y < band.last; y++) {
        const struct plx_remap_entry *entry = job->map->entry + (size_t)y * (size_t)job->map->width;
        masked += job->dst->type == PLX_U8 ? rectify_row_u8(job->src, entry, job->dst->width, plx_row(job->dst, y))
                                           : rectify_row_u16(job->src, entry, job->dst->width, plx_row(job->dst, y));
    }
    /* relaxed: a sum, read after the pool's own synchronisation */
    atomic_fetch_add_explicit(&job->masked, masked, memory_order_relaxed);
}

int plx_cpu_rectify(struct plx_stages *self, const struct plx_image *src, const struct plx_remap *map,
                    const struct plx_image *dst, uint32_t *ret_masked)
{
    struct plx_cpu *cpu = plx_cpu(self);
    bool u8 = plx_image_ok(src, PLX_U8) && plx_image_ok(dst, PLX_U8);
    bool u16 = plx_image_ok(src, PLX_U16) && plx_image_ok(dst, PLX_U16);
    if ((!u8 && !u16) || !map || !map->entry || map->width != dst->width || map->height != dst->height || !ret_masked)
        return PLX_ERR_ARG;
    if (!plx_cpu_holds(cpu, src) || !plx_cpu_holds(cpu, dst))
        return PLX_ERR_RANGE;

    struct rectify_job job = {src, dst, map, plx_band_count(cpu, dst->height), 0};
    plx_pool_run(cpu->pool, job.bands, rectify_band, &job);
    *ret_masked = atomic_load_explicit(&job.masked, memory_order_relaxed);
    return 0;
}
