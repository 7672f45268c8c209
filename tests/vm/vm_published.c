/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The synthetic scene through real V4L2: drawn by the synthetic source, fed to the test camera, captured by parallaxd. What it
 * publishes, obstacles with their tracks included, is what the pipeline makes of the synthetic source's own pictures.
 *
 * guest: stereocam
 */
#include "tests/vm/camera.h"
#include "tests/vm/published.h"

#include "config/config.h"
#include "drivers/synthetic/synthetic.h"

enum { WIDTH = 320, HEIGHT = 200 };

#define CALIBRATED "calibration=/tmp/calibration.yml"

/* Pairs of the scene, as the synthetic source gives them. */
struct scene {
    struct plx_stages *stages;
    struct plx_source *source;
    struct plx_capture pair[PLX_EYES];
};

static void scene_open(struct scene *scene)
{
    const struct plx_limits limits = {.width = WIDTH, .height = HEIGHT, .disparities = 64, .threads = 1};
    struct plx_synthetic_options options = {.rate_hz = 0};
    struct plx_error_message message = {""};

    memset(scene, 0, sizeof *scene);
    plx_scene_demo(WIDTH, HEIGHT, 1, &options.scene);
    assert_int_equal(plx_cpu_create(&limits, &scene->stages), 0);
    published_why(plx_synthetic_create(scene->stages, &options, &scene->source, &message), &message);
    published_why(scene->source->ops->start(scene->source, &message), &message);
}

static void scene_next(struct scene *scene)
{
    for (int i = 0; i < PLX_EYES; i++) {
        struct plx_capture capture;
        if (scene->pair[i].buffer)
            scene->source->ops->release(scene->source, &scene->pair[i]);
        assert_int_equal(scene->source->ops->next(scene->source, INT64_MAX, &capture), 0);
        scene->pair[i] = capture;
        assert_non_null(capture.raw[i].data);
    }
}

static void scene_close(struct scene *scene)
{
    scene->source->ops->destroy(scene->source);
    scene->stages->ops->destroy(scene->stages);
}

/* A format that the camera has, and how the pipeline calls it. */
struct form {
    const char *fourcc;
    enum plx_format format;
    enum plx_bayer bayer;
    int bits;
};

static size_t picture_bytes(const struct form *form)
{
    return (size_t)WIDTH * HEIGHT * (form->bits > 8 ? 2 : 1);
}

/* GREY as a sensor of these bits would have given it, in tight rows; the bits below those of GREY are not 0. */
static struct plx_raw expose(const struct form *form, const struct plx_raw *grey, uint8_t *to)
{
    const struct plx_raw raw = {
        .data = to,
        .bytes = picture_bytes(form),
        .width = WIDTH,
        .height = HEIGHT,
        .pitch = picture_bytes(form) / HEIGHT,
        .format = form->format,
        .bayer = form->bayer,
        .eye_width = WIDTH,
    };
    const int more = form->bits - 8;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const unsigned value = ((const uint8_t *)grey->data)[(size_t)y * grey->pitch + (size_t)x];
            const unsigned fine = value << more | ((unsigned)(x + y) & ((1u << more) - 1));
            *to++ = (uint8_t)fine;
            if (more > 0)
                *to++ = (uint8_t)(fine >> 8);
        }
    return raw;
}

static void write_calibration(struct scene *scene, const char *path)
{
    struct plx_stereo_calibration calibration;
    struct plx_error_message message = {""};
    assert_int_equal(scene->source->ops->calibration(scene->source, &calibration, &message), 0);
    published_why(plx_calibration_save(path, &calibration, &message), &message);
}

/* PAIRS of the scene in FORM, through a camera loaded with PARAMETERS, with the setting CALIBRATION; returns the kind of memory
 * that was in force. */
static uint32_t check(const char *parameters, const struct form *form, int pairs, const char *calibration)
{
    static uint8_t fed[2 * 2 * WIDTH * HEIGHT];
    char module[96], format[32];
    const char *settings[] = {"source.type=v4l2",
                              "source.left=card=stereocam left",
                              "source.right=card=stereocam right",
                              "source.width=320",
                              "source.height=200",
                              "source.rate_hz=2",
                              calibration,
                              "exposure.enabled=false",
                              format,
                              NULL};
    const size_t bytes = picture_bytes(form);
    struct published published;
    struct scene scene;
    uint32_t memory = 0;

    snprintf(format, sizeof format, "source.format=%s", form->fourcc);
    snprintf(module, sizeof module, "width=%d height=%d standard_controls=1 %s", WIDTH, HEIGHT, parameters);
    stereocam_load(module);
    stereocam_set("wait", 1);
    scene_open(&scene);
    write_calibration(&scene, "/tmp/calibration.yml");
    published_open(&published, settings);
    int feed = open("/dev/stereocam", O_WRONLY | O_CLOEXEC);
    assert_true(feed >= 0);
    while (!stereocam_get("left/streaming") || !stereocam_get("right/streaming"))
        usleep(10000);
    for (int n = 0; n < pairs; n++) {
        struct plx_raw raw[PLX_EYES];
        scene_next(&scene);
        for (int eye = 0; eye < PLX_EYES; eye++)
            raw[eye] = expose(form, &scene.pair[eye].raw[eye], fed + (size_t)eye * bytes);
        assert_int_equal(write(feed, fed, 2 * bytes), 2 * bytes);
        published_take(&published);
        published_compare(&published, raw);
        assert_int_equal(published.frame->skew_ns, 0);
        memory = published.frame->capture[PLX_LEFT].memory;
    }
    print_message("%d frames the same in %s, %u obstacles in the last\n", pairs, form->fourcc, published.frame->obstacle_count);
    if (strcmp(calibration, CALIBRATED) == 0)
        assert_true(published.frame->obstacle_count >= 3);
    else
        assert_true(published.frame->health & PLX_HEALTH_NOT_CALIBRATED);
    close(feed);
    published_close(&published);
    scene_close(&scene);
    return memory;
}

static void test_grey(void **state)
{
    (void)state;
    static const struct form grey = {"GREY", PLX_FORMAT_GREY, PLX_BAYER_RGGB, 8};
    assert_int_equal(check("", &grey, 12, CALIBRATED), PLX_MEMORY_USERPTR);
}

/* The camera's rows are longer than the picture, and it writes into no memory but its own or a shared one. */
static void test_10_bits_without_userptr(void **state)
{
    (void)state;
    static const struct form y10 = {"Y10", PLX_FORMAT_Y10, PLX_BAYER_RGGB, 10};
    uint32_t memory = check("userptr=0 stride_align=1024", &y10, 4, CALIBRATED);
    assert_true(memory == PLX_MEMORY_DMABUF || memory == PLX_MEMORY_MMAP);
}

static void test_12_bit_mosaic(void **state)
{
    (void)state;
    static const struct form mosaic = {"BG12", PLX_FORMAT_BAYER12, PLX_BAYER_BGGR, 12};
    assert_int_equal(check("", &mosaic, 4, CALIBRATED), PLX_MEMORY_USERPTR);
}

/* New cameras: both pictures as they come. */
static void test_without_a_calibration(void **state)
{
    (void)state;
    static const struct form mosaic = {"BG12", PLX_FORMAT_BAYER12, PLX_BAYER_BGGR, 12};
    assert_int_equal(check("", &mosaic, 4, "calibration="), PLX_MEMORY_USERPTR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grey),
        cmocka_unit_test(test_10_bits_without_userptr),
        cmocka_unit_test(test_12_bit_mosaic),
        cmocka_unit_test(test_without_a_calibration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
