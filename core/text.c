/* SPDX-License-Identifier: Apache-2.0 */
#include "core/text.h"

#include <stdint.h>

/* The length of the UTF-8 sequence at AT, and its code point; 0 if there is none (overlong forms and surrogates are none). */
static int decode(const unsigned char *at, uint32_t *ret_point)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const int length = at[0] < 0x80 ? 1 : at[0] >> 5 == 6 ? 2 : at[0] >> 4 == 14 ? 3 : at[0] >> 3 == 30 ? 4 : 0;
    uint32_t point = length > 1 ? at[0] & (0x7FU >> length) : at[0];

    for (int i = 1; i < length; i++) {
        if (at[i] >> 6 != 2) /* the end of the text too */
            return 0;
        point = point << 6 | (at[i] & 0x3FU);
    }
    if (length > 1 && (point < least[length] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)))
        return 0;
    *ret_point = point;
    return length;
}

static bool is_control(uint32_t point)
{
    return point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0x2028 || point == 0x2029;
}

bool plx_clean_text(char *text)
{
    bool replaced = false;
    char *to = text;

    for (const char *from = text; *from != '\0';) {
        uint32_t point = 0;
        const int length = decode((const unsigned char *)from, &point);
        const bool good = length > 0 && !is_control(point);
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
