/* SPDX-License-Identifier: Apache-2.0 */
/* A minimal capture program, for cases about the drivers themselves; and the fault settings of stereocam. */
#ifndef PLX_TESTS_VM_CAMERA_H
#define PLX_TESTS_VM_CAMERA_H

#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define CAMERA_BUFFERS 4

struct camera {
    int fd;
    enum v4l2_memory memory;
    struct v4l2_pix_format format;
    uint8_t *picture[CAMERA_BUFFERS];
    size_t bytes;
    struct camera *exporter; /* whose buffers these are, for DMABUF */
    int dmabuf[CAMERA_BUFFERS];
};

/* The node whose card is CARD; -1 if there is none. */
static inline int camera_open(const char *card)
{
    for (int i = 0; i < 16; i++) {
        char path[32];
        struct v4l2_capability capability;
        snprintf(path, sizeof path, "/dev/video%d", i);
        int fd = open(path, O_RDWR | O_CLOEXEC);
        if (fd < 0)
            continue;
        if (ioctl(fd, VIDIOC_QUERYCAP, &capability) == 0 && strcmp((char *)capability.card, card) == 0)
            return fd;
        close(fd);
    }
    return -1;
}

/* Returns 0 or -errno. */
static inline int camera_format(struct camera *camera, int width, int height, uint32_t fourcc)
{
    struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    format.fmt.pix.width = (uint32_t)width;
    format.fmt.pix.height = (uint32_t)height;
    format.fmt.pix.pixelformat = fourcc;
    if (ioctl(camera->fd, VIDIOC_S_FMT, &format) < 0)
        return -errno;
    camera->format = format.fmt.pix;
    return 0;
}

static inline struct v4l2_buffer camera_buffer(const struct camera *camera, int index)
{
    struct v4l2_buffer buffer = {
        .type = V4L2_BUF_TYPE_VIDEO_CAPTURE,
        .memory = camera->memory,
        .index = (uint32_t)index,
        .length = (uint32_t)camera->bytes,
    };
    if (camera->memory == V4L2_MEMORY_USERPTR)
        buffer.m.userptr = (unsigned long)camera->picture[index];
    if (camera->memory == V4L2_MEMORY_DMABUF)
        buffer.m.fd = camera->dmabuf[index];
    return buffer;
}

static inline int camera_requeue(struct camera *camera, int index)
{
    struct v4l2_buffer buffer = camera_buffer(camera, index);
    return ioctl(camera->fd, VIDIOC_QBUF, &buffer) < 0 ? -errno : 0;
}

/* Memory for picture INDEX, as the camera's kind of memory wants it. */
static inline int camera_map(struct camera *camera, int index)
{
    if (camera->memory == V4L2_MEMORY_USERPTR) {
        camera->picture[index] = mmap(NULL, camera->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    } else if (camera->memory == V4L2_MEMORY_DMABUF) {
        struct v4l2_exportbuffer export = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .index = (uint32_t)index};
        if (ioctl(camera->exporter->fd, VIDIOC_EXPBUF, &export) < 0)
            return -errno;
        camera->dmabuf[index] = export.fd;
        camera->picture[index] = camera->exporter->picture[index];
    } else {
        struct v4l2_buffer buffer = camera_buffer(camera, index);
        if (ioctl(camera->fd, VIDIOC_QUERYBUF, &buffer) < 0)
            return -errno;
        camera->picture[index] = mmap(NULL, camera->bytes, PROT_READ, MAP_SHARED, camera->fd, (off_t)buffer.m.offset);
    }
    return camera->picture[index] == MAP_FAILED ? -ENOMEM : 0;
}

/* Asks for the buffers, and maps them. */
static inline int camera_request(struct camera *camera, enum v4l2_memory memory)
{
    struct v4l2_requestbuffers request = {.count = CAMERA_BUFFERS, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = memory};
    camera->memory = memory;
    camera->bytes = camera->format.sizeimage;
    if (ioctl(camera->fd, VIDIOC_REQBUFS, &request) < 0)
        return -errno;
    int result = request.count == CAMERA_BUFFERS ? 0 : -ENOMEM;
    for (int i = 0; i < CAMERA_BUFFERS && !result; i++)
        result = camera_map(camera, i);
    return result;
}

static inline int camera_start(struct camera *camera)
{
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE, result = 0;
    for (int i = 0; i < CAMERA_BUFFERS && !result; i++)
        result = camera_requeue(camera, i);
    if (!result && ioctl(camera->fd, VIDIOC_STREAMON, &type) < 0)
        result = -errno;
    return result;
}

static inline int camera_stop(struct camera *camera)
{
    int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    return ioctl(camera->fd, VIDIOC_STREAMOFF, &type) < 0 ? -errno : 0;
}

/* Waits for a picture: 0, -ETIMEDOUT after TIMEOUT_MS, -errno. */
static inline int camera_next(struct camera *camera, int timeout_ms, struct v4l2_buffer *ret_buffer)
{
    struct pollfd wait = {.fd = camera->fd, .events = POLLIN};
    *ret_buffer = (struct v4l2_buffer){.type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = camera->memory};
    if (poll(&wait, 1, timeout_ms) == 0)
        return -ETIMEDOUT;
    return ioctl(camera->fd, VIDIOC_DQBUF, ret_buffer) < 0 ? -errno : 0;
}

/* Unmaps its buffers and closes it. */
static inline void camera_close(struct camera *camera)
{
    for (int i = 0; i < CAMERA_BUFFERS; i++) {
        if (camera->memory == V4L2_MEMORY_DMABUF && camera->picture[i])
            close(camera->dmabuf[i]);
        else if (camera->picture[i])
            munmap(camera->picture[i], camera->bytes);
        camera->picture[i] = NULL;
    }
    close(camera->fd);
    camera->fd = -1;
}

static inline int64_t camera_stamp_ns(const struct v4l2_buffer *buffer)
{
    return (int64_t)buffer->timestamp.tv_sec * 1000000000 + (int64_t)buffer->timestamp.tv_usec * 1000;
}

/* --- stereocam --- */

/* Loads the module again, with PARAMETERS ("", "userptr=0 width=64"): every case begins with a camera in its first state. */
static inline void stereocam_load(const char *parameters)
{
    char command[256];
    snprintf(command, sizeof command, "{ ! grep -q ^stereocam /proc/modules || rmmod stereocam; } && modprobe stereocam %s",
             parameters);
    if (system(command) != 0)
        abort();
}

/* Opens EYE ("left", "right") and sets its format. */
static inline void stereocam_open(struct camera *camera, const char *eye, int width, int height, uint32_t fourcc)
{
    char card[32];
    snprintf(card, sizeof card, "stereocam %s", eye);
    *camera = (struct camera){.fd = camera_open(card)};
    if (camera->fd < 0 || camera_format(camera, width, height, fourcc) < 0)
        abort();
}

/* SETTING: "wait", "left/stall", ... Stops the case if it cannot be done. */
static inline void stereocam_set(const char *setting, long long value)
{
    char path[96];
    snprintf(path, sizeof path, "/sys/kernel/debug/stereocam/%s", setting);
    FILE *file = fopen(path, "w");
    if (!file || fprintf(file, "%llu\n", (unsigned long long)value) < 0 || fclose(file) != 0) {
        perror(path);
        abort();
    }
}

static inline long long stereocam_get(const char *setting)
{
    char path[96];
    unsigned long long value;
    snprintf(path, sizeof path, "/sys/kernel/debug/stereocam/%s", setting);
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%llu", &value) != 1) {
        perror(path);
        abort();
    }
    fclose(file);
    return (long long)value;
}

/* The driver's record of picture SEQUENCE of EYE ("left", "right"); false if it has no record. */
struct camera_record {
    unsigned sequence, exposure_us, gain_16;
    unsigned long long timestamp_ns;
    char fate[16]; /* "good", "error", "dropped", "no-buffer", "missed" */
};

static inline bool camera_record(const char *eye, uint32_t sequence, struct camera_record *ret_record)
{
    char path[96];
    struct camera_record record;
    bool found = false;
    snprintf(path, sizeof path, "/sys/kernel/debug/stereocam/%s/records", eye);
    FILE *file = fopen(path, "r");
    while (file && fscanf(file, "%u %llu %u %u %15s", &record.sequence, &record.timestamp_ns, &record.exposure_us,
                          &record.gain_16, record.fate) == 5)
        if (record.sequence == sequence) { /* the latest: sequences begin again with each stream */
            *ret_record = record;
            found = true;
        }
    if (file)
        fclose(file);
    return found;
}

#endif
