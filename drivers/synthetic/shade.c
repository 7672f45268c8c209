/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texture is drawn at the scale that suits the depth of the point, in steps of half an octave that blend into each other.
 * Depth is the same for both eyes, so they see the same surface; and at any distance its finest detail spans a few pixels.
 *
 * Each loop does one thing to all points, and only sample_texture looks up memory: the compiler makes vectors of the others.
 * Integers, and single IEEE operations in a fixed order: the bits do not depend on the vector's width.
 */
#include "drivers/synthetic/shade.h"

#include <math.h>
#include <string.h>

#include "drivers/synthetic/texture.h"

#define CONTRAST 0.65f /* of the texture around the albedo */
#define SKY_CONTRAST 0.35f
#define SKY_ALBEDO 0.55f
#define SKY_DENSITY 0.8f   /* texels per pixel */
#define LEVEL_SHIFT 37.0f  /* texels: each level shows another part of the tile */
#define TILE_PERIOD 131072 /* PLX_TEXTURE_SIDE texels in 1/256 of a texel */

_Static_assert(TILE_PERIOD == 256 * PLX_TEXTURE_SIDE, "positions wrap at the side of the tile");

/* Bilinear samples in preparation. */
struct samples {
    float s[PLX_SHADE_POINTS], q[PLX_SHADE_POINTS];             /* texels */
    int32_t offset[PLX_SHADE_POINTS];                           /* of the upper left texel in the tile */
    int32_t part_s[PLX_SHADE_POINTS], part_q[PLX_SHADE_POINTS]; /* 1/256 texel */
};

/* TEXELS in 1/256, rounded toward zero, modulo the tile: its low bits are the position in the tile. Every step is exact. From
 * 2^41 on a float is a multiple of the tile's period. */
static inline int32_t wrap_position(float texels)
{
    float position = texels * 256.0f;
    position = fabsf(position) < 2199023255552.0f ? position : 0.0f;
    return (int32_t)(position - (float)TILE_PERIOD * (float)(int32_t)(position * (1.0f / (float)TILE_PERIOD)));
}

static void locate_texels(struct samples *samples, int count)
{
    for (int i = 0; i < count; i++) {
        int32_t s = wrap_position(samples->s[i]), q = wrap_position(samples->q[i]);
        int32_t column = (s >> 8) & (PLX_TEXTURE_SIDE - 1), row = (q >> 8) & (PLX_TEXTURE_SIDE - 1);
        samples->offset[i] = row * PLX_TEXTURE_STRIDE + column;
        samples->part_s[i] = s & 255;
        samples->part_q[i] = q & 255;
    }
}

/* Values at the positions S, Q of SAMPLES, in 1/65536 of a grey level. The left and the right half of a sample share each
 * multiplication along Q: both results have 16 bits. */
static void sample_texture(struct samples *samples, int count, uint32_t *restrict ret_value)
{
    const uint16_t *tile = plx_texture_pairs();
    locate_texels(samples, count);
    for (int i = 0; i < count; i++) {
        const uint16_t *pair = tile + samples->offset[i];
        uint32_t texels = pair[0] | (uint32_t)pair[1] << 16;
        uint32_t part_s = (uint32_t)samples->part_s[i], part_q = (uint32_t)samples->part_q[i];
        uint32_t halves = (texels & 0xFF00FF) * (256 - part_q) + ((texels >> 8) & 0xFF00FF) * part_q;
        ret_value[i] = (halves & 0xFFFF) * (256 - part_s) + (halves >> 16) * part_s;
    }
}

/* COUNT points of one LEVEL; PART is the weight of the next one, 0..255. */
static void shade_level(const struct plx_ray_face *face, int level, int count, const float *s, const float *q,
                        const int32_t *part, float *restrict ret_radiance)
{
    struct samples samples;
    uint32_t fine[PLX_SHADE_POINTS], coarse[PLX_SHADE_POINTS];
    uint32_t *const value[2] = {fine, coarse};
    float offset = face->shift + LEVEL_SHIFT * (float)level;

    for (int next = 0; next < 2; next++, offset += LEVEL_SHIFT) {
        const float s_density = face->s_density[level + next], q_density = face->q_density[level + next];
        for (int i = 0; i < count; i++) {
            samples.s[i] = (s[i] - face->s_origin) * face->s_stretch * s_density + offset;
            samples.q[i] = (q[i] - face->q_origin) * face->q_stretch * q_density + offset;
        }
        sample_texture(&samples, count, value[next]);
    }
    const float albedo = face->albedo;
    for (int i = 0; i < count; i++) {
        int32_t blend = (int32_t)((fine[i] >> 8) * (uint32_t)(256 - part[i]) + (coarse[i] >> 8) * (uint32_t)part[i]);
        ret_radiance[i] = albedo * (1.0f + CONTRAST * ((float)blend * (1.0f / (128.0f * 65536.0f)) - 1.0f));
    }
}

/* The level is 2 log2(depth / PLX_SHADE_NEAREST_M), log2 being taken as linear between powers of two, which the bits of a float
 * give at once. It is monotonic along a row, so few runs of points share one. */
void plx_shade_face(const struct plx_ray_face *face, int count, const float *s, const float *q, const float *depth,
                    float *ret_radiance)
{
    int32_t level[PLX_SHADE_POINTS], part[PLX_SHADE_POINTS];
    for (int i = 0; i < count; i++) {
        float scaled = depth[i] * (float)(1.0 / PLX_SHADE_NEAREST_M);
        int32_t bits;
        memcpy(&bits, &scaled, sizeof bits);
        int32_t position = bits - (127 << 23);
        position = position < 0 ? 0 : position;
        level[i] = position >> 22 > PLX_RAY_LEVELS - 2 ? PLX_RAY_LEVELS - 2 : position >> 22;
        part[i] = (position >> 14) & 255;
    }
    for (int begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && level[end] == level[begin]; end++)
            ;
        shade_level(face, level[begin], end - begin, s + begin, q + begin, part + begin, ret_radiance + begin);
    }
}

void plx_shade_sky(float u, int first, float v, int count, float *ret_radiance)
{
    struct samples samples;
    uint32_t value[PLX_SHADE_POINTS];
    for (int i = 0; i < count; i++) {
        samples.s[i] = SKY_DENSITY * (u + (float)(first + i));
        samples.q[i] = SKY_DENSITY * v;
    }
    sample_texture(&samples, count, value);
    for (int i = 0; i < count; i++) {
        float texture = (float)(int32_t)value[i] * (1.0f / (128.0f * 65536.0f)) - 1.0f;
        ret_radiance[i] = SKY_ALBEDO * (1.0f + SKY_CONTRAST * texture);
    }
}
