/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: lines on standard error, in the journal's format (`<3>text`, sd-daemon(3)) if the journal reads them. Never waits:
 * if the reader is slow, lines are lost and counted, and their number is logged when there is room again. For one thread of a
 * process.
 */
#ifndef PLX_APP_LOG_H
#define PLX_APP_LOG_H

#include <syslog.h> /* LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_INFO */

/* Once, before the first line; children inherit it. PROGRAM, of static storage, begins the lines that the journal does not
 * read. */
void plx_log_open(const char *program);

/* TEXT is made one line of clean UTF-8 (core/base/text.h). */
void plx_log(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* From now on COPY receives each line too; NULL: nobody does. Forked processes inherit it. */
void plx_log_copy(void (*copy)(void *context, int level, const char *line), void *context);

/* Logs the number of lost lines, if there are any and there is room again. */
void plx_log_flush(void);

#endif
