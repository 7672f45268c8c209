/* SPDX-License-Identifier: Apache-2.0 */
/* Directories of stereo pairs that a test writes, and their replay. */
#ifndef PLX_TESTS_REPLAY_FILES_H
#define PLX_TESTS_REPLAY_FILES_H

#include <parallax/error.h>

#include "core/base/clock.h"
#include "cpu/cpu.h"
#include "drivers/files/picture.h"
#include "drivers/replay/replay.h"
#include "tests/cmocka.h"
#include "tests/patience.h"
#include "tests/pgm_write.h"
#include "tests/unit/files.h"

#define WIDTH 21
#define HEIGHT 7
#define SOON patience_end_ns()

static struct plx_stages *stages;
static struct plx_error_message message;

static inline int begin_all(void **state)
{
    (void)state;
    const struct plx_limits limits = {64, 64, 64, 1};
    return plx_cpu_create(&limits, &stages);
}

static inline int end_all(void **state)
{
    (void)state;
    stages->ops->destroy(stages);
    return 0;
}

/* Every pixel of picture NUMBER of EYE tells which one it is. */
static inline uint8_t pixel(int number, int eye, int x, int y)
{
    return (uint8_t)(number * 16 + eye * 8 + x + 3 * y);
}

static inline void put_picture(const char *name, int number, int eye, int width, int height)
{
    static uint8_t grey[64][64];
    static uint16_t deep[64][64];
    const char *path = files_path(name), *extension = strrchr(name, '.');
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            grey[y][x] = pixel(number, eye, x, y);
            deep[y][x] = (uint16_t)(grey[y][x] * 256 + 5);
        }
    const struct plx_image image = {grey, width, height, 64, PLX_U8}, wide = {deep, width, height, 128, PLX_U16};
    int result = strcmp(extension, ".png") == 0   ? plx_png_write(path, &image, &message)
                 : strcmp(extension, ".pgm") == 0 ? plx_pgm_write(path, &image, &message)
                                                  : plx_pgm_write(path, &wide, &message); /* .PGM */
    assert_int_equal(result, 0);
}

/* COUNT pairs as FOLDER/%06d.png. */
static inline void put_sequence(const char *left, const char *right, int count)
{
    const char *folder[PLX_EYES] = {left, right};
    for (int eye = 0; eye < PLX_EYES; eye++) {
        files_folder(folder[eye]);
        for (int k = 0; k < count; k++) {
            char name[64];
            snprintf(name, sizeof name, "%s/%06d.png", folder[eye], k);
            put_picture(name, k, eye, WIDTH, HEIGHT);
        }
    }
}

static inline struct plx_replay_options at(enum plx_replay_timing timing)
{
    return (struct plx_replay_options){.path = files_directory, .timing = timing, .rate_hz = 100.0};
}

static inline struct plx_source *opened(const struct plx_replay_options *options)
{
    static struct plx_source *source; /* not on the stack: gcc 11 warns of a dangling pointer where this is inlined */
    if (plx_replay_create(stages, options, &source, &message) < 0)
        fail_msg("%s", message.text);
    assert_int_equal(source->ops->start(source, &message), 0);
    return source;
}

static inline struct plx_capture take(struct plx_source *source)
{
    struct plx_capture capture;
    int result = source->ops->next(source, SOON, &capture);
    if (result < 0)
        fail_msg("next gave %d: %s", result, source->message.text);
    return capture;
}

/* Takes both eyes of pair SEQUENCE and compares them with picture NUMBER; returns the capture time. */
static inline int64_t expect_pair(struct plx_source *source, uint32_t sequence, int number)
{
    int64_t capture_ns = 0;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        struct plx_capture capture = take(source);
        const struct plx_raw *raw = &capture.raw[eye];
        assert_non_null(raw->data);
        assert_null(capture.raw[!eye].data);
        assert_int_equal(capture.sequence, sequence);
        assert_int_equal(capture.clock, PLX_CLOCK_FILE);
        assert_true(eye == PLX_LEFT || capture.capture_ns == capture_ns);
        assert_true(raw->width == source->width && raw->height == source->height && raw->eye_width == raw->width);
        for (int y = 0; y < raw->height; y++)
            for (int x = 0; x < raw->width; x++) {
                const uint8_t *row = (const uint8_t *)raw->data + (size_t)y * raw->pitch;
                int value = raw->format == PLX_FORMAT_Y16 ? ((const uint16_t *)(const void *)row)[x] - 5 : row[x] * 256;
                assert_int_equal(value, pixel(number, eye, x, y) * 256);
            }
        capture_ns = capture.capture_ns;
        source->ops->release(source, &capture);
    }
    return capture_ns;
}

static inline void expect_end(struct plx_source *source)
{
    struct plx_capture capture;
    for (int i = 0; i < 2; i++)
        assert_int_equal(source->ops->next(source, SOON, &capture), PLX_ERR_END);
    assert_non_null(strstr(source->message.text, files_directory));
    source->ops->destroy(source);
}

static inline void refused(int error, const char *file, const char *words)
{
    const struct plx_replay_options options = at(PLX_TIMING_MAXIMUM);
    struct plx_source *source = NULL;
    message.text[0] = '\0';
    assert_int_equal(plx_replay_create(stages, &options, &source, &message), error);
    assert_null(source);
    if (!strstr(message.text, file) || !strstr(message.text, words))
        fail_msg("expected '%s' and '%s' in '%s'", file, words, message.text);
}

#endif
