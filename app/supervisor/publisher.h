/* SPDX-License-Identifier: Apache-2.0 */
/* What clients see of the service: the shared memory, the socket that hands it out, and the state in it. */
#ifndef PLX_APP_SUPERVISOR_PUBLISHER_H
#define PLX_APP_SUPERVISOR_PUBLISHER_H

#include <stdbool.h>

#include "app/region/region.h"
#include "app/supervisor/clients.h"
#include "app/supervisor/self_client.h"
#include "config/config.h"

/* Zeroed = closed. */
struct plx_publisher {
    struct plx_shared_region *region; /* that clients have */
    struct plx_shared_region *next;   /* that an engine fills for the first time, until it has published; NULL = none */
    struct plx_clients *clients;
    uint32_t frame_bytes;            /* that the region was made for */
    uint32_t next_bytes;             /* likewise next */
    enum plx_state state;            /* that clients were told */
    uint32_t health;                 /* likewise */
    struct plx_error_message reason; /* likewise */
    int (*config)(void *context);
    void *context;
    struct plx_self_client self;           /* while clients is not NULL */
    int64_t checked_ns;                    /* when the socket was looked at last */
    struct plx_error_message repair_error; /* what was logged of a socket that cannot be made again; "" = it can */
};

/* Makes region and socket for frames of FRAME_BYTES, in a new epoch. Clients that ask for the configuration get
 * publisher->config(publisher->context), see struct plx_clients_options. Closed on failure. Errors as plx_region_create,
 * plx_clients_create. */
int plx_publisher_open(struct plx_publisher *publisher, const struct plx_config *config, uint32_t frame_bytes,
                       struct plx_error_message *message);

/* Makes a second region, for engines started from now on, if frames of FRAME_BYTES need one. Clients keep theirs. Unchanged on
 * failure. Errors as plx_region_create. */
int plx_publisher_prepare(struct plx_publisher *publisher, const struct plx_config *config, uint32_t frame_bytes,
                          struct plx_error_message *message);
/* The second region works: clients reattach to it. False if there is none. */
bool plx_publisher_promote(struct plx_publisher *publisher);
/* The second region is given up: engines started from now on fill the one that clients have. */
void plx_publisher_discard(struct plx_publisher *publisher);

/* Sees to it that clients can attach: looks at socket and lock, attaches as a client, and makes again what is gone. At each
 * turn. BUSY: another daemon has taken the path; this one cannot serve any more. */
int plx_publisher_check(struct plx_publisher *publisher, const char *socket_path, int64_t now_ns,
                        struct plx_error_message *message);

/* Ends all of it. */
void plx_publisher_close(struct plx_publisher *publisher);

/* For a forked process, first thing: drops the socket and the clients, and keeps one region, the one that it is to fill. */
void plx_publisher_close_in_child(struct plx_publisher *publisher);

/* Why the state is what it is, for clients to read; to be told before the state. */
void plx_publisher_set_reason(struct plx_publisher *publisher, const char *reason);

/* True if clients did not know this state; they do now. False while closed. */
bool plx_publisher_set_state(struct plx_publisher *publisher, enum plx_state state, uint32_t health);

#endif
