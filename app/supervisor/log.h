/* SPDX-License-Identifier: Apache-2.0 */
/* One line on standard error; in the journal's own way (`<3>text`, sd-daemon(3)) when the journal reads it. */
#ifndef PLX_APP_SUPERVISOR_LOG_H
#define PLX_APP_SUPERVISOR_LOG_H

#include <syslog.h> /* LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_INFO */

void plx_log(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
