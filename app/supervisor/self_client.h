/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The supervisor as its own client: from time to time it connects by the socket's path and says HELLO, as any client does, and
 * waits for nothing. That a client can attach is then seen, not concluded.
 */
#ifndef PLX_APP_SUPERVISOR_SELF_CLIENT_H
#define PLX_APP_SUPERVISOR_SELF_CLIENT_H

#include <stdint.h>

#include "core/clock.h"

#define PLX_SELF_PERIOD_NS (5 * PLX_NS_PER_S) /* between two attempts */
#define PLX_SELF_BUDGET_NS (2 * PLX_NS_PER_S) /* for the answer */

struct plx_self_client {
    int fd; /* of an attempt; -1 = none is under way */
    int64_t begun_ns;
};

enum plx_self_client_result {
    PLX_SELF_PENDING,    /* for its time, or for the answer */
    PLX_SELF_REACHABLE,  /* it was answered just now: welcomed, or refused as one too many */
    PLX_SELF_UNREACHABLE /* nobody answers at the path */
};

#define PLX_SELF_CLIENT_NONE ((struct plx_self_client){.fd = -1})

/* To be called at each turn; EPOCH: of the region that it should be handed. */
enum plx_self_client_result plx_self_client_check(struct plx_self_client *self, const char *path, uint64_t epoch,
                                                  int64_t now_ns);

void plx_self_client_close(struct plx_self_client *self);

#endif
