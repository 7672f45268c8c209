/* SPDX-License-Identifier: Apache-2.0 */
/* A hostile client: a process whose threads do nothing but wait on the region's wake word. */
#ifndef PLX_TESTS_RING_CROWD_H
#define PLX_TESTS_RING_CROWD_H

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <parallax/shm.h>

#include "app/publish/shm.h"

struct ring_crowd {
    pid_t pid;
    int threads; /* as many as the machine allows, at most what was asked for */
};

static inline void *ring_crowd_wait(void *wake)
{
    for (;;) {
        uint32_t word = atomic_load_explicit((_Atomic(uint32_t) *)wake, memory_order_relaxed); /* any will do */
        syscall(SYS_futex, wake, FUTEX_WAIT, word, NULL, NULL, 0);
    }
    return NULL;
}

/* Forks it, with THREADS threads that wait when this returns; 0 threads: no process. The region's descriptor is all it uses. */
static inline struct ring_crowd ring_crowd_start(const struct plx_shm *region, int threads)
{
    struct ring_crowd crowd = {.pid = -1};
    int said[2];
    if (threads < 1 || pipe(said))
        return crowd;
    crowd.pid = fork();
    if (crowd.pid == 0) {
        pthread_attr_t small;
        pthread_t thread;
        int started = 0;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pthread_attr_init(&small);
        pthread_attr_setstacksize(&small, 64 << 10);
        struct plx_shm_header *header = mmap(NULL, sizeof *header, PROT_READ, MAP_SHARED, plx_shm_client_fd(region), 0);
        while (header != MAP_FAILED && started < threads &&
               pthread_create(&thread, &small, ring_crowd_wait, &header->wake) == 0)
            started++;
        sleep(1); /* until all of them wait */
        if (write(said[1], &started, sizeof started) == (ssize_t)sizeof started)
            pause();
        _exit(1);
    }
    close(said[1]);
    if (read(said[0], &crowd.threads, sizeof crowd.threads) != (ssize_t)sizeof crowd.threads)
        crowd.threads = 0;
    close(said[0]);
    return crowd;
}

static inline void ring_crowd_end(struct ring_crowd *crowd)
{
    if (crowd->pid < 0)
        return;
    kill(crowd->pid, SIGKILL);
    waitpid(crowd->pid, NULL, 0);
    crowd->pid = -1;
}

#endif
