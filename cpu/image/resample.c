/* SPDX-License-Identifier: Apache-2.0 */
/* Resampling with bilinear interpolation: rectification and the affine map. A neighbour outside the image counts as 0. */
#include <stdatomic.h>

#include <parallax/error.h>

#include "cpu/internal.h"

/* Weights are products of two fractions of 32, so the Q10 sum in 32-bit integers loses nothing; it is rounded half up. */
static unsigned blend(unsigned top_left, unsigned top_right, unsigned bottom_left, unsigned bottom_right, unsigned fx,
                      unsigned fy)
{
    unsigned top = top_left * (PLX_REMAP_ONE - fx) + top_right * fx;
    unsigned bottom = bottom_left * (PLX_REMAP_ONE - fx) + bottom_right * fx;
    return (top * (PLX_REMAP_ONE - fy) + bottom * fy + PLX_REMAP_ONE * PLX_REMAP_ONE / 2) / (PLX_REMAP_ONE * PLX_REMAP_ONE);
}

static unsigned pixel_or_zero(const struct plx_image *src, int x, int y)
{
    if (x < 0 || x >= src->width || y < 0 || y >= src->height)
        return 0;
    return src->type == PLX_U16 ? ((const uint16_t *)plx_row(src, y))[x]
                                : ((const uint8_t *)plx_row(src, y))[x * (int)src->type];
}

/* The U8 or U16 sample at AT, wherever that is; of RGB the first channel. */
static unsigned sample(const struct plx_image *src, struct plx_remap_entry at)
{
    return blend(pixel_or_zero(src, at.x, at.y), pixel_or_zero(src, at.x + 1, at.y), pixel_or_zero(src, at.x, at.y + 1),
                 pixel_or_zero(src, at.x + 1, at.y + 1), at.fx, at.fy);
}

/*
 * Rectification by a fixed-point map. With 8-bit pixels the numbers are those of OpenCV's remap (INTER_LINEAR, BORDER_CONSTANT
 * 0); 16-bit pixels, which OpenCV interpolates in float, use the same integers.
 */
struct rectify_job {
    const struct plx_image *src, *dst;
    const struct plx_remap *map;
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
            value = blend(load(top, at.x, wide), load(top, at.x + 1, wide), load(bottom, at.x, wide),
                          load(bottom, at.x + 1, wide), at.fx, at.fy);
        } else {
            value = sample(src, at);
            masked += lies_outside(src, at);
        }
        if (wide)
            wide_out[x] = (uint16_t)value;
        else
            out[x] = (uint8_t)value;
    }
    return masked;
}

/* The same for RGB, without counting. */
static void rectify_rgb_row(const struct rectify_job *job, int y)
{
    const struct plx_image *src = job->src;
    const struct plx_remap_entry *entry = job->map->entry + (size_t)y * (size_t)job->map->width;
    const unsigned inner_x = (unsigned)src->width - 1, inner_y = (unsigned)src->height - 1;
    uint8_t *out = plx_row(job->dst, y);

    for (int x = 0; x < job->dst->width; x++, out += PLX_RGB) {
        const struct plx_remap_entry at = entry[x];
        const bool is_inner = (unsigned)at.x < inner_x && (unsigned)at.y < inner_y;
        const uint8_t *top = (const uint8_t *)plx_row(src, is_inner ? at.y : 0) + (is_inner ? (size_t)at.x * PLX_RGB : 0);
        const uint8_t *bottom = top + (is_inner ? src->pitch : 0);
        const unsigned both = (unsigned)at.fx * at.fy; /* weights of the four neighbours, as in blend */
        const unsigned below = PLX_REMAP_ONE * at.fy - both, beside = PLX_REMAP_ONE * at.fx - both;
        const unsigned here = PLX_REMAP_ONE * PLX_REMAP_ONE - below - beside - both;
        for (int i = 0; i < PLX_RGB && is_inner; i++)
            out[i] = (uint8_t)((top[i] * here + top[PLX_RGB + i] * beside + bottom[i] * below + bottom[PLX_RGB + i] * both +
                                PLX_REMAP_ONE * PLX_REMAP_ONE / 2) /
                               (PLX_REMAP_ONE * PLX_REMAP_ONE));
        for (int i = 0; i < PLX_RGB && !is_inner; i++) { /* the channel as a grey picture */
            const struct plx_image channel = {(uint8_t *)src->data + i, src->width, src->height, src->pitch, PLX_RGB};
            out[i] = (uint8_t)sample(&channel, at);
        }
    }
}

static void rectify_band(void *argument, int first, int last)
{
    struct rectify_job *job = argument;
    unsigned masked = 0;

    for (int y = first; y < last; y++) {
        if (job->src->type == PLX_RGB)
            rectify_rgb_row(job, y);
        else
            masked += rectify_row(job, y);
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
    bool rgb = plx_image_ok(src, PLX_RGB) && plx_image_ok(dst, PLX_RGB);
    if ((!u8 && !u16 && !rgb) || !map || !map->entry || map->width != dst->width || map->height != dst->height ||
        (!ret_masked && !rgb))
        return PLX_ERR_ARG;
    if (!plx_cpu_holds(cpu, src) || !plx_cpu_holds(cpu, dst))
        return PLX_ERR_RANGE;

    struct rectify_job job = {src, dst, map, 0};
    plx_pool_run_bands(cpu->pool, dst->height, rectify_band, &job);
    if (!rgb)
        *ret_masked = atomic_load_explicit(&job.masked, memory_order_relaxed);
    return 0;
}

/* The Q16 source position is rounded half up to 1/32 px. */
struct affine_job {
    const struct plx_image *src, *dst;
    const int32_t *matrix;
};

static int64_t to_parts(int64_t q16)
{
    return (q16 + (1 << 10)) >> 11;
}

static void affine_row(void *argument, int y)
{
    const struct affine_job *job = argument;
    const int32_t *m = job->matrix;
    const int64_t source_x = (int64_t)m[1] * y + m[2], source_y = (int64_t)m[4] * y + m[5];
    uint8_t *out = plx_row(job->dst, y);

    for (int x = 0; x < job->dst->width; x++)
        out[x] = (uint8_t)sample(job->src,
                                 plx_remap_at(to_parts(source_x + (int64_t)m[0] * x), to_parts(source_y + (int64_t)m[3] * x)));
}

int plx_cpu_affine(struct plx_stages *self, const struct plx_image *src, const int32_t matrix[6], const struct plx_image *dst)
{
    struct plx_cpu *cpu = plx_cpu(self);
    if (!plx_image_ok(src, PLX_U8) || !plx_image_ok(dst, PLX_U8) || !matrix)
        return PLX_ERR_ARG;
    if (!plx_cpu_holds(cpu, src) || !plx_cpu_holds(cpu, dst))
        return PLX_ERR_RANGE;
    struct affine_job job = {src, dst, matrix};
    plx_pool_run_rows(cpu->pool, dst->height, affine_row, &job);
    return 0;
}
