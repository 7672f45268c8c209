/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a client, and how it attaches to the service. Internal to the library. */
#ifndef PLX_CLIENT_CLIENT_H
#define PLX_CLIENT_CLIENT_H

#include <stdbool.h>

#include <parallax/client.h>

#include "client/gone.h"
#include "client/map.h"

/* Detached: no socket. Waiting for the answer to HELLO: a socket and no map. Attached: both. */
struct plx_client {
    char *path;
    int socket;                /* -1: none */
    struct plx_map map;        /* header NULL: none; without frames, if plx_verdict has attached */
    struct plx_gone *gone;     /* memories that plx_verdict has left, while threads close them */
    int64_t hello_until;       /* deadline of the answer to HELLO */
    int64_t retry_at;          /* while detached: the next attempt */
    int64_t handed_over_until; /* until then the service has not gone, but replaces its memory; 0: it does not */
    uint64_t epoch;            /* the memory last attached to */
    uint64_t last;             /* sequence last seen in it */
    uint64_t hints;            /* sent; the number of the last one */
    bool may_not_hint;         /* the service refused a hint, and would end the connection at the next one */
    int64_t crowded_until;     /* until then the client polls more often: its last wake-up was missed */
    bool seen_any;             /* a frame was seen, in any epoch: missed frames count */
    bool loss_reported;        /* plx_next has returned LOST for the present loss of service or engine */
    bool viewing;              /* a view is open */
    bool reminded;             /* the timer keeps the descriptor readable */
    int poll_fd, poll_timer;   /* -1 until plx_fd; an epoll descriptor, and the timer that makes it readable while detached */
};

static inline bool plx_client_attached(const struct plx_client *client)
{
    return client->map.header;
}

/* True after the service has replaced its memory by another one, because frames changed their size. */
bool plx_client_hands_over(const struct plx_client *client);

/* Closes socket and mapping; the next attempt to attach is due a little later. _SOON: in microseconds, as a thread of its own
 * closes the mapping. */
void plx_client_detach(struct plx_client *client);
void plx_client_detach_soon(struct plx_client *client);

/* ON: the descriptor of plx_fd is readable without a message of the service. Off: with a message only. While attached. */
void plx_client_remind(struct plx_client *client, bool on);

/* Attaches again until DEADLINE (CLOCK_MONOTONIC). LOST: no service yet. VERSION, FORMAT: at once, since waiting does not
 * help. */
int plx_client_reattach(struct plx_client *client, int64_t deadline);

/* One attempt to attach again, in microseconds: without frames. */
void plx_client_reattach_soon(struct plx_client *client);

/* Maps the frames of an attached client, if that was not done yet. NOMEM, IO: it is detached. */
int plx_client_map_frames(struct plx_client *client);

#endif
