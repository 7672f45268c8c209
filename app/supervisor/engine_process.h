/* SPDX-License-Identifier: Apache-2.0 */
/* The engine process: its start, what it reports, its hang, its end. */
#ifndef PLX_APP_SUPERVISOR_ENGINE_PROCESS_H
#define PLX_APP_SUPERVISOR_ENGINE_PROCESS_H

#include <stdbool.h>

struct plx_supervisor;

/* Lets the engine end itself; the next one starts at once, with the configuration that is then in force. */
void plx_engine_process_replace(struct plx_supervisor *supervisor);
/* The same for an engine that fails, for REASON: the next one starts after its back-off. */
void plx_engine_process_give_up(struct plx_supervisor *supervisor, const char *reason);
/* The engine was reaped with STATUS. */
void plx_engine_process_reaped(struct plx_supervisor *supervisor, int status);
/* There is none any more, or none that anything could end. */
bool plx_engine_process_has_ended(const struct plx_supervisor *supervisor);
/* Kills what hangs or does not end; starts what is due. */
void plx_engine_process_tick(struct plx_supervisor *supervisor);

#endif
