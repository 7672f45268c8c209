/* SPDX-License-Identifier: Apache-2.0 */
/* Time from publishing a frame until a client program wakes up with it, through the real socket and shared memory. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <parallax/client.h>

#include "app/publish/clients.h"
#include "app/selftest/check.h"
#include "core/base/clock.h"

#define PERIOD_US 1000
/* Readers sleep on a futex. A longer median means that wake-ups are lost, not that scheduling is slow. */
#define LONGEST_MEDIAN_NS (5 * PLX_NS_PER_MS)

/* The results of the reader process, in memory that it shares with the check. */
struct seen {
    int count;         /* frames read */
    int error;         /* the plx_error that ended the reader; 0 = none */
    int64_t latency[]; /* ns */
};

static void read_frames(const char *socket_path, uint64_t last, struct seen *seen)
{
    struct plx_client *client;
    struct plx_view view;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int result = plx_connect(socket_path, &client);
    for (uint64_t sequence = 0; result == 0 && sequence < last;) {
        result = plx_next(client, 5000, &view);
        if (result < 0)
            break;
        seen->latency[seen->count++] = plx_now_ns() - view.frame->published_ns;
        sequence = view.sequence;
        result = plx_release(client, &view);
    }
    seen->error = result;
    _exit(0);
}

static void publish(struct plx_shm *shm, struct plx_clients *clients, int frames)
{
    /* Until the reader has connected and sleeps. */
    for (int i = 0; i < 50 || (plx_clients_count(clients) < 1 && i < 1000); i++) {
        plx_clients_handle(clients);
        usleep(5000);
    }
    for (int i = 0; i < frames; i++) {
        struct plx_frame *frame = plx_ring_begin(shm);
        frame->capture[PLX_LEFT].capture_ns = plx_now_ns();
        frame->fresh_ns = PLX_NS_PER_S;
        plx_ring_commit(shm);
        plx_clients_handle(clients);
        usleep(PERIOD_US);
    }
}

static void judge(struct seen *seen, int frames, struct check_outcome *ret)
{
    if (seen->count == 0) {
        check_fail(ret, "no frame reached the reader: %s", plx_strerror(seen->error));
        return;
    }
    check_sort(seen->latency, seen->count);
    const int64_t median = check_quantile(seen->latency, seen->count, 0.5);
    check_note(ret, "p50 %.1f us, p99 %.1f us, p99.9 %.1f us, longest %.1f us; %d of %d frames seen", (double)median / 1e3,
               (double)check_quantile(seen->latency, seen->count, 0.99) / 1e3,
               (double)check_quantile(seen->latency, seen->count, 0.999) / 1e3,
               (double)check_quantile(seen->latency, seen->count, 1) / 1e3, seen->count, frames);
    if (seen->error < 0)
        check_fail(ret, "the reader: %s", plx_strerror(seen->error));
    else if (median > LONGEST_MEDIAN_NS)
        check_fail(ret, "half of the frames reach a reader later than %d ms", (int)(LONGEST_MEDIAN_NS / PLX_NS_PER_MS));
}

void check_latency(const struct check_options *options, struct check_outcome *ret)
{
    const int frames = options->full ? 20000 : 2000;
    const size_t bytes = sizeof(struct seen) + (size_t)frames * sizeof(int64_t);
    struct seen *seen = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char directory[] = "/tmp/plx-selftest-XXXXXX", path[64], lock[80];
    const struct plx_shm_options region_options = {.epoch = 1, .slots = 8, .frame_bytes = sizeof(struct plx_frame)};
    const struct plx_clients_options clients_options = {.socket_path = path, .group = "", .max_clients = 1};
    struct plx_shm *shm = NULL;
    struct plx_clients *clients = NULL;
    struct plx_error_message message = {""};

    if (seen == MAP_FAILED || !mkdtemp(directory)) {
        check_fail(ret, "no memory, or no directory in /tmp");
        return;
    }
    snprintf(path, sizeof path, "%s/socket", directory);
    snprintf(lock, sizeof lock, "%s.lock", path);
    if (plx_shm_create(&region_options, &shm, &message) < 0 ||
        plx_clients_create(&clients_options, shm, &clients, &message) < 0) {
        check_fail(ret, "%s", message.text);
    } else {
        const pid_t reader = fork();
        int ended = -1;
        if (reader == 0)
            read_frames(path, (uint64_t)frames, seen);
        if (reader > 0) {
            publish(shm, clients, frames);
            waitpid(reader, &ended, 0);
        }
        if (ended == 0)
            judge(seen, frames, ret);
        else
            check_fail(ret, reader < 0 ? "cannot start the reader" : "the reader died");
    }
    plx_clients_destroy(clients);
    plx_shm_destroy(shm);
    unlink(lock);
    rmdir(directory);
    munmap(seen, bytes);
}
