/* SPDX-License-Identifier: Apache-2.0 */
/* SIGHUP: the configuration is read again, opened by a probe, and taken by the running engine or by a new one. Also the first
 * configuration, which a probe opens before the first engine. */
#ifndef PLX_APP_SUPERVISOR_RELOAD_REQUEST_H
#define PLX_APP_SUPERVISOR_RELOAD_REQUEST_H

struct plx_report;
struct plx_supervisor;

/* SIGHUP. One that comes while a reload is under way is carried out after it: the last file counts. */
void plx_reload_request(struct plx_supervisor *supervisor);

/* The probe's answer about supervisor->candidate: PLAN or FAILED. Also at the first start. */
void plx_reload_probed(struct plx_supervisor *supervisor, const struct plx_report *report);

/* Begins what was requested, and the first start when it is due; ends a new engine that gives no frame. */
void plx_reload_tick(struct plx_supervisor *supervisor);

#endif
