/* SPDX-License-Identifier: Apache-2.0 */
/* An engine that ended unasked, with STATUS as of waitpid: why, what it means for the next one, whether the GPU bears the
 * blame. */
#ifndef PLX_APP_SUPERVISOR_ENGINE_EXIT_H
#define PLX_APP_SUPERVISOR_ENGINE_EXIT_H

#include <stdbool.h>

#include "core/text.h"

struct plx_supervisor;

/* Why it ended. */
struct plx_error_message plx_engine_exit_describe(const struct plx_supervisor *supervisor, int status);
/* An engine of the first start failed by what the next one would meet again. */
bool plx_engine_exit_is_permanent(const struct plx_supervisor *supervisor);
/* Logs and keeps SENTENCE, until the next engine publishes. */
void plx_engine_exit_report(struct plx_supervisor *supervisor, int status, const struct plx_error_message *sentence);
/* Counts a loss of the GPU if that bears the blame. */
void plx_engine_exit_count_gpu_loss(struct plx_supervisor *supervisor, int status);

/* Whether frames are to come from the GPU, so that others bear a flag. */
bool plx_engine_expects_gpu(const struct plx_supervisor *supervisor);

#endif
