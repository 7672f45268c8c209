/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that come from outside: from a device, a file, a person, another process. */
#ifndef PLX_CORE_TEXT_H
#define PLX_CORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes TEXT one line that a terminal, the journal and sd_notify show as it is: each control character (C0, DEL, C1, line and
 * paragraph separators) and each byte that is not UTF-8 becomes '?'. To be called where a text enters. Returns true if anything
 * was replaced. */
bool plx_clean_text(char *text);

/* Bytes of the UTF-8 character at TEXT, and its code point; 0 where there is none. Overlong forms and surrogates (RFC 3629) are
 * none. The 0 at the end of TEXT is a character of one byte. */
int plx_utf8_decode(const char *text, uint32_t *ret_point);

/* True for C0, DEL, C1, line and paragraph separators. */
bool plx_is_control(uint32_t point);

/* How far two words are apart: the optimal string alignment distance (Damerau 1964), that is the insertions, deletions,
 * replacements and swaps of neighbours that turn A into the first B_LENGTH characters of B. */
#define PLX_EDIT_DISTANCE_LETTERS 64 /* of A that are compared, and the largest B_LENGTH */
int plx_edit_distance(const char *a, const char *b, size_t b_length);

#endif
