/* SPDX-License-Identifier: Apache-2.0 */
/* The client's end of the service's socket. Times are absolute CLOCK_MONOTONIC nanoseconds. */
#ifndef PLX_CLIENT_LINK_H
#define PLX_CLIENT_LINK_H

#include <stdbool.h>
#include <stdint.h>

/* Connects and says hello, waiting no longer than DEADLINE for a place in the service's queue. The caller closes *ret_socket.
 * NOT_FOUND, PERMISSION, TIMEOUT, FORMAT, RANGE, NOMEM, IO. */
int plx_link_start(const char *path, int64_t deadline, int *ret_socket);

/* Waits until DEADLINE for the answer; the caller closes *ret_region. TIMEOUT (none yet: call again), VERSION, BUSY, FORMAT,
 * LOST, NOMEM. */
int plx_link_finish(int fd, int64_t deadline, int *ret_region);

/* Asks for a message at every frame. False: the service is gone. */
bool plx_link_subscribe(int fd);

/* False when the service has closed its end. */
bool plx_link_alive(int fd);

/* Throws the messages away that have come. */
void plx_link_drain(int fd);

#endif
