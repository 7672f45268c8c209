/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real parallaxd on cameras of the guest, and beside it the CPU pipeline on the very pictures that the cameras were given:
 * whatever is published must be the same, byte by byte. Pairs go through one at a time, so that both see every one.
 */
#ifndef PLX_TESTS_VM_PUBLISHED_H
#define PLX_TESTS_VM_PUBLISHED_H

#include "tests/system/daemon.h"

#include <parallax/client.h>
#include <parallax/error.h>

#include "config/config.h"
#include "core/pipeline/pipeline.h"
#include "cpu/cpu.h"

#define PUBLISHED_MS 60000 /* the guest is slow, and its host may be busy */

struct published {
    struct daemon daemon;
    struct plx_config config;
    struct plx_stereo_calibration calibration;
    struct plx_stages *stages;
    struct plx_pipeline *pipeline;
    struct plx_frame *expected; /* memory of STAGES */
    struct plx_frame *frame;    /* what was published last */
    size_t bytes;
    struct plx_client *client;
};

static inline void published_why(int result, const struct plx_error_message *message)
{
    if (result < 0)
        fail_msg("%s: %s", plx_strerror(result), message->text);
}

/* The pipeline that the service should be, made of the same settings. */
static inline void published_expect(struct published *published)
{
    const struct plx_calibration_options options = {.alpha = published->config.rectify_alpha, .scale = 1};
    struct plx_plane plane[PLX_PLANE_COUNT];
    struct plx_error_message message = {""};

    published_why(plx_calibration_read(published->config.calibration, &options, &published->calibration, &message), &message);
    const int width = published->calibration.rectified_width, height = published->calibration.rectified_height;
    const struct plx_limits limits = {.width = width,
                                      .height = height,
                                      .disparities = published->config.pipeline.match.disparities,
                                      .threads = published->config.threads};
    assert_int_equal(plx_cpu_create(&limits, &published->stages), 0);
    published_why(plx_pipeline_create(published->stages, &published->config.pipeline, &published->calibration,
                                      &published->pipeline, &message),
                  &message);
    published->bytes = plx_pipeline_layout(&published->config.pipeline, width, height, plane);
}

/* The same without a calibration. */
static inline void published_expect_raw(struct published *published)
{
    const int width = published->config.source.width, height = published->config.source.height;
    const struct plx_limits limits = {.width = width, .height = height, .disparities = 64, .threads = 1};
    struct plx_plane plane[PLX_PLANE_COUNT];
    struct plx_error_message message = {""};

    assert_int_equal(plx_cpu_create(&limits, &published->stages), 0);
    published_why(plx_pipeline_create_raw(published->stages, width, height, &published->pipeline, &message), &message);
    published->bytes = plx_pipeline_layout_raw(width, height, plane);
}

static inline void published_allocate(struct published *published)
{
    void *data;

    assert_int_equal(published->stages->ops->alloc(published->stages, published->bytes, &data), 0);
    published->expected = data;
    published->frame = calloc(1, published->bytes);
    assert_non_null(published->frame);
}

/* Starts the service with SETTINGS ("key=value", NULL at the end; raw without `calibration` among them) and connects to it. */
static inline void published_open(struct published *published, const char *const *settings)
{
    const char *args[DAEMON_ARGS] = {NULL};
    struct plx_error_message message = {""};

    memset(published, 0, sizeof *published);
    plx_config_default(&published->config);
    for (int i = 0; settings[i]; i++) {
        assert_true(2 * i + 2 < DAEMON_ARGS);
        published_why(plx_config_set(&published->config, settings[i], &message), &message);
        args[2 * i] = "--set";
        args[2 * i + 1] = settings[i];
    }
    if (published->config.calibration[0] != '\0')
        published_expect(published);
    else
        published_expect_raw(published);
    published_allocate(published);
    daemon_make(&published->daemon);
    daemon_start(&published->daemon, args);
    const int64_t deadline = plx_now_ns() + PUBLISHED_MS * PLX_NS_PER_MS;
    while (plx_connect(published->daemon.socket, &published->client) < 0) {
        if (plx_now_ns() > deadline || daemon_wait(&published->daemon, 0) >= 0)
            fail_msg("no service: %s", daemon_said(&published->daemon));
        usleep(20000);
    }
}

static inline void published_close(struct published *published)
{
    plx_disconnect(published->client);
    kill(published->daemon.pid, SIGTERM);
    assert_int_equal(daemon_wait(&published->daemon, 20000), 0);
    daemon_remove(&published->daemon);
    plx_pipeline_destroy(published->pipeline);
    published->stages->ops->free(published->stages, published->expected);
    published->stages->ops->destroy(published->stages);
    free(published->frame);
}

/* Takes the newest frame into published->frame. */
static inline void published_take_newest(struct published *published)
{
    const int64_t deadline = plx_now_ns() + PUBLISHED_MS * PLX_NS_PER_MS;
    size_t bytes;
    int result;

    do /* a slow guest's engine may be over its budget, which is told as LOST once; a pair lost with it would be missed */
        result = plx_copy(published->client, PUBLISHED_MS, published->frame, published->bytes, &bytes);
    while (result == PLX_ERR_LOST && plx_now_ns() < deadline);
    if (result < 0)
        fail_msg("no frame: %s\n%s", plx_strerror(result), daemon_said(&published->daemon));
    assert_int_equal(bytes, published->bytes);
}

/* The same, and none may be missing. */
static inline void published_take(struct published *published)
{
    const uint64_t before = published->frame->sequence;
    published_take_newest(published);
    assert_true(published->frame->sequence == before + 1);
}

/* Compares the frame that was taken with what the pipeline makes of RAW. To be called for every frame, unless nothing with
 * a memory (tracks, the temporal filter) is on. */
static inline void published_compare(struct published *published, const struct plx_raw raw[PLX_EYES])
{
    const struct plx_frame *frame = published->frame, *expected = published->expected;

    assert_int_equal(plx_pipeline_process(published->pipeline, raw, frame->capture[PLX_LEFT].capture_ns, published->expected),
                     0);
    assert_int_equal(frame->width, expected->width);
    assert_int_equal(frame->height, expected->height);
    for (int i = 0; i < PLX_PLANE_COUNT; i++) {
        const struct plx_image plane = plx_pipeline_plane(published->frame, (enum plx_plane_id)i);
        const struct plx_image wanted = plx_pipeline_plane(published->expected, (enum plx_plane_id)i);
        assert_int_equal(plane.data != NULL, wanted.data != NULL);
        for (int y = 0; wanted.data && y < wanted.height; y++)
            if (memcmp(plx_row(&plane, y), plx_row(&wanted, y), (size_t)wanted.width * wanted.type) != 0)
                fail_msg("row %d of plane %d of frame %lu differs", y, i, (unsigned long)frame->sequence);
    }
    assert_memory_equal(&frame->calibration, &expected->calibration, sizeof frame->calibration);
    assert_memory_equal(&frame->ground, &expected->ground, sizeof frame->ground);
    assert_int_equal(frame->region_count, expected->region_count);
    assert_int_equal(frame->obstacle_count, expected->obstacle_count);
    assert_memory_equal(frame->obstacle, expected->obstacle, expected->obstacle_count * sizeof expected->obstacle[0]);
}

#endif
