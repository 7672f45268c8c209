/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer: any messages on the socket, said to the service by a client and to the client library by a service. The input is
 * packets, each a byte with its length and then its bytes. Whatever was said, the service serves the next client.
 */
#include <parallax/shm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "app/publish/clients.h"
#include "client/link.h"
#include "core/base/clock.h"
#include "core/motion/motion.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char directory[] = "/tmp/plx-fuzz-XXXXXX", path[64];
static struct plx_shm *region;
static struct plx_clients *clients;

static void must(bool fine)
{
    if (!fine)
        abort();
}

static void close_service(void)
{
    plx_clients_destroy(clients);
    plx_shm_destroy(region);
    char lock[80];
    snprintf(lock, sizeof lock, "%s.lock", path);
    unlink(lock);
    rmdir(directory);
}

/* The numbers of a hint were checked. */
static int take_hint(void *context, const struct plx_motion_hint *hint)
{
    (void)context;
    must(plx_motion_hint_is_valid(hint));
    return 0;
}

static void open_service(void)
{
    const struct plx_shm_options options = {.epoch = 1, .slots = 4, .frame_bytes = sizeof(struct plx_frame)};
    struct plx_error_message message;
    must(mkdtemp(directory) != NULL);
    snprintf(path, sizeof path, "%s/s", directory);
    const struct plx_clients_options door = {
        .socket_path = path, .group = "", .max_clients = 2, .hint = take_hint, .hint_user = geteuid()};
    must(plx_shm_create(&options, &region, &message) == 0);
    must(plx_clients_create(&door, region, &clients, &message) == 0);
    atexit(close_service);
}

/* Until nothing is left to do. */
static void serve(void)
{
    for (int i = 0; i < 4; i++)
        plx_clients_handle(clients);
}

static int dial(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    must(fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0);
    return fd;
}

/* Says the next packet of the input; false at its end. */
static bool say(int fd, const uint8_t **data, const uint8_t *end)
{
    if (*data == end)
        return false;
    size_t length = *(*data)++;
    if (length > (size_t)(end - *data))
        length = (size_t)(end - *data);
    send(fd, *data, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    *data += length;
    return true;
}

static void to_service(const uint8_t *data, size_t size)
{
    const uint8_t *end = data + size;
    int fd = dial();
    while (say(fd, &data, end)) {
        serve();
        plx_clients_notify(clients, 1);
    }
    close(fd);
    serve();
    must(plx_clients_count(clients) == 0);
}

/* No message is an answer: no descriptor came with it. */
static void read_welcome(int fd)
{
    int memory = -1;
    must(plx_link_finish(fd, 0, &memory) < 0 && memory == -1);
}

static void read_answer_to_hint(int fd)
{
    static const struct plx_motion_hint hint;
    bool skipped = false;
    must(plx_link_hint(fd, &hint, 1, 0, &skipped) <= 0);
}

static void to_library(const uint8_t *data, size_t size, void (*read_one)(int fd))
{
    const uint8_t *end = data + size;
    int fd[2];
    must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fd) == 0);
    while (say(fd[0], &data, end)) {
        read_one(fd[1]);
        plx_link_alive(fd[1]);
    }
    plx_link_drain(fd[1]);
    close(fd[0]);
    must(!plx_link_alive(fd[1]));
    close(fd[1]);
}

static void still_serves(void)
{
    int fd, memory = -1;
    must(plx_link_start(path, plx_now_ns() + PLX_NS_PER_S, &fd) == 0);
    serve();
    must(plx_link_finish(fd, 0, &memory) == 0 && memory >= 0);
    close(memory);
    close(fd);
    serve();
    must(plx_clients_count(clients) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!clients)
        open_service();
    to_service(data, size);
    to_library(data, size, read_welcome);
    to_library(data, size, read_answer_to_hint);
    still_serves();
    return 0;
}
