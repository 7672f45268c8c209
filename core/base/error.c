/* SPDX-License-Identifier: Apache-2.0 */
/* Also a part of libparallax. */
#include <parallax/error.h>

#include <errno.h>
#include <stddef.h>

#include "core/base/text.h"

const char *plx_strerror(int error)
{
    static const char *const text[] = {
        [-PLX_OK] = "success",
        [-PLX_ERR_ARG] = "wrong argument (a bug in the caller)",
        [-PLX_ERR_NOMEM] = "out of memory or descriptors",
        [-PLX_ERR_IO] = "the operating system refused the operation",
        [-PLX_ERR_NOT_FOUND] = "not found",
        [-PLX_ERR_FORMAT] = "the data is damaged or of another kind",
        [-PLX_ERR_RANGE] = "a number is out of range",
        [-PLX_ERR_UNSUPPORTED] = "not supported here",
        [-PLX_ERR_PERMISSION] = "permission denied",
        [-PLX_ERR_BUSY] = "in use by another process, or this process or user has as many as it may",
        [-PLX_ERR_TIMEOUT] = "nothing came in time",
        [-PLX_ERR_END] = "no more data",
        [-PLX_ERR_LOST] = "the other side went away",
        [-PLX_ERR_VERSION] = "client library and service have different versions",
        [-PLX_ERR_OVERWRITTEN] = "overwritten while it was read",
        [-PLX_ERR_BLIND] = "the picture cannot show obstacles",
    };
    if (error > 0 || error < PLX_ERR_BLIND)
        return "unknown error";
    return text[-error];
}

int plx_error_of_errno(int number)
{
    switch (number) {
    case ENOENT:
    case ENOTDIR:
        return PLX_ERR_NOT_FOUND;
    case EACCES:
    case EPERM:
    case EROFS:
        return PLX_ERR_PERMISSION;
    case ENOMEM:
    case EMFILE:
    case ENFILE:
        return PLX_ERR_NOMEM;
    default:
        return PLX_ERR_IO;
    }
}
