/* SPDX-License-Identifier: Apache-2.0 */
#include "config/text.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"

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

/* The bit of the flag whose name is the first LENGTH bytes of NAME; 0: there is none. */
static uint32_t health_flag(const char *name, size_t length)
{
    for (int bit = 0; bit < PLX_HEALTH_FLAGS; bit++) {
        const char *known = plx_health_name(bit);
        if (strlen(known) == length && strncmp(known, name, length) == 0)
            return 1u << bit;
    }
    return 0;
}

bool plx_health_flags_parse(const char *text, uint32_t *ret_flags)
{
    uint32_t flags = 0;

    for (const char *name = *text ? text : NULL; name;) {
        const size_t length = strcspn(name, ",");
        const uint32_t flag = health_flag(name, length);
        if (flag == 0)
            return false;
        flags |= flag;
        name = name[length] ? name + length + 1 : NULL;
    }
    *ret_flags = flags;
    return true;
}
