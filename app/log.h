/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line on standard error; in the journal's own way (`<3>text`, sd-daemon(3)) when the journal reads it. Never waits: what
 * does not fit, because nobody reads, is lost, counted, and told of when there is room again. For one thread of a process.
 */
#ifndef PLX_APP_LOG_H
#define PLX_APP_LOG_H

#include <syslog.h> /* LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_INFO */

/* Once, before the first line; children inherit it. */
void plx_log_open(void);

/* TEXT is made one line of clean UTF-8 (core/text.h). */
void plx_log(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* From now on COPY gets each line too; NULL: nobody. Forked processes inherit it. */
void plx_log_copy(void (*copy)(void *context, int level, const char *line), void *context);

/* Says how many lines were lost, if some were and there is room again. */
void plx_log_flush(void);

#endif
