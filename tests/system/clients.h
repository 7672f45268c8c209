/* SPDX-License-Identifier: Apache-2.0 */
/* A service with the socket under test, and clients that speak the protocol by hand. */
#ifndef PLX_TESTS_SYSTEM_CLIENTS_H
#define PLX_TESTS_SYSTEM_CLIENTS_H

#include <dirent.h>
#include <errno.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <parallax/client.h>
#include <parallax/shm.h>

#include "app/publish/quota.h"
#include "tests/cmocka.h"
#include "tests/patience.h"
#include "tests/system/peer.h"

#define MAX_CLIENTS 16
#define OF_ONE PLX_CLIENTS_PER_PROCESS

static char directory[] = "/tmp/plx-clients-XXXXXX";
static char path[64];
static struct peer service;

static inline int connect_raw(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){.tv_sec = patience_ms() / 1000}, sizeof(struct timeval));
    return fd;
}

static inline struct plx_message message(uint32_t type)
{
    return (struct plx_message){.magic = PLX_MESSAGE_MAGIC, .abi_version = PLX_ABI_VERSION, .type = type};
}

static inline void say(int fd, const void *what, size_t bytes)
{
    send(fd, what, bytes, MSG_NOSIGNAL); /* may fail: the service may have had enough already */
}

/* Reads to the end of the line: the service has dropped us. True if the last message was REFUSED with ERROR (0: no such). */
static inline bool was_dropped(int fd, int error)
{
    struct plx_message last = {0}, next;
    ssize_t bytes;
    while ((bytes = recv(fd, &next, sizeof next, 0)) != 0) {
        if (bytes < 0 && errno != ECONNRESET)
            return false;
        if (bytes == (ssize_t)sizeof next)
            last = next;
    }
    close(fd);
    return !error || (last.type == PLX_MESSAGE_REFUSED && last.error == error);
}

static inline int open_files(pid_t pid)
{
    char name[40];
    snprintf(name, sizeof name, "/proc/%d/fd", (int)pid);
    DIR *folder = opendir(name);
    assert_non_null(folder);
    int count = 0;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static inline void wait_for_count(unsigned clients)
{
    const int64_t end_ns = patience_end_ns();
    while (peer_ask(&service, "count\n") != clients) {
        assert_true(plx_now_ns() < end_ns);
        usleep(1000);
    }
}

/* An honest client gets its frames, whatever happened before. */
static inline void assert_it_serves(void)
{
    struct plx_client *client;
    struct plx_view view;
    assert_int_equal(plx_connect(path, &client), 0);
    peer_ask(&service, "go 1 0\n");
    peer_ask(&service, "wait\n");
    assert_int_equal(plx_next(client, patience_ms(), &view), 0);
    assert_int_equal(view.sequence, peer_ask(&service, "newest\n"));
    assert_int_equal(plx_release(client, &view), 0);
    plx_disconnect(client);
    wait_for_count(0);
}

static inline int set_up(void **state)
{
    (void)state;
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max; /* for a thousand at the same time */
    setrlimit(RLIMIT_NOFILE, &files);
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/socket", directory);
    service = peer_service(path, 1, 8, MAX_CLIENTS);
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    char lock[80];
    int status = peer_end(&service);
    snprintf(lock, sizeof lock, "%s.lock", path);
    unlink(lock);
    return status || rmdir(directory);
}

#endif
