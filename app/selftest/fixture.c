/* SPDX-License-Identifier: Apache-2.0 */
#include "app/selftest/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/image.h"
#include "drivers/synthetic/scene.h"

#define PERIOD_NS INT64_C(100000000)
#define NEUTRAL_CHROMA 128

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
            row[2 * x + 1] = NEUTRAL_CHROMA;
        if (format == PLX_FORMAT_UYVY)
            row[2 * x] = NEUTRAL_CHROMA;
    }
}

/* GREY in the pair's own format, in memory of the backend. */
static int pack(struct fixture *fixture, const struct fixture_kind *kind, const struct plx_image *grey, struct plx_raw *ret)
{
    const size_t pitch = plx_raw_row_bytes(kind->format, kind->width);
    const size_t bytes = pitch * plx_raw_rows(kind->format, kind->height);
    void *data;
    const int result = fixture->stages->ops->alloc(fixture->stages, bytes, &data);

    if (result < 0)
        return result;
    memset(data, NEUTRAL_CHROMA, bytes);
    for (int y = 0; y < kind->height; y++)
        pack_row(kind->format, kind->width, plx_row(grey, y), (uint8_t *)data + (size_t)y * pitch);
    *ret = (struct plx_raw){.data = data,
                            .bytes = bytes,
                            .width = kind->width,
                            .height = kind->height,
                            .pitch = pitch,
                            .format = kind->format,
                            .eye_width = kind->width};
    return 0;
}

static int draw_pairs(struct fixture *fixture, const struct fixture_kind *kind)
{
    const size_t bytes = (size_t)kind->width * (size_t)kind->height;
    const struct plx_image grey = {malloc(bytes), kind->width, kind->height, (size_t)kind->width, PLX_U8};
    struct plx_scene scene;
    int result = grey.data ? 0 : PLX_ERR_NOMEM;

    plx_scene_demo(kind->width, kind->height, 1, &scene);
    for (int i = 0; i < FIXTURE_PAIRS * PLX_EYES && result == 0; i++) {
        const int pair = i / PLX_EYES;
        const enum plx_eye eye = (enum plx_eye)(i % PLX_EYES);
        for (int y = 0; kind->images && y < grey.height; y++)
            memcpy(plx_row(&grey, y), plx_row(&kind->images[eye], y), (size_t)grey.width);
        if (!kind->images)
            result = plx_scene_render(&scene, (double)pair * (double)PERIOD_NS / 1e9, (uint32_t)pair, eye, 10000, 1, &grey);
        if (result == 0)
            result = pack(fixture, kind, &grey, &fixture->raw[pair][eye]);
    }
    free(grey.data);
    return result;
}

struct plx_limits fixture_limits(const struct fixture_kind *kind)
{
    return (struct plx_limits){kind->width, kind->height, kind->params.match.disparities, 0};
}

int fixture_calibration(const struct fixture_kind *kind, struct plx_stereo_calibration *ret_calibration,
                        struct plx_error_message *message)
{
    struct plx_scene scene;

    plx_scene_demo(kind->width, kind->height, 1, &scene);
    plx_calibration_pinhole(kind->width, kind->height, &scene.calibration, ret_calibration);
    if (!kind->distorted)
        return 0;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        ret_calibration->camera[eye].model = PLX_DISTORTION_PLUMB_BOB;
        ret_calibration->camera[eye].k[0] = -0.05;
    }
    ret_calibration->rectified = false;
    return plx_calibration_rectify(ret_calibration, 0, message);
}

int fixture_open(struct plx_stages *stages, const struct fixture_kind *kind, struct fixture *ret_fixture,
                 struct plx_error_message *message)
{
    struct plx_stereo_calibration calibration;
    struct plx_plane plane[PLX_PLANE_COUNT];
    struct fixture fixture = {.stages = stages, .bytes = plx_pipeline_layout(&kind->params, kind->width, kind->height, plane)};
    void *frame = NULL;

    message->text[0] = '\0';
    int result = draw_pairs(&fixture, kind);
    if (result == 0)
        result = fixture_calibration(kind, &calibration, message);
    if (result == 0)
        result = plx_pipeline_create(stages, &kind->params, &calibration, &fixture.pipeline, message);
    if (result == 0)
        result = stages->ops->alloc(stages, fixture.bytes, &frame);
    fixture.frame = frame;
    if (result == 0) {
        *ret_fixture = fixture;
        return 0;
    }
    if (message->text[0] == '\0')
        plx_fail(message, result, "%s. %s", plx_strerror(result), stages->message.text);
    fixture_close(&fixture);
    return result;
}

void fixture_close(struct fixture *fixture)
{
    struct plx_stages *stages = fixture->stages;

    plx_pipeline_destroy(fixture->pipeline);
    for (int i = 0; i < FIXTURE_PAIRS * PLX_EYES; i++)
        stages->ops->free(stages, (void *)(uintptr_t)fixture->raw[i / PLX_EYES][i % PLX_EYES].data);
    stages->ops->free(stages, fixture->frame);
    stages->ops->destroy(stages);
}

int fixture_run(struct fixture *fixture, int number)
{
    const int result =
        plx_pipeline_process(fixture->pipeline, fixture->raw[number % FIXTURE_PAIRS], number * PERIOD_NS, fixture->frame);
    memcpy(fixture->stage_us, fixture->frame->stage_us, sizeof fixture->stage_us);
    memset(fixture->frame->stage_us, 0, sizeof fixture->frame->stage_us);
    return result;
}

bool fixture_open_check(enum plx_backend_kind backend, int width, int height, const struct plx_pipeline_params *params,
                        struct fixture *ret_fixture, struct check_outcome *outcome)
{
    const struct fixture_kind kind = {width, height, PLX_FORMAT_GREY, false, *params, NULL};
    const struct plx_limits limits = fixture_limits(&kind);
    struct plx_stages *stages;
    struct plx_error_message message;

    if (!check_backend(backend, &limits, &stages, outcome))
        return false;
    if (fixture_open(stages, &kind, ret_fixture, &message) == 0)
        return true;
    check_fail(outcome, "no pipeline: %s", message.text);
    return false;
}

bool fixture_run_check(struct fixture *fixture, int number, struct check_outcome *outcome)
{
    const int result = fixture_run(fixture, number);
    if (result < 0)
        check_fail(outcome, "frame %d: %s. %s", number, plx_strerror(result), fixture->stages->message.text);
    return result == 0;
}
