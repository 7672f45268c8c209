/* SPDX-License-Identifier: Apache-2.0 */
/* The client's end of the service's socket. Times are absolute CLOCK_MONOTONIC nanoseconds. */
#ifndef PLX_CLIENT_LINK_H
#define PLX_CLIENT_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

#include "core/base/clock.h"

#define PLX_HELLO_TIME_NS (2 * PLX_NS_PER_S) /* for the answer of the service */

/* SOCKET_PATH; if NULL, that of the environment or the default. */
const char *plx_link_path(const char *socket_path);

/* Connects and sends HELLO; waits until DEADLINE for a place in the service's queue. The caller closes *ret_socket.
 * NOT_FOUND, PERMISSION, TIMEOUT, FORMAT, RANGE, NOMEM, IO. */
int plx_link_start(const char *path, int64_t deadline, int *ret_socket);

/* Waits until DEADLINE for the answer; the caller closes *ret_shm. TIMEOUT (none yet: call again), VERSION, BUSY, FORMAT,
 * LOST, NOMEM. */
int plx_link_finish(int fd, int64_t deadline, int *ret_shm);

/* Requests the configuration in force, after the answer to HELLO, and waits until DEADLINE. The caller closes *ret_text, a
 * descriptor that is not checked yet; the service promises *ret_bytes in it. TIMEOUT, FORMAT, LOST, NOMEM, IO. */
int plx_link_ask_config(int fd, int64_t deadline, int *ret_text, uint64_t *ret_bytes);

/* Sends HINT with NUMBER, and waits until DEADLINE for its answer; *ret_skipped: other messages came before it, and are gone.
 * 0, or the error in the answer; TIMEOUT, LOST, FORMAT. */
int plx_link_hint(int fd, const struct plx_motion_hint *hint, uint64_t number, int64_t deadline, bool *ret_skipped);

/* Requests a message at every frame. False: the service closed the connection. */
bool plx_link_subscribe(int fd);

/* False when the service has closed its end. */
bool plx_link_alive(int fd);

/* Discards the messages that have arrived. */
void plx_link_drain(int fd);

#endif
