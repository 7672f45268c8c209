/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine logs when it starts. */
#ifndef PLX_APP_ENGINE_STARTUP_LOG_H
#define PLX_APP_ENGINE_STARTUP_LOG_H

struct plx_setup;

/* From now on each line of the log goes to *REPORT_FD too, for the black box; what does not fit is in the log alone. */
void plx_startup_log_forward(int *report_fd);

/* Logs what differs from the configuration and is no reason to end: the CPU instead of a GPU, no real-time priority. */
void plx_startup_log_setup(const struct plx_setup *setup, int report_fd);

/* Locks the memory of the process; logs if the system refuses. */
void plx_startup_lock_memory(void);

#endif
