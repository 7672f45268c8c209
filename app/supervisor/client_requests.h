/* SPDX-License-Identifier: Apache-2.0 */
/* What clients ask of the service through its socket: the configuration in force, and hints for the engine. */
#ifndef PLX_APP_SUPERVISOR_CLIENT_REQUESTS_H
#define PLX_APP_SUPERVISOR_CLIENT_REQUESTS_H

#include "app/supervisor/engine_process.h"
#include "app/supervisor/publisher.h"
#include "app/supervisor/reload.h"

struct plx_client_requests {
    const struct plx_reload *reload;
    struct plx_engine_process *engine;
    struct plx_config_text config_text;
};

/* For struct plx_publisher; CONTEXT is a struct plx_client_requests. */
int plx_client_requests_config(void *context);
int plx_client_requests_hint(void *context, const struct plx_motion_hint *hint);

#endif
