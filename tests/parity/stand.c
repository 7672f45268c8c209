/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/parity/stand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/raw.h"
#include "drivers/pgm.h"
#include "drivers/scene.h"

#define PERIOD_NS INT64_C(100000000)
#define NO_COLOUR 128

static void must(const struct stand *stand, int result, const char *what, const char *why)
{
    if (result == 0)
        return;
    printf("%s: %s. %s\n", what, plx_strerror(result), why[0] ? why : stand->stages->why.text);
    exit(1);
}

/* Samples of one row of GREY, so that converting them gives GREY again, or near it. */
static void pack_row(enum plx_format format, int width, const uint8_t *grey, uint8_t *row)
{
    const struct plx_format_layout *layout = plx_format_layout(format);
    const int bytes = layout->unit_bytes / layout->unit_pixels;

    for (int x = 0; x < width; x++) {
        if (layout->words) {
            const uint16_t word = (uint16_t)(grey[x] << (layout->bits - 8));
            memcpy(row + 2 * x, &word, sizeof word);
            continue;
        }
        for (int i = 0; i < bytes; i++)
            row[x * bytes + i] = grey[x];
        if (format == PLX_FORMAT_YUYV)
            row[2 * x + 1] = NO_COLOUR;
        if (format == PLX_FORMAT_UYVY)
            row[2 * x] = NO_COLOUR;
    }
}

/* A picture's upper left corner into IMAGE. */
static void read_picture(const struct stand_kind *kind, enum plx_eye eye, const struct plx_image *image)
{
    struct plx_image picture;
    struct plx_why why = {""};
    char path[4096];

    snprintf(path, sizeof path, "%s/%s.pgm", kind->pictures, eye == PLX_LEFT ? "left" : "right");
    if (plx_pgm_read(path, &picture, &why) < 0 || picture.width < image->width || picture.height < image->height ||
        picture.type != PLX_U8) {
        printf("%s: %s\n", path, why.text[0] ? why.text : "too small");
        exit(1);
    }
    for (int y = 0; y < image->height; y++)
        memcpy(plx_row(image, y), plx_row(&picture, y), (size_t)image->width);
    free(picture.data);
}

static void render(struct stand *stand, const struct stand_kind *kind, const struct plx_scene *scene, int pair,
                   enum plx_eye eye)
{
    const size_t pitch = plx_raw_row_bytes(kind->format, kind->width), rows = (size_t)kind->height;
    const size_t bytes = pitch * (plx_format_layout(kind->format)->chroma_plane ? rows + (rows + 1) / 2 : rows);
    uint8_t *grey = malloc((size_t)kind->width * rows);
    const struct plx_image image = {grey, kind->width, kind->height, (size_t)kind->width, PLX_U8};
    void *data;

    must(stand, grey ? 0 : PLX_ERR_NOMEM, "pictures", "");
    must(stand, stand->stages->ops->alloc(stand->stages, bytes, &data), "pictures", "");
    if (kind->pictures)
        read_picture(kind, eye, &image);
    else
        must(stand, plx_scene_render(scene, pair * 0.1, (uint32_t)pair, eye, 10000, 1, &image), "the scene", "");
    memset(data, NO_COLOUR, bytes);
    for (int y = 0; y < kind->height; y++)
        pack_row(kind->format, kind->width, plx_row(&image, y), (uint8_t *)data + (size_t)y * pitch);
    free(grey);
    stand->raw[pair][eye] = (struct plx_raw){.data = data,
                                             .bytes = bytes,
                                             .width = kind->width,
                                             .height = kind->height,
                                             .pitch = pitch,
                                             .format = kind->format,
                                             .eye_width = kind->width};
}

struct plx_limits stand_limits(const struct stand_kind *kind)
{
    return (struct plx_limits){kind->width, kind->height, kind->params.match.disparities, 0};
}

void stand_calibration(const struct stand_kind *kind, struct plx_stereo_calibration *ret_calibration)
{
    struct plx_scene scene;
    struct plx_why why = {""};

    plx_scene_demo(kind->width, kind->height, 1, &scene);
    plx_calibration_pinhole(kind->width, kind->height, &scene.calibration, ret_calibration);
    if (!kind->distorted)
        return;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        ret_calibration->camera[eye].model = PLX_DISTORTION_PLUMB_BOB;
        ret_calibration->camera[eye].k[0] = -0.05;
    }
    ret_calibration->rectified = false;
    if (plx_calibration_rectify(ret_calibration, 0, &why) < 0) {
        printf("the calibration: %s\n", why.text);
        exit(1);
    }
}

void stand_open(struct plx_stages *stages, const struct stand_kind *kind, struct stand *ret_stand)
{
    struct plx_stereo_calibration calibration;
    struct plx_plane plane[PLX_PLANE_COUNT];
    struct plx_why why = {""};
    struct plx_scene scene;
    void *frame;

    *ret_stand = (struct stand){.stages = stages};
    plx_scene_demo(kind->width, kind->height, 1, &scene);
    for (int i = 0; i < STAND_PAIRS * PLX_EYES; i++)
        render(ret_stand, kind, &scene, i / PLX_EYES, (enum plx_eye)(i % PLX_EYES));
    stand_calibration(kind, &calibration);
    must(ret_stand, plx_pipeline_create(stages, &kind->params, &calibration, &ret_stand->pipeline, &why), "the pipeline",
         why.text);
    ret_stand->bytes = plx_pipeline_layout(&kind->params, kind->width, kind->height, plane);
    must(ret_stand, stages->ops->alloc(stages, ret_stand->bytes, &frame), "the frame", "");
    ret_stand->frame = frame;
}

void stand_close(struct stand *stand)
{
    struct plx_stages *stages = stand->stages;

    plx_pipeline_destroy(stand->pipeline);
    for (int i = 0; i < STAND_PAIRS * PLX_EYES; i++)
        stages->ops->free(stages, (void *)(uintptr_t)stand->raw[i / PLX_EYES][i % PLX_EYES].data);
    stages->ops->free(stages, stand->frame);
    stages->ops->destroy(stages);
}

int stand_run(struct stand *stand, int number)
{
    const int result =
        plx_pipeline_process(stand->pipeline, stand->raw[number % STAND_PAIRS], number * PERIOD_NS, stand->frame);
    memset(stand->frame->stage_us, 0, sizeof stand->frame->stage_us);
    return result;
}
