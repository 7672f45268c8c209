/* SPDX-License-Identifier: Apache-2.0 */
/* What clients see of the service: the shared memory, the socket that hands it out, and the state in it. */
#ifndef PLX_APP_SUPERVISOR_PUBLISHER_H
#define PLX_APP_SUPERVISOR_PUBLISHER_H

#include <stdbool.h>

#include "app/region/region.h"
#include "app/supervisor/clients.h"
#include "config/config.h"

/* Zeroed = closed. */
struct plx_publisher {
    struct plx_shared_region *region;
    struct plx_clients *clients;
    uint32_t frame_bytes;  /* that the region was made for */
    enum plx_state state;  /* that clients were told */
    uint32_t health;       /* likewise */
    struct plx_why reason; /* likewise */
    int (*config)(void *context);
    void *context;
};

/* Makes region and socket for frames of FRAME_BYTES, in a new epoch and in place of older ones, whose clients reattach. Clients
 * that ask for the configuration get publisher->config(publisher->context), see struct plx_clients_options. Closed on failure.
 * Errors as plx_region_create, plx_clients_create. */
int plx_publisher_open(struct plx_publisher *publisher, const struct plx_config *config, uint32_t frame_bytes,
                       struct plx_why *why);

/* Ends all of it. */
void plx_publisher_close(struct plx_publisher *publisher);

/* For a forked process, first thing: drops the socket and the clients, keeps the region. */
void plx_publisher_leave(struct plx_publisher *publisher);

/* Why the state is what it is, for clients to read; to be told before the state. */
void plx_publisher_explain(struct plx_publisher *publisher, const char *reason);

/* True if clients did not know this state; they do now. False while closed. */
bool plx_publisher_tell(struct plx_publisher *publisher, enum plx_state state, uint32_t health);

#endif
