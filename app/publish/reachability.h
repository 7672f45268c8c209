/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check that clients can connect: at times the supervisor connects by the socket's path and sends HELLO, as any client
 * does, and waits for nothing. A client that attaches is proof that clients can attach.
 */
#ifndef PLX_APP_PUBLISH_REACHABILITY_H
#define PLX_APP_PUBLISH_REACHABILITY_H

#include <stdint.h>

#include "core/base/clock.h"

#define PLX_REACHABILITY_PERIOD_NS (5 * PLX_NS_PER_S) /* between two attempts */
#define PLX_REACHABILITY_BUDGET_NS (2 * PLX_NS_PER_S) /* time for the answer */

struct plx_reachability {
    int fd; /* current attempt; -1 = none */
    int64_t begun_ns;
};

enum plx_reachability_result {
    PLX_REACHABILITY_PENDING, /* the next attempt is not due, or the answer is pending */
    PLX_REACHABILITY_PROVEN,  /* answered now: WELCOME, or REFUSED because all connections are in use */
    PLX_REACHABILITY_LOST     /* no answer at the path */
};

#define PLX_REACHABILITY_NONE ((struct plx_reachability){.fd = -1})

/* Call it in each iteration. EPOCH: of the memory that WELCOME must name. */
enum plx_reachability_result plx_reachability_check(struct plx_reachability *attempt, const char *path, uint64_t epoch,
                                                    int64_t now_ns);

void plx_reachability_close(struct plx_reachability *attempt);

#endif
