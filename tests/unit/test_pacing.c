/* SPDX-License-Identifier: Apache-2.0 */
/* Datagrams leave in portions while a pace is set, and what is counted; through Cyclone DDS: tests/ros. */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "app/ros/pacing.h"
#include "core/base/clock.h"
#include "tests/cmocka.h"

#define DATAGRAM 16384
#define PORTIONS 8
#define SPREAD_NS (40 * PLX_NS_PER_MS)

static int sender, receiver;
static char data[DATAGRAM];

static void send_datagrams(int count)
{
    struct iovec halves[2] = {{data, DATAGRAM / 2}, {data + DATAGRAM / 2, DATAGRAM / 2}};
    const struct msghdr message = {.msg_iov = halves, .msg_iovlen = 2};
    for (int i = 0; i < count; i++) {
        assert_int_equal(sendmsg(sender, &message, 0), DATAGRAM);
        assert_int_equal(recv(receiver, data, sizeof data, 0), DATAGRAM);
    }
}

static int64_t time_to_send(int count)
{
    const int64_t begun = plx_now_ns();
    send_datagrams(count);
    return plx_now_ns() - begun;
}

/* The first portion leaves at once. */
static void a_large_message_takes_its_time(void **state)
{
    (void)state;
    plx_pacing_begin(SPREAD_NS, PORTIONS * PLX_PACING_PORTION);
    const int64_t took = time_to_send(PORTIONS * PLX_PACING_PORTION / DATAGRAM);
    assert_int_equal(plx_pacing_end(), PORTIONS * PLX_PACING_PORTION);
    assert_true(took >= SPREAD_NS * (PORTIONS - 1) / PORTIONS);
}

/* Ten of these would wait for seven minutes if each had a pause. */
static void a_small_message_and_others_do_not_wait(void **state)
{
    (void)state;
    const int64_t minute = 60 * PLX_NS_PER_S;
    for (int i = 0; i < 10; i++) {
        plx_pacing_begin(minute, DATAGRAM);
        send_datagrams(PLX_PACING_PORTION / DATAGRAM);
        assert_int_equal(plx_pacing_end(), PLX_PACING_PORTION);
    }
    plx_pacing_begin(minute, 0); /* its size is unknown */
    send_datagrams(PORTIONS);
    plx_pacing_end();
    send_datagrams(PORTIONS);
    plx_pacing_begin(minute, 0);
    assert_int_equal(plx_pacing_end(), 0);
}

/* A datagram larger than a portion is a portion by itself. */
static void every_datagram_leaves_whole(void **state)
{
    (void)state;
    static char large[3 * PLX_PACING_PORTION];
    struct iovec whole = {large, sizeof large};
    const struct msghdr message = {.msg_iov = &whole, .msg_iovlen = 1};
    plx_pacing_begin(PLX_NS_PER_MS, 2 * sizeof large);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sendmsg(sender, &message, 0), sizeof large);
        assert_int_equal(recv(receiver, large, sizeof large, 0), sizeof large);
    }
    assert_int_equal(plx_pacing_end(), 2 * sizeof large);
}

static void errors_are_those_of_the_kernel(void **state)
{
    (void)state;
    struct iovec byte = {data, 1};
    const struct msghdr message = {.msg_iov = &byte, .msg_iovlen = 1};
    plx_pacing_begin(0, 0);
    assert_int_equal(sendmsg(-1, &message, 0), -1);
    assert_int_equal(errno, EBADF);
    plx_pacing_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_message_takes_its_time),
        cmocka_unit_test(a_small_message_and_others_do_not_wait),
        cmocka_unit_test(every_datagram_leaves_whole),
        cmocka_unit_test(errors_are_those_of_the_kernel),
    };
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0)
        return 1;
    sender = pair[0];
    receiver = pair[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
