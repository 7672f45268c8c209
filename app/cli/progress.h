/* SPDX-License-Identifier: Apache-2.0 */
/* Progress of a long task on stderr: silent for two seconds, then one line that is redrawn (a line every five seconds where
 * stderr is no terminal). */
#ifndef PLX_CLI_PROGRESS_H
#define PLX_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct plx_progress {
    const char *what; /* "pairs" */
    int64_t started_ns, printed_ns;
    bool terminal;
};

void plx_progress_begin(struct plx_progress *progress, const char *what);
/* DONE of TOTAL; TOTAL 0 = unknown. */
void plx_progress_step(struct plx_progress *progress, uint64_t done, uint64_t total);
/* Takes the line away. */
void plx_progress_end(struct plx_progress *progress);

#endif
