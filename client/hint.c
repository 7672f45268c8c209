/* SPDX-License-Identifier: Apache-2.0 */
/* Hands odometry of the robot to the service. */
#include "client/client.h"

#include "client/link.h"
#include "core/base/clock.h"

#define ANSWER_NS (100 * PLX_NS_PER_MS) /* the service needs far less, unless the machine is overloaded */

int plx_motion_hint(struct plx_client *client, const struct plx_motion_hint *hint)
{
    bool skipped = false;
    if (!client || !hint)
        return PLX_ERR_ARG;
    int result = plx_client_attached(client) ? 0 : plx_client_reattach(client, plx_now_ns());
    if (!result && client->may_not_hint)
        return PLX_ERR_PERMISSION;
    if (!result)
        result = plx_link_hint(client->socket, hint, ++client->hints, plx_now_ns() + ANSWER_NS, &skipped);
    client->may_not_hint = result == PLX_ERR_PERMISSION;
    if (skipped) /* messages of frames, which made the descriptor readable */
        plx_client_remind(client, true);
    if (result == PLX_ERR_LOST && plx_client_attached(client) && !client->viewing) /* else plx_next finds it out */
        plx_client_detach(client);
    return result;
}
