/* SPDX-License-Identifier: Apache-2.0 */
/* The files by which clients find the service are removed, replaced or made useless while it runs: new clients can attach again
 * soon, attached ones notice nothing, and no daemon takes another's socket. */
#include "tests/system/fault.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>

#define MEND_MS 2000   /* the files are looked at every second */
#define NOTICE_MS 8000 /* what only an attempt to attach shows: every 5 s */

static void lock_file(char ret_path[128])
{
    snprintf(ret_path, 128, "%s.lock", daemon_.socket);
}

static ino_t inode_of(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 ? status.st_ino : 0;
}

/* A new client attaches within TIMEOUT_MS and gets a frame; OLD has been attached all the time. */
static void expect_service(struct plx_client *old, int timeout_ms)
{
    const struct plx_frame before = running_frame(old, START_MS);
    const int64_t begin_ms = now_ms();
    struct plx_client *client;

    while (plx_connect(daemon_.socket, &client) < 0) {
        if (is_late(begin_ms, timeout_ms))
            fail_msg("nobody can attach after %d ms; the service said: %s", timeout_ms, daemon_said(&daemon_));
        usleep(5000);
    }
    assert_true(running_frame(client, START_MS).epoch == before.epoch);
    plx_disconnect(client);
    assert_true(running_frame(old, START_MS).epoch == before.epoch);
    assert_int_equal(plx_restarts(old), 0);
}

/* One that connects while the service starts finds nothing there, or the service: never a socket that refuses it. */
static void a_socket_listens_from_its_first_moment(void **state)
{
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    daemon_.fault = "slow listen 500";
    daemon_start(&daemon_, small_args);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", daemon_.socket);
    const int64_t begin_ms = now_ms();
    for (int connected = -1; connected < 0;) {
        const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        connected = connect(fd, (const struct sockaddr *)&address, sizeof address);
        assert_true(connected == 0 || errno == ENOENT);
        assert_false(is_late(begin_ms, START_MS));
        close(fd);
        usleep(1000);
    }
    stop_daemon();
}

static struct plx_client *start(void)
{
    daemon_start(&daemon_, small_args);
    struct plx_client *client = connect_client();
    running_frame(client, START_MS);
    return client;
}

static void a_socket_that_is_removed_is_there_again(void **state)
{
    (void)state;
    struct plx_client *client = start();
    for (int i = 0; i < 3; i++) {
        assert_int_equal(unlink(daemon_.socket), 0);
        expect_service(client, MEND_MS);
        struct stat status;
        assert_int_equal(stat(daemon_.socket, &status), 0);
        assert_int_equal(status.st_mode & 0777, 0660);
    }
    wait_until_said("attached clients stay", RECOVER_MS);
    stop_daemon();
    plx_disconnect(client);
}

static void its_directory_is_removed_and_made_again(void **state)
{
    (void)state;
    char inner[96], lock[128], outer[96];
    snprintf(inner, sizeof inner, "%s/run", daemon_.directory);
    snprintf(outer, sizeof outer, "%s/away", daemon_.directory);
    assert_int_equal(mkdir(inner, 0755), 0);
    snprintf(daemon_.socket, sizeof daemon_.socket, "%s/run/s", daemon_.directory);
    struct plx_client *client = start();
    assert_int_equal(rename(inner, outer), 0);
    wait_until_said("the socket cannot be created again; trying again", MEND_MS);
    running_frame(client, START_MS);
    assert_int_equal(mkdir(inner, 0755), 0);
    expect_service(client, MEND_MS);
    lock_file(lock);
    assert_true(inode_of(lock) != 0);
    stop_daemon();
    plx_disconnect(client);
}

/* A socket of the same name to which nobody listens, as a restored copy of /run would have it. */
static void a_socket_that_is_replaced_is_made_anew(void **state)
{
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct plx_client *client = start();
    assert_int_equal(unlink(daemon_.socket), 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", daemon_.socket);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (bind(fd, (const struct sockaddr *)&address, sizeof address) == 0) /* else it was mended in between */
        expect_service(client, MEND_MS);
    close(fd);
    stop_daemon();
    plx_disconnect(client);
}

/* The file is the right one, and yet nobody comes through: only an attempt to attach shows it. As root nothing is forbidden. */
static void a_socket_that_refuses_everybody_is_made_anew(void **state)
{
    (void)state;
    if (geteuid() == 0) {
        daemon_.user = 65534;
        assert_int_equal(chmod(daemon_.directory, 0777), 0);
    }
    struct plx_client *client = start();
    const ino_t before = inode_of(daemon_.socket);
    assert_int_equal(chmod(daemon_.socket, 0), 0);
    const int64_t begin_ms = now_ms();
    while (inode_of(daemon_.socket) == before) {
        assert_false(is_late(begin_ms, NOTICE_MS));
        usleep(10000);
    }
    expect_service(client, MEND_MS);
    stop_daemon();
    plx_disconnect(client);
}

/* A second daemon at the same path: ends with 75. */
static void expect_refusal_of_a_second(void)
{
    struct daemon second = daemon_;
    snprintf(second.log, sizeof second.log, "%s/log2", daemon_.directory);
    daemon_start(&second, small_args);
    assert_int_equal(daemon_wait(&second, START_MS), 75);
    assert_non_null(strstr(daemon_said(&second), "another daemon"));
}

static void without_its_lock_it_still_lets_no_other_in(void **state)
{
    (void)state;
    char lock[128];
    lock_file(lock);
    struct plx_client *client = start();
    const ino_t socket_before = inode_of(daemon_.socket);
    assert_int_equal(unlink(lock), 0);
    expect_refusal_of_a_second(); /* at once: somebody listens there */
    const int64_t begin_ms = now_ms();
    while (inode_of(lock) == 0) {
        assert_false(is_late(begin_ms, MEND_MS));
        usleep(10000);
    }
    usleep(MEND_MS * 1000); /* the second one's lock is free again */
    expect_refusal_of_a_second();
    assert_true(inode_of(daemon_.socket) == socket_before);
    expect_service(client, MEND_MS);
    stop_daemon();
    plx_disconnect(client);
}

/* Both files removed, and another daemon that is quicker: the first gives way, and leaves the other's files alone. */
static void who_lost_both_files_to_another_gives_way(void **state)
{
    (void)state;
    char lock[128];
    struct daemon second = daemon_;
    lock_file(lock);
    snprintf(second.log, sizeof second.log, "%s/log2", daemon_.directory);
    struct plx_client *client = start();
    kill(daemon_.pid, SIGSTOP); /* slow to notice */
    assert_int_equal(unlink(lock), 0);
    assert_int_equal(unlink(daemon_.socket), 0);
    daemon_start(&second, small_args);
    const int64_t begin_ms = now_ms();
    while (inode_of(daemon_.socket) == 0) {
        assert_false(is_late(begin_ms, START_MS));
        usleep(5000);
    }
    usleep(200000);
    const ino_t others = inode_of(daemon_.socket), others_lock = inode_of(lock);
    kill(daemon_.pid, SIGCONT);
    assert_int_equal(daemon_wait(&daemon_, START_MS), 75);
    wait_until_said("another daemon", 0);
    assert_true(inode_of(daemon_.socket) == others && inode_of(lock) == others_lock);
    daemon_ = second;
    running_frame(client, START_MS); /* it reattaches to the other one */
    stop_daemon();
    plx_disconnect(client);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make, clean)
    const struct CMUnitTest tests[] = {
        TEST(a_socket_listens_from_its_first_moment),       TEST(a_socket_that_is_removed_is_there_again),
        TEST(its_directory_is_removed_and_made_again),      TEST(a_socket_that_is_replaced_is_made_anew),
        TEST(a_socket_that_refuses_everybody_is_made_anew), TEST(without_its_lock_it_still_lets_no_other_in),
        TEST(who_lost_both_files_to_another_gives_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
