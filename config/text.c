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

/* Reads a processor's number and moves *TEXT behind it; -1 if there is no such number. */
static int parse_number(const char **text)
{
    int number = 0, digits = 0;

    for (; **text >= '0' && **text <= '9' && number < PLX_MAX_CPUS; (*text)++, digits++)
        number = 10 * number + (**text - '0');
    return digits > 0 && number < PLX_MAX_CPUS ? number : -1;
}

bool plx_cpus_parse(const char *text, bool ret_listed[PLX_MAX_CPUS])
{
    bool listed[PLX_MAX_CPUS] = {false};

    do {
        const int first = parse_number(&text);
        int last = first;
        if (first >= 0 && *text == '-') {
            text++;
            last = parse_number(&text);
        }
        if (first < 0 || last < first)
            return false;
        for (int cpu = first; cpu <= last; cpu++)
            listed[cpu] = true;
    } while (*text++ == ',');
    if (text[-1] != '\0')
        return false;
    memcpy(ret_listed, listed, sizeof listed);
    return true;
}
