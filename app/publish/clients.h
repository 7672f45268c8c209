/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The socket that clients connect to (SOCK_SEQPACKET): version handshake, then the read-only descriptor of the memory by
 * SCM_RIGHTS. Clients are untrusted: their number is limited (in all, per user, per process: quota.h), the service never waits
 * for them, and a faulty message ends the connection. Single-threaded; plx_clients_handle does the work when plx_clients_fd
 * polls readable.
 */
#ifndef PLX_APP_PUBLISH_CLIENTS_H
#define PLX_APP_PUBLISH_CLIENTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "app/publish/shm.h"

struct plx_clients;

struct plx_clients_options {
    const char *socket_path;
    const char *group; /* "" = leave as it is */
    int max_clients;
    void (*note)(const char *sentence); /* logs clients that are refused or dropped, at most once a second; NULL = no log */
    int (*config)(void *context);       /* the descriptor for CONFIG, or a plx_error; NULL = clients may not ask */
    int (*hint)(void *context, const struct plx_motion_hint *hint); /* as struct plx_client_offer */
    uid_t hint_user;
    void *context;
};

/* Binds and listens; mode 0660. BUSY if another daemon serves this path (a lock on SOCKET_PATH.lock tells; a stale socket is
 * replaced), PERMISSION, NOT_FOUND (directory, group), RANGE (path too long), NOMEM, IO. SHM must outlive it. */
int plx_clients_create(const struct plx_clients_options *options, struct plx_shm *shm, struct plx_clients **ret_clients,
                       struct plx_error_message *message);
/* Closes every client and removes the socket; NULL is fine. */
void plx_clients_destroy(struct plx_clients *clients);
/* For a process forked from the supervisor, first of all: closes its copies of the descriptors and frees, without a message to
 * the clients. They then notice at once when the supervisor dies. NULL is fine. */
void plx_clients_close_in_child(struct plx_clients *clients);

/* Clients get SHM from now on; SHM must outlive CLIENTS. Clients of the old one are dropped, and reattach. */
void plx_clients_set_shm(struct plx_clients *clients, struct plx_shm *shm);

/* Checks the socket's file, and makes the socket again if the file is gone or the socket UNREACHABLE; attached clients stay
 * attached. As plx_listener_repair. */
int plx_clients_repair(struct plx_clients *clients, bool unreachable, struct plx_error_message *message);

int plx_clients_fd(const struct plx_clients *clients); /* an epoll descriptor: poll it for reading */
void plx_clients_handle(struct plx_clients *clients);  /* accepts, answers, drops; never blocks */
void plx_clients_notify(struct plx_clients *clients,
                        uint64_t sequence); /* a new frame or state: notifies subscribers (plx_fd) */
int plx_clients_count(const struct plx_clients *clients);

#endif
