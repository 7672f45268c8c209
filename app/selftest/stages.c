/* SPDX-License-Identifier: Apache-2.0 */
/* Every stage that has an oracle, on random images, also of very small and odd sizes, in memory of the backend. */
#include <string.h>

#include <parallax/error.h>

#include "app/selftest/check.h"
#include "core/base/image.h"
#include "core/checks/picture_sums.h"
#include "core/colour/white_balance.h"
#include "core/ground/columns.h"
#include "core/motion/corners.h"
#include "core/pipeline/stages.h"
#include "oracle/columns.h"
#include "oracle/components.h"
#include "oracle/free_ground.h"
#include "oracle/image.h"
#include "oracle/matching.h"
#include "oracle/motion.h"
#include "oracle/oracle.h"
#include "oracle/test_image.h"
#include "oracle/twin.h"

#define SIDE 520
#define TWINS 32
#define FLOW_POINTS 16

static const int sizes[][2] = {{1, 1}, {2, 1}, {1, 7}, {7, 2}, {33, 31}, {513, 3}, {3, 130}, {2, 513}, {200, 40}};
#define SIZES ((int)(sizeof sizes / sizeof *sizes))

/* The backend, and the images of one case. A twin is an image in memory of the backend and its copy for the oracle. */
struct bench {
    struct plx_stages *stages;
    struct check_outcome *outcome;
    uint64_t random;
    int width, height, error; /* case size; the first failure of its stages */
    struct twin twin[TWINS];
    int twins;
};

/* A new twin, until the end of the case. */
static struct twin *image(struct bench *bench, int width, int height, enum plx_type type)
{
    struct twin *twin = &bench->twin[bench->twins++];
    *twin = twin_new(bench->stages, width, height, type);
    return twin;
}

/* An image of the size of the case. */
static struct twin *plane(struct bench *bench, enum plx_type type)
{
    return image(bench, bench->width, bench->height, type);
}

static struct twin *noise_of(struct bench *bench, int width, int height, enum plx_type type)
{
    struct twin *twin = image(bench, width, height, type);
    for (int y = 0; y < height; y++)
        for (int i = 0; i < width * (int)type; i++)
            ((uint8_t *)plx_row(&twin->want, y))[i] = (uint8_t)random_next(&bench->random);
    twin_share(twin);
    return twin;
}

static struct twin *noise(struct bench *bench, int width, int height)
{
    return noise_of(bench, width, height, PLX_U8);
}

/* Keeps the first error of the case. */
static void try(struct bench *bench, int result)
{
    if (result < 0 && bench->error == 0)
        bench->error = result;
}

/* Waits for the backend, then compares; after a stage that failed there is nothing to compare. */
static void compare(struct bench *bench, const char *what, const struct twin *twin)
{
    char how[160];

    try(bench, bench->stages->ops->finish(bench->stages));
    if (bench->error < 0)
        check_fail(bench->outcome, "%s, %d x %d: %s. %s", what, bench->width, bench->height, plx_strerror(bench->error),
                   bench->stages->message.text);
    else if (!twin_equal(twin, how, sizeof how))
        check_fail(bench->outcome, "%s differs from the oracle, %s", what, how);
}

static void case_convert(struct bench *b)
{
    const enum plx_format format = (enum plx_format)random_below(&b->random, PLX_FORMAT_COUNT);
    const struct plx_format_layout *layout = plx_format_layout(format);
    struct plx_raw raw = {.width = b->width, .height = b->height, .format = format, .eye_width = b->width};
    if (layout->bayer && (b->width < 2 || b->height < 2))
        return;
    const int row = (int)plx_raw_row_bytes(format, b->width);
    const int rows = (int)plx_raw_rows(format, b->height);
    const struct twin *data = noise(b, row + 3 + row % 2, rows), *grey = plane(b, PLX_U8),
                      *sums = image(b, PLX_CHECKSUM_TILES, 1, PLX_U64);
    raw.pitch = data->want.pitch;
    raw.bytes = (size_t)rows * raw.pitch;
    raw.bayer = (enum plx_bayer)random_below(&b->random, 4);
    raw.msb_aligned = layout->words && random_below(&b->random, 2);
    raw.data = data->got.data;
    try(b, b->stages->ops->convert(b->stages, &raw, &grey->got));
    raw.data = data->want.data;
    oracle_convert(&raw, &grey->want);
    compare(b, layout->name, grey);
    raw.data = data->got.data;
    try(b, b->stages->ops->checksum(b->stages, &raw, &sums->got));
    raw.data = data->want.data;
    oracle_checksum(&raw, &sums->want);
    compare(b, "checksum", sums);
}

static void case_colour(struct bench *b)
{
    const enum plx_format format = (enum plx_format)random_below(&b->random, PLX_FORMAT_COUNT);
    const struct plx_format_layout *layout = plx_format_layout(format);
    struct plx_raw raw = {.width = b->width, .height = b->height, .format = format, .eye_width = b->width};
    if (layout->bayer && (b->width < 2 || b->height < 2))
        return;
    const int row = (int)plx_raw_row_bytes(format, b->width), rows = (int)plx_raw_rows(format, b->height);
    struct twin *data = noise(b, row + 3 + row % 2, rows), *tone = noise(b, PLX_COLOUR_FULL + 1, 1);
    const struct twin *rgb = plane(b, PLX_RGB), *sums = image(b, plx_colour_sum_columns(b->height), PLX_COLOUR_SUMS, PLX_U64);
    struct plx_development development = {.black = (int32_t)random_below(&b->random, 3) * 20};
    for (int i = 0; i < PLX_CHANNELS; i++)
        development.gain[i] = PLX_COLOUR_ONE + (int32_t)random_below(&b->random, PLX_COLOUR_ONE * 3);
    for (int i = 0; i < PLX_CHANNELS * PLX_CHANNELS; i++)
        development.matrix[i] = (int32_t)random_below(&b->random, 4 * PLX_COLOUR_ONE) - 2 * PLX_COLOUR_ONE;
    raw.pitch = data->want.pitch;
    raw.bytes = (size_t)rows * raw.pitch;
    raw.bayer = (enum plx_bayer)random_below(&b->random, 4);
    raw.msb_aligned = layout->words && random_below(&b->random, 2);
    raw.chroma = (struct plx_chroma){random_below(&b->random, 2), random_below(&b->random, 2), random_below(&b->random, 2),
                                     random_below(&b->random, 2)};
    raw.data = data->got.data;
    development.tone = tone->got.data;
    try(b, b->stages->ops->colour(b->stages, &raw, &development, &rgb->got));
    try(b, b->stages->ops->colour_sums(b->stages, &raw, &development, &sums->got));
    raw.data = data->want.data;
    development.tone = tone->want.data;
    oracle_colour(&raw, &development, &rgb->want);
    compare(b, "colour", rgb);
    oracle_colour_sums(&raw, &development, &sums->want);
    compare(b, "colour sums", sums);
}

static void case_histogram(struct bench *b)
{
    const struct twin *grey = noise(b, b->width, b->height), *bins = image(b, 256, 65, PLX_U32);
    try(b, b->stages->ops->histogram(b->stages, &grey->got, 256, &bins->got));
    oracle_histogram(&grey->want, 256, &bins->want);
    compare(b, "histogram", bins);
}

static void case_sharpness(struct bench *b)
{
    const struct twin *grey = noise(b, b->width, b->height), *steps = image(b, plx_sharpness_columns(b->height), 2, PLX_U32);
    try(b, b->stages->ops->sharpness(b->stages, &grey->got, &steps->got));
    oracle_sharpness(&grey->want, &steps->want);
    compare(b, "sharpness", steps);
}

static void case_rectify(struct bench *b)
{
    const int width = 97, height = 33;
    const enum plx_type type = random_below(&b->random, 2) ? PLX_RGB : PLX_U8;
    const struct twin *src = noise_of(b, b->width, b->height, type), *dst = image(b, width, height, type);
    const struct twin *masked = image(b, 1, 1, PLX_U32);
    struct twin *entries = image(b, width * height * (int)sizeof(struct plx_remap_entry), 1, PLX_U8);
    const struct plx_remap got = {entries->got.data, width, height}, want = {entries->want.data, width, height};
    for (int i = 0; i < width * height; i++)
        want.entry[i] = (struct plx_remap_entry){(int16_t)((int)random_below(&b->random, (uint32_t)b->width + 6) - 3),
                                                 (int16_t)((int)random_below(&b->random, (uint32_t)b->height + 6) - 3),
                                                 (uint8_t)random_below(&b->random, 32), (uint8_t)random_below(&b->random, 32)};
    twin_share(entries);
    try(b, b->stages->ops->rectify(b->stages, &src->got, &got, &dst->got, masked->got.data));
    oracle_rectify(&src->want, &want, &dst->want, masked->want.data);
    compare(b, "rectify", dst);
    compare(b, "number of masked pixels", masked);
}

static void case_filter(struct bench *b)
{
    const struct twin *src = noise(b, b->width, b->height), *dst = plane(b, PLX_U8);
    struct plx_filter filter;
    try(b, plx_filter_make(random_below(&b->random, 2), 1 + 2 * (int)random_below(&b->random, 16),
                           1 + 2 * (int)random_below(&b->random, 16), &filter));
    try(b, b->stages->ops->filter(b->stages, &src->got, &filter, &dst->got));
    oracle_filter(&src->want, &filter, &dst->want);
    compare(b, "filter", dst);
}

/* The right picture is the left one shifted by 7 pixels, with some noise: some disparities are valid, others are not. */
static void case_matching(struct bench *b)
{
    struct twin *const eye[PLX_EYES] = {noise(b, b->width, b->height), noise(b, b->width, b->height)}, *made[MATCHING_PLANES];
    struct plx_image got[MATCHING_PLANES], want[MATCHING_PLANES];
    struct plx_match match;

    if (random_below(&b->random, 2))
        plx_match_default(&match);
    else
        plx_match_classic(&match);
    match.disparities = 64 << random_below(&b->random, 3);
    match.paths = random_below(&b->random, 2) ? 4 : 8;
    for (int y = 0; y < b->height; y++) {
        const uint8_t *left = plx_row(&eye[PLX_LEFT]->want, y);
        uint8_t *right = plx_row(&eye[PLX_RIGHT]->want, y);
        for (int x = 0; x + 7 < b->width; x++)
            right[x] = right[x] > 200 ? right[x] : left[x + 7];
    }
    twin_share(eye[PLX_RIGHT]);
    for (int i = 0; i < MATCHING_PLANES; i++) {
        made[i] = plane(b, matching_type(&match, (enum matching_plane)i));
        got[i] = made[i]->got;
        want[i] = made[i]->want;
    }
    try(b, matching_run(b->stages, (struct plx_image[]){eye[PLX_LEFT]->got, eye[PLX_RIGHT]->got}, &match, got));
    matching_oracle((struct plx_image[]){eye[PLX_LEFT]->want, eye[PLX_RIGHT]->want}, &match, want);
    for (int i = 0; i < MATCHING_PLANES; i++)
        compare(b, matching_names[i], made[i]);
}

static void case_components(struct bench *b)
{
    const struct plx_label_params params = {(int)random_below(&b->random, 20), 1 + (int)random_below(&b->random, 10)};
    const struct plx_speckle speckle = {params.min_area * 4, params.max_step};
    struct twin *mask = noise(b, b->width, b->height), *disparity = plane(b, PLX_U16);
    const struct twin *labels = plane(b, PLX_U32), *clean = plane(b, PLX_U16), *count = image(b, 1, 1, PLX_U32);
    const uint32_t density = random_below(&b->random, 256);
    for (int y = 0; y < b->height; y++)
        for (int x = 0; x < b->width; x++) {
            uint8_t *on = (uint8_t *)plx_row(&mask->want, y) + x;
            *on = *on < density ? 255 : 0;
            ((uint16_t *)plx_row(&disparity->want, y))[x] = (uint16_t)(300 + random_below(&b->random, 24));
        }
    twin_share(mask);
    twin_share(disparity);
    try(b, b->stages->ops->label(b->stages, &mask->got, &disparity->got, &params, &labels->got, count->got.data));
    try(b, b->stages->ops->speckle(b->stages, &disparity->got, &speckle, &clean->got));
    oracle_label(&mask->want, &disparity->want, &params, &labels->want, count->want.data);
    oracle_speckle(&disparity->want, speckle.max_size, speckle.max_step, &clean->want);
    compare(b, "label", labels);
    compare(b, "speckle", clean);
    compare(b, "number of components", count);
}

/* Ground that falls from row HEIGHT / 4, with a thing in every second strip of ten columns. */
static void case_columns(struct bench *b)
{
    const struct plx_columns_params params = {.mask = {.near_disparity = 2000,
                                                       .far_disparity = 20,
                                                       .min_height_um = 100000,
                                                       .max_height_um = 3000000,
                                                       .focal_px = 1 + (int)random_below(&b->random, 600)},
                                              .disparities = 64 << random_below(&b->random, 3),
                                              .min_drop_mm = 100};
    const struct plx_calibration_info lens = {.fx = 500, .fy = 500, .baseline_m = 0.25};
    const int columns = plx_columns_of(b->width), slope = 1 + (int)random_below(&b->random, 8);
    struct twin *disparity = plane(b, PLX_U16), *ground = image(b, (int)sizeof(struct plx_ground) / 8, 1, PLX_U64);
    const struct twin *scan = image(b, columns, 1, PLX_U64), *stixels = image(b, PLX_COLUMN_STIXELS, columns, PLX_U128);

    *(struct plx_ground *)ground->want.data =
        (struct plx_ground){.b = slope << 16, .c = -(slope << 16) * (b->height / 4), .camera_height_um = 1000000, .valid = 1};
    for (int y = 0; y < b->height; y++)
        for (int x = 0; x < b->width; x++) {
            const int road = slope * (y - b->height / 4), thing = x / 10 % 2 ? 20 + x / 10 * 30 : 0;
            const uint32_t d = (uint32_t)(road > thing ? road : thing) + random_below(&b->random, 8);
            ((uint16_t *)plx_row(&disparity->want, y))[x] = (uint16_t)(random_below(&b->random, 9) ? d : PLX_DISPARITY_INVALID);
        }
    twin_share(disparity);
    twin_share(ground);
    try(b, b->stages->ops->stixels(b->stages, &disparity->got, ground->got.data, &params, &scan->got, &stixels->got));
    oracle_columns(&disparity->want, ground->want.data, &params, &scan->want, &stixels->want);
    compare(b, "scan", scan);
    compare(b, "stixels", stixels);
    try(b, b->stages->ops->free_ground(b->stages, &disparity->got, ground->got.data, &params, &lens, &scan->got));
    oracle_free_ground(&disparity->want, ground->want.data, &params, &lens, &scan->want);
    compare(b, "free ground", scan);
}

/* An image with memory for BYTES. */
static struct twin *memory(struct bench *b, size_t bytes)
{
    return image(b, SIDE, (int)(bytes / SIDE) + 1, PLX_U8);
}

static void case_corners(struct bench *b)
{
    const struct twin *left = noise(b, b->width, b->height),
                      *cells = image(b, plx_corner_cells(b->width), plx_corner_cells(b->height), PLX_U128),
                      *found = memory(b, sizeof(struct plx_flow_found));
    struct twin *disparity = plane(b, PLX_U16), *job = memory(b, sizeof(struct plx_flow_job));
    try(b, b->stages->ops->corners(b->stages, &left->got, &cells->got));
    oracle_corners(&left->want, &cells->want);
    compare(b, "corners", cells);
    for (int y = 0; y < b->height; y++)
        for (int x = 0; x < b->width; x++)
            ((uint16_t *)plx_row(&disparity->want, y))[x] = (uint16_t)(500 + x / 50 * 100 + (int)random_below(&b->random, 24));
    twin_share(disparity);
    memset(job->want.data, 0, sizeof(struct plx_flow_job)); /* no points */
    twin_share(job);
    try(b, b->stages->ops->corner_disparities(b->stages, &disparity->got, job->got.data, &cells->got, found->got.data));
    oracle_corner_disparities(&disparity->want, &cells->want);
    compare(b, "disparities of corners", cells);
}

/* Points of a picture in the same picture with other noise in some rows, expected up to 2 px away. */
static void case_flow(struct bench *b)
{
    struct twin *job = memory(b, sizeof(struct plx_flow_job)), *found = memory(b, FLOW_POINTS * sizeof(struct plx_flow_found));
    struct twin *image[2] = {noise(b, b->width, b->height), plane(b, PLX_U8)};
    struct plx_flow_job *flow = job->want.data;
    struct plx_flow_found *want = found->want.data;
    struct plx_pyramid pyramids[2];

    memset(flow, 0, sizeof *flow);
    memcpy(image[1]->want.data, image[0]->want.data, image[0]->want.pitch * (size_t)b->height);
    memset(plx_row(&image[1]->want, b->height / 2), 0, (size_t)b->width);
    flow->levels = 1 + random_below(&b->random, 3);
    flow->count = FLOW_POINTS;
    for (int i = 0; i < FLOW_POINTS; i++)
        for (int k = 0; k < 2; k++) {
            flow->point[i].from[k] = random_below(&b->random, (uint32_t)(k == 0 ? b->width : b->height) * 4) / 4.0;
            flow->point[i].to[k] = flow->point[i].from[k] + random_below(&b->random, 32) / 16.0 - 1;
        }
    for (int i = 0; i < 2; i++)
        plx_pyramid_lay_out(memory(b, plx_pyramid_bytes(b->width, b->height))->got.data, b->width, b->height, &pyramids[i]);
    for (uint32_t i = 0; i < 2; i++) {
        flow->now = i;
        twin_share(job);
        twin_share(image[i]);
        try(b, b->stages->ops->pyramid(b->stages, &image[i]->got, job->got.data, pyramids));
        try(b, b->stages->ops->finish(b->stages)); /* the job changes */
    }
    try(b, b->stages->ops->flow(b->stages, pyramids, job->got.data, found->got.data));
    for (int i = 0; i < FLOW_POINTS; i++) {
        want[i] = (struct plx_flow_found){.at = {flow->point[i].to[0], flow->point[i].to[1]}};
        want[i].is_found = oracle_flow(&image[0]->want, &image[1]->want, (int)flow->levels, flow->point[i].from, want[i].at);
    }
    compare(b, "flow", found);
}

void check_stages(const struct check_options *options, struct check_outcome *ret)
{
    static void (*const cases[])(struct bench *) = {case_convert, case_colour,  case_histogram, case_sharpness,
                                                    case_rectify, case_filter,  case_matching,  case_components,
                                                    case_columns, case_corners, case_flow};
    const int kinds = sizeof cases / sizeof *cases, rounds = options->full ? 20 : 2;
    const struct plx_limits limits = {SIDE, SIDE, 256, 0};
    struct bench bench = {.outcome = ret, .random = options->seed};

    if (!check_backend(options->backend, &limits, &bench.stages, ret))
        return;
    for (int i = 0; i < rounds * SIZES * kinds && ret->verdict == CHECK_PASSED; i++) {
        bench.width = sizes[i / kinds % SIZES][0];
        bench.height = sizes[i / kinds % SIZES][1];
        cases[i % kinds](&bench);
        while (bench.twins > 0)
            twin_free(bench.stages, &bench.twin[--bench.twins]);
    }
    check_note(ret, "%d cases, seed %llu", rounds * SIZES * kinds, (unsigned long long)options->seed);
    bench.stages->ops->destroy(bench.stages);
}
