/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine tells people besides its frames. */
#ifndef PLX_APP_ENGINE_STARTUP_LOG_H
#define PLX_APP_ENGINE_STARTUP_LOG_H

#include "app/engine/setup.h"

/* From now on each line of the log goes to *REPORT_FD too, for the black box; what does not fit is in the log alone. */
void plx_startup_log_forward(int *report_fd);

/* What is not as one might wish in SETUP, and yet no reason to end. */
void plx_startup_log_setup(const struct plx_setup *setup, int report_fd);

/* Locks the memory that is there, and says it where that is refused. */
void plx_startup_lock_memory(void);

#endif
