/* SPDX-License-Identifier: Apache-2.0 */
#include "config/cpus.h"

#include <string.h>

/* Reads a processor's number and goes on behind it; -1 where there is none. */
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
