/* SPDX-License-Identifier: Apache-2.0 */
#include "core/why.h"

#include <stdarg.h>
#include <stdio.h>

int(plx_fail)(struct plx_why *why, int error, const char *format, ...)
{
    if (why) {
        va_list args;
        va_start(args, format);
        vsnprintf(why->text, sizeof why->text, format, args);
        va_end(args);
    }
    return error;
}
