/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for people: error messages, and texts from outside (a device, a file, a person, another process) made safe to show.
 */
#ifndef PLX_CORE_BASE_TEXT_H
#define PLX_CORE_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/words.h"

/* The sentence that explains a failure: what, where, what was expected, what to do. */
struct plx_error_message {
    char text[512]; /* one line, no newline at its end; "" while nothing failed */
};

/* Writes the sentence, cut to fit and cleaned (plx_clean_text), and returns ERROR, so that a failing function can say
 * `return plx_fail(message, PLX_ERR_RANGE, "...", ...)`. MESSAGE may be NULL. */
int plx_fail(struct plx_error_message *message, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Writes a sentence that is no failure, or not one of the caller: a note, a reason, a part of another sentence. */
void plx_say(struct plx_error_message *message, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The plx_error for an errno of open and the calls like it: NOT_FOUND, PERMISSION, NOMEM, else IO. */
int plx_error_of_errno(int number);

#if defined __clang_analyzer__ || defined PLX_ANALYZER /* an analyzer sees one file and does not know that ERROR comes back */
#    define plx_fail(message, error, ...) (plx_fail(message, error, __VA_ARGS__), (error))
#endif

/* Makes TEXT one line that a terminal, the journal and sd_notify show unchanged: each control character (C0, DEL, C1, line and
 * paragraph separators) and each byte that is not UTF-8 becomes '?'. To be called where a text enters. Returns true if anything
 * was replaced. */
bool plx_clean_text(char *text);

/* Bytes of the UTF-8 character at TEXT, and its code point; 0 if there is none. Overlong forms and surrogates (RFC 3629) are
 * invalid. The 0 at the end of TEXT is a character of one byte. */
int plx_utf8_decode(const char *text, uint32_t *ret_point);

/* True for C0, DEL, C1, line and paragraph separators. */
bool plx_is_control(uint32_t point);

/* The optimal string alignment distance (Damerau 1964): insertions, deletions, replacements and swaps of neighbours that turn A
 * into the first B_LENGTH characters of B. */
#define PLX_EDIT_DISTANCE_LETTERS 64 /* letters of A that are compared, and the largest B_LENGTH */
int plx_edit_distance(const char *a, const char *b, size_t b_length);

/* TEXT without the UTF-8 byte order mark at its start, which editors put there. */
const char *plx_without_bom(const char *text);

#endif
