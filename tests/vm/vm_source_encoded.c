/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pictures that have to be decoded: JPEG as USB cameras send it, both eyes side by side, damaged ones among them, and from two
 * cameras faster than this machine decodes; and a format that only libv4l2 knows.
 *
 * guest: v4l2loopback devices=2 video_nr=10,11 card_label=both,right exclusive_caps=1,1 max_buffers=4
 */
#include "tests/vm/pairs.h"

#include <fcntl.h>
#include <linux/videodev2.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <turbojpeg.h>
#include <unistd.h>

enum {
    WIDTH = 320,
    HEIGHT = 120,
    PICTURES = 8,
    DAMAGED = 5,
    LARGE_WIDTH = 1600,
    LARGE_HEIGHT = 1200,
    FASTER = 3, /* times as many pictures as one decoder can decode */
    PAIRS = 12
};

/* Writes pictures into the loopback devices. The teardown stops it, so that a failed test leaves no device in its format. */
static struct writer {
    int fd[PLX_EYES], devices, period_us;
    bool running;
    pthread_t thread;
    atomic_bool stopping;
    unsigned char *picture[PICTURES];
    unsigned long bytes[PICTURES];
} writer;

static struct pairs pairs;

static const struct plx_v4l2_options options = {
    .cameras.camera = {"card=both", ""},
    .cameras.format = "",
    .width = WIDTH / 2,
    .height = HEIGHT,
    .rate_hz = 10,
    .cameras.control = PAIRS_NO_CONTROLS,
};

/* Grey level of picture N. */
static uint8_t level(int n, int x, int y)
{
    return (uint8_t)(20 + 24 * n + x / 8 + y / 8);
}

static void *write_all(void *argument)
{
    (void)argument;
    for (int n = 0; !atomic_load(&writer.stopping); n = (n + 1) % PICTURES) {
        for (int i = 0; i < writer.devices; i++) {
            ssize_t written = write(writer.fd[i], writer.picture[n], writer.bytes[n]);
            (void)written; /* the reader misses it */
        }
        usleep((useconds_t)writer.period_us);
    }
    return NULL;
}

static void begin(uint32_t fourcc, int width, int height, int devices, int rate_hz)
{
    writer.devices = 0;
    writer.period_us = 1000000 / rate_hz;
    for (int i = 0; i < devices; i++) {
        struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_OUTPUT};
        writer.fd[i] = open(i == 0 ? "/dev/video10" : "/dev/video11", O_RDWR | O_CLOEXEC);
        assert_true(writer.fd[i] >= 0);
        writer.devices++;
        format.fmt.pix.width = (uint32_t)width;
        format.fmt.pix.height = (uint32_t)height;
        format.fmt.pix.pixelformat = fourcc;
        format.fmt.pix.sizeimage = (uint32_t)(width * height * 2);
        assert_int_equal(ioctl(writer.fd[i], VIDIOC_S_FMT, &format), 0);
        assert_int_equal(format.fmt.pix.pixelformat, fourcc);
    }
    atomic_store(&writer.stopping, false);
    assert_int_equal(pthread_create(&writer.thread, NULL, write_all, NULL), 0);
    writer.running = true;
    /* Cameras do not wait for who decodes: else the two pictures of a pair come too far apart. */
    assert_int_equal(pthread_setschedparam(writer.thread, SCHED_FIFO, &(struct sched_param){.sched_priority = 10}), 0);
    usleep(300000);
}

/* Closes the source, then stops the writer; of a failed test what is open. */
static void end(void)
{
    if (pairs.source)
        pairs_close(&pairs);
    memset(&pairs, 0, sizeof pairs);
    atomic_store(&writer.stopping, true);
    if (writer.running)
        pthread_join(writer.thread, NULL);
    writer.running = false;
    for (int i = 0; i < writer.devices; i++)
        close(writer.fd[i]);
    writer.devices = 0;
}

static int end_test(void **state)
{
    (void)state;
    end();
    for (int n = 0; n < PICTURES; n++) {
        tjFree(writer.picture[n]);
        writer.picture[n] = NULL;
    }
    return 0;
}

/* Which picture it is, by the level in its middle; and every sample of both eyes near what was written. */
static int check_picture(const struct plx_capture *pair, int tolerance)
{
    const uint8_t *middle = (const uint8_t *)pair[PLX_LEFT].raw[PLX_LEFT].data;
    int n = (middle[0] - 20 + 12) / 24;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const struct plx_raw *raw = &pair[eye].raw[eye];
        assert_int_equal(raw->format, PLX_FORMAT_GREY);
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < raw->eye_width; x++) {
                const int got = ((const uint8_t *)raw->data)[(size_t)y * raw->pitch + (size_t)(raw->eye_x + x)];
                if (abs(got - level(n, raw->eye_x + x, y)) > tolerance)
                    fail_msg("picture %d, %d, %d: %d, expected %d", n, raw->eye_x + x, y, got, level(n, raw->eye_x + x, y));
            }
    }
    return n;
}

static void test_jpeg(void **state)
{
    (void)state;
    static uint8_t colour[HEIGHT][WIDTH][3];
    uint32_t seen = 0;

    tjhandle compress = tjInitCompress();
    for (int n = 0; n < PICTURES; n++) {
        for (int i = 0; i < WIDTH * HEIGHT; i++)
            memset(colour[i / WIDTH][i % WIDTH], level(n, i % WIDTH, i / WIDTH), 3);
        assert_int_equal(tjCompress2(compress, &colour[0][0][0], WIDTH, 0, HEIGHT, TJPF_RGB, &writer.picture[n],
                                     &writer.bytes[n], TJSAMP_422, 98, 0),
                         0);
    }
    writer.bytes[DAMAGED] /= 2;
    begin(V4L2_PIX_FMT_MJPEG, WIDTH, HEIGHT, 1, 10);
    pairs_open(&pairs, &options);
    for (int i = 0; i < 3 * PICTURES; i++) {
        pairs_take(&pairs, 1);
        assert_int_equal(pairs.pair[PLX_LEFT].memory, PLX_MEMORY_MMAP);
        seen |= 1u << check_picture(pairs.pair, 3);
    }
    print_message("pictures %x, health %x\n", seen, pairs.health);
    assert_int_equal(seen, ((1u << PICTURES) - 1) & ~(1u << DAMAGED));
    assert_int_equal(pairs.health & PLX_HEALTH_BUFFER_ERROR, PLX_HEALTH_BUFFER_ERROR);
    tjDestroy(compress);
}

/* The level of a large picture, which is the same all over but for its texture. */
static int number_of(const struct plx_raw *raw)
{
    return (((const uint8_t *)raw->data)[0] - 20 + 12) / 24;
}

static void compress_large(void)
{
    static uint8_t grey[LARGE_HEIGHT][LARGE_WIDTH];
    tjhandle compress = tjInitCompress();

    for (int n = 0; n < PICTURES; n++) {
        for (int i = 0; i < LARGE_WIDTH * LARGE_HEIGHT; i++) /* texture is work */
            grey[i / LARGE_WIDTH][i % LARGE_WIDTH] = (uint8_t)(20 + 24 * n + (i % 16 < 8 ? 0 : i * 7 % 8));
        assert_int_equal(tjCompress2(compress, &grey[0][0], LARGE_WIDTH, 0, LARGE_HEIGHT, TJPF_GRAY, &writer.picture[n],
                                     &writer.bytes[n], TJSAMP_GRAY, 95, 0),
                         0);
    }
    tjDestroy(compress);
}

/* The rate at which this machine decodes large pictures one after the other, with nothing else to do. */
static int decoding_rate_hz(void)
{
    static uint8_t grey[LARGE_HEIGHT][LARGE_WIDTH];
    tjhandle decompress = tjInitDecompress();
    int64_t shortest_ns = PLX_NS_PER_S;

    for (int n = 0; n < PICTURES; n++) {
        const int64_t begun_ns = plx_now_ns();
        assert_int_equal(tjDecompress2(decompress, writer.picture[n], writer.bytes[n], &grey[0][0], LARGE_WIDTH, 0,
                                       LARGE_HEIGHT, TJPF_GRAY, 0),
                         0);
        if (plx_now_ns() - begun_ns < shortest_ns)
            shortest_ns = plx_now_ns() - begun_ns;
    }
    tjDestroy(decompress);
    return (int)(PLX_NS_PER_S / shortest_ns) + 1;
}

/* Takes pairs of both eyes alike, and sets exposure meanwhile, to EXPOSURE_US. */
static void take_fast(uint32_t exposure_us)
{
    const int64_t since = plx_now_ns();
    uint32_t in_force = 0;

    for (int i = 0; i < PAIRS; i++) {
        pairs_take(&pairs, 1);
        if (i == 2)
            assert_int_equal(pairs.source->ops->control(pairs.source, exposure_us, 1.0f), 0);
        assert_int_equal(number_of(&pairs.pair[PLX_LEFT].raw[PLX_LEFT]), number_of(&pairs.pair[PLX_RIGHT].raw[PLX_RIGHT]));
        in_force = pairs.pair[PLX_RIGHT].exposure_us;
    }
    print_message("a pair each %.0f ms, %u pictures skipped before the last, health %x, exposure %u\n",
                  (double)(plx_now_ns() - since) / PLX_NS_PER_MS / PAIRS, pairs.pair[PLX_LEFT].skipped, pairs.health, in_force);
    assert_int_equal(pairs.health & (PLX_HEALTH_OVERLOAD | PLX_HEALTH_DESYNC | PLX_HEALTH_BUFFER_ERROR), PLX_HEALTH_OVERLOAD);
    assert_int_equal(in_force, exposure_us);
}

/* Decoding takes longer than a period, for two cameras and for both eyes in one picture: the newest pictures are decoded, of
 * both eyes the same, the others are skipped and told as ours; exposure is set, nothing starves, and a stop is met in its time.
 * A control of v4l2loopback that does no harm takes the place of exposure. */
static void test_faster_than_decoded(void **state)
{
    (void)state;
    compress_large();
    const int rate_hz = FASTER * decoding_rate_hz();
    for (int cameras = 1; cameras <= PLX_EYES; cameras++) {
        struct plx_v4l2_options fast = options;
        SET_TEXT(fast.cameras.camera[PLX_RIGHT], cameras == 1 ? "" : "card=right");
        fast.width = cameras == 1 ? LARGE_WIDTH / 2 : LARGE_WIDTH;
        fast.height = LARGE_HEIGHT;
        fast.rate_hz = rate_hz;
        SET_TEXT(fast.cameras.control.exposure_control, "timeout");
        fast.cameras.control.exposure_unit_us = 1.0;
        begin(V4L2_PIX_FMT_MJPEG, LARGE_WIDTH, LARGE_HEIGHT, cameras, rate_hz);
        pairs_open(&pairs, &fast);
        take_fast((uint32_t)(1000000 / rate_hz / (1 + cameras))); /* no exposure is longer than a period */
        const int64_t stop = plx_now_ns();
        pairs.source->ops->stop(pairs.source);
        print_message("stopped after %.0f ms\n", (double)(plx_now_ns() - stop) / PLX_NS_PER_MS);
        assert_true(plx_now_ns() - stop < 2 * PLX_NS_PER_S);
        end();
    }
}

/* 5, 6 and 5 bits of red, green and blue. */
static void test_through_libv4l2(void **state)
{
    (void)state;
    for (int n = 0; n < PICTURES; n++) {
        writer.bytes[n] = WIDTH * HEIGHT * 2;
        writer.picture[n] = tjAlloc(WIDTH * HEIGHT * 2);
        assert_non_null(writer.picture[n]);
        for (int i = 0; i < WIDTH * HEIGHT; i++) {
            const unsigned grey = level(n, i % WIDTH, i / WIDTH), word = grey >> 3 << 11 | grey >> 2 << 5 | grey >> 3;
            writer.picture[n][2 * i] = (unsigned char)word;
            writer.picture[n][2 * i + 1] = (unsigned char)(word >> 8);
        }
    }
    begin(V4L2_PIX_FMT_RGB565, WIDTH, HEIGHT, 1, 10);
    pairs_open(&pairs, &options);
    assert_non_null(strstr(pairs.source->note.text, "libv4l2 converts"));
    pairs_take(&pairs, 6);
    print_message("as format %d, %dx%d\n", pairs.pair[PLX_LEFT].raw[PLX_LEFT].format, pairs.pair[PLX_LEFT].raw[PLX_LEFT].width,
                  pairs.pair[PLX_LEFT].raw[PLX_LEFT].height);
    if (pairs.pair[PLX_LEFT].raw[PLX_LEFT].format == PLX_FORMAT_GREY) { /* YUV: video range, so only order is checked */
        const uint8_t *data = pairs.pair[PLX_LEFT].raw[PLX_LEFT].data;
        assert_true(data[0] < data[WIDTH - 1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_jpeg, end_test),
        cmocka_unit_test_teardown(test_faster_than_decoded, end_test),
        cmocka_unit_test_teardown(test_through_libv4l2, end_test),
    };
    return cmocka_run_group_tests_name("source_encoded", tests, NULL, NULL);
}
