/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/client_requests.h"

int plx_client_requests_config(void *context)
{
    struct plx_client_requests *requests = context;
    return plx_config_text_fd(&requests->config_text, plx_reload_config(requests->reload));
}

int plx_client_requests_hint(void *context, const struct plx_motion_hint *hint)
{
    struct plx_client_requests *requests = context;
    return plx_engine_process_hint(requests->engine, hint);
}
