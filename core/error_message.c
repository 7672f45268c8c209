/* SPDX-License-Identifier: Apache-2.0 */
#include "core/error_message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include <parallax/error.h>

int(plx_fail)(struct plx_error_message *message, int error, const char *format, ...)
{
    if (message) {
        va_list args;
        va_start(args, format);
        vsnprintf(message->text, sizeof message->text, format, args);
        va_end(args);
    }
    return error;
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
