/* SPDX-License-Identifier: Apache-2.0 */
#include <parallax/client.h>

#include "bridge/diagnostics_message.h"

void plx_diagnostics_read(struct plx_client *client, struct plx_diagnostics *ret_diagnostics)
{
    struct plx_diagnostics *d = ret_diagnostics;
    struct plx_frame newest;
    const int state = client ? plx_state(client) : PLX_STATE_STOPPED;
    d->state = state < 0 ? PLX_STATE_FAILED : (uint32_t)state;
    d->health = client ? plx_health(client) : PLX_HEALTH_NO_FRAMES;
    d->restarts = client ? plx_restarts(client) : 0;
    d->any = client && plx_last_header(client, &newest) == 0;
    d->source = d->any ? newest.source : 0;
    d->blind = d->any ? newest.blind : 0;
    d->drift = d->any ? newest.drift : (struct plx_drift_info){0};
    d->calibration = d->any ? newest.calibration : (struct plx_calibration_info){0};
    d->reason[0] = '\0';
    if (client)
        plx_reason(client, d->reason, sizeof d->reason);
}
