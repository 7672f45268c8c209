/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client that asks for nothing but the verdict frees no memory of a service that is gone, as that takes up to a second:
 * threads do it, nothing is left behind, and the program need not know of them. What is called where is seen in front of
 * munmap, close and the calls of threads, so nothing depends on the speed of the machine.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "client/gone.h"
#include "client/mapping.h"
#include "core/base/clock.h"
#include "tests/cmocka.h"
#include "tests/patience.h"
#include "tests/system/peer.h"
#include "tests/unit/client_socket.h"

#define SLOTS 64 /* some pieces */
#define RESTARTS 4
#define OVER_THE_LIMIT 2
#define SLOWLY_US 100000

static struct peer service;
static struct plx_client *client;
static int epoch, tasks_before;

/* --- in front of the C library ----------------------------------------------------------------------------------- */

static _Thread_local bool asking;                     /* the thread is in plx_verdict */
static int unmapped_in_call, closed_in_call;          /* by the thread of the test */
static bool no_threads;                               /* none can be made */
static bool forked;                                   /* this is a child of fork */
static atomic_bool held, slow;                        /* the other threads' munmap waits, or takes long */
static atomic_int unmapping, open_to_signals, policy; /* other threads: at munmap; not all signals blocked; scheduling */
static atomic_size_t piece;                           /* the largest that another thread unmapped at once */

static bool is_other_thread(void)
{
    return gettid() != getpid();
}

/* Relaxed, here and below: what counts is compared when the threads have ended, or waited for. */
static void look_at_thread(size_t bytes)
{
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    if (!sigismember(&blocked, SIGTERM) || !sigismember(&blocked, SIGUSR1))
        atomic_fetch_add_explicit(&open_to_signals, 1, memory_order_relaxed);
    if (bytes > atomic_load_explicit(&piece, memory_order_relaxed)) /* two at once: only in the test that does not look */
        atomic_store_explicit(&piece, bytes, memory_order_relaxed);
    atomic_store_explicit(&policy, sched_getscheduler(0), memory_order_relaxed);
    atomic_fetch_add_explicit(&unmapping, 1, memory_order_relaxed);
    if (atomic_load_explicit(&slow, memory_order_relaxed))
        usleep(SLOWLY_US);
    while (atomic_load_explicit(&held, memory_order_relaxed))
        usleep(1000);
}

int munmap(void *memory, size_t bytes)
{
    int (*const real)(void *, size_t) = (int (*)(void *, size_t))(uintptr_t)dlsym(RTLD_NEXT, "munmap");
    if (asking)
        unmapped_in_call++;
    if (client && is_other_thread())
        look_at_thread(bytes);
    return real(memory, bytes);
}

int close(int fd)
{
    int (*const real)(int) = (int (*)(int))(uintptr_t)dlsym(RTLD_NEXT, "close");
    if (asking && fcntl(fd, F_GET_SEALS) > 0)
        closed_in_call++;
    return real(fd);
}

int pthread_create(pthread_t *ret_thread, const pthread_attr_t *attr, void *(*run)(void *), void *data)
{
    int (*const real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
        (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))(uintptr_t)dlsym(RTLD_NEXT, "pthread_create");
    return no_threads ? EAGAIN : real(ret_thread, attr, run, data);
}

/* POSIX does not say what it does in a process that was forked beside the thread. */
int pthread_join(pthread_t thread, void **ret_value)
{
    int (*const real)(pthread_t, void **) = (int (*)(pthread_t, void **))(uintptr_t)dlsym(RTLD_NEXT, "pthread_join");
    if (forked)
        _exit(1);
    return real(thread, ret_value);
}

/* --- what this process holds ------------------------------------------------------------------------------------- */

/* Mappings of memories of the service. */
static int mappings(void)
{
    char line[512];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps))
        count += strstr(line, "memfd:parallax") != NULL;
    fclose(maps);
    return count;
}

static int descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GET_SEALS) > 0;
    return count;
}

static int tasks(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    assert_non_null(folder);
    for (const struct dirent *task; (task = readdir(folder));)
        count += task->d_name[0] != '.';
    closedir(folder);
    return count;
}

static void wait_until(int (*count)(void), int expected)
{
    const int64_t until_ns = patience_end_ns();
    while (count() != expected) {
        assert_true(plx_now_ns() < until_ns);
        usleep(1000);
    }
}

static int threads_at_munmap(void)
{
    return atomic_load_explicit(&unmapping, memory_order_relaxed);
}

/* --- the service that comes and goes ----------------------------------------------------------------------------- */

static void start_service(void)
{
    service = peer_service(path, ++epoch, SLOTS, 4);
    peer_ask(&service, "go 1 0\n");
    peer_ask(&service, "wait\n");
}

static bool ask(void)
{
    struct plx_verdict_now verdict;
    asking = true;
    plx_verdict(client, &verdict);
    asking = false;
    return !(verdict.reasons & PLX_REASON_NO_SERVICE);
}

/* The service ends, and the client leaves its memory, of which it is the last holder. */
static void lose_service(void)
{
    peer_end(&service);
    closed_in_call = unmapped_in_call = 0;
    assert_false(ask());
}

static void find_service(void)
{
    const int64_t until_ns = patience_end_ns();
    start_service();
    while (!ask())
        assert_true(plx_now_ns() < until_ns);
}

/* A client that has mapped all of the memory. */
static int connect_client(void **state)
{
    struct plx_view view;
    (void)state;
    atomic_store_explicit(&unmapping, 0, memory_order_relaxed);
    atomic_store_explicit(&open_to_signals, 0, memory_order_relaxed);
    tasks_before = tasks();
    start_service();
    return plx_connect(path, &client) || plx_next(client, patience_ms(), &view) || plx_release(client, &view);
}

static void disconnect(void)
{
    plx_disconnect(client);
    client = NULL;
}

/* The next test counts from nothing. */
static int end_all(void **state)
{
    (void)state;
    atomic_store_explicit(&held, false, memory_order_relaxed);
    atomic_store_explicit(&slow, false, memory_order_relaxed);
    no_threads = false;
    disconnect();
    wait_until(tasks, tasks_before);
    return 0;
}

/* --- the tests --------------------------------------------------------------------------------------------------- */

static void a_verdict_frees_no_memory_and_none_is_left(void **state)
{
    (void)state;
    for (int i = 0; i < RESTARTS; i++) {
        lose_service();
        assert_int_equal(unmapped_in_call, 0);
        assert_int_equal(closed_in_call, 0);
        wait_until(mappings, 0); /* nobody else calls the library */
        wait_until(descriptors, 0);
        find_service();
        assert_int_equal(unmapped_in_call, 0);
    }
    assert_int_equal(mappings(), 1); /* header and slots, and the descriptor for the rest */
    assert_int_equal(descriptors(), 1);
    assert_int_equal(atomic_load_explicit(&open_to_signals, memory_order_relaxed), 0);
    assert_int_equal(atomic_load_explicit(&piece, memory_order_relaxed), PLX_MAPPING_PIECE); /* as mmap waits for it */
    peer_end(&service);
    disconnect();
    assert_int_equal(mappings(), 0);
    assert_int_equal(descriptors(), 0);
}

static void disconnecting_waits_for_the_thread(void **state)
{
    (void)state;
    atomic_store_explicit(&slow, true, memory_order_relaxed);
    lose_service();
    disconnect();
    assert_int_equal(mappings(), 0);
}

/* What accumulates while threads get no processor has a bound, though a call then takes longer. */
static void the_threads_of_a_client_are_few(void **state)
{
    (void)state;
    atomic_store_explicit(&held, true, memory_order_relaxed);
    for (int i = 0; i < PLX_GONE_MAX + OVER_THE_LIMIT; i++) {
        if (i > 0)
            find_service();
        lose_service();
        assert_int_equal(unmapped_in_call > 0, i >= PLX_GONE_MAX);
        wait_until(threads_at_munmap, i < PLX_GONE_MAX ? i + 1 : PLX_GONE_MAX);
    }
    assert_int_equal(mappings(), PLX_GONE_MAX + 1); /* the first has two */
    atomic_store_explicit(&held, false, memory_order_relaxed);
    disconnect();
    assert_int_equal(mappings(), 0);
    assert_int_equal(descriptors(), 0);
}

static void without_a_thread_the_call_frees(void **state)
{
    (void)state;
    no_threads = true;
    for (int i = 0; i < RESTARTS; i++) {
        if (i > 0)
            find_service();
        lose_service();
        assert_int_equal(mappings(), 0);
        assert_int_equal(descriptors(), 0);
    }
}

static void a_thread_has_ordinary_priority(void **state)
{
    (void)state;
    const struct sched_param none = {0};
    assert_int_equal(sched_setscheduler(0, SCHED_BATCH, &none), 0); /* as SCHED_FIFO, which needs a privilege */
    lose_service();
    wait_until(mappings, 0);
    assert_int_equal(sched_setscheduler(0, SCHED_OTHER, &none), 0);
    assert_int_equal(atomic_load_explicit(&policy, memory_order_relaxed), SCHED_OTHER);
}

/* A child of fork has the client and not its threads. */
static void a_forked_process_waits_for_no_thread(void **state)
{
    (void)state;
    int status = -1;
    atomic_store_explicit(&held, true, memory_order_relaxed);
    lose_service();
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        forked = true;
        alarm((unsigned)patience_ms() / 1000);
        plx_disconnect(client);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void *do_nothing(void *data)
{
    return data;
}

/* A sanitizer adds a thread of its own to the first one: that is before anything is counted. */
static int set_up_threads(void **state)
{
    pthread_t thread;
    return pthread_create(&thread, NULL, do_nothing, NULL) || pthread_join(thread, NULL) || set_up(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_verdict_frees_no_memory_and_none_is_left, connect_client, end_all),
        cmocka_unit_test_setup_teardown(disconnecting_waits_for_the_thread, connect_client, end_all),
        cmocka_unit_test_setup_teardown(the_threads_of_a_client_are_few, connect_client, end_all),
        cmocka_unit_test_setup_teardown(without_a_thread_the_call_frees, connect_client, end_all),
        cmocka_unit_test_setup_teardown(a_thread_has_ordinary_priority, connect_client, end_all),
        cmocka_unit_test_setup_teardown(a_forked_process_waits_for_no_thread, connect_client, end_all),
    };
    return cmocka_run_group_tests(tests, set_up_threads, tear_down);
}
