/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memories of services that are gone. A client is often the last that holds such a memory, and then the kernel frees all of
 * it within the call that lets go of it: up to a second. So each is closed by a thread of its own, which ends with that.
 */
#ifndef PLX_CLIENT_GONE_H
#define PLX_CLIENT_GONE_H

#include "client/map.h"

#define PLX_GONE_MAX 8 /* threads of one client at a time: a service that restarts faster than its memory is freed waits */

struct plx_gone; /* a list; NULL: none */

/* Closes MAP, which is empty afterwards, in microseconds: a thread does it. Where none can be made, or as many as may be are
 * at work, it takes as long as plx_map_close. */
void plx_gone_add(struct plx_gone **list, struct plx_map *map);

/* Forgets the threads that have ended. Never waits. */
void plx_gone_collect(struct plx_gone **list);

/* Waits until all have ended, and the list is empty. */
void plx_gone_wait(struct plx_gone **list);

#endif
