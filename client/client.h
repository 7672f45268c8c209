/* SPDX-License-Identifier: Apache-2.0 */
/* What a client is, and how it comes to its mapping; the library's own. */
#ifndef PLX_CLIENT_CLIENT_H
#define PLX_CLIENT_CLIENT_H

#include <stdbool.h>

#include <parallax/client.h>

#include "client/map.h"

/* Detached: no socket. Greeting: socket, no map yet. Attached: both. */
struct plx_client {
    char *path;
    int socket;              /* -1: none */
    struct plx_map map;      /* header NULL: none */
    int64_t hello_until;     /* while greeting: when to give up */
    int64_t retry_at;        /* while detached: the next attempt */
    uint64_t epoch;          /* of the memory last attached to */
    uint64_t last;           /* sequence last seen in it */
    int64_t crowded_until;   /* until then wake-ups may not reach us, and we look more often */
    bool seen_any;           /* in any epoch: from then on frames can be missed */
    bool told;               /* that service or engine is gone */
    bool viewing;            /* a view is open */
    bool reminded;           /* the timer keeps the descriptor readable */
    int poll_fd, poll_timer; /* -1 until plx_fd; an epoll descriptor, and what makes it readable while detached */
};

static inline bool plx_client_attached(const struct plx_client *client)
{
    return client->map.header;
}

/* Lets socket and mapping go; the next attempt to attach is due a little later. */
void plx_client_detach(struct plx_client *client);

/* Keeps the descriptor of plx_fd readable, or no longer; the service's messages make it so as well. While attached. */
void plx_client_remind(struct plx_client *client, bool on);

/* Attaches again until DEADLINE (CLOCK_MONOTONIC). LOST: no service yet. What does not mend by waiting is said at once:
 * VERSION, FORMAT. */
int plx_client_reattach(struct plx_client *client, int64_t deadline);

#endif
