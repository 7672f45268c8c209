/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/network.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "tests/bench/products.h"
#include "tests/parity/confine.h"

#define POLL_US 200
#define PATIENCE_NS (60 * PLX_NS_PER_S)
#define FIRST_PRODUCTS 24 /* complete before the measurement begins */
#define QUIT (-1)

/* Memory of the bench and the worker, which is a thread or a process. All accesses are sequentially consistent: they are rare.
 */
struct channel {
    atomic_int asked;    /* odd: to compute; even: to rest; QUIT. Each request has the next number */
    atomic_int answered; /* the last even request that is in force; -1: the worker still loads */
    atomic_ullong products;
};

struct network {
    struct channel *channel;
    enum network_way way;
    pid_t process;
    pthread_t thread;
    struct confined_rest rest;
    int64_t begun_ns;                  /* begin of the interval that is measured, */
    unsigned long long begun_products; /* and the count of products then */
    double seconds, rate;              /* length of the last interval; products a second */
};

bool network_parse(const char *word, enum network_way *ret_way)
{
    if (strcmp(word, "beside") != 0 && strcmp(word, "process") != 0)
        return false;
    *ret_way = *word == 'b' ? NETWORK_BESIDE : NETWORK_PROCESS;
    return true;
}

_Noreturn static void fail(const char *what, int code)
{
    fprintf(stderr, "network: %s\n", what);
    exit(code);
}

/* --- the worker ---------------------------------------------------------------------------------------------------------- */

static void work(struct channel *channel, cudaStream_t stream)
{
    struct products *products = products_create(stream);

    for (int asked; (asked = atomic_load(&channel->asked)) != QUIT;) {
        if (asked % 2 != 0) {
            atomic_fetch_add(&channel->products, (unsigned long long)products_advance(products));
        } else if (atomic_load(&channel->answered) != asked) {
            products_finish(products);
            atomic_store(&channel->answered, asked);
        } else {
            usleep(POLL_US);
        }
    }
    products_destroy(products);
}

static void *work_thread(void *context)
{
    struct network *network = context;

    confine_enter(&network->rest);
    work(network->channel, network->rest.stream);
    confine_leave(&network->rest);
    return NULL;
}

static pid_t fork_worker(struct channel *channel)
{
    const pid_t parent = getpid(), pid = fork();

    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a bench that fails leaves nothing behind */
    if (getppid() != parent)
        _exit(1);
    work(channel, NULL);
    _exit(0);
}

/* --- the bench ----------------------------------------------------------------------------------------------------------- */

struct network *network_create(enum network_way way)
{
    if (way == NETWORK_NONE)
        return NULL;
    struct network *network = calloc(1, sizeof *network);
    struct channel *channel = mmap(NULL, sizeof *channel, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!network || channel == MAP_FAILED)
        fail("no memory", 1);
    atomic_init(&channel->asked, 0);
    atomic_init(&channel->answered, -1);
    atomic_init(&channel->products, 0);
    network->channel = channel;
    network->way = way;
    if (way == NETWORK_PROCESS)
        network->process = fork_worker(channel);
    if (network->process < 0)
        fail("cannot fork", 1);
    return network;
}

/* Exits if the worker cannot answer any more, with its exit code: it has said why. */
static void check_alive(struct network *network, int64_t since_ns)
{
    int status;

    if (network->way == NETWORK_PROCESS && waitpid(network->process, &status, WNOHANG) == network->process)
        fail("its process has ended", WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : 1);
    if (plx_now_ns() - since_ns > PATIENCE_NS)
        fail("it does not answer within 60 s", 1);
}

/* Asks the worker to rest, and waits until all of its products are complete. */
static void ask_rest(struct network *network)
{
    const int64_t since_ns = plx_now_ns();
    const int asked = atomic_load(&network->channel->asked) / 2 * 2 + 2;

    atomic_store(&network->channel->asked, asked);
    while (atomic_load(&network->channel->answered) != asked) {
        check_alive(network, since_ns);
        usleep(POLL_US);
    }
}

void network_start(struct network *network)
{
    if (!network)
        return;
    if (network->way == NETWORK_BESIDE) {
        if (!confine_rest(&network->rest))
            fail("it needs multiprocessors of its own: -m", 1);
        if (pthread_create(&network->thread, NULL, work_thread, network) != 0)
            fail("cannot create its thread", 1);
    }
    ask_rest(network);
    printf("network: products of %d x %d matrices in half precision, 256 MiB of weights, ", PRODUCTS_SIDE, PRODUCTS_SIDE);
    if (network->way == NETWORK_BESIDE)
        printf("on the other %d multiprocessors\n", network->rest.multiprocessors);
    else
        printf("by a process of its own, on all multiprocessors in turn\n");
}

void network_destroy(struct network *network)
{
    if (!network)
        return;
    atomic_store(&network->channel->asked, QUIT);
    if (network->way == NETWORK_PROCESS)
        waitpid(network->process, NULL, 0);
    else if (network->rest.stream)
        pthread_join(network->thread, NULL);
    munmap(network->channel, sizeof *network->channel);
    free(network);
}

void network_begin(struct network *network)
{
    if (!network)
        return;
    const int64_t since_ns = plx_now_ns();
    const unsigned long long before = atomic_load(&network->channel->products);
    atomic_fetch_add(&network->channel->asked, 1);
    while (atomic_load(&network->channel->products) < before + FIRST_PRODUCTS) {
        check_alive(network, since_ns);
        usleep(POLL_US);
    }
    network->begun_products = atomic_load(&network->channel->products);
    network->begun_ns = plx_now_ns();
}

void network_end(struct network *network)
{
    if (!network)
        return;
    const unsigned long long products = atomic_load(&network->channel->products) - network->begun_products;
    network->seconds = (double)(plx_now_ns() - network->begun_ns) / (double)PLX_NS_PER_S;
    network->rate = (double)products / network->seconds;
    ask_rest(network);
}

void network_report(struct network *network, const char *what, struct network_times alone, struct network_times beside)
{
    if (!network)
        return;
    const double rate = network->rate, seconds = network->seconds;
    network_begin(network);
    while ((double)(plx_now_ns() - network->begun_ns) / (double)PLX_NS_PER_S < seconds)
        usleep(POLL_US);
    network_end(network);
    printf("    %s, network %s: %.3f ms alone (p90 %.3f), %.3f beside (p90 %.3f), %.2f times; "
           "network %.0f products/s alone (%.1f Tflop/s), %.0f beside, %.1f %% less; %.2f s\n",
           what, network->way == NETWORK_BESIDE ? "beside" : "in turns", alone.median_ms, alone.p90_ms, beside.median_ms,
           beside.p90_ms, beside.median_ms / alone.median_ms, network->rate, network->rate * PRODUCTS_FLOP / 1e12, rate,
           100 * (1 - rate / network->rate), seconds);
    fflush(stdout);
}
