/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cost of publishing and latency of waking readers.
 *
 *   bench_ring [FRAMES]   FRAMES (default 3000), 2 ms apart, for each number of readers
 *
 * Publish cost: plx_ring_begin and plx_ring_commit without writing the payload, for several payload sizes, with no reader.
 * Wake latency: from published_ns in the frame to the return of plx_next in a reader process, over all readers.
 * The same beside a crowd: a process whose threads all wait on the wake word directly, without libparallax, and one real
 * reader.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <parallax/client.h>

#include "app/publish/clients.h"
#include "core/base/clock.h"
#include "tests/ring_crowd.h"

#define PERIOD_US 2000
#define LOOPS 200000
#define MAX_READERS 64

static void must(int result, const char *text)
{
    if (result) {
        fprintf(stderr, "bench_ring: %s: %s\n", plx_strerror(result), text);
        exit(1);
    }
}

static struct plx_shm *make_shm(uint32_t frame_bytes)
{
    struct plx_error_message message = {{0}};
    struct plx_shm *region;
    const struct plx_shm_options options = {.epoch = 1, .slots = 8, .frame_bytes = frame_bytes};
    must(plx_shm_create(&options, &region, &message), message.text);
    return region;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Quantile Q of sorted values in ns; in microseconds. */
static double quantile(const int64_t *value, size_t count, double q)
{
    return count ? (double)value[(size_t)(q * (double)(count - 1))] / 1e3 : 0;
}

static void publish_cost(uint32_t bytes)
{
    static int64_t cost[LOOPS];
    struct plx_shm *region = make_shm(bytes);
    int64_t begin = plx_now_ns();
    for (int i = 0; i < LOOPS; i++) {
        int64_t before = plx_now_ns();
        plx_ring_begin(region);
        plx_ring_commit(region);
        cost[i] = plx_now_ns() - before;
    }
    double mean = (double)(plx_now_ns() - begin) / LOOPS / 1e3;
    qsort(cost, LOOPS, sizeof cost[0], by_size);
    printf("%12.2f %10.3f %10.3f %10.3f\n", bytes / 1048576.0, mean, quantile(cost, LOOPS, 0.5), quantile(cost, LOOPS, 0.99));
    plx_shm_destroy(region);
}

/* A reader process: writes one latency into LATENCY for each frame that it saw. */
static void read_frames(const char *path, uint64_t frames, int64_t *latency)
{
    struct plx_client *client;
    struct plx_view view;
    size_t seen = 0;
    must(plx_connect(path, &client), path);
    for (uint64_t sequence = 0; sequence < frames;) {
        int result = plx_next(client, 5000, &view);
        int64_t now = plx_now_ns();
        must(result, "plx_next");
        latency[seen++] = now - view.frame->published_ns;
        sequence = view.sequence;
        must(plx_release(client, &view), "plx_release");
    }
    plx_disconnect(client);
    _exit(0);
}

static void wake_latency(int readers, int crowd, uint64_t frames)
{
    size_t bytes = (size_t)readers * frames * sizeof(int64_t);
    int64_t *latency = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int64_t *cost = calloc(frames, sizeof *cost);
    must(latency == MAP_FAILED || !cost ? PLX_ERR_NOMEM : 0, "results");
    char directory[] = "/tmp/plx-bench-XXXXXX", path[64], lock[80];
    must(mkdtemp(directory) ? 0 : PLX_ERR_IO, directory);
    snprintf(path, sizeof path, "%s/socket", directory);
    snprintf(lock, sizeof lock, "%s.lock", path);

    struct plx_shm *region = make_shm(sizeof(struct plx_frame));
    struct plx_error_message message = {{0}};
    struct plx_clients *clients;
    const struct plx_clients_options options = {.socket_path = path, .group = "", .max_clients = MAX_READERS};
    must(plx_clients_create(&options, region, &clients, &message), message.text);
    for (int i = 0; i < readers; i++) {
        const pid_t reader = fork();
        must(reader < 0 ? PLX_ERR_NOMEM : 0, "a reader");
        if (reader == 0)
            read_frames(path, frames, latency + (size_t)i * frames);
    }
    for (int i = 0; i < 100 || plx_clients_count(clients) < readers; i++) { /* at least 0.5 s, so that all readers sleep */
        plx_clients_handle(clients);
        usleep(5000);
    }
    struct ring_crowd waiters = ring_crowd_start(region, crowd);
    for (uint64_t i = 0; i < frames; i++) {
        int64_t before = plx_now_ns();
        struct plx_frame *frame = plx_ring_begin(region);
        frame->capture[PLX_LEFT].capture_ns = plx_now_ns();
        frame->fresh_ns = PLX_NS_PER_S;
        plx_ring_commit(region);
        cost[i] = plx_now_ns() - before;
        usleep(PERIOD_US);
    }
    ring_crowd_end(&waiters);
    for (int i = 0; i < readers; i++)
        wait(NULL);

    size_t total = (size_t)readers * frames, missing = 0;
    qsort(latency, total, sizeof *latency, by_size);
    while (missing < total && latency[missing] == 0) /* frames that a reader skipped */
        missing++;
    const int64_t *seen = latency + missing;
    total -= missing;
    qsort(cost, frames, sizeof *cost, by_size);
    printf("%12d %10d %10.1f %10.1f %10.1f %12zu %12.2f\n", readers, waiters.threads, quantile(seen, total, 0.5),
           quantile(seen, total, 0.99), quantile(seen, total, 0.999), missing, quantile(cost, frames, 0.5));
    plx_clients_destroy(clients);
    plx_shm_destroy(region);
    unlink(lock);
    rmdir(directory);
    free(cost);
    munmap(latency, bytes);
}

int main(int argc, char **argv)
{
    static const uint32_t size[] = {1u << 16, 1u << 18, 1u << 20, 1u << 22, 1u << 24};
    uint64_t frames = argc > 1 ? strtoull(argv[1], NULL, 10) : 3000;
    if (frames < 1 || frames > 1000000) {
        fprintf(stderr, "usage: bench_ring [FRAMES], 1 to 1000000\n");
        return 64;
    }
    printf("publish cost without readers (goal: < 1 us at any size)\n");
    printf("%12s %10s %10s %10s\n", "payload MiB", "mean us", "p50 us", "p99 us");
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++)
        publish_cost(size[i]);
    printf("\nwake latency (goal: p50 < 20 us)\n");
    printf("%12s %10s %10s %10s %10s %12s %12s\n", "readers", "crowd", "p50 us", "p99 us", "p99.9 us", "not seen",
           "publish us");
    static const struct {
        int readers, crowd;
    } rows[] = {{1, 0}, {8, 0}, {64, 0}, {1, 100}, {1, 10000}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fflush(stdout);
        wake_latency(rows[i].readers, rows[i].crowd, frames);
    }
    return 0;
}
