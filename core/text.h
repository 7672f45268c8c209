/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that come from outside: from a device, a file, another process. */
#ifndef PLX_CORE_TEXT_H
#define PLX_CORE_TEXT_H

#include <stdbool.h>

/* Makes TEXT one line that a terminal, the journal and sd_notify show as it is: each control character (C0, DEL, C1, line and
 * paragraph separators) and each byte that is not UTF-8 becomes '?'. To be called where a text enters. Returns true if anything
 * was replaced. */
bool plx_clean_text(char *text);

#endif
