/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/text.h"

#include <stdarg.h>
#include <stdio.h>

#include <parallax/error.h>
#include <string.h>

static void write_message(struct plx_error_message *message, const char *format, va_list args)
{
    vsnprintf(message->text, sizeof message->text, format, args);
    plx_clean_text(message->text); /* the name of a file may hold a newline */
}

int(plx_fail)(struct plx_error_message *message, int error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (message)
        write_message(message, format, args);
    va_end(args);
    return error;
}

void plx_say(struct plx_error_message *message, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    write_message(message, format, args);
    va_end(args);
}

/* --- text from outside ---------------------------------------------------------------------------------------------- */

int plx_utf8_decode(const char *text, uint32_t *ret_point)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *at = (const unsigned char *)text;
    const int length = at[0] < 0x80 ? 1 : at[0] >> 5 == 6 ? 2 : at[0] >> 4 == 14 ? 3 : at[0] >> 3 == 30 ? 4 : 0;
    uint32_t point = length > 1 ? at[0] & (0x7FU >> length) : at[0];

    for (int i = 1; i < length; i++) {
        if (at[i] >> 6 != 2) /* the end of the text too */
            return 0;
        point = point << 6 | (at[i] & 0x3FU);
    }
    if (length == 0 || point < least[length] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF))
        return 0;
    *ret_point = point;
    return length;
}

bool plx_is_control(uint32_t point)
{
    return point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0x2028 || point == 0x2029;
}

bool plx_clean_text(char *text)
{
    bool replaced = false;
    char *to = text;

    for (const char *from = text; *from != '\0';) {
        uint32_t point = 0;
        const int length = plx_utf8_decode(from, &point);
        const bool good = length > 0 && !plx_is_control(point);
        for (int i = 0; good && i < length; i++)
            *to++ = from[i];
        if (!good)
            *to++ = '?';
        replaced |= !good;
        from += length > 0 ? length : 1;
    }
    *to = '\0';
    return replaced;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Three rows of the table of distances at a time. */
int plx_edit_distance(const char *a, const char *b, size_t b_length)
{
    int row[3][PLX_EDIT_DISTANCE_LETTERS + 1];
    int *before = row[0], *last = row[1], *now = row[2];
    size_t a_length = strnlen(a, PLX_EDIT_DISTANCE_LETTERS);
    for (size_t j = 0; j <= b_length; j++)
        last[j] = (int)j;
    for (size_t i = 1; i <= a_length; i++) {
        now[0] = (int)i;
        for (size_t j = 1; j <= b_length; j++) {
            int change = last[j - 1] + (a[i - 1] != b[j - 1]);
            now[j] = least(change, 1 + least(last[j], now[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], before[j - 2] + 1);
        }
        int *oldest = before;
        before = last;
        last = now;
        now = oldest;
    }
    return last[b_length];
}

const char *plx_without_bom(const char *text)
{
    static const char mark[] = "\xEF\xBB\xBF";
    return strncmp(text, mark, sizeof mark - 1) == 0 ? text + sizeof mark - 1 : text;
}
