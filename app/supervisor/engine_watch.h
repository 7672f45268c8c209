/* SPDX-License-Identifier: Apache-2.0 */
/* Watching a running engine: what its threads mark, and whether it dies when it is killed. */
#ifndef PLX_APP_SUPERVISOR_ENGINE_WATCH_H
#define PLX_APP_SUPERVISOR_ENGINE_WATCH_H

#include <stdbool.h>

struct plx_supervisor;

/* Judges what the engine's threads have marked, and says which is late; true if the engine must be killed. */
bool plx_engine_watch_progress(struct plx_supervisor *supervisor);
/* Sends SIGKILL to the engine. */
void plx_engine_watch_kill(struct plx_supervisor *supervisor);
/* Looks whether an engine that was killed is dead. One that is not is held by a driver in a call that nothing interrupts (state
 * D): nobody but the system can help then, so systemd's watchdog is no longer fed. */
void plx_engine_watch_kill_result(struct plx_supervisor *supervisor);

#endif
