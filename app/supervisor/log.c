/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void plx_log(int level, const char *format, ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (getenv("JOURNAL_STREAM"))
        fprintf(stderr, "<%d>%s\n", level, text);
    else
        fprintf(stderr, "parallaxd: %s\n", text);
}
