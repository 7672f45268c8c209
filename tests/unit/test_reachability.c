/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor's check of its own socket: when it asks, which answers prove that clients can attach, and how long it waits;
 * the times are the test's own. */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <parallax/error.h>
#include <parallax/shm.h>

#include "app/publish/reachability.h"
#include "tests/cmocka.h"
#include "tests/unit/client_socket.h"

#define EPOCH UINT64_C(0x123456789)
#define START_NS PLX_REACHABILITY_PERIOD_NS

static struct plx_reachability attempt;

static enum plx_reachability_result check(int64_t now_ns)
{
    return plx_reachability_check(&attempt, path, EPOCH, now_ns);
}

/* The connection of an attempt that begins at NOW_NS, after its HELLO. */
static int begin(int listener, int64_t now_ns)
{
    struct plx_message hello;
    assert_int_equal(check(now_ns), PLX_REACHABILITY_PENDING);
    const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    assert_true(fd >= 0);
    assert_int_equal(recv(fd, &hello, sizeof hello, 0), sizeof hello);
    assert_true(hello.magic == PLX_MESSAGE_MAGIC && hello.abi_version == PLX_ABI_VERSION && hello.type == PLX_MESSAGE_HELLO);
    return fd;
}

static void answer(int fd, const struct plx_message *message, size_t bytes, bool with_descriptor)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {{0}};
    struct iovec part = {(void *)(uintptr_t)message, bytes};
    struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};
    if (with_descriptor) {
        packet.msg_control = control.bytes;
        packet.msg_controllen = sizeof control.bytes;
        struct cmsghdr *rights = CMSG_FIRSTHDR(&packet);
        *rights = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)};
        memcpy(CMSG_DATA(rights), &fd, sizeof fd);
    }
    assert_int_equal(sendmsg(fd, &packet, MSG_NOSIGNAL), bytes);
}

static int lowest_free(void)
{
    const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(fd);
    return fd;
}

static void only_a_service_with_a_place_for_its_memory_is_proof(void **state)
{
    (void)state;
    static const struct {
        uint32_t magic, type;
        int32_t error;
        uint64_t value;
        bool with_descriptor, proven;
        size_t missing; /* bytes */
    } cases[] = {
        {PLX_MESSAGE_MAGIC, PLX_MESSAGE_WELCOME, 0, EPOCH, true, true, 0},
        {PLX_MESSAGE_MAGIC, PLX_MESSAGE_WELCOME, 0, EPOCH, false, false, 0},
        {PLX_MESSAGE_MAGIC, PLX_MESSAGE_WELCOME, 0, EPOCH + 1, true, false, 0}, /* another service */
        {PLX_MESSAGE_MAGIC, PLX_MESSAGE_WELCOME, 0, EPOCH, true, false, 1},
        {PLX_MESSAGE_MAGIC + 1, PLX_MESSAGE_WELCOME, 0, EPOCH, true, false, 0},
        {PLX_MESSAGE_MAGIC, PLX_MESSAGE_FRAME, 0, EPOCH, true, false, 0},
        {PLX_MESSAGE_MAGIC, PLX_MESSAGE_REFUSED, PLX_ERR_BUSY, 0, false, true, 0}, /* it has clients, and many */
        {PLX_MESSAGE_MAGIC, PLX_MESSAGE_REFUSED, PLX_ERR_VERSION, 0, false, false, 0},
        {PLX_MESSAGE_MAGIC, PLX_MESSAGE_FRAME, PLX_ERR_BUSY, 0, false, false, 0},
    };
    const int listener = listen_here(SOCK_SEQPACKET), free_fd = lowest_free();
    int64_t now_ns = START_NS;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++, now_ns += PLX_REACHABILITY_PERIOD_NS) {
        const struct plx_message said = {cases[i].magic, PLX_ABI_VERSION, cases[i].type, cases[i].error, cases[i].value};
        const int fd = begin(listener, now_ns);
        assert_int_equal(check(now_ns), PLX_REACHABILITY_PENDING);
        answer(fd, &said, sizeof said - cases[i].missing, cases[i].with_descriptor);
        const enum plx_reachability_result result = check(now_ns + 1);
        if (result != (cases[i].proven ? PLX_REACHABILITY_PROVEN : PLX_REACHABILITY_LOST))
            fail_msg("answer %zu: %d", i, result);
        close(fd);
        assert_int_equal(attempt.fd, -1);
        assert_int_equal(lowest_free(), free_fd); /* nor does the answer's descriptor stay */
    }
    close(begin(listener, now_ns)); /* an end is an answer too */
    assert_int_equal(check(now_ns), PLX_REACHABILITY_LOST);
    close(listener);
    unlink(path);
}

static void an_attempt_has_its_time_and_the_next_one_waits(void **state)
{
    (void)state;
    const int listener = listen_here(SOCK_SEQPACKET);
    attempt = PLX_REACHABILITY_NONE;
    assert_int_equal(check(START_NS - 1), PLX_REACHABILITY_PENDING);
    assert_int_equal(attempt.fd, -1); /* not due yet */
    const int fd = begin(listener, START_NS);
    assert_int_equal(check(START_NS + PLX_REACHABILITY_BUDGET_NS - 1), PLX_REACHABILITY_PENDING);
    assert_true(attempt.fd >= 0);
    assert_int_equal(check(START_NS + PLX_REACHABILITY_BUDGET_NS), PLX_REACHABILITY_LOST);
    assert_int_equal(attempt.fd, -1);
    close(fd);
    assert_int_equal(check(2 * START_NS - 1), PLX_REACHABILITY_PENDING);
    assert_int_equal(attempt.fd, -1);
    close(begin(listener, 2 * START_NS));
    plx_reachability_close(&attempt);
    assert_int_equal(attempt.fd, -1);
    plx_reachability_close(&attempt);
    close(listener);
    unlink(path);
}

/* A late answer counts if it is there when the supervisor looks: it may have been the supervisor that was late. */
static void an_answer_that_is_there_counts_however_late(void **state)
{
    (void)state;
    const struct plx_message busy = {PLX_MESSAGE_MAGIC, PLX_ABI_VERSION, PLX_MESSAGE_REFUSED, PLX_ERR_BUSY, 0};
    const int listener = listen_here(SOCK_SEQPACKET);
    attempt = PLX_REACHABILITY_NONE;
    const int fd = begin(listener, START_NS);
    answer(fd, &busy, sizeof busy, false);
    assert_int_equal(check(START_NS + 10 * PLX_REACHABILITY_BUDGET_NS), PLX_REACHABILITY_PROVEN);
    close(fd);
    close(listener);
    unlink(path);
}

static void a_socket_without_a_listener_is_lost_and_a_full_queue_is_not(void **state)
{
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd[64], count = 0, result = 0;

    attempt = PLX_REACHABILITY_NONE;
    assert_int_equal(check(START_NS), PLX_REACHABILITY_LOST); /* no file */
    const int listener = listen_here(SOCK_SEQPACKET);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    while (count < 64 && result == 0) {
        fd[count] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        result = connect(fd[count++], (const struct sockaddr *)&address, sizeof address);
    }
    assert_true(result < 0 && errno == EAGAIN);
    assert_int_equal(check(2 * START_NS), PLX_REACHABILITY_PENDING);
    assert_int_equal(attempt.fd, -1);
    assert_int_equal(check(2 * START_NS + PLX_REACHABILITY_BUDGET_NS), PLX_REACHABILITY_PENDING);
    while (count > 0)
        close(fd[--count]);
    close(listener);
    assert_int_equal(check(3 * START_NS), PLX_REACHABILITY_LOST); /* a file whose owner has ended */
    assert_int_equal(attempt.fd, -1);
    unlink(path);
}

/* That says nothing of the clients' way to the service: it is no reason to make the socket again. */
static void without_a_descriptor_nothing_is_lost(void **state)
{
    (void)state;
    struct rlimit old, low;
    const int listener = listen_here(SOCK_SEQPACKET);
    attempt = PLX_REACHABILITY_NONE;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    low = (struct rlimit){.rlim_cur = 0, .rlim_max = old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    const enum plx_reachability_result result = check(START_NS);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_int_equal(result, PLX_REACHABILITY_PENDING);
    close(begin(listener, 2 * START_NS));
    plx_reachability_close(&attempt);
    close(listener);
    unlink(path);
}

int main(void)
{
    attempt = PLX_REACHABILITY_NONE;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_service_with_a_place_for_its_memory_is_proof),
        cmocka_unit_test(an_attempt_has_its_time_and_the_next_one_waits),
        cmocka_unit_test(an_answer_that_is_there_counts_however_late),
        cmocka_unit_test(a_socket_without_a_listener_is_lost_and_a_full_queue_is_not),
        cmocka_unit_test(without_a_descriptor_nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
