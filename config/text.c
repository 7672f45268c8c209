/* SPDX-License-Identifier: Apache-2.0 */
#include "config/text.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"

bool plx_parse_real(const char *text, double *ret_value)
{
    /* strtod alone would take "0x1p3", "inf", "nan" and leading blanks */
    if (text[0] == '\0' || text[strspn(text, "+-.0123456789eE")] != '\0')
        return false;
    char *end;
    double value = strtod(text, &end);
    if (*end != '\0' || !isfinite(value))
        return false;
    *ret_value = value;
    return true;
}

const char *plx_quote(const char *text, char ret_quoted[PLX_QUOTED_TEXT])
{
    static const char more[] = "...";
    size_t length = strlen(text), kept = length;
    if (length >= PLX_QUOTED_TEXT) {
        kept = PLX_QUOTED_TEXT - sizeof more;
        while (kept > 0 && ((unsigned char)text[kept] & 0xC0) == 0x80) /* never half a UTF-8 character */
            kept--;
    }
    for (size_t i = 0; i < kept; i++)
        ret_quoted[i] = iscntrl((unsigned char)text[i]) ? '?' : text[i];
    if (kept < length)
        memcpy(ret_quoted + kept, more, sizeof more);
    else
        ret_quoted[kept] = '\0';
    return ret_quoted;
}

bool plx_is_printable(const char *text)
{
    uint32_t point;
    for (int bytes; *text; text += bytes) {
        bytes = plx_utf8_decode(text, &point);
        if (bytes == 0 || plx_is_control(point) || point == 0xFEFF || point == 0xFFFE || point == 0xFFFF)
            return false;
    }
    return true;
}
