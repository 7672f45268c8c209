/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/client_quota.h"

#include <stddef.h>

void plx_client_quota_count(struct plx_client_quota *places, const struct ucred *peer, const struct ucred *other)
{
    places->taken++;
    /* Pid 0: a process that this one's namespace does not show. Then only the user tells peers apart. */
    places->of_process += peer->pid != 0 && other->pid == peer->pid && other->uid == peer->uid;
    places->of_user += other->uid == peer->uid;
}

const char *plx_client_quota_refusal(const struct plx_client_quota *places, const struct ucred *peer)
{
    const int left_by_others = places->capacity - (places->taken - places->of_user);

    if (places->taken >= places->capacity)
        return "all places are taken (publish.max_clients)";
    if (places->of_process >= PLX_CLIENTS_PER_PROCESS)
        return "its process holds as many places as one may; use one client for all threads that look at frames";
    if (peer->uid != 0 && peer->uid != places->service && places->of_user >= (left_by_others + 1) / 2)
        return "its user holds as many places as one may, half of what others leave (publish.max_clients)";
    return NULL;
}
