/* SPDX-License-Identifier: Apache-2.0 */
/* One video node: finding it, opening it, identifying it, and its ioctls. */
#ifndef PLX_V4L2_NODE_H
#define PLX_V4L2_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/text.h"

#define PLX_V4L2_PATH 256

/* The texts that identify a camera; each may be empty, and is one line of UTF-8. */
struct plx_v4l2_identity {
    char driver[16], card[32], bus[32]; /* answers to VIDIOC_QUERYCAP */
    char serial[64];                    /* number of the USB device */
};

#define PLX_V4L2_IDENTITY 104 /* bytes of an identity as text */

struct plx_v4l2_node {
    int fd;                   /* -1: closed */
    bool converting;          /* through libv4l2, for formats that the convert stage lacks */
    bool planar;              /* it uses the multi-planar API */
    char path[PLX_V4L2_PATH]; /* as opened */
    struct plx_v4l2_identity identity;
};

struct v4l2_capability;

/* Copies driver, card and bus, cleaned of unprintable bytes. */
void plx_v4l2_identity_read(const struct v4l2_capability *capability, struct plx_v4l2_identity *identity);

/* What tells the camera from others of its kind: its name, and its serial number or, without one, where it is plugged in. "" if
 * neither is known. */
void plx_v4l2_identity_text(const struct plx_v4l2_identity *identity, char ret_text[PLX_V4L2_IDENTITY]);

/* Opens PATH, which must be a capture device that streams. Errors of plx_v4l2_fail; UNSUPPORTED if it is something else. */
int plx_v4l2_open(const char *path, struct plx_v4l2_node *ret_node, struct plx_error_message *message);
void plx_v4l2_close(struct plx_v4l2_node *node); /* closed already is fine */

/* Uses libv4l2, which emulates formats, from now on. Call it before any other call of NODE. UNSUPPORTED. */
int plx_v4l2_open_libv4l2(struct plx_v4l2_node *node, struct plx_error_message *message);

/* ioctl, repeated after a signal. 0 or a negative errno. */
int plx_v4l2_call(const struct plx_v4l2_node *node, unsigned long request, void *argument);

/* The V4L2_BUF_TYPE_* of NODE's pictures, single- or multi-planar. */
uint32_t plx_v4l2_buffer_type(const struct plx_v4l2_node *node);

/* "PATH: WHAT: the text of strerror" and the plx_error for the negative errno FAILURE: LOST (gone, or not yet there),
 * PERMISSION, BUSY, NOMEM, UNSUPPORTED (not understood), IO. */
int plx_v4l2_fail(struct plx_error_message *message, const char *path, int failure, const char *what);

/* Appends a text to NOTE, after "; ", as far as there is room. */
void plx_v4l2_note(struct plx_error_message *note, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --- find.c: the node of a camera, by a stable path or by a match; never by /dev/videoN, whose number changes ----- */

/* "/dev/v4l/by-path/..." or any other name but /dev/videoN; or "card=...,driver=...,serial=...,bus=...", each with shell
 * wildcards. All that are given must match. */
struct plx_v4l2_rule {
    char path[PLX_V4L2_PATH]; /* "" : by match */
    struct plx_v4l2_identity match;
};

/* RANGE, with what is wrong with TEXT and what was expected. */
int plx_v4l2_rule_parse(const char *text, struct plx_v4l2_rule *ret_rule, struct plx_error_message *message);
bool plx_v4l2_rule_fits(const struct plx_v4l2_rule *rule, const struct plx_v4l2_identity *identity);

/* Opens the one node that RULE names. LOST if there is none now, RANGE if several fit, errors of plx_v4l2_open. */
int plx_v4l2_find(const struct plx_v4l2_rule *rule, struct plx_v4l2_node *ret_node, struct plx_error_message *message);

/* The numbers of /dev/videoN that exist, ascending; returns how many, at most MAX. */
int plx_v4l2_node_numbers(int *ret_number, int max);

/* Whether this user may not open one of them. */
bool plx_v4l2_is_any_denied(void);

/* The name of a camera for the configuration: a stable path, else a match. */
void plx_v4l2_configured_name(const struct plx_v4l2_node *node, char ret_name[PLX_V4L2_PATH]);

#endif
