/* SPDX-License-Identifier: Apache-2.0 */
/* One video node: opening it, asking what it is, and calling it. */
#ifndef PLX_V4L2_NODE_H
#define PLX_V4L2_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/error_message.h"

#define PLX_V4L2_PATH 256

/* What a camera is known by; every text may be empty, and is one line of UTF-8. */
struct plx_v4l2_identity {
    char driver[16], card[32], bus[32]; /* of VIDIOC_QUERYCAP */
    char serial[64];                    /* of the USB device */
};

struct plx_v4l2_node {
    int fd;                   /* -1: closed */
    bool converting;          /* libv4l2 stands between: for formats that the convert stage lacks */
    bool planar;              /* its multi-planar form */
    char path[PLX_V4L2_PATH]; /* as opened */
    struct plx_v4l2_identity identity;
};

struct v4l2_capability;

/* Takes driver, card and bus from what the driver says, whatever bytes these are. */
void plx_v4l2_identity_read(const struct v4l2_capability *capability, struct plx_v4l2_identity *identity);

/* Opens PATH, which must be a capture device that streams. Errors of plx_v4l2_fail; UNSUPPORTED if it is something else. */
int plx_v4l2_open(const char *path, struct plx_v4l2_node *ret_node, struct plx_error_message *message);
void plx_v4l2_close(struct plx_v4l2_node *node); /* closed already is fine */

/* From now on through libv4l2, which emulates formats. Before anything else was asked of NODE. UNSUPPORTED. */
int plx_v4l2_open_libv4l2(struct plx_v4l2_node *node, struct plx_error_message *message);

/* ioctl, again when a signal came between. 0 or a negative errno. */
int plx_v4l2_call(const struct plx_v4l2_node *node, unsigned long request, void *argument);

/* The V4L2_BUF_TYPE_* of its pictures. */
uint32_t plx_v4l2_buffer_type(const struct plx_v4l2_node *node);

/* "PATH: WHAT: what the system says" and the plx_error for the negative errno FAILURE: LOST (gone, or not yet there),
 * PERMISSION, BUSY, NOMEM, UNSUPPORTED (not understood), IO. */
int plx_v4l2_fail(struct plx_error_message *message, const char *path, int failure, const char *what);

/* Adds a sentence part to NOTE, as far as it fits. */
void plx_v4l2_note(struct plx_error_message *note, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
