/* SPDX-License-Identifier: Apache-2.0 */
/* The tile: value noise in six octaves (Perlin and Hoffert, SIGGRAPH 1989) on lattices that divide the tile. */
#include "drivers/synthetic/texture.h"

#include <pthread.h>

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

static float octave_at(int octave, int x, int y)
{
    int spacing = FINEST_SPACING << octave, cells = SIDE / spacing;
    int cell_x = x / spacing, cell_y = y / spacing;
    float tx = smoothstep((float)(x % spacing) / (float)spacing), ty = smoothstep((float)(y % spacing) / (float)spacing);
    float a = lattice(octave, cells, cell_x, cell_y), b = lattice(octave, cells, cell_x + 1, cell_y);
    float c = lattice(octave, cells, cell_x, cell_y + 1), d = lattice(octave, cells, cell_x + 1, cell_y + 1);
    float above = a + (b - a) * tx, below = c + (d - c) * tx;
    return above + (below - above) * ty;
}

static void make_tile(void)
{
    static const float weight[OCTAVES] = {60.0f, 50.0f, 40.0f, 35.0f, 30.0f, 30.0f}; /* grey levels */
    for (int y = 0; y <= SIDE; y++)
        for (int x = 0; x < PLX_TEXTURE_STRIDE; x++) {
            float value = 128.0f;
            for (int octave = 0; octave < OCTAVES; octave++)
                value += weight[octave] * octave_at(octave, x % SIDE, y % SIDE);
            value = value < 0.0f ? 0.0f : value > 255.0f ? 255.0f : value;
            texels[y * PLX_TEXTURE_STRIDE + x] = (uint8_t)value;
        }
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
