/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine tells people besides its frames. */
#ifndef PLX_APP_ENGINE_NOTES_H
#define PLX_APP_ENGINE_NOTES_H

#include "app/engine/setup.h"

/* From now on each line of the log goes to *REPORT_FD too, for the black box; what does not fit is in the log alone. */
void plx_notes_copy_log(int *report_fd);

/* What is not as one might wish in SETUP, and yet no reason to end. */
void plx_notes_say(const struct plx_setup *setup, int report_fd);

/* Locks the memory that is there, and says it where that is refused. */
void plx_notes_lock_memory(void);

#endif
