/* SPDX-License-Identifier: Apache-2.0 */
#include "client/samples.h"

#include <math.h>

#include "client/fetch.h"

#define GROUND_M 0.15F       /* what rises less above the ground plane is ground, unless a stixel says that it is a thing */
#define REACH_PX 6.0F        /* a smaller disparity is too uncertain: 0.3 px of it are 5 % of the distance */
#define STIXEL_SHARE 0.06F   /* a pixel belongs to a stixel up to this difference in disparity, */
#define STIXEL_PX 1.0F       /* or up to this one */
#define FILLED_DIVISOR 4u    /* filled pixels are guesses */
#define CONFIDENCE_FLOOR 16u /* of 255: a pixel without confidence still shows something */
#define CENTRE_WEIGHT_BITS 4 /* the middle of a box weighs 2^4 times its edge, along each axis */

static const unsigned char *row_of(const struct plx_view *view, enum plx_plane_id id, uint32_t y)
{
    return (const unsigned char *)view->plane[id] + (uint64_t)y * view->layout[id].pitch;
}

/* True if plane ID holds all pixels of the disparity. */
static bool covers(const struct plx_sampler *sampler, enum plx_plane_id id)
{
    const struct plx_view *view = sampler->view;
    return view->plane[id] && view->layout[id].width >= sampler->width && view->layout[id].height >= sampler->height;
}

/* The disparity of a plane is linear in the picture: with n the normal and h the height, Z = h / (n ray), d = f b / Z. */
static void find_ground(struct plx_sampler *sampler)
{
    const struct plx_ground_info *ground = &sampler->view->frame->ground;
    const struct plx_calibration_info *c = &sampler->calibration;
    union {
        uint32_t bits;
        float number;
    } field[4] = {{plx_fetch32(&ground->camera_height_m)},
                  {plx_fetch32(&ground->normal[0])},
                  {plx_fetch32(&ground->normal[1])},
                  {plx_fetch32(&ground->normal[2])}};
    const double height = (double)field[0].number, scale = c->fx * c->baseline_m / height;
    const double x = (double)field[1].number / c->fx * scale, y = (double)field[2].number / c->fy * scale;
    const double rest = (double)field[3].number * scale - x * c->cx - y * c->cy;
    sampler->has_ground = plx_fetch32(&ground->valid) != 0 && height > 0 && isfinite(x) && isfinite(y) && isfinite(rest);
    sampler->camera_height_m = (float)height;
    sampler->ground[0] = (float)x;
    sampler->ground[1] = (float)y;
    sampler->ground[2] = (float)rest;
}

bool plx_sampler_init(const struct plx_view *view, struct plx_sampler *ret_sampler)
{
    const struct plx_calibration_info *shared = &view->frame->calibration;
    struct plx_sampler sampler = {
        .view = view,
        .calibration = {plx_fetch_double(&shared->fx), plx_fetch_double(&shared->fy), plx_fetch_double(&shared->cx),
                        plx_fetch_double(&shared->cy), plx_fetch_double(&shared->cx_right),
                        plx_fetch_double(&shared->baseline_m)},
        .disparity = view->plane[PLX_PLANE_DENSE] ? PLX_PLANE_DENSE : PLX_PLANE_DISPARITY,
    };
    const struct plx_calibration_info *c = &sampler.calibration;
    if (!view->plane[sampler.disparity] || !(c->fx > 0) || !(c->fy > 0) || !(c->baseline_m > 0))
        return false;
    sampler.width = view->layout[sampler.disparity].width;
    sampler.height = view->layout[sampler.disparity].height;
    sampler.infinity_px = c->cx - c->cx_right - view->min_disparity;
    if (sampler.width == 0 || sampler.width > INT32_MAX || sampler.height > INT32_MAX || !isfinite(sampler.infinity_px))
        return false;
    const struct plx_plane *stixels = &view->layout[PLX_PLANE_STIXELS];
    sampler.has_confidence = covers(&sampler, PLX_PLANE_CONFIDENCE);
    sampler.has_filled = sampler.disparity == PLX_PLANE_DENSE && covers(&sampler, PLX_PLANE_FILLED);
    sampler.has_labels = covers(&sampler, PLX_PLANE_LABELS);
    sampler.has_stixels = view->plane[PLX_PLANE_STIXELS] && stixels->width == PLX_COLUMN_STIXELS &&
                          (uint64_t)stixels->height * PLX_COLUMN_WIDTH >= sampler.width;
    for (int i = 0; i < PLX_CONFIDENCES; i++)
        sampler.sigma_px[i] = plx_fetch_float(&view->frame->errors.sigma_px[i]);
    find_ground(&sampler);
    *ret_sampler = sampler;
    return true;
}

/* One stretch of a column of the picture in which a stixel says that a thing stands, and its disparity, px. */
struct stretch {
    int32_t y0, y1;
    float low, high;
};

struct stretches {
    struct stretch stretch[PLX_COLUMN_STIXELS];
    int count;
};

static void find_stretches(const struct plx_sampler *sampler, int32_t x, struct stretches *ret)
{
    ret->count = 0;
    if (!sampler->has_stixels)
        return;
    const struct plx_stixel *stixel = (const void *)row_of(sampler->view, PLX_PLANE_STIXELS, (uint32_t)x / PLX_COLUMN_WIDTH);
    for (int i = 0; i < PLX_COLUMN_STIXELS; i++) {
        const float disparity = (float)plx_fetch16(&stixel[i].disparity) / PLX_DISPARITY_ONE;
        const float margin = STIXEL_SHARE * disparity > STIXEL_PX ? STIXEL_SHARE * disparity : STIXEL_PX;
        if (!(disparity > 0))
            break;
        ret->stretch[ret->count++] =
            (struct stretch){plx_fetch16(&stixel[i].y0), plx_fetch16(&stixel[i].y1), disparity - margin, disparity + margin};
    }
}

static bool is_in_stretch(const struct stretches *stretches, int32_t y, float disparity)
{
    for (int i = 0; i < stretches->count; i++) {
        const struct stretch *s = &stretches->stretch[i];
        if (y >= s->y0 && y <= s->y1 && disparity >= s->low && disparity <= s->high)
            return true;
    }
    return false;
}

/* The lines of the samples along one axis: pixels FIRST .. END - 1 of the picture, LINES of them at most. */
static int spread_lines(int64_t first, int64_t end, int32_t ret_pixel[PLX_SAMPLE_LINES])
{
    const int64_t pixels = end - first;
    const int lines = pixels < PLX_SAMPLE_LINES ? (int)pixels : PLX_SAMPLE_LINES;
    for (int i = 0; i < lines; i++)
        ret_pixel[i] = (int32_t)(first + (2 * i + 1) * pixels / (2 * lines));
    return lines;
}

/* Weight of a line at PIXEL of a box from FIRST on, SIZE pixels wide: 2^bits in its middle, 1 at its edges. */
static uint16_t centre_weight(int64_t pixel, int64_t first, int64_t size)
{
    const int64_t from_edge = 2 * (pixel - first) + 1, from_end = 2 * size - from_edge;
    const int64_t nearest = from_edge < from_end ? from_edge : from_end; /* half pixels, up to SIZE */
    return (uint16_t)(1 + ((1 << CENTRE_WEIGHT_BITS) - 1) * nearest / size);
}

static bool place_lines(const struct plx_sampler *sampler, const struct plx_box *box, struct plx_samples *samples)
{
    const int64_t left = box->x > 0 ? box->x : 0, right = (int64_t)box->x + box->width;
    const int64_t top = box->y > 0 ? box->y : 0, bottom = (int64_t)box->y + box->height;
    const int64_t end_x = right < sampler->width ? right : sampler->width;
    const int64_t end_y = bottom < sampler->height ? bottom : sampler->height;
    if (box->width <= 0 || box->height <= 0 || end_x <= left || end_y <= top)
        return false;
    samples->columns = spread_lines(left, end_x, samples->x);
    samples->rows = spread_lines(top, end_y, samples->y);
    return true;
}

/* What all samples of a row share. */
struct row {
    const unsigned char *disparity, *confidence, *filled;
    const uint8_t *mask; /* its first byte belongs to the box's left column; NULL */
    float ground;        /* disparity of the ground at column 0, px */
    uint16_t weight;
};

static struct row read_row(const struct plx_sampler *sampler, const struct plx_box *box, int32_t y)
{
    const struct plx_view *view = sampler->view;
    return (struct row){
        .disparity = row_of(view, sampler->disparity, (uint32_t)y),
        .confidence = sampler->has_confidence ? row_of(view, PLX_PLANE_CONFIDENCE, (uint32_t)y) : NULL,
        .filled = sampler->has_filled ? row_of(view, PLX_PLANE_FILLED, (uint32_t)y) : NULL,
        .mask = box->mask ? box->mask + (uint64_t)((int64_t)y - box->y) * box->mask_pitch : NULL,
        .ground = sampler->ground[1] * (float)y + sampler->ground[2],
        .weight = centre_weight(y, box->y, box->height),
    };
}

static uint32_t weight_of(const struct row *row, uint8_t confidence, bool is_filled)
{
    const uint32_t weight = row->confidence ? CONFIDENCE_FLOOR + confidence : 255;
    return is_filled ? weight / FILLED_DIVISOR : weight;
}

/* True if a pixel of DISPARITY, where the ground has GROUND, rises too little above the ground. h (1 - g / d) is its height. */
static bool is_low(const struct plx_sampler *sampler, float disparity, float ground)
{
    return sampler->has_ground && disparity * (1 - GROUND_M / sampler->camera_height_m) < ground;
}

/* What the samples of a column share. */
struct column {
    struct stretches stretches;
    uint16_t weight;
};

static void take_row(const struct plx_sampler *sampler, const struct plx_box *box, const struct column *column, int line,
                     struct plx_samples *s)
{
    const struct row row = read_row(sampler, box, s->y[line]);
    const float infinity_px = (float)sampler->infinity_px;
    for (int i = 0; i < s->columns; i++) {
        const int32_t x = s->x[i];
        if (row.mask && row.mask[(int64_t)x - box->x] == 0)
            continue;
        s->asked++;
        const uint16_t value = plx_fetch16(row.disparity + (uint64_t)x * sizeof value);
        if (value == PLX_DISPARITY_INVALID)
            continue;
        const float disparity = (float)value / PLX_DISPARITY_ONE - infinity_px;
        const bool is_filled = row.filled && plx_fetch8(row.filled + x) != 0;
        const uint8_t confidence = row.confidence ? plx_fetch8(row.confidence + x) : 0;
        const uint32_t weight = weight_of(&row, confidence, is_filled) * column[i].weight * row.weight >> CENTRE_WEIGHT_BITS;
        s->valid_weight += weight;
        if (is_low(sampler, disparity, sampler->ground[0] * (float)x + row.ground) &&
            !is_in_stretch(&column[i].stretches, s->y[line], disparity))
            continue;
        s->weight += weight;
        if (!(disparity >= REACH_PX))
            s->far_weight += weight;
        else
            s->sample[s->count++] =
                (struct plx_sample){disparity, (uint16_t)weight, (uint8_t)i, (uint8_t)line, confidence, is_filled};
    }
}

bool plx_samples_take(const struct plx_sampler *sampler, const struct plx_box *box, struct plx_samples *ret_samples)
{
    struct plx_samples *s = ret_samples;
    struct column column[PLX_SAMPLE_LINES];
    if (!place_lines(sampler, box, s))
        return false;
    s->asked = 0;
    s->valid_weight = s->weight = s->far_weight = 0;
    s->count = 0;
    for (int i = 0; i < s->columns; i++) {
        find_stretches(sampler, s->x[i], &column[i].stretches);
        column[i].weight = centre_weight(s->x[i], box->x, box->width);
    }
    for (int line = 0; line < s->rows; line++)
        take_row(sampler, box, column, line, s);
    return true;
}
