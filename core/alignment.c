/* SPDX-License-Identifier: Apache-2.0 */
#include "core/alignment.h"

#include <stdlib.h>

#define PATCH_WIDTH 32
#define PATCH_HEIGHT 16
#define REACH 3          /* rows up and down that are tried */
#define MARGIN 8         /* an eighth of the image on each side is left out: there lenses are worst, and masked pixels lie */
#define GOOD_SCORE 29491 /* of 32,768: correlation of 0.9 */
#define CORNER 64        /* least squared gradient per pixel in the patch's weakest direction; noise of 4 levels makes 32 */

void plx_alignment_init(struct plx_alignment *alignment, int width, int height, int min_disparity, int disparities)
{
    *alignment =
        (struct plx_alignment){.width = width, .height = height, .min_disparity = min_disparity, .disparities = disparities};
}

static struct plx_image view(const struct plx_image *image, int x, int y, int width, int height)
{
    return (struct plx_image){(uint8_t *)plx_row(image, y) + x, width, height, image->pitch, image->type};
}

static int smallest(int a, int b)
{
    return a < b ? a : b;
}

static int largest(int a, int b)
{
    return a > b ? a : b;
}

/* A number in first..last, evenly spread over successive COUNTs (multiplicative hashing). */
static int spread(uint32_t count, uint32_t factor, int first, int last)
{
    return first + (int)((uint64_t)(count * factor) * (uint64_t)(last - first + 1) >> 32);
}

bool plx_alignment_patch(const struct plx_alignment *alignment, int index, const struct plx_image *left,
                         const struct plx_image *right, struct plx_image *ret_patch, struct plx_image *ret_strip)
{
    const int width = alignment->width, height = alignment->height;
    const int nearest = alignment->min_disparity + alignment->disparities - 1;
    const int first_x = largest(width / MARGIN, alignment->min_disparity); /* so that the strip has room for the patch */
    const int last_x = smallest(width - width / MARGIN, width + nearest) - PATCH_WIDTH;
    const int first_y = height / MARGIN + REACH, last_y = height - height / MARGIN - PATCH_HEIGHT - REACH;
    const uint32_t count = alignment->frame * PLX_ALIGNMENT_PATCHES + (uint32_t)index;

    if (last_x < first_x || last_y < first_y)
        return false;
    const int x = spread(count, 0x9E3779B1u, first_x, last_x), y = spread(count, 0x85EBCA6Bu, first_y, last_y);
    const int strip_x = largest(x - nearest, 0), strip_end = smallest(x - alignment->min_disparity + PATCH_WIDTH, width);
    *ret_patch = view(left, x, y, PATCH_WIDTH, PATCH_HEIGHT);
    *ret_strip = view(right, strip_x, y - REACH, strip_end - strip_x, PATCH_HEIGHT + 2 * REACH);
    return true;
}

/* Whether PATCH can be found at one place only: it has gradients in every direction (Shi and Tomasi, Good Features to Track,
 * 1994: the smaller eigenvalue of the structure tensor, here as det >= t * trace), and no pixel outside the raw image. */
static bool is_distinct(const struct plx_image *patch)
{
    int64_t xx = 0, yy = 0, xy = 0;
    const int64_t least = CORNER * (PATCH_WIDTH - 2) * (PATCH_HEIGHT - 2);

    for (int y = 1; y < PATCH_HEIGHT - 1; y++) {
        const uint8_t *above = plx_row(patch, y - 1), *row = plx_row(patch, y), *below = plx_row(patch, y + 1);
        for (int x = 1; x < PATCH_WIDTH - 1; x++) {
            const int dx = row[x + 1] - row[x - 1], dy = below[x] - above[x];
            if (row[x] == 0)
                return false;
            xx += dx * dx;
            yy += dy * dy;
            xy += dx * dy;
        }
    }
    return xx > least && yy > least && xx * yy - xy * xy >= least * (xx + yy);
}

static int count_bits(uint32_t bits)
{
    int count = 0;
    for (; bits; bits &= bits - 1)
        count++;
    return count;
}

bool plx_alignment_look(struct plx_alignment *alignment, const struct plx_image *left, const struct plx_template_match *found)
{
    struct plx_image patch, strip;

    for (int i = 0; i < PLX_ALIGNMENT_PATCHES; i++) {
        if (!plx_alignment_patch(alignment, i, left, left, &patch, &strip) || found[i].score < GOOD_SCORE ||
            !is_distinct(&patch))
            continue;
        const bool off = abs(found[i].y - REACH) >= PLX_ALIGNMENT_ROWS;
        alignment->off_bits = alignment->off_bits << 1 | off;
        alignment->votes += alignment->votes < PLX_ALIGNMENT_VOTES;
    }
    alignment->frame++;
    return 2 * count_bits(alignment->off_bits) >= PLX_ALIGNMENT_VOTES;
}
