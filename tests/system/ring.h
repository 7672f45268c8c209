/* SPDX-License-Identifier: Apache-2.0 */
/* Fixture of the ring's tests: a directory for the socket, and a service with a first frame. */
#ifndef PLX_TESTS_SYSTEM_RING_H
#define PLX_TESTS_SYSTEM_RING_H

#include "tests/cmocka.h"
#include "tests/system/peer.h"

#define MAX_READERS 64

static char directory[] = "/tmp/plx-ring-XXXXXX";
static char path[64];

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

static inline int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/socket", directory);
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    char lock[80];
    snprintf(lock, sizeof lock, "%s.lock", path);
    unlink(lock);
    return rmdir(directory); /* fails if the socket was left behind */
}

#endif
