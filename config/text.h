/* SPDX-License-Identifier: Apache-2.0 */
/* Text from users: parses numbers and lists of processors, quotes text for messages, checks that YAML can hold it. */
#ifndef PLX_CONFIG_TEXT_H
#define PLX_CONFIG_TEXT_H

#include <stdbool.h>
#include <stdint.h>

/* A number in decimal, with nothing before or behind it; no hexadecimal, no infinity, no NAN. False if TEXT is none. */
bool plx_parse_real(const char *text, double *ret_value);

/* TEXT for a message: cut to a few dozen characters, control characters as '?'. */
#define PLX_QUOTED_TEXT 64
const char *plx_quote(const char *text, char ret_quoted[PLX_QUOTED_TEXT]);

/* True if TEXT is UTF-8 that YAML can hold as it is, on one line (YAML 1.1, 5.1 and 5.4): no controls, no separators. */
bool plx_is_printable(const char *text);

/* Lists of processors as Linux writes them, such as 2-3,5. */
#define PLX_MAX_CPUS 1024 /* as many as cpu_set_t holds */

/* Marks in RET_LISTED each processor that TEXT lists. False where TEXT is no such list: empty, out of order as 3-2, a number of
 * PLX_MAX_CPUS or more, anything but digits, hyphens and commas; RET_LISTED is then untouched. */
bool plx_cpus_parse(const char *text, bool ret_listed[PLX_MAX_CPUS]);

/* Names of health flags (plx_health_name), separated by commas, as bits of enum plx_health; "" is 0. False where one of them is
 * no such name; *ret_flags is then untouched. */
bool plx_health_flags_parse(const char *text, uint32_t *ret_flags);

#endif
