/* SPDX-License-Identifier: Apache-2.0 */
/* Progress over many pairs on standard error: nothing in the first two seconds, then one line that is redrawn. If standard
 * error is no terminal, a new line every five seconds. */
#ifndef PLX_APP_CLI_PROGRESS_H
#define PLX_APP_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct plx_progress {
    int64_t started_ns, printed_ns;
    bool terminal;
};

void plx_progress_begin(struct plx_progress *progress);
/* DONE of TOTAL; TOTAL 0 = unknown. */
void plx_progress_step(struct plx_progress *progress, uint64_t done, uint64_t total);
/* Clears the line. */
void plx_progress_end(struct plx_progress *progress);

#endif
