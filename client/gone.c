/* SPDX-License-Identifier: Apache-2.0 */
#include "client/gone.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "client/mapping.h"

/* Small, because a program that locks its memory pays for all of it at once; with room for the thread-local variables of the
 * program, which lie there too. */
#define STACK_BYTES (128u << 10)

/* The map is the thread's from its start to its end, both of which order all accesses. */
struct plx_gone {
    struct plx_map map;
    pthread_t thread;
    pid_t process; /* which made the thread */
    struct plx_gone *next;
};

static void *close_map(void *data)
{
    struct plx_map *map = &((struct plx_gone *)data)->map;
    plx_mapping_unref_gently(map->mapping);
    map->mapping = NULL;
    plx_map_close(map);
    return NULL;
}

/* A thread of ordinary priority, also where the caller's is higher: it would take the processor from the loop that asks. */
static int make_thread(struct plx_gone *gone)
{
    const int policy = sched_getscheduler(0);
    pthread_attr_t attr;
    int error = pthread_attr_init(&attr);
    if (error)
        return error;
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    /* Not asked for where the caller has it already: sandboxes often forbid the system call. SCHED_OTHER is the default. */
    if (policy != SCHED_OTHER)
        pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
    error = pthread_create(&gone->thread, &attr, close_map, gone);
    pthread_attr_destroy(&attr);
    if (error) /* perhaps for what the attributes ask */
        error = pthread_create(&gone->thread, NULL, close_map, gone);
    return error;
}

/* All signals are the program's, and must not find this thread. */
static bool start(struct plx_gone *gone)
{
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before))
        return false;
    gone->process = getpid();
    const int error = make_thread(gone);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !error;
}

static int length(const struct plx_gone *list)
{
    int count = 0;
    for (; list; list = list->next)
        count++;
    return count;
}

void plx_gone_add(struct plx_gone **list, struct plx_map *map)
{
    if (!plx_map_any(map))
        return;
    plx_gone_collect(list);
    struct plx_gone *gone = length(*list) < PLX_GONE_MAX ? malloc(sizeof *gone) : NULL;
    if (gone) {
        *gone = (struct plx_gone){.map = *map, .next = *list};
        if (start(gone)) {
            *list = gone;
            *map = PLX_NO_MAP;
            return;
        }
        free(gone);
    }
    plx_map_close(map);
}

/* A process that was forked meanwhile has no such thread. What that had not unmapped yet, nobody can tell there: it stays until
 * the process ends. */
static bool has_ended(const struct plx_gone *gone, bool wait)
{
    if (gone->process != getpid())
        return true;
    return wait ? !pthread_join(gone->thread, NULL) : pthread_tryjoin_np(gone->thread, NULL) != EBUSY;
}

static void forget_ended(struct plx_gone **list, bool wait)
{
    while (*list) {
        struct plx_gone *gone = *list;
        if (has_ended(gone, wait)) {
            *list = gone->next;
            free(gone);
        } else {
            list = &gone->next;
        }
    }
}

void plx_gone_collect(struct plx_gone **list)
{
    forget_ended(list, false);
}

void plx_gone_wait(struct plx_gone **list)
{
    forget_ended(list, true);
}
