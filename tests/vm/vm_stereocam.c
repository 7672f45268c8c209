/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our own test camera: what it says of itself, its formats, its kinds of memory. Every sample of its ramp is checked.
 *
 * guest: stereocam
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/vm/camera.h"

static const struct {
    uint32_t fourcc;
    int bits;
} formats[] = {
    {V4L2_PIX_FMT_GREY, 8},     {V4L2_PIX_FMT_Y10, 10},     {V4L2_PIX_FMT_Y12, 12},     {V4L2_PIX_FMT_SRGGB8, 8},
    {V4L2_PIX_FMT_SGRBG8, 8},   {V4L2_PIX_FMT_SGBRG8, 8},   {V4L2_PIX_FMT_SBGGR8, 8},   {V4L2_PIX_FMT_SRGGB10, 10},
    {V4L2_PIX_FMT_SGRBG10, 10}, {V4L2_PIX_FMT_SGBRG10, 10}, {V4L2_PIX_FMT_SBGGR10, 10}, {V4L2_PIX_FMT_SRGGB12, 12},
    {V4L2_PIX_FMT_SGRBG12, 12}, {V4L2_PIX_FMT_SGBRG12, 12}, {V4L2_PIX_FMT_SBGGR12, 12},
};
enum { FORMATS = sizeof formats / sizeof formats[0] };

/* The ramp that the driver's README promises. */
static void assert_ramp(const struct camera *camera, int bits, int right, const struct v4l2_buffer *buffer)
{
    const uint8_t *picture = camera->picture[buffer->index];
    if (!picture) {
        fail_msg("picture %u was never mapped", buffer->index);
        return;
    }
    assert_int_equal(buffer->bytesused, camera->format.sizeimage);
    for (uint32_t y = 0; y < camera->format.height; y++)
        for (uint32_t x = 0; x < camera->format.width; x++) {
            const uint8_t *at = picture + y * camera->format.bytesperline + x * (bits > 8 ? 2 : 1);
            uint32_t value = bits > 8 ? (uint32_t)(at[0] | at[1] << 8) : at[0];
            uint32_t expected = ((x + y + 3 * buffer->sequence + 8 * (uint32_t)right) & 255) << (bits - 8);
            if (value != expected)
                fail_msg("(%u, %u) of picture %u is %u, expected %u", x, y, buffer->sequence, value, expected);
        }
}

static void stream_and_check(struct camera *camera, int bits, int right)
{
    assert_int_equal(camera_start(camera), 0);
    for (int i = 0; i < 6; i++) {
        struct v4l2_buffer buffer;
        assert_int_equal(camera_next(camera, 5000, &buffer), 0);
        assert_ramp(camera, bits, right, &buffer);
        assert_int_equal(camera_requeue(camera, (int)buffer.index), 0);
    }
    assert_int_equal(camera_stop(camera), 0);
}

static void test_formats(void **state)
{
    (void)state;
    stereocam_load("width=63 height=33");
    for (int i = 0; i < FORMATS; i++) {
        struct camera camera;
        stereocam_open(&camera, i % 2 ? "right" : "left", 63, 33, formats[i].fourcc);
        assert_int_equal(camera.format.pixelformat, formats[i].fourcc);
        assert_int_equal(camera.format.width, 63);
        assert_int_equal(camera.format.bytesperline, formats[i].bits > 8 ? 126 : 63);
        assert_int_equal(camera_request(&camera, V4L2_MEMORY_MMAP), 0);
        stream_and_check(&camera, formats[i].bits, i % 2);
        camera_close(&camera);
    }
}

static void test_all_formats_are_listed(void **state)
{
    (void)state;
    stereocam_load("");
    struct camera camera;
    stereocam_open(&camera, "left", 640, 360, V4L2_PIX_FMT_GREY);
    for (int i = 0; i < FORMATS; i++) {
        struct v4l2_fmtdesc desc = {.index = (uint32_t)i, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
        assert_int_equal(ioctl(camera.fd, VIDIOC_ENUM_FMT, &desc), 0);
        assert_int_equal(desc.pixelformat, formats[i].fourcc);
    }
    struct v4l2_fmtdesc desc = {.index = FORMATS, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    assert_int_equal(ioctl(camera.fd, VIDIOC_ENUM_FMT, &desc), -1);
    camera_close(&camera);
}

/* What it does not have becomes what is nearest. */
static void test_other_format(void **state)
{
    (void)state;
    stereocam_load("");
    struct camera camera;
    stereocam_open(&camera, "left", 1300, 700, V4L2_PIX_FMT_NV12);
    assert_int_equal(camera.format.pixelformat, V4L2_PIX_FMT_GREY);
    assert_int_equal(camera.format.width, 1280);
    assert_int_equal(camera.format.height, 800);
    assert_int_equal(camera_request(&camera, V4L2_MEMORY_MMAP), 0);
    assert_int_equal(camera_format(&camera, 640, 360, V4L2_PIX_FMT_GREY), -EBUSY);
    camera_close(&camera);
}

static void test_longer_rows(void **state)
{
    (void)state;
    stereocam_load("width=65 height=17 stride_align=256");
    struct camera camera;
    stereocam_open(&camera, "right", 65, 17, V4L2_PIX_FMT_Y12);
    assert_int_equal(camera.format.bytesperline, 256);
    assert_int_equal(camera.format.sizeimage, 256 * 17);
    assert_int_equal(camera_request(&camera, V4L2_MEMORY_MMAP), 0);
    stream_and_check(&camera, 12, 1);
    camera_close(&camera);
}

static void test_own_memory(void **state)
{
    (void)state;
    stereocam_load("");
    struct camera camera;
    stereocam_open(&camera, "left", 320, 200, V4L2_PIX_FMT_Y10);
    assert_int_equal(camera_request(&camera, V4L2_MEMORY_USERPTR), 0);
    stream_and_check(&camera, 10, 0);
    camera_close(&camera);
}

static void test_own_memory_refused(void **state)
{
    (void)state;
    stereocam_load("userptr=0");
    struct camera camera;
    stereocam_open(&camera, "left", 320, 200, V4L2_PIX_FMT_Y10);
    assert_int_equal(camera_request(&camera, V4L2_MEMORY_USERPTR), -EINVAL);
    camera_close(&camera);
}

/* The left writes into buffers of the right. */
static void test_dmabuf(void **state)
{
    (void)state;
    stereocam_load("");
    struct camera left, right;
    stereocam_open(&left, "left", 320, 200, V4L2_PIX_FMT_GREY);
    stereocam_open(&right, "right", 320, 200, V4L2_PIX_FMT_GREY);
    assert_int_equal(camera_request(&right, V4L2_MEMORY_MMAP), 0);
    left.exporter = &right;
    assert_int_equal(camera_request(&left, V4L2_MEMORY_DMABUF), 0);
    stream_and_check(&left, 8, 0);
    camera_close(&left);
    camera_close(&right);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats),      cmocka_unit_test(test_all_formats_are_listed),
        cmocka_unit_test(test_other_format), cmocka_unit_test(test_longer_rows),
        cmocka_unit_test(test_own_memory),   cmocka_unit_test(test_own_memory_refused),
        cmocka_unit_test(test_dmabuf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
