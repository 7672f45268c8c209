/* SPDX-License-Identifier: Apache-2.0 */
/* The service's places for clients: who keeps one when the memory changes, that nothing looks beyond the last one, and that a
 * service whose clients have all said HELLO wakes for nothing. */
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "app/publish/clients.h"
#include "tests/cmocka.h"
#include "tests/patience.h"
#include "tests/socket_folder.h"
#include "tests/unit/ring_shm.h"

#define PLACES 4 /* one more than this process may take of its own service */

/* --- memory that ends with a page which nobody may read: what plx_clients_create gets (the linker wraps these) --------------
 */

void *__real_calloc(size_t count, size_t bytes);
void __real_free(void *memory);
void *__wrap_calloc(size_t count, size_t bytes);
void __wrap_free(void *memory);

static bool fences;
static void *fenced;

void *__wrap_calloc(size_t count, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = count * bytes, whole = (size + page - 1) / page * page;
    if (!fences)
        return __real_calloc(count, bytes);
    assert_null(fenced);
    char *pages = mmap(NULL, whole + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages + whole, page, PROT_NONE), 0);
    return fenced = pages + whole - size;
}

void __wrap_free(void *memory)
{
    if (memory && memory == fenced)
        fenced = NULL; /* the process ends soon */
    else
        __real_free(memory);
}

/* --- time stands still for the service, so that no client is late on a slow machine ----------------------------------------
 */

int __real_clock_gettime(clockid_t clock, struct timespec *ret_time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_time);

static int64_t now_ns = PLX_NS_PER_S;

int __wrap_clock_gettime(clockid_t clock, struct timespec *ret_time)
{
    if (clock != CLOCK_MONOTONIC)
        return __real_clock_gettime(clock, ret_time);
    *ret_time = (struct timespec){now_ns / PLX_NS_PER_S, now_ns % PLX_NS_PER_S};
    return 0;
}

/* --- a service and clients in one process ----------------------------------------------------------------------------------
 */

static struct plx_clients *clients;
static struct plx_shm *shm;

static void start(void)
{
    const struct plx_clients_options options = {.socket_path = path, .group = "", .max_clients = PLACES};
    struct plx_error_message message;
    shm = make_shm(4);
    fences = true;
    assert_int_equal(plx_clients_create(&options, shm, &clients, &message), 0);
    fences = false;
    assert_non_null(fenced);
}

static void end(void)
{
    plx_clients_destroy(clients);
    assert_null(fenced);
    plx_shm_destroy(shm);
}

static int connect_one(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    plx_clients_handle(clients);
    return fd;
}

static void say(int fd, enum plx_message_type type)
{
    const struct plx_message message = {.magic = PLX_MESSAGE_MAGIC, .abi_version = PLX_ABI_VERSION, .type = type};
    assert_int_equal(send(fd, &message, sizeof message, MSG_NOSIGNAL), sizeof message);
    plx_clients_handle(clients);
}

/* The next message that FD has is one of TYPE; its value. */
static uint64_t hear(int fd, enum plx_message_type type)
{
    struct plx_message message;
    assert_int_equal(recv(fd, &message, sizeof message, 0), sizeof message);
    assert_int_equal(message.type, type);
    return message.value;
}

static bool is_dropped(int fd)
{
    char byte;
    return recv(fd, &byte, sizeof byte, 0) == 0;
}

static void a_new_memory_drops_those_that_have_the_old_one(void **state)
{
    (void)state;
    const struct plx_shm_options options = {.epoch = 8, .slots = 4, .frame_bytes = sizeof(struct plx_frame)};
    struct plx_shm *other;
    start();
    const int welcomed = connect_one(), waiting = connect_one(), subscribed = connect_one();
    say(welcomed, PLX_MESSAGE_HELLO);
    say(subscribed, PLX_MESSAGE_HELLO);
    say(subscribed, PLX_MESSAGE_SUBSCRIBE);
    assert_true(hear(welcomed, PLX_MESSAGE_WELCOME) == 7 && hear(subscribed, PLX_MESSAGE_WELCOME) == 7);
    assert_int_equal(hear(subscribed, PLX_MESSAGE_FRAME), 0);
    plx_clients_notify(clients, 5);
    assert_int_equal(hear(subscribed, PLX_MESSAGE_FRAME), 5);
    assert_int_equal(plx_clients_count(clients), 3);

    assert_int_equal(plx_shm_create(&options, &other, NULL), 0);
    plx_clients_set_shm(clients, other);
    assert_int_equal(plx_clients_count(clients), 1);
    assert_true(is_dropped(welcomed) && is_dropped(subscribed));
    say(waiting, PLX_MESSAGE_HELLO);
    assert_int_equal(hear(waiting, PLX_MESSAGE_WELCOME), 8);
    assert_int_equal(plx_clients_count(clients), 1);
    plx_shm_destroy(shm);
    shm = other;
    end();
    assert_true(is_dropped(waiting));
    close(welcomed);
    close(waiting);
    close(subscribed);
}

static void a_place_that_is_free_again_is_given_again(void **state)
{
    (void)state;
    int fd[PLACES];
    start();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < PLACES; i++)
            fd[i] = connect_one();
        assert_int_equal(plx_clients_count(clients), PLACES - 1); /* the last one is not for the service itself */
        hear(fd[PLACES - 1], PLX_MESSAGE_REFUSED);
        for (int i = 0; i < PLACES; i++)
            close(fd[i]);
        plx_clients_handle(clients);
        assert_int_equal(plx_clients_count(clients), 0);
    }
    end();
}

/* A forked process lets go, and the service goes on. */
static void a_child_closes_its_copies(void **state)
{
    (void)state;
    int status;
    start();
    const int fd = connect_one();
    const pid_t child = fork();
    if (child == 0) {
        plx_clients_close_in_child(clients);
        _exit(fenced ? 1 : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    say(fd, PLX_MESSAGE_HELLO);
    hear(fd, PLX_MESSAGE_WELCOME);
    end();
    close(fd);
}

/* --- the timer -------------------------------------------------------------------------------------------------------------
 */

/* The one descriptor of this process that is a timer. */
static int find_timer(void)
{
    char name[40], target[64];
    for (int fd = 0; fd < 64; fd++) {
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        const ssize_t bytes = readlink(name, target, sizeof target - 1);
        target[bytes > 0 ? bytes : 0] = '\0';
        if (strstr(target, "timerfd"))
            return fd;
    }
    fail_msg("no timer");
    return -1;
}

static bool is_running(int timer)
{
    struct itimerspec left;
    assert_int_equal(timerfd_gettime(timer, &left), 0);
    return left.it_value.tv_sec > 0 || left.it_value.tv_nsec > 0;
}

/* Handles what comes until the timer stands. */
static void wait_until_it_stands(int timer)
{
    for (int ms = 0; is_running(timer); ms += 10) {
        assert_true(ms < patience_ms());
        usleep(10000);
        plx_clients_handle(clients);
    }
}

static void the_timer_runs_while_a_client_owes_its_hello(void **state)
{
    (void)state;
    start();
    const int timer = find_timer();
    assert_false(is_running(timer));
    const int first = connect_one();
    assert_true(is_running(timer));
    say(first, PLX_MESSAGE_HELLO);
    wait_until_it_stands(timer);
    assert_int_equal(plx_clients_count(clients), 1);
    const int second = connect_one(); /* says nothing */
    assert_true(is_running(timer));
    assert_int_equal(poll(&(struct pollfd){.fd = plx_clients_fd(clients), .events = POLLIN}, 1, patience_ms()), 1);
    plx_clients_handle(clients);
    assert_true(is_running(timer)); /* it still has time */
    assert_int_equal(plx_clients_count(clients), 2);
    now_ns += 2 * PLX_NS_PER_S;
    wait_until_it_stands(timer);
    assert_int_equal(plx_clients_count(clients), 1);
    assert_true(is_dropped(second));
    end();
    close(first);
    close(second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_memory_drops_those_that_have_the_old_one),
        cmocka_unit_test(a_place_that_is_free_again_is_given_again),
        cmocka_unit_test(a_child_closes_its_copies),
        cmocka_unit_test(the_timer_runs_while_a_client_owes_its_hello),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
