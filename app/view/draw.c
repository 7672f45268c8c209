/* SPDX-License-Identifier: Apache-2.0 */
#include "app/view/draw.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "app/view/frame_text.h"
#include "core/geometry/stereo.h"

#define GLYPH_WIDTH 5
#define GLYPH_HEIGHT 7

/* One byte for each row; bit 4 is the leftmost of its five columns. */
static const struct glyph {
    char character;
    uint8_t row[GLYPH_HEIGHT];
} font[] = {
    {'0', {0x0E, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0E}}, {'1', {0x04, 0x0C, 0x04, 0x04, 0x04, 0x04, 0x0E}},
    {'2', {0x0E, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1F}}, {'3', {0x1F, 0x02, 0x04, 0x02, 0x01, 0x11, 0x0E}},
    {'4', {0x02, 0x06, 0x0A, 0x12, 0x1F, 0x02, 0x02}}, {'5', {0x1F, 0x10, 0x1E, 0x01, 0x01, 0x11, 0x0E}},
    {'6', {0x06, 0x08, 0x10, 0x1E, 0x11, 0x11, 0x0E}}, {'7', {0x1F, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08}},
    {'8', {0x0E, 0x11, 0x11, 0x0E, 0x11, 0x11, 0x0E}}, {'9', {0x0E, 0x11, 0x11, 0x0F, 0x01, 0x02, 0x0C}},
    {'.', {0x00, 0x00, 0x00, 0x00, 0x00, 0x0C, 0x0C}}, {'-', {0x00, 0x00, 0x00, 0x1F, 0x00, 0x00, 0x00}},
    {'#', {0x0A, 0x0A, 0x1F, 0x0A, 0x1F, 0x0A, 0x0A}}, {'m', {0x00, 0x00, 0x1A, 0x15, 0x15, 0x15, 0x15}},
};

/* Polynomial fit of the Turbo colour map: A. Mikhailov, "Turbo, an improved rainbow colormap", Google AI Blog 2019; fit by
 * R. Du. Coefficients of t^0 to t^5. */
static const double turbo[3][6] = {
    {0.13572138, 4.61539260, -42.66032258, 132.13108234, -152.94239396, 59.28637943},
    {0.09140261, 2.19418839, 4.84296658, -14.18503333, 4.27729857, 2.82956604},
    {0.10667330, 12.64194608, -60.58204836, 110.36276771, -89.90310912, 27.34824973},
};

static uint8_t channel(const double coefficient[6], double t)
{
    double value = 0;
    for (int i = 5; i >= 0; i--)
        value = value * t + coefficient[i];
    return value <= 0 ? 0 : value >= 1 ? 255 : (uint8_t)lround(value * 255);
}

/* The colour of T, 0 (blue) to 1 (red); clamped. */
static struct plx_rgb colour_of(double t)
{
    t = t > 0 ? t < 1 ? t : 1 : 0; /* NAN gives 0 */
    return (struct plx_rgb){channel(turbo[0], t), channel(turbo[1], t), channel(turbo[2], t)};
}

int plx_rgb_image_create(int width, int height, struct plx_rgb_image *ret_drawing)
{
    if (width < 1 || width > PLX_MAX_SIDE || height < 1 || height > PLX_MAX_SIDE)
        return PLX_ERR_RANGE;
    const struct plx_rgb_image drawing = {
        .pixel = calloc((size_t)width * (size_t)height, sizeof *drawing.pixel), .width = width, .height = height};
    if (!drawing.pixel)
        return PLX_ERR_NOMEM;
    *ret_drawing = drawing;
    return 0;
}

void plx_rgb_image_destroy(struct plx_rgb_image *drawing)
{
    free(drawing->pixel);
    *drawing = (struct plx_rgb_image){0};
}

void plx_draw_image(struct plx_rgb_image *drawing, const struct plx_image *image)
{
    for (int y = 0; y < drawing->height; y++) {
        const uint8_t *row = plx_row(image, y);
        struct plx_rgb *out = drawing->pixel + (size_t)y * (size_t)drawing->width;
        if (image->type == PLX_RGB)
            memcpy(out, row, (size_t)drawing->width * sizeof *out);
        for (int x = 0; x < drawing->width && image->type != PLX_RGB; x++)
            out[x] = (struct plx_rgb){row[x], row[x], row[x]};
    }
}

/* The numbers of a frame may be damaged: clips in 64 bits, so that no sum overflows. */
static void fill(struct plx_rgb_image *drawing, int64_t x, int64_t y, int64_t width, int64_t height, struct plx_rgb colour)
{
    int64_t x1 = x + width < drawing->width ? x + width : drawing->width;
    int64_t y1 = y + height < drawing->height ? y + height : drawing->height;
    for (int64_t v = y > 0 ? y : 0; v < y1; v++)
        for (int64_t u = x > 0 ? x : 0; u < x1; u++)
            drawing->pixel[v * drawing->width + u] = colour;
}

void plx_draw_box(struct plx_rgb_image *drawing, int x, int y, int width, int height, int thickness, struct plx_rgb colour)
{
    fill(drawing, x, y, width, thickness, colour);
    fill(drawing, x, (int64_t)y + height - thickness, width, thickness, colour);
    fill(drawing, x, y, thickness, height, colour);
    fill(drawing, (int64_t)x + width - thickness, y, thickness, height, colour);
}

static const struct glyph *find_glyph(char character)
{
    for (size_t i = 0; i < sizeof font / sizeof *font; i++)
        if (font[i].character == character)
            return &font[i];
    return NULL;
}

void plx_text_size(int scale, const char *text, int *ret_width, int *ret_height)
{
    *ret_width = ((int)strlen(text) * (GLYPH_WIDTH + 1) + 1) * scale;
    *ret_height = (GLYPH_HEIGHT + 2) * scale;
}

int plx_draw_text(struct plx_rgb_image *drawing, int x, int y, int scale, const char *text, struct plx_rgb colour)
{
    int total, height;
    plx_text_size(scale, text, &total, &height);
    fill(drawing, x, y, total, height, (struct plx_rgb){0, 0, 0});
    int64_t at = x;
    for (; *text; text++, at += (GLYPH_WIDTH + 1) * scale) {
        const struct glyph *glyph = find_glyph(*text);
        for (int v = 0; glyph && v < GLYPH_HEIGHT; v++)
            for (int u = 0; u < GLYPH_WIDTH; u++)
                if (glyph->row[v] >> (GLYPH_WIDTH - 1 - u) & 1)
                    fill(drawing, at + (u + 1) * scale, y + (int64_t)(v + 1) * scale, scale, scale, colour);
    }
    return total;
}

/* Whole pixels of the disparity below which 99 % of the valid ones lie; at least 1. */
static int percentile_99(const struct plx_image *disparity)
{
    uint32_t histogram[0x1000] = {0};
    uint64_t valid = 0, seen = 0;
    for (int y = 0; y < disparity->height; y++) {
        const uint16_t *row = plx_row(disparity, y);
        for (int x = 0; x < disparity->width; x++)
            if (row[x] != PLX_DISPARITY_INVALID) {
                histogram[row[x] / PLX_DISPARITY_ONE]++;
                valid++;
            }
    }
    for (int d = 0; d < 0x1000; d++) {
        seen += histogram[d];
        if (seen * 100 >= valid * 99)
            return d + 1;
    }
    return 0x1000;
}

/* Colours of disparities, in units of the plane: that of FAR and below, that of NEAR and above. */
struct scale {
    double far, near;
};

static struct plx_rgb disparity_colour(const struct scale *scale, double value)
{
    const double first = 0.07; /* darker colours of the map look like invalid pixels */
    const double t = (value - scale->far) / (scale->near - scale->far);
    return colour_of(first + (1 - first) * (t > 0 ? t : 0));
}

/* Disparity of the distance METRES, in units of the plane. */
static double disparity_at(const struct plx_frame *frame, double metres)
{
    return plx_plane_of_depth(&frame->calibration, frame->min_disparity, metres);
}

/* The bar from near, above, to far, and the round distances beside it that have room. */
static void draw_bar(struct plx_rgb_image *drawing, const struct plx_frame *frame, const struct scale *scale)
{
    static const double ticks[] = {0.1, 0.2, 0.5, 1, 2, 3, 5, 10, 20, 50, 100};
    const int size = 1 + drawing->width / 640, width = 8 * size, top = 2 * size, height = drawing->height - 4 * size;
    const int x = drawing->width - width - 2 * size;
    int free = top; /* rows above are taken */
    for (int y = 0; y < height; y++) {
        const double value = scale->near + (scale->far - scale->near) * y / height;
        fill(drawing, x, top + y, width, 1, disparity_colour(scale, value));
    }
    for (size_t i = 0; i < sizeof ticks / sizeof *ticks; i++) {
        const double at = (disparity_at(frame, ticks[i]) - scale->near) / (scale->far - scale->near) * height;
        char text[16];
        int text_width, text_height;
        snprintf(text, sizeof text, "%gm", ticks[i]);
        plx_text_size(size, text, &text_width, &text_height);
        const double y = top + at - text_height / 2.0;
        if (!(at >= 0 && at <= height && y >= free && y + text_height <= drawing->height && text_width < x))
            continue;
        fill(drawing, x - 2 * size, top + lround(at), width + 2 * size, size, (struct plx_rgb){255, 255, 255});
        plx_draw_text(drawing, x - 2 * size - text_width, (int)lround(y), size, text, (struct plx_rgb){255, 255, 255});
        free = (int)lround(y) + text_height;
    }
}

void plx_draw_disparity(struct plx_rgb_image *drawing, const struct plx_frame *frame, const struct plx_image *disparity,
                        const struct plx_depth_range *range)
{
    const bool calibrated = frame->calibration.fx > 0 && frame->calibration.baseline_m > 0;
    struct scale scale = {0, percentile_99(disparity) * PLX_DISPARITY_ONE};
    if (calibrated && range->near_m > 0)
        scale = (struct scale){disparity_at(frame, range->far_m), disparity_at(frame, range->near_m)};
    for (int y = 0; y < drawing->height; y++) {
        const uint16_t *row = plx_row(disparity, y);
        struct plx_rgb *out = drawing->pixel + (size_t)y * (size_t)drawing->width;
        for (int x = 0; x < drawing->width; x++)
            out[x] = row[x] == PLX_DISPARITY_INVALID ? (struct plx_rgb){0, 0, 0} : disparity_colour(&scale, row[x]);
    }
    if (calibrated)
        draw_bar(drawing, frame, &scale);
}

/* The colour of a thing at DISTANCE, metres: 0.9 at the camera, 0.45 at 6 m. */
static struct plx_rgb distance_colour(double distance)
{
    return colour_of(0.9 / (1 + distance / 6));
}

static int clamp(int64_t value, int64_t least, int64_t most)
{
    return (int)(value > most ? most : value < least ? least : value);
}

static bool is_free(const struct plx_label *label, const struct plx_label *placed, int count)
{
    for (int i = 0; i < count; i++)
        if (label->x < placed[i].x + placed[i].width && placed[i].x < label->x + label->width &&
            label->y < placed[i].y + placed[i].height && placed[i].y < label->y + label->height)
            return false;
    return true;
}

/* Moves LABEL to a free row as near to its wish Y as possible; false if its columns are full. */
static bool find_row(struct plx_label *label, int64_t y, int height, const struct plx_label *placed, int count)
{
    const int most = height - label->height, wish = clamp(y, 0, most);
    for (int step = 0; step <= most; step++)
        for (int side = -1; side <= 1; side += 2) {
            label->y = wish + side * step;
            if (label->y >= 0 && label->y <= most && is_free(label, placed, count))
                return true;
        }
    return false;
}

int plx_place_labels(const struct plx_frame *frame, int width, int height, int scale, struct plx_label ret[PLX_MAX_OBSTACLES])
{
    const struct plx_obstacle *sorted[PLX_MAX_OBSTACLES];
    const int seen = plx_obstacles_by_distance(frame, sorted);
    int count = 0;
    for (int i = 0; i < seen; i++) {
        const struct plx_obstacle *o = sorted[i];
        struct plx_label label = {.obstacle = o};
        snprintf(label.text, sizeof label.text, "#%u %.1fm", o->track, (double)o->nearest_m);
        plx_text_size(scale, label.text, &label.width, &label.height);
        if (label.width > width || label.height > height)
            continue;
        label.x = clamp(o->x, 0, width - label.width);
        label.y = clamp((int64_t)o->y - label.height, 0, height - label.height);
        if (!is_free(&label, ret, count))
            label.y = clamp((int64_t)o->y + o->height, 0, height - label.height);
        if (is_free(&label, ret, count) || find_row(&label, (int64_t)o->y - label.height, height, ret, count))
            ret[count++] = label;
    }
    return count;
}

/* The first of THICKNESS rows at the foot of OBSTACLE in column X, where it stands at DISTANCE: on the ground, but inside the
 * box; at the box's lower edge if there is no ground. */
static int64_t foot_row(const struct plx_frame *frame, const struct plx_obstacle *obstacle, int x, double distance,
                        int thickness)
{
    const struct plx_calibration_info *c = &frame->calibration;
    const float *normal = frame->ground.normal;
    const double lower = (double)obstacle->y + obstacle->height - thickness;
    const double down = (double)frame->ground.camera_height_m / distance - (double)normal[0] * (x - c->cx) / c->fx;
    const double row = c->cy + c->fy * (down - (double)normal[2]) / (double)normal[1] - thickness;
    return llround(frame->ground.valid ? fmin(fmax(row, obstacle->y), lower) : lower);
}

/* A bar at the foot of OBSTACLE, in each part of its outline in the colour of that part's distance. */
static void draw_foot(struct plx_rgb_image *drawing, const struct plx_frame *frame, const struct plx_obstacle *obstacle,
                      int thickness)
{
    const double one_metre = plx_depth_scale_m(&frame->calibration); /* its disparity */
    for (int x = 0; x < drawing->width; x++) {
        const uint16_t nearest = plx_outline_nearest(obstacle, x, 1);
        if (nearest > 0)
            fill(drawing, x, foot_row(frame, obstacle, x, one_metre / nearest, thickness), 1, thickness,
                 distance_colour(one_metre / nearest));
    }
}

void plx_draw_obstacles(struct plx_rgb_image *drawing, const struct plx_frame *frame)
{
    static const int box_thickness = 2;
    const struct plx_obstacle *sorted[PLX_MAX_OBSTACLES];
    struct plx_label label[PLX_MAX_OBSTACLES];
    const int scale = 1 + drawing->width / 640;
    for (int i = plx_obstacles_by_distance(frame, sorted) - 1; i >= 0; i--) {
        plx_draw_box(drawing, sorted[i]->x, sorted[i]->y, sorted[i]->width, sorted[i]->height, box_thickness,
                     distance_colour((double)sorted[i]->nearest_m));
        draw_foot(drawing, frame, sorted[i], 4 * scale);
    }
    const int labels = plx_place_labels(frame, drawing->width, drawing->height, scale, label);
    for (int i = 0; i < labels; i++)
        plx_draw_text(drawing, label[i].x, label[i].y, scale, label[i].text,
                      distance_colour((double)label[i].obstacle->nearest_m));
}

static void blend(struct plx_rgb *pixel, struct plx_rgb colour)
{
    *pixel = (struct plx_rgb){(uint8_t)((pixel->r + colour.r) / 2), (uint8_t)((pixel->g + colour.g) / 2),
                              (uint8_t)((pixel->b + colour.b) / 2)};
}

/* Distance of the ground at a pixel, metres; INFINITY above the horizon. */
static double ground_distance(const struct plx_frame *frame, int x, int y)
{
    const struct plx_calibration_info *c = &frame->calibration;
    const float *normal = frame->ground.normal;
    const double fall = (double)normal[0] * (x - c->cx) / c->fx + (double)normal[1] * (y - c->cy) / c->fy + (double)normal[2];
    return frame->ground.valid && fall > 0 ? (double)frame->ground.camera_height_m / fall : INFINITY;
}

static void draw_column(struct plx_rgb_image *drawing, const struct plx_frame *frame, int x, const struct plx_scan *scan,
                        const struct plx_stixel *stixels)
{
    const double one_metre = plx_depth_scale_m(&frame->calibration); /* its disparity */

    for (int y = 0; y < drawing->height; y++) {
        struct plx_rgb *pixel = drawing->pixel + (size_t)y * (size_t)drawing->width + x;
        const struct plx_stixel *nearest = NULL;
        for (int i = PLX_COLUMN_STIXELS - 1; i >= 0; i--)
            if (stixels[i].disparity > 0 && y >= stixels[i].y0 && y <= stixels[i].y1)
                nearest = &stixels[i];
        if (nearest)
            blend(pixel, distance_colour(one_metre / nearest->disparity));
        else if (scan->free < PLX_SCAN_NOTHING_FREE && scan->free * ground_distance(frame, x, y) <= one_metre)
            blend(pixel, (struct plx_rgb){0, 255, 0});
    }
}

void plx_draw_columns(struct plx_rgb_image *drawing, const struct plx_frame *frame, const struct plx_image *scan,
                      const struct plx_image *stixels)
{
    const int columns = (drawing->width + PLX_COLUMN_WIDTH - 1) / PLX_COLUMN_WIDTH;
    if (!scan->data || !stixels->data || scan->width != columns || stixels->height != columns)
        return;
    for (int x = 0; x < drawing->width; x++)
        draw_column(drawing, frame, x, (const struct plx_scan *)scan->data + x / PLX_COLUMN_WIDTH,
                    plx_row(stixels, x / PLX_COLUMN_WIDTH));
}
