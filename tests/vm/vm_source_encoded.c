/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pictures that have to be decoded: JPEG as USB cameras send it, both eyes side by side, damaged ones among them; and a format
 * that only libv4l2 knows.
 *
 * guest: v4l2loopback devices=1 video_nr=10 card_label=both exclusive_caps=1 max_buffers=4
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

enum { WIDTH = 320, HEIGHT = 120, PICTURES = 8, DAMAGED = 5 };

struct writer {
    int fd;
    pthread_t thread;
    atomic_bool stopping;
    unsigned char *picture[PICTURES];
    unsigned long bytes[PICTURES];
};

static const struct plx_v4l2_options options = {
    .camera = {"card=both", ""},
    .format = "",
    .width = WIDTH / 2,
    .height = HEIGHT,
    .rate_hz = 10,
    .control = PAIRS_NO_CONTROLS,
};

/* Grey level of picture N. */
static uint8_t level(int n, int x, int y)
{
    return (uint8_t)(20 + 24 * n + x / 8 + y / 8);
}

static void *write_all(void *argument)
{
    struct writer *writer = argument;
    for (int n = 0; !atomic_load(&writer->stopping); n = (n + 1) % PICTURES) {
        ssize_t written = write(writer->fd, writer->picture[n], writer->bytes[n]);
        (void)written; /* the reader misses it */
        usleep(100000);
    }
    return NULL;
}

static void begin(struct writer *writer, uint32_t fourcc)
{
    struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_OUTPUT};
    writer->fd = open("/dev/video10", O_RDWR | O_CLOEXEC);
    assert_true(writer->fd >= 0);
    format.fmt.pix.width = WIDTH;
    format.fmt.pix.height = HEIGHT;
    format.fmt.pix.pixelformat = fourcc;
    format.fmt.pix.sizeimage = WIDTH * HEIGHT * 2;
    assert_int_equal(ioctl(writer->fd, VIDIOC_S_FMT, &format), 0);
    assert_int_equal(format.fmt.pix.pixelformat, fourcc);
    atomic_store(&writer->stopping, false);
    assert_int_equal(pthread_create(&writer->thread, NULL, write_all, writer), 0);
}

static void end(struct writer *writer)
{
    atomic_store(&writer->stopping, true);
    pthread_join(writer->thread, NULL);
    close(writer->fd);
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
    static struct writer writer;
    static uint8_t colour[HEIGHT][WIDTH][3];
    struct pairs pairs;
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
    begin(&writer, V4L2_PIX_FMT_MJPEG);
    usleep(300000);
    pairs_open(&pairs, &options);
    for (int i = 0; i < 3 * PICTURES; i++) {
        pairs_take(&pairs, 1);
        assert_int_equal(pairs.pair[PLX_LEFT].memory, PLX_MEMORY_MMAP);
        seen |= 1u << check_picture(pairs.pair, 3);
    }
    print_message("pictures %x, health %x\n", seen, pairs.health);
    assert_int_equal(seen, ((1u << PICTURES) - 1) & ~(1u << DAMAGED));
    assert_int_equal(pairs.health & PLX_HEALTH_BUFFER_ERROR, PLX_HEALTH_BUFFER_ERROR);
    pairs_close(&pairs);
    end(&writer);
    for (int n = 0; n < PICTURES; n++)
        tjFree(writer.picture[n]);
    tjDestroy(compress);
}

/* 5, 6 and 5 bits of red, green and blue. */
static void test_through_libv4l2(void **state)
{
    (void)state;
    static struct writer writer;
    struct pairs pairs;

    for (int n = 0; n < PICTURES; n++) {
        writer.bytes[n] = WIDTH * HEIGHT * 2;
        writer.picture[n] = malloc(writer.bytes[n]);
        for (int i = 0; i < WIDTH * HEIGHT; i++) {
            const unsigned grey = level(n, i % WIDTH, i / WIDTH), word = grey >> 3 << 11 | grey >> 2 << 5 | grey >> 3;
            writer.picture[n][2 * i] = (unsigned char)word;
            writer.picture[n][2 * i + 1] = (unsigned char)(word >> 8);
        }
    }
    begin(&writer, V4L2_PIX_FMT_RGB565);
    usleep(300000);
    pairs_open(&pairs, &options);
    assert_non_null(strstr(pairs.source->note.text, "libv4l2 converts"));
    pairs_take(&pairs, 6);
    print_message("as format %d, %dx%d\n", pairs.pair[PLX_LEFT].raw[PLX_LEFT].format, pairs.pair[PLX_LEFT].raw[PLX_LEFT].width,
                  pairs.pair[PLX_LEFT].raw[PLX_LEFT].height);
    if (pairs.pair[PLX_LEFT].raw[PLX_LEFT].format == PLX_FORMAT_GREY) { /* YUV: video range, so only order is checked */
        const uint8_t *data = pairs.pair[PLX_LEFT].raw[PLX_LEFT].data;
        assert_true(data[0] < data[WIDTH - 1]);
    }
    pairs_close(&pairs);
    end(&writer);
    for (int n = 0; n < PICTURES; n++)
        free(writer.picture[n]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jpeg),
        cmocka_unit_test(test_through_libv4l2),
    };
    return cmocka_run_group_tests_name("source_encoded", tests, NULL, NULL);
}
