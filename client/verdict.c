/* SPDX-License-Identifier: Apache-2.0 */
/* The newest verdict. Whatever is not known to be well is a stop. */
#include "client/client.h"

#include <math.h>

#include "client/link.h"
#include "core/base/clock.h"

/* The service's verdict, if it still holds. */
static bool read_verdict(const struct plx_client *client, struct plx_verdict_now *ret_verdict)
{
    struct plx_verdict_now verdict;
    int64_t age;
    if (!plx_client_attached(client) || !plx_map_verdict(&client->map, &verdict))
        return false;
    if (!plx_time_since(verdict.capture_ns, verdict.suspended_ns, &age) || age < 0 || age >= verdict.valid_ns ||
        verdict.verdict > PLX_VERDICT_GO)
        return false;
    *ret_verdict = verdict;
    return true;
}

/* Attaches again where that is possible without waiting: the frames, whose mapping takes long, are not needed. An open view
 * keeps its memory. */
static void attach_again(struct plx_client *client)
{
    if (client->viewing)
        return;
    if (plx_client_attached(client) && !plx_link_alive(client->socket))
        plx_client_detach_soon(client);
    if (!plx_client_attached(client))
        plx_client_reattach_soon(client);
}

int plx_verdict(struct plx_client *client, struct plx_verdict_now *ret_verdict)
{
    struct plx_verdict_now verdict;
    bool known = client && read_verdict(client, &verdict);

    if (!known && client) {
        attach_again(client);
        known = read_verdict(client, &verdict);
    }
    if (!known) {
        const bool attached = client && plx_client_attached(client);
        verdict = (struct plx_verdict_now){
            .verdict = PLX_VERDICT_STOP,
            .reasons = PLX_REASON_STALE | (attached ? 0 : PLX_REASON_NO_SERVICE),
            .zone = -1,
            .distance_m = INFINITY,
            .speed_mps = NAN,
        };
    }
    if (ret_verdict)
        *ret_verdict = verdict;
    return (int)verdict.verdict;
}
