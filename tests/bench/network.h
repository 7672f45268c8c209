/* SPDX-License-Identifier: Apache-2.0 */
/* A neural network on the same GPU while a bench measures: matrix products (products.h), either on the multiprocessors that the
 * bench leaves free, or on all of them, from a process of its own, in turns with the bench. */
#ifndef PLX_TESTS_BENCH_NETWORK_H
#define PLX_TESTS_BENCH_NETWORK_H

#include <stdbool.h>

struct network;

/* The words of the option. */
#define NETWORK_WAYS "beside|process"

enum network_way {
    NETWORK_NONE,
    NETWORK_BESIDE, /* a thread of this process, on the multiprocessors that confine() leaves */
    NETWORK_PROCESS /* a process of its own, on all multiprocessors: the driver gives time slices to both */
};

/* False if WORD is none of NETWORK_WAYS. */
bool network_parse(const char *word, enum network_way *ret_way);

/* To be called before any call of CUDA, which a forked process could not use any more. NULL for NETWORK_NONE. */
struct network *network_create(enum network_way way);

/* To be called after confine(): loads everything, and prints what the network is. Exits with 1, or 77 without a GPU, where that
 * fails. All of these do nothing with NULL. */
void network_start(struct network *network);
void network_destroy(struct network *network);

/* The network computes from begin, which waits for the first products, to end, which waits for the last ones. */
void network_begin(struct network *network);
void network_end(struct network *network);

struct network_times {
    double median_ms, p90_ms;
};

/* A line for what has just been measured between begin and end: the times of WHAT without the network and beside it, and the
 * products a second of the network beside WHAT and alone, which it measures now, for as long. */
void network_report(struct network *network, const char *what, struct network_times alone, struct network_times beside);

/* MS: COUNT times, ascending. */
static inline struct network_times network_times(const double *ms, int count)
{
    return (struct network_times){ms[count / 2], ms[count * 9 / 10]};
}

#endif
