/* SPDX-License-Identifier: Apache-2.0 */
/* The service's socket and its lock: which paths they take, whose files they may replace or remove, and how they come back when
 * somebody has removed them. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <parallax/error.h>

#include "app/publish/listener.h"
#include "tests/cmocka.h"
#include "tests/unit/client_socket.h"

static struct plx_listener listener;
static struct plx_error_message message;

static int open_at(const char *socket_path)
{
    listener = (struct plx_listener){.lock = -1, .socket = -1};
    return plx_listener_open(socket_path, "", &listener, &message);
}

static void end(void)
{
    plx_listener_remove(&listener);
    plx_listener_close(&listener);
    assert_int_not_equal(access(path, F_OK), 0);
}

static bool is_reachable(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int result = connect(fd, (const struct sockaddr *)&address, sizeof address);
    close(fd);
    return result == 0;
}

static ino_t inode_of(const char *file)
{
    struct stat status;
    return lstat(file, &status) == 0 ? status.st_ino : 0;
}

static int lowest_free(void)
{
    const int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(fd);
    return fd;
}

/* sun_path holds 107 characters and the end. */
static void a_path_has_1_to_107_characters(void **state)
{
    (void)state;
    char longest[128], lock[160];
    const int free_fd = lowest_free();
    assert_int_equal(open_at(""), PLX_ERR_RANGE);
    snprintf(longest, sizeof longest, "%s/", directory);
    while (strlen(longest) < 108)
        strcat(longest, "x");
    assert_int_equal(open_at(longest), PLX_ERR_RANGE);
    assert_non_null(strstr(message.text, "108 characters; expected 1 to 107"));
    longest[107] = '\0';
    for (int tilde = 0; tilde < 2; tilde++) { /* the name beside it, for a moment, is as long and another */
        longest[106] = tilde ? '~' : 'x';
        assert_int_equal(open_at(longest), 0);
        struct stat status;
        assert_int_equal(lstat(longest, &status), 0);
        assert_true(S_ISSOCK(status.st_mode));
        plx_listener_remove(&listener);
        plx_listener_close(&listener);
        assert_true(listener.socket == -1 && listener.lock == -1);
        assert_int_not_equal(access(longest, F_OK), 0);
        snprintf(lock, sizeof lock, "%s.lock", longest);
        assert_int_equal(unlink(lock), 0);
    }
    assert_int_equal(lowest_free(), free_fd);
}

static void a_file_that_is_gone_is_made_again_and_one_that_is_there_is_kept(void **state)
{
    (void)state;
    assert_int_equal(open_at(path), 0);
    const ino_t first = inode_of(path);
    assert_true(first == listener.inode && is_reachable());
    const int free_fd = lowest_free();
    assert_int_equal(plx_listener_repair(&listener, false, &message), 0);
    assert_int_equal(inode_of(path), first);

    assert_int_equal(unlink(path), 0);
    assert_int_equal(plx_listener_repair(&listener, false, &message), 1);
    assert_true(inode_of(path) == listener.inode && is_reachable());

    assert_int_equal(plx_listener_repair(&listener, true, &message), 1); /* it is there, but nobody gets through */
    assert_true(inode_of(path) == listener.inode && is_reachable());
    assert_int_equal(lowest_free(), free_fd);
    end();
}

/* Somebody's socket that nobody listens at is in the way. */
static void a_stale_socket_is_replaced(void **state)
{
    (void)state;
    close(listen_here(SOCK_SEQPACKET));
    assert_int_equal(open_at(path), 0);
    assert_true(is_reachable());
    close(listen_here(SOCK_SEQPACKET)); /* it takes our place: unlinks and binds */
    assert_false(is_reachable());
    assert_int_equal(plx_listener_repair(&listener, false, &message), 1);
    assert_true(is_reachable());
    end();
}

static void a_lock_that_is_gone_is_taken_again(void **state)
{
    (void)state;
    char lock[80];
    snprintf(lock, sizeof lock, "%s.lock", path);
    assert_int_equal(open_at(path), 0);
    const int free_fd = lowest_free();
    assert_int_equal(unlink(lock), 0);
    assert_int_equal(plx_listener_repair(&listener, false, &message), 0); /* the socket is as it was */
    assert_true(inode_of(lock) != 0);
    assert_true(lowest_free() < free_fd); /* the old one was closed */
    end();
    assert_int_equal(open_at(path), 0); /* and it was closed: a process may take it again */
    end();
}

/* Another process that serves PATH; it lives until it is killed. LOCKS: it is a daemon, with a lock. */
static pid_t serve_elsewhere(bool locks)
{
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        if (locks && open_at(path))
            _exit(1);
        if (!locks)
            listen_here(SOCK_SEQPACKET);
        if (write(ready[1], "r", 1) == 1)
            for (;;)
                pause();
        _exit(1);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return child;
}

static void end_process(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* The first one keeps its socket, and the second one says who it is. */
static void what_another_process_serves_is_left_alone(void **state)
{
    (void)state;
    char words[40];
    const int free_fd = lowest_free();
    for (int locks = 0; locks < 2; locks++) {
        const pid_t child = serve_elsewhere(locks);
        const ino_t its = inode_of(path);
        snprintf(words, sizeof words, "(pid %d)", (int)child);
        assert_int_equal(open_at(path), PLX_ERR_BUSY);
        assert_non_null(strstr(message.text, words));
        assert_true(inode_of(path) == its && is_reachable());
        assert_int_equal(lowest_free(), free_fd);
        end_process(child);
        assert_int_equal(open_at(path), 0); /* its lock has ended with it */
        end();
    }

    assert_int_equal(open_at(path), 0); /* another takes the socket, but not the lock */
    const pid_t child = serve_elsewhere(false);
    const ino_t its = inode_of(path);
    assert_int_equal(plx_listener_repair(&listener, false, &message), PLX_ERR_BUSY);
    plx_listener_remove(&listener);
    assert_int_equal(inode_of(path), its); /* it is not ours to remove */
    plx_listener_close(&listener);
    end_process(child);
    unlink(path);
}

/* The unit names the group of those who may connect; it stays theirs when the socket is made again. */
static void the_socket_belongs_to_its_group(void **state)
{
    (void)state;
    struct stat status;
    const struct group *group;
    if (geteuid() != 0)
        skip(); /* only root gives files to any group */
    setgrent();
    while ((group = getgrent()) && group->gr_gid == getegid())
        ;
    if (!group)
        skip();
    const gid_t gid = group->gr_gid;
    assert_int_equal(plx_listener_open(path, group->gr_name, &listener, &message), 0);
    endgrent();
    assert_true(lstat(path, &status) == 0 && status.st_gid == gid && (status.st_mode & 07777) == 0660);
    assert_int_equal(plx_listener_repair(&listener, true, &message), 1);
    assert_true(lstat(path, &status) == 0 && status.st_gid == gid && (status.st_mode & 07777) == 0660);
    end();
    assert_int_equal(open_at(path), 0); /* without one it is left as it is */
    assert_true(lstat(path, &status) == 0 && status.st_gid == getegid());
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_has_1_to_107_characters),
        cmocka_unit_test(a_file_that_is_gone_is_made_again_and_one_that_is_there_is_kept),
        cmocka_unit_test(a_stale_socket_is_replaced),
        cmocka_unit_test(a_lock_that_is_gone_is_taken_again),
        cmocka_unit_test(what_another_process_serves_is_left_alone),
        cmocka_unit_test(the_socket_belongs_to_its_group),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
