/* SPDX-License-Identifier: Apache-2.0 */
#include "core/error_message.h"

#include <stdarg.h>
#include <stdio.h>

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
