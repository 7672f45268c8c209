/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest itself: its kernel has two cameras by the stock driver vivid, and they stream.
 *
 * guest: vivid n_devs=2 node_types=0x1,0x1 num_inputs=1,1 input_types=0x0,0x0
 */
#include <fcntl.h>
#include <linux/videodev2.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/cmocka.h"

static int open_node(int number)
{
    char path[32];
    snprintf(path, sizeof path, "/dev/video%d", number);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static void test_two_cameras(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct v4l2_capability capability;
        int fd = open_node(i);
        assert_int_equal(ioctl(fd, VIDIOC_QUERYCAP, &capability), 0);
        assert_string_equal((char *)capability.driver, "vivid");
        assert_true(capability.device_caps & V4L2_CAP_VIDEO_CAPTURE);
        assert_true(capability.device_caps & V4L2_CAP_STREAMING);
        close(fd);
    }
}

static void test_grey_pictures(void **state)
{
    (void)state;
    int fd = open_node(0);
    struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    format.fmt.pix.width = 640;
    format.fmt.pix.height = 360;
    format.fmt.pix.pixelformat = V4L2_PIX_FMT_GREY;
    assert_int_equal(ioctl(fd, VIDIOC_S_FMT, &format), 0);
    assert_int_equal(format.fmt.pix.pixelformat, V4L2_PIX_FMT_GREY);
    struct v4l2_requestbuffers request = {.count = 4, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    assert_int_equal(ioctl(fd, VIDIOC_REQBUFS, &request), 0);
    for (uint32_t i = 0; i < request.count; i++) {
        struct v4l2_buffer buffer = {.index = i, .type = request.type, .memory = request.memory};
        assert_int_equal(ioctl(fd, VIDIOC_QBUF, &buffer), 0);
    }
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    assert_int_equal(ioctl(fd, VIDIOC_STREAMON, &type), 0);
    for (uint32_t i = 0; i < 3; i++) {
        struct v4l2_buffer buffer = {.type = request.type, .memory = request.memory};
        assert_int_equal(ioctl(fd, VIDIOC_DQBUF, &buffer), 0);
        assert_int_equal(buffer.bytesused, format.fmt.pix.sizeimage);
        assert_false(buffer.flags & V4L2_BUF_FLAG_ERROR);
        assert_int_equal(buffer.sequence, i);
        const uint8_t *grey = mmap(NULL, buffer.length, PROT_READ, MAP_SHARED, fd, (off_t)buffer.m.offset);
        if (!grey || grey == MAP_FAILED) {
            fail_msg("picture %u cannot be mapped", i);
            return;
        }
        assert_int_not_equal(memcmp(grey, grey + 1, buffer.bytesused - 1), 0); /* colour bars, not one grey */
        munmap((void *)(uintptr_t)grey, buffer.length);
        assert_int_equal(ioctl(fd, VIDIOC_QBUF, &buffer), 0);
    }
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_cameras),
        cmocka_unit_test(test_grey_pictures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
