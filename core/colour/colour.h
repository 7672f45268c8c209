/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The colour picture: what the configuration says of it, and the arithmetic of the stages colour and colour_sums, in a subset
 * of C that every backend compiles.
 *
 * A mosaic becomes RGB by linear 5 x 5 filters (Malvar, He, Cutler: High-quality linear interpolation for demosaicing of
 * Bayer-patterned color images, ICASSP 2004) and is then developed: white balance, colour matrix, sRGB's curve (IEC 61966-2-1).
 * Other formats come developed by their camera; YCbCr becomes RGB by ITU-R BT.601 or BT.709.
 */
#ifndef PLX_CORE_COLOUR_COLOUR_H
#define PLX_CORE_COLOUR_COLOUR_H

#include "core/base/both.h"
#include "core/base/image.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PLX_COLOUR_FULL 4095  /* linear light: white */
#define PLX_COLOUR_ONE 4096   /* 1 as a gain or as an element of the matrix */
#define PLX_COLOUR_MAX_GAIN 8 /* candle light, 2,000 K, on a sensor with the primaries of sRGB needs more; tungsten 7.9 */
#define PLX_COLOUR_RATIO_SHIFT 16
#define PLX_YUV_SHIFT 14    /* bits behind the point of the factors of YCbCr */
#define PLX_CHROMA_PARTS 16 /* parts of a chroma value between samples */

enum { PLX_RED, PLX_GREEN, PLX_BLUE, PLX_CHANNELS };

struct plx_colour_params {
    bool enabled;
    double temperature_k;                       /* of the light, for the white balance; 0: it is estimated */
    double red_gain, blue_gain;                 /* relative to green, in its place; 0, 0: by the white balance */
    int black_level;                            /* sample of a mosaic that is black, in its own units */
    double matrix[PLX_CHANNELS * PLX_CHANNELS]; /* from the sensor's colours to sRGB's, both linear and white balanced */
};

/* How a mosaic is developed. */
struct plx_development {
    int32_t black;
    int32_t gain[PLX_CHANNELS];                  /* of the white balance, in 1 / PLX_COLOUR_ONE, 1 to PLX_COLOUR_MAX_GAIN */
    int32_t matrix[PLX_CHANNELS * PLX_CHANNELS]; /* in 1 / PLX_COLOUR_ONE */
    const uint8_t *tone;                         /* [PLX_COLOUR_FULL + 1] linear light to sRGB; memory that stages reach */
};

/* Checks of the arguments of the stage colour for every backend, without its limits, and of those that colour_sums shares with
 * it: the errors of plx_raw_check, ARG. */
int plx_development_check(const struct plx_raw *raw, const struct plx_development *development);
int plx_colour_check(const struct plx_raw *raw, const struct plx_development *development, const struct plx_image *ret_rgb);

/* The table of struct plx_development. */
void plx_colour_tones(uint8_t ret_tone[PLX_COLOUR_FULL + 1]);

/* --- mosaics ---------------------------------------------------------------------------------------------------------------
 */

/* The colour of a mosaic's sample at (X, Y). */
PLX_BOTH int plx_mosaic_colour(enum plx_bayer order, int x, int y)
{
    const int red_row = (order == PLX_BAYER_RGGB || order == PLX_BAYER_GRBG) == (y % 2 == 0);
    const int first_is_green = order == PLX_BAYER_GRBG || order == PLX_BAYER_GBRG;
    if (((x + y) % 2 == 0) == first_is_green)
        return PLX_GREEN;
    return red_row ? PLX_RED : PLX_BLUE;
}

/* Index I, from -2 to COUNT + 1, mirrored about the edge samples, so that it keeps its colour; COUNT is at least 2. */
PLX_BOTH int plx_mosaic_mirror(int i, int count)
{
    i = i < 0 ? -i : i;
    i = i >= count ? 2 * (count - 1) - i : i;
    return i < 0 ? -i : i; /* a second time where there are two samples */
}

/* Sums of the samples around one. */
struct plx_mosaic_sums {
    int centre;
    int across, along;         /* the two neighbours in its row, in its column */
    int diagonal;              /* the four */
    int far_across, far_along; /* the two at a distance of 2 */
};

PLX_BOTH int plx_limit(int value, int largest)
{
    value = value < 0 ? 0 : value;
    return value > largest ? largest : value;
}

/* At a sample of green: the colour that its row has beside green from ALONG_ROW, with the sums of the row's direction first. */
PLX_BOTH int plx_mosaic_at_green(int centre, int near, int diagonal, int far_same, int far_other)
{
    return (10 * centre + 8 * near - 2 * diagonal - 2 * far_same + far_other + 8) >> 4;
}

PLX_BOTH int plx_mosaic_green(const struct plx_mosaic_sums *s)
{
    return (8 * s->centre + 4 * (s->across + s->along) - 2 * (s->far_across + s->far_along) + 8) >> 4;
}

PLX_BOTH int plx_mosaic_opposite(const struct plx_mosaic_sums *s)
{
    return (12 * s->centre + 4 * s->diagonal - 3 * (s->far_across + s->far_along) + 8) >> 4;
}

/* RGB of a sample: whether it is green, and whether its row has red; LARGEST: sample of white above black. */
PLX_BOTH void plx_mosaic_rgb(const struct plx_mosaic_sums *s, bool is_green, bool red_row, int largest, int ret[PLX_CHANNELS])
{
    const int own = is_green ? plx_mosaic_at_green(s->centre, s->across, s->diagonal, s->far_across, s->far_along) : s->centre;
    const int other =
        is_green ? plx_mosaic_at_green(s->centre, s->along, s->diagonal, s->far_along, s->far_across) : plx_mosaic_opposite(s);
    ret[PLX_GREEN] = plx_limit(is_green ? s->centre : plx_mosaic_green(s), largest);
    ret[PLX_RED] = plx_limit(red_row ? own : other, largest);
    ret[PLX_BLUE] = plx_limit(red_row ? other : own, largest);
}

/* --- development -----------------------------------------------------------------------------------------------------------
 */

/* From samples above black, LARGEST of which is white, to linear light after the white balance, in 1 / 2^16. */
static inline uint32_t plx_colour_ratio(int largest, int32_t gain)
{
    const uint64_t scale = ((uint64_t)PLX_COLOUR_FULL << PLX_COLOUR_RATIO_SHIFT) / (uint64_t)largest;
    return (uint32_t)((scale * (uint64_t)gain + PLX_COLOUR_ONE / 2) / PLX_COLOUR_ONE);
}

PLX_BOTH int plx_colour_balanced(int sample, uint32_t ratio)
{
    const uint32_t linear = ((uint32_t)sample * ratio + (1u << (PLX_COLOUR_RATIO_SHIFT - 1))) >> PLX_COLOUR_RATIO_SHIFT;
    return linear < PLX_COLOUR_FULL ? (int)linear : PLX_COLOUR_FULL;
}

/* One row of the matrix; rounded to nearest. */
PLX_BOTH int plx_colour_mixed(const int32_t row[PLX_CHANNELS], const int balanced[PLX_CHANNELS])
{
    const int sum = row[0] * balanced[0] + row[1] * balanced[1] + row[2] * balanced[2];
    return plx_limit((sum + PLX_COLOUR_ONE / 2) >> 12, PLX_COLOUR_FULL);
}

/* --- YCbCr -----------------------------------------------------------------------------------------------------------------
 */

/* Factors of luma and of both chroma, in 1 / 2^PLX_YUV_SHIFT. */
struct plx_yuv_factors {
    int32_t black;                                     /* luma of black */
    int32_t luma, red_cr, green_cb, green_cr, blue_cb; /* those of green are subtracted */
};

struct plx_yuv_factors plx_yuv_factors(const struct plx_chroma *chroma);

/* CB and CR in 1 / PLX_CHROMA_PARTS. */
PLX_BOTH void plx_yuv_rgb(const struct plx_yuv_factors *f, int y, int cb, int cr, uint8_t ret[PLX_CHANNELS])
{
    const int half = 1 << (PLX_YUV_SHIFT + 3), shift = PLX_YUV_SHIFT + 4;
    const int luma = f->luma * PLX_CHROMA_PARTS * (y - f->black) + half;
    cb -= 128 * PLX_CHROMA_PARTS;
    cr -= 128 * PLX_CHROMA_PARTS;
    ret[PLX_RED] = (uint8_t)plx_limit((luma + f->red_cr * cr) >> shift, 255);
    ret[PLX_GREEN] = (uint8_t)plx_limit((luma - f->green_cb * cb - f->green_cr * cr) >> shift, 255);
    ret[PLX_BLUE] = (uint8_t)plx_limit((luma + f->blue_cb * cb) >> shift, 255);
}

/* Where the chroma of a picture lies: sample I of row R of Cb at cb[R * pitch + I * step], of COLUMNS x ROWS samples from FIRST
 * on. */
struct plx_chroma_plane {
    const uint8_t *cb, *cr;
    size_t pitch;
    int step, first, last, rows;
    bool centred; /* a sample lies between two columns of luma; else at the first */
    bool halved;  /* vertically too: it lies between two rows */
};

/* RAW has YCbCr and has passed plx_raw_check. */
struct plx_chroma_plane plx_chroma_plane(const struct plx_raw *raw);

/* The two samples beside POSITION, of a chroma with half as many samples, and the weight of the second in quarters. */
struct plx_chroma_pair {
    int first, second, weight;
};

PLX_BOTH struct plx_chroma_pair plx_chroma_beside(int position, bool centred, int low, int high)
{
    struct plx_chroma_pair pair = {position / 2, position / 2, 0};
    if (!centred && position % 2 == 0)
        return pair;
    if (centred && position % 2 == 0) {
        pair.first--;
        pair.weight = 3;
    } else {
        pair.second++;
        pair.weight = centred ? 1 : 2;
    }
    pair.first = pair.first < low ? low : pair.first;
    pair.second = pair.second > high ? high : pair.second;
    return pair;
}

/* The chroma PLANE (one of both) at column X of the buffer and row Y, in 1 / PLX_CHROMA_PARTS. */
PLX_BOTH int plx_chroma_at(const struct plx_chroma_plane *p, const uint8_t *plane, int x, int y)
{
    const struct plx_chroma_pair along = plx_chroma_beside(x, p->centred, p->first, p->last);
    struct plx_chroma_pair down = {y, y, 0};
    if (p->halved)
        down = plx_chroma_beside(y, true, 0, p->rows - 1);
    const uint8_t *top = plane + (size_t)down.first * p->pitch, *bottom = plane + (size_t)down.second * p->pitch;
    const int upper = top[along.first * p->step] * (4 - along.weight) + top[along.second * p->step] * along.weight;
    const int lower = bottom[along.first * p->step] * (4 - along.weight) + bottom[along.second * p->step] * along.weight;
    return upper * (4 - down.weight) + lower * down.weight;
}

#ifdef __cplusplus
}
#endif
#endif
