/* SPDX-License-Identifier: Apache-2.0 */
/* Error codes of every Parallax function: 0 is success, a negative plx_error is failure. */
#ifndef PARALLAX_ERROR_H
#define PARALLAX_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

enum plx_error {
    PLX_OK = 0,
    PLX_ERR_ARG = -1,          /* the caller broke the function's contract (NULL, wrong type of image) */
    PLX_ERR_NOMEM = -2,        /* out of memory, descriptors or another resource of the system */
    PLX_ERR_IO = -3,           /* the operating system refused to read, write, open or map */
    PLX_ERR_NOT_FOUND = -4,    /* no such file, key, device, socket */
    PLX_ERR_FORMAT = -5,       /* the data is not what it claims to be: truncated, wrong magic, bad syntax */
    PLX_ERR_RANGE = -6,        /* a number lies outside what is allowed; the message says the range */
    PLX_ERR_UNSUPPORTED = -7,  /* understood, and not available here (format, device, combination) */
    PLX_ERR_PERMISSION = -8,   /* not allowed: file mode, group of the socket */
    PLX_ERR_BUSY = -9,         /* another process holds it, or this process or user has as many as it may */
    PLX_ERR_TIMEOUT = -10,     /* nothing came within the time given */
    PLX_ERR_END = -11,         /* the source has no more pairs (end of a replay) */
    PLX_ERR_LOST = -12,        /* the other side went away: daemon stopped, camera unplugged */
    PLX_ERR_VERSION = -13,     /* client library and daemon speak different versions */
    PLX_ERR_OVERWRITTEN = -14, /* the viewed slot was overwritten meanwhile: discard what was read */
    PLX_ERR_BLIND = -15        /* the frame cannot show obstacles; not the same as none */
};

/* One English sentence for ERROR (a plx_error); static storage, thread-safe, never NULL. */
const char *plx_strerror(int error);

#ifdef __cplusplus
}
#endif
#endif
