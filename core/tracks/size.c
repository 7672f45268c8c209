/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tracks/size.h"

#include <math.h>

#define NARROW_M 0.35     /* narrower things are narrow if they are high enough */
#define NARROW_HIGH_M 1.2 /* lower ones are medium */
#define LOW_M 0.8         /* lower things are low */
#define LARGE_M 1.2       /* wider things are large */
#define WIDE_M 6.0        /* and these are wide */
#define FRAMES 8          /* over which the size is a mean */
#define STEP 0.25         /* share of the size: a larger change is an outlier and counts as this much */
#define JUMP_FACTOR 2.0   /* an extent that differs from the size by that factor, */
#define JUMP_M 0.1        /* and this, jumps: parts were joined or came apart */
#define JUMPS 3           /* in a row: the size is another one now */
#define CLASS_MARGIN 1.15 /* a class stays while the size is that near to it */

/* The most likely class of WIDTH x HEIGHT metres. */
static uint32_t class_of(double width, double height)
{
    if (width <= 0 || height <= 0)
        return PLX_SIZE_UNKNOWN;
    if (width > WIDE_M)
        return PLX_SIZE_WIDE;
    if (height < LOW_M)
        return PLX_SIZE_LOW;
    if (width > LARGE_M)
        return PLX_SIZE_LARGE;
    return width < NARROW_M && height > NARROW_HIGH_M ? PLX_SIZE_NARROW : PLX_SIZE_MEDIUM;
}

/* The class of the size M; it stays as it WAS if a size that differs by the margin has that class. */
static uint32_t keep_class(const double m[3], uint32_t was)
{
    static const double factor[] = {1 / CLASS_MARGIN, 1, CLASS_MARGIN};

    for (int i = 0; i < 9 && was != PLX_SIZE_UNKNOWN; i++)
        if (class_of(m[0] * factor[i / 3], m[1] * factor[i % 3]) == was)
            return was;
    return class_of(m[0], m[1]);
}

void plx_track_size_of(const struct plx_obstacle *obstacle, double ret_m[3])
{
    for (int i = 0; i < 3; i++)
        ret_m[i] = fmax(0, (double)obstacle->extent_m[i]);
}

void plx_track_size_begin(struct plx_track_size *size, const struct plx_obstacle *obstacle)
{
    *size = (struct plx_track_size){.frames = 1};
    plx_track_size_of(obstacle, size->m);
    size->size_class = class_of(size->m[0], size->m[1]);
}

static bool outgrows(double now_m, double was_m)
{
    return now_m > JUMP_FACTOR * was_m + JUMP_M;
}

static bool jumps(const struct plx_track_size *size, const double now[3])
{
    for (int i = 0; i < 2; i++)
        if (outgrows(now[i], size->m[i]) || outgrows(size->m[i], now[i]))
            return true;
    return false;
}

bool plx_track_size_is_outgrown(const struct plx_track_size *size, const struct plx_obstacle *obstacle)
{
    return outgrows((double)obstacle->extent_m[0], size->m[0]);
}

bool plx_track_size_update(struct plx_track_size *size, const struct plx_obstacle *obstacle)
{
    double now[3];

    plx_track_size_of(obstacle, now);
    size->jumps = jumps(size, now) ? size->jumps + 1 : 0;
    size->frames = size->jumps >= JUMPS ? 1 : size->frames < FRAMES ? size->frames + 1 : FRAMES;
    for (int i = 0; i < 3; i++) {
        const double most = size->m[i] > 0 && size->frames > 1 ? STEP * size->m[i] : INFINITY;
        size->m[i] += fmax(-most, fmin(most, now[i] - size->m[i])) / size->frames;
    }
    size->size_class = keep_class(size->m, size->size_class);
    return size->jumps > 0;
}

bool plx_track_size_is_wide(const struct plx_track_size *size)
{
    return fmax(size->m[0], size->m[2]) > WIDE_M;
}

bool plx_track_size_is_large(const struct plx_track_size *size)
{
    return fmax(size->m[0], size->m[2]) >= LARGE_M;
}
