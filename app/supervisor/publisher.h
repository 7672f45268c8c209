/* SPDX-License-Identifier: Apache-2.0 */
/* What clients see of the service: the shared memory, the socket that hands it out, the state, and the configuration. */
#ifndef PLX_APP_SUPERVISOR_PUBLISHER_H
#define PLX_APP_SUPERVISOR_PUBLISHER_H

#include <stdbool.h>

#include <systemd/sd-event.h>

#include "app/publish/clients.h"
#include "app/publish/listener.h"
#include "app/publish/reachability.h"
#include "app/publish/shm.h"
#include "config/config.h"

/* Zeroed = closed. */
struct plx_publisher {
    struct plx_shm *shm;  /* the memory that clients have */
    struct plx_shm *next; /* a new one, until its engine has published; NULL = none */
    struct plx_clients *clients;
    sd_event_source *socket;         /* source that plx_publisher_open made */
    uint32_t frame_bytes;            /* size of a frame there */
    uint32_t next_bytes;             /* frame size of next */
    enum plx_state state;            /* the published state */
    uint32_t health;                 /* the published health */
    struct plx_error_message reason; /* the published reason */
    int (*config)(void *context);
    int (*hint)(void *context, const struct plx_motion_hint *hint);
    void *context;
    struct plx_reachability reachability;  /* while clients is not NULL */
    int64_t checked_ns;                    /* last check of the socket */
    struct plx_error_message repair_error; /* the logged error of a failed repair; "" = none */
};

/* Makes memory and socket for frames of FRAME_BYTES, in a new epoch, and lets EVENT serve the clients. Clients that ask for the
 * configuration get publisher->config(publisher->context), and hints go to publisher->hint, see struct plx_clients_options.
 * Closed on failure. Errors as plx_shm_create, plx_clients_create. */
int plx_publisher_open(struct plx_publisher *publisher, sd_event *event, const struct plx_config *config, uint32_t frame_bytes,
                       struct plx_error_message *message);

/* Makes a second memory, for engines started from now on, if frames of FRAME_BYTES need one. Clients keep theirs. Unchanged on
 * failure. Errors as plx_shm_create. */
int plx_publisher_prepare(struct plx_publisher *publisher, const struct plx_config *config, uint32_t frame_bytes,
                          struct plx_error_message *message);
/* Replaces the memory with the second one: clients reattach to it. False if there is none. */
bool plx_publisher_promote(struct plx_publisher *publisher);
/* Destroys the second memory: engines started from now on fill the one that clients have. */
void plx_publisher_discard(struct plx_publisher *publisher);

/* The memory that an engine started now fills. */
struct plx_shm *plx_publisher_engine_shm(const struct plx_publisher *publisher);

/* Checks, in each iteration, that clients can attach: checks socket and lock, attaches as a client, and makes again what is
 * gone. BUSY: another daemon has taken the path; this one cannot serve any more. */
int plx_publisher_check(struct plx_publisher *publisher, const char *socket_path, int64_t now_ns,
                        struct plx_error_message *message);

/* Closes the socket and destroys the regions. */
void plx_publisher_close(struct plx_publisher *publisher);

/* For a forked process, first of all: closes the socket and the clients, and keeps only the memory that the process fills. */
void plx_publisher_close_in_child(struct plx_publisher *publisher);

/* Publishes the reason of the state; call it before plx_publisher_set_state. */
void plx_publisher_set_reason(struct plx_publisher *publisher, const char *reason);

/* Publishes the state. True if it is new to clients. False while closed. */
bool plx_publisher_set_state(struct plx_publisher *publisher, enum plx_state state, uint32_t health);

/* The configuration in force, as clients read it: YAML in a memfd that is sealed against every change. It is written when a
 * client first asks for it after a change. Zeroed = none is written. */
struct plx_config_text {
    struct plx_config config; /* the configuration that FD holds */
    int fd;                   /* read-only; 0 = none */
};

/* The descriptor for CONFIG. TEXT owns it, until the next call. Returns a plx_error if memory or descriptors are exhausted. */
int plx_config_text_fd(struct plx_config_text *text, const struct plx_config *config);
void plx_config_text_close(struct plx_config_text *text);

#endif
