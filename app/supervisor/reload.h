/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a new configuration: it is refused or in force, and a new engine that does not publish with it is replaced by
 * one of the configuration, calibration and ring that ran before. */
#ifndef PLX_APP_SUPERVISOR_RELOAD_H
#define PLX_APP_SUPERVISOR_RELOAD_H

#include <stdbool.h>

struct plx_config;
struct plx_supervisor;

/* The candidate is not taken, for REASON. */
void plx_reload_refuse(struct plx_supervisor *supervisor, const char *reason);
/* It is in force; CONSEQUENCE ends the sentence that is logged. */
void plx_reload_accept(struct plx_supervisor *supervisor, const char *consequence);

/* What the frames of now were made with: the configuration before, until the engine of a new one has published. */
const struct plx_config *plx_reload_config(const struct plx_supervisor *supervisor);

/* An engine of the plan in force was started. */
void plx_reload_started(struct plx_supervisor *supervisor);
/* It has published a frame, or looks for a camera that is AWAY. */
void plx_reload_confirm(struct plx_supervisor *supervisor, bool away);
/* It could not be started, or has ended, for REASON. True if a reload was rolled back for it: the next engine is one of the
 * plan before. */
bool plx_reload_roll_back(struct plx_supervisor *supervisor, const char *reason);

#endif
