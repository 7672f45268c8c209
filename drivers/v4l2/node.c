/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/node.h"

#include <errno.h>
#include <fcntl.h>
#include <libv4l2.h>
#include <limits.h>
#include <linux/videodev2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <parallax/error.h>

#include "core/base/text.h"
#include "core/checks/health_table.h"

int plx_v4l2_fail(struct plx_error_message *message, const char *path, int failure, const char *what)
{
    static const struct {
        int number, error;
    } table[] = {
        {ENODEV, PLX_ERR_LOST},        {ENXIO, PLX_ERR_LOST},
        {ENOENT, PLX_ERR_LOST},        {ETIMEDOUT, PLX_ERR_LOST},
        {EPIPE, PLX_ERR_LOST},         {EPROTO, PLX_ERR_LOST},
        {ESHUTDOWN, PLX_ERR_LOST},     {EACCES, PLX_ERR_PERMISSION},
        {EPERM, PLX_ERR_PERMISSION},   {EBUSY, PLX_ERR_BUSY},
        {ENOMEM, PLX_ERR_NOMEM},       {EINVAL, PLX_ERR_UNSUPPORTED},
        {ENOTTY, PLX_ERR_UNSUPPORTED}, {EOPNOTSUPP, PLX_ERR_UNSUPPORTED},
    };
    int error = PLX_ERR_IO;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].number == -failure)
            error = table[i].error;
    return plx_fail(message, error, "%s: %s: %s", path, what, strerror(-failure));
}

int plx_v4l2_call(const struct plx_v4l2_node *node, unsigned long request, void *argument)
{
    const int before = plx_heartbeat_busy(PLX_WATCHED_DRIVER_CALL); /* a driver may be slow, or never return */
    int result;
    do {
        result = node->converting ? v4l2_ioctl(node->fd, request, argument) : ioctl(node->fd, request, argument);
    } while (result < 0 && errno == EINTR);
    result = result < 0 ? -errno : 0;
    plx_heartbeat_busy(before);
    return result;
}

/* Reads the serial number from sysfs: beside the node's device or, as for USB, in the folder above. */
static void read_serial(int fd, char *text, size_t bytes)
{
    char link[64], device[PATH_MAX], path[PATH_MAX + 16];
    struct stat info;

    text[0] = '\0';
    if (fstat(fd, &info) < 0)
        return;
    snprintf(link, sizeof link, "/sys/dev/char/%u:%u/device", major(info.st_rdev), minor(info.st_rdev));
    if (!realpath(link, device))
        return;
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s%s/serial", device, i == 0 ? "" : "/..");
        FILE *file = fopen(path, "re");
        if (!file)
            continue;
        if (fgets(text, (int)bytes, file))
            text[strcspn(text, "\n")] = '\0';
        plx_clean_text(text);
        fclose(file);
        return;
    }
}

/* Copies a text of the device, cleaned for logs and terminals. */
static void copy_text(char *to, size_t bytes, const void *from)
{
    snprintf(to, bytes, "%.*s", (int)bytes - 1, (const char *)from);
    plx_clean_text(to);
}

void plx_v4l2_identity_read(const struct v4l2_capability *capability, struct plx_v4l2_identity *identity)
{
    copy_text(identity->driver, sizeof identity->driver, capability->driver);
    copy_text(identity->card, sizeof identity->card, capability->card);
    copy_text(identity->bus, sizeof identity->bus, capability->bus_info);
}

void plx_v4l2_identity_text(const struct plx_v4l2_identity *identity, char ret_text[PLX_V4L2_IDENTITY])
{
    const char *one = *identity->serial ? identity->serial : identity->bus;

    *ret_text = '\0';
    if (*one)
        snprintf(ret_text, PLX_V4L2_IDENTITY, "%s %s", identity->card, one);
}

static int identify(struct plx_v4l2_node *node, struct plx_error_message *message)
{
    struct v4l2_capability capability = {.capabilities = 0};
    int result = plx_v4l2_call(node, VIDIOC_QUERYCAP, &capability);
    if (result < 0)
        return plx_v4l2_fail(message, node->path, result, "is not a video device");
    plx_v4l2_identity_read(&capability, &node->identity);
    const uint32_t can = capability.capabilities & V4L2_CAP_DEVICE_CAPS ? capability.device_caps : capability.capabilities;
    if (!(can & (V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_VIDEO_CAPTURE_MPLANE)) || !(can & V4L2_CAP_STREAMING))
        return plx_fail(message, PLX_ERR_UNSUPPORTED,
                        "%s: %s cannot stream pictures; `parallax cameras` lists the cameras that can", node->path,
                        node->identity.card);
    node->planar = !(can & V4L2_CAP_VIDEO_CAPTURE);
    read_serial(node->fd, node->identity.serial, sizeof node->identity.serial);
    return 0;
}

int plx_v4l2_open(const char *path, struct plx_v4l2_node *ret_node, struct plx_error_message *message)
{
    struct plx_v4l2_node node = {.fd = -1};
    struct stat info;

    copy_text(node.path, sizeof node.path, path);
    if (stat(path, &info) < 0)
        return plx_v4l2_fail(message, path, -errno, "the camera is missing");
    if (!S_ISCHR(info.st_mode))
        return plx_fail(message, PLX_ERR_UNSUPPORTED, "%s: is not a device; `parallax cameras` lists the cameras", path);
    const int before = plx_heartbeat_busy(PLX_WATCHED_DRIVER_CALL);
    node.fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    plx_heartbeat_busy(before); /* calls only clock_gettime, which does not change errno */
    if (node.fd < 0)
        return plx_v4l2_fail(message, path, -errno, "cannot be opened");
    int result = identify(&node, message);
    if (result < 0) {
        plx_v4l2_close(&node);
        return result;
    }
    *ret_node = node;
    return 0;
}

static void close_node(struct plx_v4l2_node *node)
{
    const int before = plx_heartbeat_busy(PLX_WATCHED_DRIVER_CALL);
    (void)(node->converting ? v4l2_close(node->fd) : close(node->fd));
    plx_heartbeat_busy(before);
}

void plx_v4l2_close(struct plx_v4l2_node *node)
{
    if (node->fd >= 0)
        close_node(node);
    node->fd = -1;
    node->converting = false;
}

int plx_v4l2_open_libv4l2(struct plx_v4l2_node *node, struct plx_error_message *message)
{
    const int before = plx_heartbeat_busy(PLX_WATCHED_DRIVER_CALL);
    const int result = v4l2_fd_open(node->fd, 0) < 0 ? -errno : 0;
    plx_heartbeat_busy(before);
    if (result < 0)
        return plx_v4l2_fail(message, node->path, result, "libv4l2 rejects the device");
    node->converting = true;
    return 0;
}

void plx_v4l2_note(struct plx_error_message *note, const char *format, ...)
{
    const size_t used = strlen(note->text), gap = used > 0 ? 2 : 0;
    va_list arguments;

    if (used + gap + 1 >= sizeof note->text)
        return;
    memcpy(note->text + used, "; ", gap);
    va_start(arguments, format);
    vsnprintf(note->text + used + gap, sizeof note->text - used - gap, format, arguments);
    va_end(arguments);
}

uint32_t plx_v4l2_buffer_type(const struct plx_v4l2_node *node)
{
    return node->planar ? V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE : V4L2_BUF_TYPE_VIDEO_CAPTURE;
}
