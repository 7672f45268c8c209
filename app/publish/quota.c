/* SPDX-License-Identifier: Apache-2.0 */
#include "app/publish/quota.h"

#include <stddef.h>

void plx_client_quota_count(struct plx_client_quota *quota, const struct ucred *peer, const struct ucred *other)
{
    quota->taken++;
    /* Pid 0: a process outside this PID namespace. Then only the user distinguishes peers. */
    quota->of_process += peer->pid != 0 && other->pid == peer->pid && other->uid == peer->uid;
    quota->of_user += other->uid == peer->uid;
}

const char *plx_client_quota_refusal(const struct plx_client_quota *quota, const struct ucred *peer)
{
    const int left_by_others = quota->capacity - (quota->taken - quota->of_user);

    if (quota->taken >= quota->capacity)
        return "all connections are in use (publish.max_clients)";
    if (quota->of_process >= PLX_CLIENTS_PER_PROCESS)
        return "its process holds as many connections as one process may; use one client for all threads that read frames";
    if (peer->uid != 0 && peer->uid != quota->service && quota->of_user >= (left_by_others + 1) / 2)
        return "its user holds as many connections as one user may, half of what others leave (publish.max_clients)";
    return NULL;
}
