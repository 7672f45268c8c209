/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/list_truth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/pipeline/pipeline.h"
#include "drivers/synthetic/raycast.h"

#define MIN_SHARE 0.3   /* share of a label's pixels that must have the distance of one object, for its obstacle to be on it */
#define FIT_PX 1.0      /* a disparity fits an object if it is off by no more */
#define APART_M 1.0     /* in depth, between two objects that one obstacle joins */
#define APART_PIXELS 40 /* pixels on each of the two */

/* The pixels of one label on one object. */
struct part {
    int fitting; /* by the dense disparity */
    int strict;  /* by the strict one; of these, the depths */
    float min_m, max_m;
};

struct label {
    int pixels;
    struct part part[PLX_SCENE_MAX_OBJECTS];
};

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

void list_truth_create(int width, int height, struct list_truth *ret_truth)
{
    const size_t pixels = (size_t)width * (size_t)height;
    *ret_truth = (struct list_truth){.width = width, .height = height};
    ret_truth->depth_m = allocate(pixels, sizeof *ret_truth->depth_m);
    ret_truth->object = allocate(pixels, sizeof *ret_truth->object);
}

void list_truth_destroy(struct list_truth *truth)
{
    free(truth->depth_m);
    free(truth->object);
}

static void see_pixel(struct list_truth *truth, size_t pixel, uint8_t hit, float inverse_depth)
{
    const int object = hit < PLX_HIT_FRONT ? LIST_TRUTH_NONE : (hit - PLX_HIT_FRONT) % PLX_SCENE_MAX_OBJECTS;
    truth->depth_m[pixel] = 1 / inverse_depth;
    truth->object[pixel] = (int16_t)object;
    if (object == LIST_TRUTH_NONE)
        return;
    truth->pixels[object]++;
    truth->nearest_m[object] = fmin(truth->nearest_m[object], (double)truth->depth_m[pixel]);
}

void list_truth_see(struct list_truth *truth, const struct plx_scene *scene, double time_s)
{
    const size_t width = (size_t)truth->width;
    float *radiance = allocate(width, sizeof *radiance), *inverse_depth = allocate(width, sizeof *inverse_depth);
    uint8_t *hit = allocate(width, sizeof *hit);
    const struct plx_ray_row row = {radiance, inverse_depth, hit};
    struct plx_ray_view view;

    memset(truth->pixels, 0, sizeof truth->pixels);
    for (int i = 0; i < PLX_SCENE_MAX_OBJECTS; i++)
        truth->nearest_m[i] = INFINITY;
    plx_ray_view_init(&view, scene, time_s, PLX_LEFT);
    for (int y = 0; y < truth->height; y++) {
        plx_ray_cast(&view, y, &row);
        for (size_t x = 0; x < width; x++)
            see_pixel(truth, (size_t)y * width + x, hit[x], inverse_depth[x]);
    }
    free(radiance);
    free(inverse_depth);
    free(hit);
}

/* True if DISPARITY (U16) has at X, Y what a thing DEPTH_M ahead has in FRAME. */
static bool fits(const struct plx_frame *frame, const struct plx_image *disparity, int x, int y, float depth_m)
{
    const uint16_t d = ((const uint16_t *)plx_row(disparity, y))[x];
    const double px = (double)d / PLX_DISPARITY_ONE + frame->min_disparity;
    const double expected = frame->calibration.fx * frame->calibration.baseline_m / (double)depth_m;
    return d != PLX_DISPARITY_INVALID && fabs(px - expected) <= FIT_PX;
}

static void count_pixel(struct part *part, bool is_dense, bool is_strict, float depth_m)
{
    part->fitting += is_dense;
    if (!is_strict)
        return;
    part->min_m = part->strict > 0 ? fminf(part->min_m, depth_m) : depth_m;
    part->max_m = part->strict > 0 ? fmaxf(part->max_m, depth_m) : depth_m;
    part->strict++;
}

static void count_labels(const struct list_truth *truth, struct plx_frame *frame, struct label *label)
{
    const struct plx_image labels = plx_pipeline_plane(frame, PLX_PLANE_LABELS);
    const struct plx_image strict = plx_pipeline_plane(frame, PLX_PLANE_DISPARITY);
    struct plx_image dense = plx_pipeline_plane(frame, PLX_PLANE_DENSE);
    dense = dense.data ? dense : strict;
    for (int y = 0; y < truth->height; y++)
        for (int x = 0; x < truth->width; x++) {
            const int number = ((const uint16_t *)plx_row(&labels, y))[x];
            const size_t pixel = (size_t)y * (size_t)truth->width + (size_t)x;
            const int object = truth->object[pixel];
            if (number == 0 || number > PLX_MAX_OBSTACLES)
                continue;
            label[number].pixels++;
            if (object == LIST_TRUTH_NONE)
                continue;
            const float depth_m = truth->depth_m[pixel];
            count_pixel(&label[number].part[object], fits(frame, &dense, x, y, depth_m), fits(frame, &strict, x, y, depth_m),
                        depth_m);
        }
}

static bool joins(const struct label *label)
{
    for (int a = 0; a < PLX_SCENE_MAX_OBJECTS; a++)
        for (int b = 0; b < PLX_SCENE_MAX_OBJECTS; b++)
            if (label->part[a].strict >= APART_PIXELS && label->part[b].strict >= APART_PIXELS &&
                label->part[a].min_m > label->part[b].max_m + (float)APART_M)
                return true;
    return false;
}

static struct list_owner owner_of(const struct label *label)
{
    int best = 0;
    for (int i = 1; i < PLX_SCENE_MAX_OBJECTS; i++)
        if (label->part[i].fitting > label->part[best].fitting)
            best = i;
    const bool is_on = label->pixels > 0 && label->part[best].fitting >= MIN_SHARE * label->pixels;
    return (struct list_owner){is_on ? best : LIST_TRUTH_NONE, joins(label)};
}

void list_truth_find_owners(const struct list_truth *truth, struct plx_frame *frame,
                            struct list_owner ret_owner[PLX_MAX_OBSTACLES])
{
    struct label *label = allocate(PLX_MAX_OBSTACLES + 1, sizeof *label);
    count_labels(truth, frame, label);
    for (uint32_t i = 0; i < frame->obstacle_count; i++) {
        const uint32_t number = frame->obstacle[i].label;
        ret_owner[i] = number > 0 && number <= PLX_MAX_OBSTACLES ? owner_of(&label[number])
                                                                 : (struct list_owner){.object = LIST_TRUTH_NONE};
    }
    free(label);
}
