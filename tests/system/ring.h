/* SPDX-License-Identifier: Apache-2.0 */
/* Fixture of the ring's tests: a service with a first frame. */
#ifndef PLX_TESTS_SYSTEM_RING_H
#define PLX_TESTS_SYSTEM_RING_H

#include "tests/cmocka.h"
#include "tests/system/peer.h"

#include "tests/socket_folder.h" /* last: its variables would be shadowed by parameters of the others */

#define MAX_READERS 64

static inline void wait_for_newest(struct peer *service, uint64_t sequence)
{
    while (peer_ask(service, "newest\n") < sequence)
        usleep(1000);
}

/* A service that has published frame 1, so that readers begin with it. */
static inline struct peer start_service(int epoch, int slots)
{
    struct peer service = peer_service(path, epoch, slots, MAX_READERS);
    peer_ask(&service, "go 1 0\n");
    peer_ask(&service, "wait\n");
    return service;
}

#endif
