/* SPDX-License-Identifier: Apache-2.0 */
/* The client's end of the socket, message by message: answers to a hint, what comes in between, and a queue that is full. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <parallax/shm.h>

#include "client/link.h"
#include "core/base/clock.h"
#include "tests/cmocka.h"
#include "tests/patience.h"
#include "tests/unit/client_socket.h"

#define NUMBER 7

static const struct plx_motion_hint hint = {1, 2000000, {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}}};
static int ends[2]; /* the client's, the service's */

static void connect_ends(void)
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
}

static void close_ends(void)
{
    close(ends[0]);
    close(ends[1]);
}

static void say(uint32_t type, int32_t error, uint64_t value)
{
    const struct plx_message message = {PLX_MESSAGE_MAGIC, PLX_ABI_VERSION, type, error, value};
    assert_int_equal(send(ends[1], &message, sizeof message, MSG_NOSIGNAL), sizeof message);
}

/* Asks with number NUMBER; the answers are in the queue already. */
static int give_hint(int64_t deadline, bool *ret_skipped)
{
    *ret_skipped = false;
    return plx_link_hint(ends[0], &hint, NUMBER, deadline, ret_skipped);
}

static void a_hint_has_the_answers_of_the_protocol_and_no_other(void **state)
{
    (void)state;
    static const struct {
        int32_t error;
        int expected;
    } cases[] = {{0, 0},
                 {PLX_ERR_PERMISSION, PLX_ERR_PERMISSION},
                 {PLX_ERR_RANGE, PLX_ERR_RANGE},
                 {PLX_ERR_BUSY, PLX_ERR_BUSY},
                 {PLX_ERR_TIMEOUT, PLX_ERR_FORMAT}, /* the client would wait for another answer */
                 {PLX_ERR_LOST, PLX_ERR_FORMAT},
                 {PLX_ERR_NOMEM, PLX_ERR_FORMAT},
                 {1, PLX_ERR_FORMAT},
                 {-77, PLX_ERR_FORMAT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plx_hint_message said;
        bool skipped;
        connect_ends();
        say(PLX_MESSAGE_HINT, cases[i].error, NUMBER);
        assert_int_equal(give_hint(patience_end_ns(), &skipped), cases[i].expected);
        assert_false(skipped);
        assert_int_equal(recv(ends[1], &said, sizeof said, 0), sizeof said);
        assert_true(said.head.type == PLX_MESSAGE_HINT && said.head.value == NUMBER);
        assert_memory_equal(&said.hint, &hint, sizeof hint);
        close_ends();
    }
}

/* Messages of frames, and answers to earlier hints that came too late, are told to the caller: the descriptor was readable. */
static void what_comes_before_the_answer_is_skipped(void **state)
{
    (void)state;
    bool skipped;
    connect_ends();
    say(PLX_MESSAGE_FRAME, 0, NUMBER);
    say(PLX_MESSAGE_HINT, PLX_ERR_BUSY, NUMBER - 1);
    say(PLX_MESSAGE_HINT, 0, NUMBER);
    assert_int_equal(give_hint(patience_end_ns(), &skipped), 0);
    assert_true(skipped);
    close_ends();

    connect_ends(); /* the time is over: one message is read, and no more */
    for (int i = 0; i < 3; i++)
        say(PLX_MESSAGE_FRAME, 0, NUMBER);
    assert_int_equal(give_hint(0, &skipped), PLX_ERR_TIMEOUT);
    assert_true(skipped);
    plx_link_drain(ends[0]);
    assert_int_equal(give_hint(0, &skipped), PLX_ERR_TIMEOUT);
    assert_false(skipped);
    close_ends();

    connect_ends();
    close(ends[1]);
    assert_int_equal(give_hint(patience_end_ns(), &skipped), PLX_ERR_LOST);
    close(ends[0]);
}

/* --- a clock that stands still but for polls ------------------------------------------------------------------------ */

#define READING_NS 100 /* each reading takes so long, so that a loop that does not wait has an end */

static int64_t drawn_ns; /* 0: the machine's clock, and its poll */
static int polls, polled_ms;
static bool answers; /* while the client waits */

int clock_gettime(clockid_t clock, struct timespec *ret_time)
{
    int (*const real)(clockid_t, struct timespec *) =
        (int (*)(clockid_t, struct timespec *))(uintptr_t)dlsym(RTLD_NEXT, "clock_gettime");
    if (drawn_ns == 0)
        return real(clock, ret_time);
    drawn_ns += READING_NS;
    *ret_time = (struct timespec){.tv_sec = drawn_ns / PLX_NS_PER_S, .tv_nsec = drawn_ns % PLX_NS_PER_S};
    return 0;
}

int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    int (*const real)(struct pollfd *, nfds_t, int) =
        (int (*)(struct pollfd *, nfds_t, int))(uintptr_t)dlsym(RTLD_NEXT, "poll");
    if (drawn_ns == 0)
        return real(fds, count, timeout_ms);
    assert_true(count == 1 && fds->fd == ends[0] && fds->events == POLLIN);
    polls++;
    polled_ms = timeout_ms;
    if (answers)
        say(PLX_MESSAGE_HINT, 0, NUMBER);
    else
        drawn_ns += timeout_ms > 0 ? timeout_ms * PLX_NS_PER_MS : PLX_NS_PER_MS;
    return answers;
}

/* It sleeps, up to the deadline and not less, until an answer comes. */
static void a_client_sleeps_until_the_answer_or_the_deadline(void **state)
{
    (void)state;
    static const struct {
        int64_t left_ns;
        int slept_ms;
        bool is_answered;
    } cases[] = {{5 * PLX_NS_PER_MS / 2, 3, false}, {5 * PLX_NS_PER_MS / 2, 3, true}, {2 * PLX_NS_PER_MS, 2, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool skipped;
        connect_ends();
        answers = cases[i].is_answered;
        polls = 0;
        drawn_ns = 1000 * PLX_NS_PER_S;
        const int result = give_hint(drawn_ns + READING_NS + cases[i].left_ns, &skipped);
        drawn_ns = 0;
        assert_int_equal(result, cases[i].is_answered ? 0 : PLX_ERR_TIMEOUT);
        assert_int_equal(polls, 1);
        assert_int_equal(polled_ms, cases[i].slept_ms);
        close_ends();
    }
}

static void an_end_of_the_service_is_noticed(void **state)
{
    (void)state;
    connect_ends();
    assert_true(plx_link_alive(ends[0]));
    say(PLX_MESSAGE_FRAME, 0, 1);
    assert_true(plx_link_alive(ends[0])); /* a message is no end */
    shutdown(ends[1], SHUT_WR);
    assert_false(plx_link_alive(ends[0])); /* whatever is still to be read */
    close_ends();
}

/* A service with many clients at once has a queue; a client that finds it full waits for its turn. */
static void a_client_waits_for_its_turn(void **state)
{
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const int listener = listen_here(SOCK_SEQPACKET);
    int fd[64], count = 0, result = 0, status;

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    while (count < 64 && result == 0) {
        fd[count] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        result = connect(fd[count++], (const struct sockaddr *)&address, sizeof address);
    }
    assert_true(result < 0 && errno == EAGAIN);
    assert_int_equal(plx_link_start(path, 0, &fd[0]), PLX_ERR_TIMEOUT); /* no time to wait */
    fcntl(listener, F_SETFL, O_NONBLOCK);                               /* the queue will be empty at last */
    const pid_t child = fork();
    if (child == 0) {
        int mine;
        _exit(plx_link_start(path, patience_end_ns(), &mine) == 0 ? 0 : 1);
    }
    while (waitpid(child, &status, WNOHANG) == 0) {
        const int served = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        usleep(10000);
        if (served >= 0)
            close(served);
    }
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    for (int i = 0; i < count; i++)
        close(fd[i]);
    close(listener);
    unlink(path);
}

/* The service's end says MESSAGE, and gives a descriptor with it. */
static void give(const struct plx_message *message, int descriptor)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {{0}};
    struct plx_message said = *message;
    struct iovec part = {&said, sizeof said};
    struct msghdr packet = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&packet);
    *rights = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof descriptor)};
    memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
    assert_int_equal(sendmsg(ends[1], &packet, MSG_NOSIGNAL), sizeof said);
}

/* A program that has closed its standard input receives 0: it is taken, and closed with an answer that is refused. */
static void a_descriptor_may_be_0(void **state)
{
    (void)state;
    const struct plx_message good = {PLX_MESSAGE_MAGIC, PLX_ABI_VERSION, PLX_MESSAGE_WELCOME, 0, 0};
    struct plx_message alien = good, newer = good, other = good;
    alien.magic = 0;
    newer.abi_version++;
    other.type = PLX_MESSAGE_CONFIG;
    const struct {
        const struct plx_message *message;
        int expected;
    } cases[] = {{&good, 0}, {&alien, PLX_ERR_FORMAT}, {&newer, PLX_ERR_VERSION}, {&other, PLX_ERR_FORMAT}};
    const int given = open("/dev/null", O_RDONLY | O_CLOEXEC), input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    connect_ends();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int received = -1;
        close(STDIN_FILENO);
        give(cases[i].message, given);
        const int result = plx_link_finish(ends[0], patience_end_ns(), &received);
        const bool is_open = fcntl(STDIN_FILENO, F_GETFD) >= 0;
        assert_int_equal(result, cases[i].expected);
        assert_int_equal(received, result == 0 ? STDIN_FILENO : -1);
        assert_int_equal(is_open, result == 0);
    }
    close_ends();
    close(given);
    if (input >= 0) {
        dup2(input, STDIN_FILENO);
        close(input);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hint_has_the_answers_of_the_protocol_and_no_other),
        cmocka_unit_test(what_comes_before_the_answer_is_skipped),
        cmocka_unit_test(a_client_sleeps_until_the_answer_or_the_deadline),
        cmocka_unit_test(an_end_of_the_service_is_noticed),
        cmocka_unit_test(a_client_waits_for_its_turn),
        cmocka_unit_test(a_descriptor_may_be_0),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
