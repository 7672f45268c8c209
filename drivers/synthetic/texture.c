/* SPDX-License-Identifier: Apache-2.0 */
/* The tile: value noise in six octaves (Perlin and Hoffert, SIGGRAPH 1989) on lattices that divide the tile. */
#include "drivers/synthetic/texture.h"

#include <pthread.h>
#include <string.h>

#define SIDE PLX_TEXTURE_SIDE
#define OCTAVES 6
#define FINEST_SPACING 2 /* texels between lattice points of the finest octave */

static uint8_t texels[(SIDE + 1) * PLX_TEXTURE_STRIDE];
static uint16_t pairs[SIDE * PLX_TEXTURE_STRIDE];
static pthread_once_t tile_once = PTHREAD_ONCE_INIT;

/* Lattice value in -1..1 of OCTAVE at (X, Y), which wrap at CELLS. */
static float lattice(int octave, int cells, int x, int y)
{
    uint64_t key = (uint64_t)octave << 40 | (uint64_t)(y % cells) << 20 | (uint64_t)(x % cells);
    return (float)(plx_hash(key) >> 40) * (2.0f / 16777216.0f) - 1.0f;
}

static float smoothstep(float t)
{
    return t * t * (3.0f - 2.0f * t);
}

/* Adds WEIGHT times OCTAVE to the texels VALUE[SIDE] of row Y. The lattice is looked up once a cell, not once a texel. */
static void add_octave(int octave, float weight, int y, float *value)
{
    const int spacing = FINEST_SPACING << octave, cells = SIDE / spacing, cell_y = y / spacing;
    const float ty = smoothstep((float)(y % spacing) / (float)spacing);
    float above = lattice(octave, cells, 0, cell_y), below = lattice(octave, cells, 0, cell_y + 1);

    for (int cell_x = 0; cell_x < cells; cell_x++) {
        const float next_above = lattice(octave, cells, cell_x + 1, cell_y),
                    next_below = lattice(octave, cells, cell_x + 1, cell_y + 1);
        for (int i = 0; i < spacing; i++) {
            const float tx = smoothstep((float)i / (float)spacing);
            const float upper = above + (next_above - above) * tx, lower = below + (next_below - below) * tx;
            value[cell_x * spacing + i] += weight * (upper + (lower - upper) * ty);
        }
        above = next_above;
        below = next_below;
    }
}

static void make_row(int y, uint8_t *texel)
{
    static const float weight[OCTAVES] = {60.0f, 50.0f, 40.0f, 35.0f, 30.0f, 30.0f}; /* grey levels */
    float value[SIDE];

    for (int x = 0; x < SIDE; x++)
        value[x] = 128.0f;
    for (int octave = 0; octave < OCTAVES; octave++)
        add_octave(octave, weight[octave], y, value);
    for (int x = 0; x < SIDE; x++)
        texel[x] = (uint8_t)(value[x] < 0.0f ? 0.0f : value[x] > 255.0f ? 255.0f : value[x]);
    memcpy(texel + SIDE, texel, PLX_TEXTURE_STRIDE - SIDE);
}

static void make_tile(void)
{
    for (int y = 0; y < SIDE; y++)
        make_row(y, texels + y * PLX_TEXTURE_STRIDE);
    memcpy(texels + SIDE * PLX_TEXTURE_STRIDE, texels, PLX_TEXTURE_STRIDE);
    for (int i = 0; i < SIDE * PLX_TEXTURE_STRIDE; i++)
        pairs[i] = (uint16_t)(texels[i] | texels[i + PLX_TEXTURE_STRIDE] << 8);
}

const uint8_t *plx_texture_tile(void)
{
    pthread_once(&tile_once, make_tile);
    return texels;
}

const uint16_t *plx_texture_pairs(void)
{
    pthread_once(&tile_once, make_tile);
    return pairs;
}
