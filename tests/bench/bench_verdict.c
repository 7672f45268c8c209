/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time of plx_verdict beside a reading of the clock, at a service that runs. Ends with 1 where its verdict is too old.
 *
 *   bench_verdict SOCKET
 */
#include <stdio.h>

#include <parallax/client.h>

#include "core/base/clock.h"

#define CALLS 1000000

int main(int argc, char **argv)
{
    struct plx_client *client;
    struct plx_verdict_now verdict = {.verdict = PLX_VERDICT_STOP};
    int64_t clock_ns = 0;

    if (plx_connect(argc > 1 ? argv[1] : NULL, &client) < 0) {
        fprintf(stderr, "bench_verdict: no service there; start parallaxd, and name its socket\n");
        return 1;
    }
    const int64_t begun = plx_now_ns();
    for (int i = 0; i < CALLS; i++)
        plx_verdict(client, &verdict);
    const int64_t between = plx_now_ns();
    for (int i = 0; i < CALLS; i++)
        clock_ns = plx_boot_now_ns();
    const int64_t ended = plx_now_ns();
    printf("plx_verdict %.0f ns, a reading of the clock %.0f ns\n", (double)(between - begun) / CALLS,
           (double)(ended - between) / CALLS);
    plx_disconnect(client);
    return verdict.reasons & PLX_REASON_STALE || clock_ns == 0;
}
