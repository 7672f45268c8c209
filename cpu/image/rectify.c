/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Resampling by a fixed-point map. With 8-bit pixels the numbers are those of OpenCV's remap (INTER_LINEAR, BORDER_CONSTANT
 * 0); 16-bit pixels, which OpenCV interpolates in float, are done by the same integers.
 */
#include <stdatomic.h>

#include <parallax/error.h>

#include "cpu/image/bilinear.h"
#include "cpu/internal.h"

struct rectify_job {
    const struct plx_image *src, *dst;
    const struct plx_remap *map;
    int bands;
    atomic_uint masked;
};

/* True if a neighbour that counts lies outside, that is, the position is not within 0..width-1, 0..height-1. */
static bool lies_outside(const struct plx_image *src, struct plx_remap_entry at)
{
    return at.x < 0 || at.y < 0 || at.x + (at.fx > 0) >= src->width || at.y + (at.fy > 0) >= src->height;
}

static inline unsigned load(const uint8_t *row, int x, bool wide)
{
    return wide ? ((const uint16_t *)(const void *)row)[x] : row[x];
}

/* Returns the masked pixels of row Y. */
static unsigned rectify_row(const struct rectify_job *job, int y)
{
    const struct plx_image *src = job->src;
    const struct plx_remap_entry *entry = job->map->entry + (size_t)y * (size_t)job->map->width;
    const unsigned inner_x = (unsigned)src->width - 1, inner_y = (unsigned)src->height - 1;
    const bool wide = src->type == PLX_U16;
    uint8_t *out = plx_row(job->dst, y);
    uint16_t *wide_out = plx_row(job->dst, y);
    unsigned masked = 0;

    for (int x = 0; x < job->dst->width; x++) {
        struct plx_remap_entry at = entry[x];
        unsigned value;
        if ((unsigned)at.x < inner_x && (unsigned)at.y < inner_y) { /* all four neighbours inside */
            const uint8_t *top = plx_row(src, at.y), *bottom = top + src->pitch;
            value = plx_blend(load(top, at.x, wide), load(top, at.x + 1, wide), load(bottom, at.x, wide),
                              load(bottom, at.x + 1, wide), at.fx, at.fy);
        } else {
            value = plx_sample(src, at);
            masked += lies_outside(src, at);
        }
        if (wide)
            wide_out[x] = (uint16_t)value;
        else
            out[x] = (uint8_t)value;
    }
    return masked;
}

static void rectify_band(void *argument, int index)
{
    struct rectify_job *job = argument;
    struct plx_band band = plx_band(index, job->bands, job->dst->height);
    unsigned masked = 0;

    for (int y = band.first; y < band.last; y++)
        masked += rectify_row(job, y);
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
