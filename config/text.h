/* SPDX-License-Identifier: Apache-2.0 */
/* Text that people wrote: as a number, as a part of a message, as something to write down again. */
#ifndef PLX_CONFIG_TEXT_H
#define PLX_CONFIG_TEXT_H

#include <stdbool.h>

/* A number in decimal, with nothing before or behind it; no hexadecimal, no infinity, no NAN. False if TEXT is none. */
bool plx_parse_real(const char *text, double *ret_value);

/* TEXT for a message: cut to a few dozen characters, control characters as '?'. */
#define PLX_QUOTED_TEXT 64
const char *plx_quote(const char *text, char ret_quoted[PLX_QUOTED_TEXT]);

/* True if TEXT is UTF-8 that can stand in YAML as it is, on one line (YAML 1.1, 5.1 and 5.4): no controls, no separators. */
bool plx_is_printable(const char *text);

#endif
