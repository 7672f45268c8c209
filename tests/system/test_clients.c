/* SPDX-License-Identifier: Apache-2.0 */
/* The clients' socket against a running service: silent, slow and lying clients, few descriptors, and a second daemon. */
#include "tests/system/clients.h"

#include <fcntl.h>

#include "app/publish/clients.h"

static void another_version_is_refused(void **state)
{
    (void)state;
    struct plx_message hello = message(PLX_MESSAGE_HELLO);
    hello.abi_version++;
    int fd = connect_raw();
    say(fd, &hello, sizeof hello);
    assert_true(was_dropped(fd, PLX_ERR_VERSION));
    assert_it_serves();
}

static void out_of_turn_is_dropped(void **state)
{
    (void)state;
    const struct plx_message hello = message(PLX_MESSAGE_HELLO), subscribe = message(PLX_MESSAGE_SUBSCRIBE);
    const struct plx_message frame = message(PLX_MESSAGE_FRAME), config = message(PLX_MESSAGE_CONFIG);
    const struct plx_message *said[][3] = {{&subscribe},
                                           {&frame},
                                           {&config},
                                           {&hello, &hello},
                                           {&hello, &frame},
                                           {&hello, &subscribe, &subscribe},
                                           {&hello, &config, &config}};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        int fd = connect_raw();
        for (int k = 0; k < 3 && said[i][k]; k++)
            say(fd, said[i][k], sizeof hello);
        assert_true(was_dropped(fd, 0));
    }
    assert_it_serves();
}

static void hints_that_nobody_may_give_are_refused_once(void **state)
{
    (void)state;
    const struct plx_message hello = message(PLX_MESSAGE_HELLO);
    const struct plx_hint_message hint = {message(PLX_MESSAGE_HINT), {1, 2000000, {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}}}};
    int fd = connect_raw();
    say(fd, &hint, sizeof hint); /* before HELLO */
    assert_true(was_dropped(fd, 0));
    fd = connect_raw();
    say(fd, &hello, sizeof hello);
    say(fd, &hint, sizeof hint);
    wait_for_count(1);
    say(fd, &hint, sizeof hint);
    assert_true(was_dropped(fd, 0));
    assert_it_serves();
}

/* Random bytes of random length, now and then with descriptors attached. */
static void send_garbage(int fd, unsigned *seed)
{
    static unsigned char bytes[60000];
    size_t length = rand_r(seed) % 8 ? (size_t)rand_r(seed) % 64 : sizeof bytes;
    for (size_t i = 0; i < length && i < 64; i++)
        bytes[i] = (unsigned char)rand_r(seed);
    union {
        char bytes[CMSG_SPACE(8 * sizeof(int))];
        struct cmsghdr align;
    } control = {{0}};
    struct iovec part = {bytes, length};
    struct msghdr packet = {.msg_iov = &part, .msg_iovlen = 1};
    if (rand_r(seed) % 4 == 0) {
        packet.msg_control = control.bytes;
        packet.msg_controllen = sizeof control.bytes;
        struct cmsghdr *rights = CMSG_FIRSTHDR(&packet);
        *rights = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(8 * sizeof(int))};
        for (size_t i = 0; i < 8; i++)
            memcpy(CMSG_DATA(rights) + i * sizeof fd, &fd, sizeof fd);
    }
    sendmsg(fd, &packet, MSG_NOSIGNAL);
}

static void garbage_is_dropped(void **state)
{
    (void)state;
    const char *chosen = getenv("PLX_TEST_SEED");
    unsigned seed = chosen ? (unsigned)atoi(chosen) : 1;
    int before = open_files(service.pid);
    for (int i = 0; i < 2000; i++) {
        unsigned this_one = seed;
        int fd = connect_raw();
        send_garbage(fd, &seed);
        if (!was_dropped(fd, 0))
            fail_msg("garbage was not answered by an end; PLX_TEST_SEED=%u", this_one);
    }
    wait_for_count(0);
    assert_int_equal(open_files(service.pid), before);
    assert_it_serves();
}

static void client_that_never_reads_costs_nothing(void **state)
{
    (void)state;
    const struct plx_message hello = message(PLX_MESSAGE_HELLO), subscribe = message(PLX_MESSAGE_SUBSCRIBE);
    int fd = connect_raw();
    say(fd, &hello, sizeof hello);
    say(fd, &subscribe, sizeof subscribe);
    uint64_t last = peer_ask(&service, "newest\n") + 20000;
    struct peer reader = peer_reader("ring_peer", path, last, "poll");
    peer_ask(&service, "go 20000 0\n");
    peer_ask(&service, "wait\n");
    struct peer_tally t = peer_tally(&reader);
    assert_int_equal(t.torn, 0);
    assert_int_equal(t.last, last);
    wait_for_count(1); /* it is still there, and still no harm */
    close(fd);
    assert_it_serves();
}

/* A process asks for the configuration in all its places but one and never takes it; in the last one it still gets it. */
static void those_that_never_take_the_configuration_cost_nothing(void **state)
{
    (void)state;
    const struct plx_message hello = message(PLX_MESSAGE_HELLO), config = message(PLX_MESSAGE_CONFIG);
    int fd[OF_ONE - 1];
    int before = open_files(service.pid);
    for (int i = 0; i < OF_ONE - 1; i++) {
        fd[i] = connect_raw();
        say(fd[i], &hello, sizeof hello);
        say(fd[i], &config, sizeof config);
    }
    for (int i = 0; i < 500; i++) {
        char text[64];
        size_t bytes;
        assert_int_equal(plx_config(path, text, sizeof text, &bytes), 0);
        wait_for_count(OF_ONE - 1);
    }
    for (int i = 0; i < OF_ONE - 1; i++)
        close(fd[i]);
    wait_for_count(0);
    assert_true(open_files(service.pid) <= before + 1); /* the text itself stays */
    assert_it_serves();
}

static void service_outlives_its_last_descriptor(void **state)
{
    (void)state;
    struct rlimit old, low; /* limits of the service, lowered and raised from outside */
    assert_int_equal(prlimit(service.pid, RLIMIT_NOFILE, NULL, &old), 0);
    low = old;
    low.rlim_cur = (rlim_t)open_files(service.pid); /* ".", ".." are counted: room for two more, or so */
    assert_int_equal(prlimit(service.pid, RLIMIT_NOFILE, &low, NULL), 0);
    int fd[8], refused = 0;
    for (int i = 0; i < 8; i++)
        fd[i] = connect_raw();
    for (int i = 7; i >= 4; i--)
        refused += was_dropped(fd[i], PLX_ERR_BUSY);
    assert_int_equal(refused, 4);
    for (int i = 0; i < 4; i++)
        close(fd[i]);
    assert_int_equal(prlimit(service.pid, RLIMIT_NOFILE, &old, NULL), 0);
    wait_for_count(0);
    assert_it_serves();
}

static void second_daemon_is_told_who_is_first(void **state)
{
    (void)state;
    char role[] = "service", epoch[] = "2", slots[] = "8", max[] = "4";
    char *argument[] = {NULL, role, path, epoch, slots, max, NULL};
    struct peer second = peer_start("ring_peer", argument);
    char expected[200];
    snprintf(expected, sizeof expected, "%d %s: another daemon (pid %d) serves this socket; stop it, or choose another path\n",
             PLX_ERR_BUSY, path, (int)service.pid);
    assert_string_equal(peer_line(&second), expected);
    assert_int_equal(WEXITSTATUS(peer_end(&second)), 3);
    assert_it_serves(); /* and the first has lost nothing */
}

static int try_path(const char *socket_path, const char *group, struct plx_error_message *message)
{
    struct plx_clients *clients;
    const struct plx_clients_options options = {.socket_path = socket_path, .group = group, .max_clients = 1};
    return plx_clients_create(&options, NULL, &clients, message);
}

static void bad_paths_are_explained(void **state)
{
    (void)state;
    struct plx_error_message message;
    char file[96], missing[96], lock[128], long_path[200] = "/tmp/";
    snprintf(file, sizeof file, "%s/file", directory);
    snprintf(missing, sizeof missing, "%s/no/socket", directory);
    close(open(file, O_CREAT | O_WRONLY, 0600));
    assert_int_equal(try_path(file, "", &message), PLX_ERR_IO);
    assert_non_null(strstr(message.text, "is not a socket"));
    assert_int_equal(access(file, F_OK), 0); /* somebody's file: not ours to remove */
    assert_int_equal(try_path(missing, "", &message), PLX_ERR_NOT_FOUND);
    assert_non_null(strstr(message.text, missing));
    memset(long_path + 5, 'x', 150);
    assert_int_equal(try_path(long_path, "", &message), PLX_ERR_RANGE);
    unlink(file);
    assert_int_equal(try_path(file, "no-such-group", &message), PLX_ERR_NOT_FOUND);
    assert_non_null(strstr(message.text, "no-such-group"));
    assert_int_equal(access(file, F_OK), -1); /* nothing half-made is left */
    snprintf(lock, sizeof lock, "%s.lock", file);
    unlink(lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_version_is_refused),
        cmocka_unit_test(out_of_turn_is_dropped),
        cmocka_unit_test(hints_that_nobody_may_give_are_refused_once),
        cmocka_unit_test(garbage_is_dropped),
        cmocka_unit_test(client_that_never_reads_costs_nothing),
        cmocka_unit_test(those_that_never_take_the_configuration_cost_nothing),
        cmocka_unit_test(service_outlives_its_last_descriptor),
        cmocka_unit_test(second_daemon_is_told_who_is_first),
        cmocka_unit_test(bad_paths_are_explained),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
