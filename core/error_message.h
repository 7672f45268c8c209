/* SPDX-License-Identifier: Apache-2.0 */
/* The sentence that explains a failure to a person: what, where, what was expected, what to do. */
#ifndef PLX_CORE_ERROR_MESSAGE_H
#define PLX_CORE_ERROR_MESSAGE_H

struct plx_error_message {
    char text[512]; /* one line, no newline at its end; "" while nothing failed */
};

/* Writes the sentence, cut to fit, and returns ERROR, so that a failing function can say
 * `return plx_fail(why, PLX_ERR_RANGE, "...", ...)`. MESSAGE may be NULL. */
int plx_fail(struct plx_error_message *message, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The plx_error for an errno of open and the calls like it: NOT_FOUND, PERMISSION, NOMEM, else IO. */
int plx_error_of_errno(int number);

#if defined __clang_analyzer__ ||                                                                                              \
    defined PLX_ANALYZER /* they see one file at a time, and would not know that ERROR comes back */
#    define plx_fail(message, error, ...) (plx_fail(message, error, __VA_ARGS__), (error))
#endif

#endif
