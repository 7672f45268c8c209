/* SPDX-License-Identifier: Apache-2.0 */
#include "client/schedule.h"

#include <stdatomic.h>

#include "client/client.h"

uint32_t plx_client_gpu_schedule(struct plx_client *client)
{
    if (!client || !plx_client_attached(client))
        return 0;
    return atomic_load_explicit(&client->map.header->gpu_schedule, memory_order_relaxed); /* no other data depends on it */
}
