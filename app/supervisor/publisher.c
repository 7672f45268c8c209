/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/publisher.h"

#include <stdio.h>
#include <string.h>

#include "app/supervisor/log.h"
#include "core/clock.h"

static void note(const char *sentence)
{
    plx_log(LOG_WARNING, "%s", sentence);
}

int plx_publisher_open(struct plx_publisher *publisher, const struct plx_config *config, uint32_t frame_bytes,
                       struct plx_why *why)
{
    const struct plx_region_options region_options = {
        .epoch = (uint64_t)plx_now_ns(), /* increases with every start; no client outlives a reboot */
        .slots = config->publish.slots,
        .frame_bytes = frame_bytes,
    };
    const struct plx_clients_options clients_options = {
        .socket_path = config->publish.socket,
        .group = config->publish.group,
        .max_clients = config->publish.max_clients,
        .note = note,
        .config = publisher->config,
        .context = publisher->context,
    };

    plx_publisher_close(publisher);
    int result = plx_region_create(&region_options, &publisher->region, why);
    if (result == 0)
        result = plx_clients_create(&clients_options, publisher->region, &publisher->clients, why);
    if (result < 0) {
        plx_publisher_close(publisher);
        return result;
    }
    publisher->frame_bytes = frame_bytes;
    return 0;
}

void plx_publisher_close(struct plx_publisher *publisher)
{
    plx_clients_destroy(publisher->clients);
    plx_region_destroy(publisher->region);
    *publisher =
        (struct plx_publisher){.state = PLX_STATE_STARTING, .config = publisher->config, .context = publisher->context};
}

void plx_publisher_leave(struct plx_publisher *publisher)
{
    plx_clients_leave(publisher->clients);
    publisher->clients = NULL;
}

void plx_publisher_explain(struct plx_publisher *publisher, const char *reason)
{
    if (!publisher->region || strcmp(reason, publisher->reason.text) == 0)
        return;
    plx_region_set_reason(publisher->region, reason);
    snprintf(publisher->reason.text, sizeof publisher->reason.text, "%s", reason);
}

bool plx_publisher_tell(struct plx_publisher *publisher, enum plx_state state, uint32_t health)
{
    if (!publisher->region || (state == publisher->state && health == publisher->health))
        return false;
    plx_region_set_state(publisher->region, state, health);
    plx_clients_notify(publisher->clients, plx_ring_newest(publisher->region));
    publisher->state = state;
    publisher->health = health;
    return true;
}
