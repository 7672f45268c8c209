/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs written to v4l2loopback, real and synthetic, and captured by parallaxd: what it publishes is what the pipeline makes of
 * the pictures that were written.
 *
 * guest: v4l2loopback devices=2 video_nr=10,11 card_label=left,right exclusive_caps=1,1 max_buffers=4
 * guest-data: stereo/motorcycle
 */
#include "tests/vm/camera.h"
#include "tests/vm/published.h"

#include "config/config.h"
#include "drivers/files/picture.h"
#include "drivers/synthetic/scene.h"

enum { WIDTH = 320, HEIGHT = 200, PAIRS = 6 };

static const struct {
    const char *fourcc;
    uint32_t pixelformat;
    enum plx_format format;
    size_t bytes; /* a pixel */
} forms[] = {{"GREY", V4L2_PIX_FMT_GREY, PLX_FORMAT_GREY, 1}, {"YUYV", V4L2_PIX_FMT_YUYV, PLX_FORMAT_YUYV, 2}};

struct writer {
    int form, node[PLX_EYES];
    struct plx_calibration_info calibration;
    uint8_t picture[PAIRS][PLX_EYES][2 * WIDTH * HEIGHT];
    int64_t written_ns[PAIRS]; /* when the writing of each pair began */
};

/* Pictures of FORM; what is not luma is noise. */
static void put(struct writer *writer, int n, int eye, const struct plx_image *grey)
{
    const size_t bytes = forms[writer->form].bytes;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            uint8_t *to = writer->picture[n][eye] + ((size_t)y * WIDTH + (size_t)x) * bytes;
            *to = ((const uint8_t *)plx_row(grey, y))[x];
            if (bytes > 1)
                to[1] = (uint8_t)(37 * x + 91 * y + n);
        }
}

static void draw_scene(struct writer *writer)
{
    static uint8_t data[WIDTH * HEIGHT];
    const struct plx_image grey = {data, WIDTH, HEIGHT, WIDTH, PLX_U8};
    struct plx_scene scene;

    plx_scene_demo(WIDTH, HEIGHT, 7, &scene);
    writer->calibration = scene.calibration;
    for (uint32_t n = 0; n < PAIRS; n++)
        for (int eye = 0; eye < PLX_EYES; eye++) {
            assert_int_equal(plx_scene_render(&scene, n / 5.0, n, (enum plx_eye)eye, 10000, 1, &grey), 0);
            put(writer, (int)n, eye, &grey);
        }
}

/* A window that moves over a real pair, the same in both pictures. */
static void cut_real(struct writer *writer)
{
    static const char *const path[] = {"/data/stereo/motorcycle/left.png", "/data/stereo/motorcycle/right.png"};
    for (int eye = 0; eye < PLX_EYES; eye++) {
        struct plx_image whole;
        struct plx_error_message message = {""};
        published_why(plx_picture_read(path[eye], PLX_U8, &whole, &message), &message);
        assert_true(whole.width >= WIDTH + 16 * PAIRS && whole.height >= HEIGHT + 8 * PAIRS);
        for (int n = 0; n < PAIRS; n++) {
            const struct plx_image window = {(uint8_t *)plx_row(&whole, 8 * n) + 16 * n, WIDTH, HEIGHT, whole.pitch, PLX_U8};
            put(writer, n, eye, &window);
        }
        free(whole.data);
    }
    writer->calibration =
        (struct plx_calibration_info){.fx = 1000, .fy = 1000, .cx = 160, .cy = 100, .cx_right = 160, .baseline_m = 0.19};
}

static void write_calibration(const struct writer *writer)
{
    struct plx_stereo_calibration calibration;
    struct plx_error_message message = {""};
    plx_calibration_pinhole(WIDTH, HEIGHT, &writer->calibration, &calibration);
    published_why(plx_calibration_save("/tmp/calibration.yml", &calibration, &message), &message);
}

static void open_nodes(struct writer *writer)
{
    for (int eye = 0; eye < PLX_EYES; eye++) {
        struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_OUTPUT};
        writer->node[eye] = open(eye ? "/dev/video11" : "/dev/video10", O_RDWR | O_CLOEXEC);
        assert_true(writer->node[eye] >= 0);
        format.fmt.pix.width = WIDTH;
        format.fmt.pix.height = HEIGHT;
        format.fmt.pix.pixelformat = forms[writer->form].pixelformat;
        assert_int_equal(ioctl(writer->node[eye], VIDIOC_S_FMT, &format), 0);
        assert_int_equal(format.fmt.pix.width, WIDTH);
        assert_int_equal(format.fmt.pix.height, HEIGHT);
    }
}

static void write_pair(struct writer *writer, int n)
{
    const size_t bytes = WIDTH * HEIGHT * forms[writer->form].bytes;
    writer->written_ns[n] = plx_now_ns();
    for (int eye = 0; eye < PLX_EYES; eye++)
        assert_int_equal(write(writer->node[eye], writer->picture[n][eye], bytes), bytes);
}

/* The pair that was in the cameras at CAPTURE_NS: a node may give its last picture again when its stream is started again. */
static int pair_at(const struct writer *writer, int last, int64_t capture_ns)
{
    int n = last;
    while (n > 0 && capture_ns < writer->written_ns[n] - PLX_NS_PER_US) /* V4L2's times are whole microseconds */
        n--;
    return n;
}

static void compare(struct published *published, struct writer *writer, int n)
{
    struct plx_raw raw[PLX_EYES];
    for (int eye = 0; eye < PLX_EYES; eye++)
        raw[eye] = (struct plx_raw){.data = writer->picture[n][eye],
                                    .bytes = WIDTH * HEIGHT * forms[writer->form].bytes,
                                    .width = WIDTH,
                                    .height = HEIGHT,
                                    .pitch = WIDTH * forms[writer->form].bytes,
                                    .format = forms[writer->form].format,
                                    .eye_width = WIDTH};
    published_compare(published, raw);
}

static void check(struct writer *writer)
{
    char format[32];
    const char *settings[] = {"source.type=v4l2",
                              "source.left=card=left",
                              "source.right=card=right",
                              "source.width=320",
                              "source.height=200",
                              "source.rate_hz=1",
                              "source.pair_tolerance_ms=400",
                              "calibration=/tmp/calibration.yml",
                              "exposure.enabled=false",
                              format,
                              NULL};
    struct published published;

    snprintf(format, sizeof format, "source.format=%s", forms[writer->form].fourcc);
    write_calibration(writer);
    open_nodes(writer);
    write_pair(writer, 0); /* before that the nodes do not say that they can be read */
    published_open(&published, settings);
    for (int n = 0; n < PAIRS; n++) {
        int came;
        usleep(500000); /* more than the tolerance: the pictures of two pairs are never taken for one */
        write_pair(writer, n);
        do {
            published_take(&published);
            came = pair_at(writer, n, published.frame->capture[PLX_LEFT].capture_ns);
            assert_int_equal(pair_at(writer, n, published.frame->capture[PLX_RIGHT].capture_ns), came);
            compare(&published, writer, came);
        } while (came != n);
        assert_int_equal(published.frame->capture[PLX_LEFT].memory, PLX_MEMORY_MMAP);
    }
    print_message("%d frames the same in %s\n", PAIRS, forms[writer->form].fourcc);
    published_close(&published);
    for (int eye = 0; eye < PLX_EYES; eye++)
        close(writer->node[eye]);
}

static void test_real(void **state)
{
    (void)state;
    static struct writer writer = {.form = 0};
    if (access("/data/stereo/motorcycle", F_OK) != 0) {
        print_message("skipped: no test data with real pairs\n");
        skip();
    }
    cut_real(&writer);
    check(&writer);
}

static void test_synthetic(void **state)
{
    (void)state;
    static struct writer writer = {.form = 1};
    draw_scene(&writer);
    check(&writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_real), cmocka_unit_test(test_synthetic)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
