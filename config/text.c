/* SPDX-License-Identifier: Apache-2.0 */
#include "config/text.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

/* The UTF-8 character at TEXT (RFC 3629), and its bytes; 0 where there is none. */
static int decode(const unsigned char *text, uint32_t *ret_character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const int bytes = text[0] < 0x80    ? 1
                      : text[0] >= 0xF8 ? 0
                      : text[0] >= 0xF0 ? 4
                      : text[0] >= 0xE0 ? 3
                      : text[0] >= 0xC0 ? 2
                                        : 0;
    uint32_t character = bytes <= 1 ? text[0] : text[0] & (0x7Fu >> bytes);
    for (int i = 1; i < bytes; i++) {
        if ((text[i] & 0xC0) != 0x80)
            return 0;
        character = character << 6 | (text[i] & 0x3F);
    }
    *ret_character = character;
    return bytes > 0 && character >= least[bytes] ? bytes : 0;
}

bool plx_is_printable(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    uint32_t c;
    for (int bytes; *at; at += bytes) {
        bytes = decode(at, &c);
        if (bytes == 0 || c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 || c == 0xFEFF ||
            (c >= 0xD800 && c < 0xE000) || c == 0xFFFE || c == 0xFFFF || c > 0x10FFFF)
            return false;
    }
    return true;
}
