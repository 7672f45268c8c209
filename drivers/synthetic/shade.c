/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texture is drawn at the scale that suits the depth of the point, in steps of half an octave that blend into each other.
 * Depth is the same for both eyes, so they see the same surface; and at any distance its finest detail spans a few pixels.
 *
 * Each loop does one thing to all points, and only gather_texels looks up memory: the compiler makes vectors of the others.
 * Integers, and single IEEE operations in a fixed order: the bits do not depend on the vector's width.
 */
#include "drivers/synthetic/shade.h"

#include <math.h>
#include <string.h>

#include "drivers/synthetic/texture.h"

#define CONTRAST 0.65f /* texture's contrast around the albedo */
#define SKY_CONTRAST 0.35f
#define SKY_ALBEDO 0.55f
#define SKY_DENSITY 0.8f   /* texels per pixel */
#define LEVEL_SHIFT 37.0f  /* texels: each level shows another part of the tile */
#define TILE_PERIOD 131072 /* PLX_TEXTURE_SIDE texels in 1/256 of a texel */

_Static_assert(TILE_PERIOD == 256 * PLX_TEXTURE_SIDE, "positions wrap at the side of the tile");

/* Bilinear samples in preparation. */
struct samples {
    float s[PLX_SHADE_POINTS], q[PLX_SHADE_POINTS];           /* texels */
    int32_t offset[PLX_SHADE_POINTS];                         /* place of the upper left texel in the tile */
    float part_s[PLX_SHADE_POINTS], part_q[PLX_SHADE_POINTS]; /* 1/256 texel */
    int32_t texels[PLX_SHADE_POINTS]; /* a byte each: upper left, lower left, upper right, lower right */
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
        samples->part_s[i] = (float)(s & 255);
        samples->part_q[i] = (float)(q & 255);
    }
}

static void gather_texels(struct samples *samples, int count)
{
    const uint16_t *tile = plx_texture_pairs();
    for (int i = 0; i < count; i++) {
        const uint16_t *pair = tile + samples->offset[i];
        samples->texels[i] = (int32_t)(pair[0] | (uint32_t)pair[1] << 16);
    }
}

/* Values at the positions S, Q of SAMPLES, in 1/65536 of a grey level. They are integers below 2^24, as are all terms: exact as
 * floats, which every instruction set multiplies in vectors. */
static void sample_texture(struct samples *samples, int count, float *restrict ret_value)
{
    locate_texels(samples, count);
    gather_texels(samples, count);
    for (int i = 0; i < count; i++) {
        int32_t texels = samples->texels[i];
        float upper_left = (float)(texels & 255), lower_left = (float)((texels >> 8) & 255);
        float upper_right = (float)((texels >> 16) & 255), lower_right = (float)((texels >> 24) & 255);
        float part_s = samples->part_s[i], part_q = samples->part_q[i];
        float left = upper_left * (256.0f - part_q) + lower_left * part_q;
        float right = upper_right * (256.0f - part_q) + lower_right * part_q;
        ret_value[i] = left * (256.0f - part_s) + right * part_s;
    }
}

/* COUNT points of one LEVEL; PART is the weight of the next one, 0..255. */
static void shade_level(const struct plx_ray_face *face, int level, int count, const float *s, const float *q,
                        const float *part, float *restrict ret_radiance)
{
    struct samples samples;
    float value[2][PLX_SHADE_POINTS]; /* at this level and at the next */
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
        float fine = (float)(int32_t)(value[0][i] * (1.0f / 256.0f)), coarse = (float)(int32_t)(value[1][i] * (1.0f / 256.0f));
        float blend = fine * (256.0f - part[i]) + coarse * part[i];
        ret_radiance[i] = albedo * (1.0f + CONTRAST * (blend * (1.0f / (128.0f * 65536.0f)) - 1.0f));
    }
}

/* The level is 2 log2(depth / PLX_SHADE_NEAREST_M), log2 being taken as linear between powers of two, which the bits of a float
 * give at once. It is monotonic along a row, so few runs of points share one. */
void plx_shade_face(const struct plx_ray_face *face, int count, const float *s, const float *q, const float *depth,
                    float *ret_radiance)
{
    int32_t level[PLX_SHADE_POINTS];
    float part[PLX_SHADE_POINTS];
    for (int i = 0; i < count; i++) {
        float scaled = depth[i] * (float)(1.0 / PLX_SHADE_NEAREST_M);
        int32_t bits;
        memcpy(&bits, &scaled, sizeof bits);
        int32_t position = bits - (127 << 23);
        position = position < 0 ? 0 : position;
        level[i] = position >> 22 > PLX_RAY_LEVELS - 2 ? PLX_RAY_LEVELS - 2 : position >> 22;
        part[i] = (float)((position >> 14) & 255);
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
    float value[PLX_SHADE_POINTS];
    for (int i = 0; i < count; i++) {
        samples.s[i] = SKY_DENSITY * (u + (float)(first + i));
        samples.q[i] = SKY_DENSITY * v;
    }
    sample_texture(&samples, count, value);
    for (int i = 0; i < count; i++) {
        float texture = value[i] * (1.0f / (128.0f * 65536.0f)) - 1.0f;
        ret_radiance[i] = SKY_ALBEDO * (1.0f + SKY_CONTRAST * texture);
    }
}
