/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes that test_ring starts: a service (supervisor and forked writer, on the real region and socket) and a reader (on
 * the real libparallax). Built a second time with the client's re-check removed, to show that the test would notice.
 *
 *   ring_peer service SOCKET EPOCH SLOTS MAX_CLIENTS   takes commands on stdin, a line each, and answers each with a line:
 *       go FRAMES PERIOD_US   forks a writer (period 0: full speed)
 *       kill                  kills the writer with SIGKILL, wherever it is, and says the newest sequence
 *       wait                  waits for the writer's end and says the newest sequence
 *       count                 says the number of clients
 *       blind BITS            frames cannot show obstacles, enum plx_blind (0 until then)
 *       fresh MS              frames are news for so long from now on (a minute until then)
 *   ring_peer reader SOCKET LAST [hold|poll]   reads until frame LAST (0: until SIGTERM); says "reading" after the first frame,
 *                                              "told" when writer or service are gone for the first time, and at the end what
 * it saw (print_tally) hold   keeps every 16th view open long enough to be overwritten poll   waits by plx_fd, not in plx_next
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <parallax/client.h>

#include "app/publish/clients.h"
#include "client/map.h"
#include "core/base/clock.h"

#define PLANE_WIDTH 256
#define PLANE_HEIGHT 96
#define PLANE_WORDS (PLANE_WIDTH * PLANE_HEIGHT / 8)
#define PLANE_OFFSET ((sizeof(struct plx_frame) + 4095) / 4096 * 4096)
#define FRAME_BYTES (PLANE_OFFSET + PLANE_WIDTH * PLANE_HEIGHT)

static void die(const char *what, int result)
{
    fprintf(stderr, "ring_peer: %s: %s\n", what, plx_strerror(result));
    exit(2);
}

/* --- what a frame holds: every word of plane and obstacles follows from its sequence ------------------------------- */

static uint64_t word_of(uint64_t sequence, size_t i)
{
    return sequence * UINT64_C(0x9E3779B97F4A7C15) + i;
}

static void fill_words(uint64_t *words, size_t count, uint64_t sequence)
{
    for (size_t i = 0; i < count; i++)
        words[i] = word_of(sequence, i);
}

static bool check_words(const uint64_t *words, size_t count, uint64_t sequence)
{
    uint64_t wrong = 0;
    for (size_t i = 0; i < count; i++)
        wrong |= words[i] ^ word_of(sequence, i);
    return !wrong;
}

static uint32_t blind;
static int64_t fresh_ns = 60 * PLX_NS_PER_S;

static void fill_frame(struct plx_frame *frame, uint64_t sequence)
{
    frame->bytes = FRAME_BYTES;
    frame->source = PLX_SOURCE_V4L2;
    frame->capture[PLX_LEFT].capture_ns = plx_now_ns();
    frame->fresh_ns = fresh_ns;
    frame->blind = blind;
    frame->obstacle_count = PLX_MAX_OBSTACLES;
    frame->plane[PLX_PLANE_LEFT] = (struct plx_plane){
        .offset = PLANE_OFFSET, .pitch = PLANE_WIDTH, .width = PLANE_WIDTH, .height = PLANE_HEIGHT, .element = 1};
    fill_words((uint64_t *)(void *)frame->obstacle, sizeof frame->obstacle / 8, sequence);
    fill_words((uint64_t *)(void *)((char *)frame + PLANE_OFFSET), PLANE_WORDS, sequence);
}

static bool check_obstacles(const struct plx_view *view)
{
    const void *obstacles = view->frame->obstacle;
    return check_words(obstacles, sizeof view->frame->obstacle / 8, view->sequence);
}

static bool check_plane(const struct plx_view *view)
{
    return view->plane[PLX_PLANE_LEFT] && check_words(view->plane[PLX_PLANE_LEFT], PLANE_WORDS, view->sequence);
}

/* --- service ----------------------------------------------------------------------------------------------------- */

struct service {
    struct plx_shm *shm;
    struct plx_clients *clients;
    int ticks; /* eventfd: the writer published */
    pid_t writer;
};

static void write_frames(struct service *service, uint64_t frames, unsigned period_us)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* as the engine: never alive without its supervisor */
    plx_clients_close_in_child(service->clients);
    for (uint64_t i = 0; i < frames; i++) {
        fill_frame(plx_ring_begin(service->shm), plx_ring_newest(service->shm) + 1);
        plx_ring_commit(service->shm);
        eventfd_write(service->ticks, 1);
        if (period_us)
            usleep(period_us);
    }
    _exit(0);
}

static void start_writer(struct service *service, uint64_t frames, unsigned period_us)
{
    plx_shm_set_state(service->shm, PLX_STATE_RUNNING, 0);
    service->writer = fork();
    if (service->writer == 0)
        write_frames(service, frames, period_us);
}

/* True if the dead writer has left the slot of the next frame begun and not published. */
static bool died_inside_slot(const struct service *service)
{
    struct plx_map map;
    if (plx_map_open(plx_shm_client_fd(service->shm), &map))
        return false;
    uint64_t next = plx_ring_newest(service->shm) + 1;
    bool inside = map.slots[next % map.slot_count].lock == 2 * next - 1;
    plx_map_close(&map);
    return inside;
}

static bool kill_writer(struct service *service)
{
    kill(service->writer, SIGKILL);
    waitpid(service->writer, NULL, 0);
    plx_shm_set_state(service->shm, PLX_STATE_RECOVERING, PLX_HEALTH_NO_FRAMES);
    plx_clients_notify(service->clients,
                       plx_ring_newest(service->shm)); /* those that wait by descriptor, as the publisher does */
    return died_inside_slot(service);
}

static uint64_t obey(struct service *service, const char *line)
{
    uint64_t frames;
    unsigned period_us;
    if (sscanf(line, "blind %" SCNu64, &frames) == 1)
        return blind = (uint32_t)frames;
    if (sscanf(line, "fresh %" SCNu64, &frames) == 1)
        return (uint64_t)(fresh_ns = (int64_t)frames * PLX_NS_PER_MS);
    if (sscanf(line, "go %" SCNu64 " %u", &frames, &period_us) == 2) {
        start_writer(service, frames, period_us);
        return (uint64_t)service->writer;
    }
    if (!strcmp(line, "kill\n"))
        return kill_writer(service);
    if (!strcmp(line, "newest\n"))
        return plx_ring_newest(service->shm);
    if (!strcmp(line, "count\n"))
        return (uint64_t)plx_clients_count(service->clients);
    waitpid(service->writer, NULL, 0);
    return 0;
}

static void run_service(struct service *service)
{
    struct pollfd events[] = {
        {STDIN_FILENO, POLLIN, 0}, {plx_clients_fd(service->clients), POLLIN, 0}, {service->ticks, POLLIN, 0}};
    char line[128];
    for (;;) {
        if (poll(events, 3, -1) < 0 && errno != EINTR)
            return;
        if (events[1].revents)
            plx_clients_handle(service->clients);
        eventfd_t ticks;
        if (events[2].revents && !eventfd_read(service->ticks, &ticks))
            plx_clients_notify(service->clients, plx_ring_newest(service->shm));
        if (events[0].revents) {
            ssize_t bytes = read(STDIN_FILENO, line, sizeof line - 1); /* one command at a time: each is answered */
            if (bytes <= 0)
                return;
            line[bytes] = 0;
            printf("%" PRIu64 "\n", obey(service, line));
            fflush(stdout);
        }
    }
}

static void note(const char *sentence)
{
    fprintf(stderr, "ring_peer: %s\n", sentence);
}

/* A text as the supervisor hands it out. */
static int config(void *context)
{
    static const char text[] = "source:\n  type: v4l2\n";
    int *fd = context;
    if (*fd >= 0)
        return *fd;
    *fd = memfd_create("config", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*fd < 0 || write(*fd, text, sizeof text - 1) != (ssize_t)sizeof text - 1 ||
        fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))
        return PLX_ERR_NOMEM;
    return *fd;
}

static int serve(char **argument)
{
    struct plx_error_message message = {{0}};
    struct service service = {.ticks = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    int config_fd = -1;
    const struct plx_shm_options shm = {
        .epoch = strtoull(argument[1], NULL, 10), .slots = atoi(argument[2]), .frame_bytes = FRAME_BYTES};
    const struct plx_clients_options clients = {.socket_path = argument[0],
                                                .group = "",
                                                .max_clients = atoi(argument[3]),
                                                .note = getenv("PLX_TEST_NOTES") ? note : NULL,
                                                .config = config,
                                                .context = &config_fd};
    int result = plx_shm_create(&shm, &service.shm, &message);
    if (!result)
        result = plx_clients_create(&clients, service.shm, &service.clients, &message);
    if (result) {
        printf("%d %s\n", result, message.text);
        plx_shm_destroy(service.shm);
        return 3;
    }
    printf("ready\n");
    fflush(stdout);
    run_service(&service);
    plx_shm_set_state(service.shm, PLX_STATE_STOPPED, 0);
    plx_clients_destroy(service.clients);
    plx_shm_destroy(service.shm);
    return 0;
}

/* --- reader ------------------------------------------------------------------------------------------------------ */

struct tally {
    uint64_t first, last, seen, missed, overwritten, torn, lost, epochs;
    int64_t lost_ns; /* CLOCK_MONOTONIC when it was first told that writer or service is gone */
};

static void print_tally(const struct tally *tally)
{
    printf("first %" PRIu64 " last %" PRIu64 " seen %" PRIu64 " missed %" PRIu64 " overwritten %" PRIu64 " torn %" PRIu64
           " lost %" PRIu64 " epochs %" PRIu64 " lost_ns %" PRId64 "\n",
           tally->first, tally->last, tally->seen, tally->missed, tally->overwritten, tally->torn, tally->lost, tally->epochs,
           tally->lost_ns);
}

/* SLOWLY: gives the writer time to go over the frame between the first half and the second. */
static void read_view(struct plx_client *client, struct plx_view *view, bool slowly, struct tally *tally)
{
    static uint64_t epoch;
    uint64_t sequence = view->sequence, missed = view->missed, view_epoch = view->frame->epoch;
    bool right = check_obstacles(view);
    if (slowly)
        usleep(2000);
    right = check_plane(view) && right;
    int result = plx_release(client, view);
    if (result && result != PLX_ERR_OVERWRITTEN)
        die("plx_release", result);
    if (!tally->first)
        tally->first = sequence;
    if (!result && view_epoch != epoch) {
        epoch = view_epoch;
        tally->epochs++;
    }
    tally->last = sequence;
    tally->seen++;
    tally->missed += missed;
    tally->overwritten += result == PLX_ERR_OVERWRITTEN;
    tally->torn += !result && !right;
}

static volatile sig_atomic_t stopping;

static void stop(int number)
{
    (void)number;
    stopping = 1;
}

/* plx_fd must stay the same number for ever. */
static int wait_by_poll(struct plx_client *client)
{
    static int first = -1;
    int fd = plx_fd(client);
    if (fd < 0 || (first >= 0 && fd != first))
        die("plx_fd", fd);
    first = fd;
    poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 1000);
    return 0;
}

static void say(const char *word)
{
    puts(word);
    fflush(stdout);
}

static int read_frames(const char *path, uint64_t last, const char *how)
{
    struct plx_client *client;
    int result = plx_connect(path, &client);
    if (result)
        die("plx_connect", result);
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = stop}, NULL);
    if (nice(5) == -1) /* the writer is to be fast */
        fprintf(stderr, "ring_peer: nice: %s\n", strerror(errno));
    bool hold = !strcmp(how, "hold"), polling = !strcmp(how, "poll");
    struct tally tally = {0};
    while (!last || tally.last != last) {
        struct plx_view view;
        const bool ending = stopping; /* all frames that are there are read before the end */
        result = plx_next(client, ending ? 0 : polling ? wait_by_poll(client) : 1000, &view);
        if (!result) {
            read_view(client, &view, hold && tally.seen % 16 == 15, &tally);
            if (tally.seen == 1)
                say("reading");
        } else if (result == PLX_ERR_LOST) {
            if (tally.lost++ == 0) {
                tally.lost_ns = plx_now_ns();
                say("told");
            }
        } else if (result != PLX_ERR_TIMEOUT) {
            die("plx_next", result);
        }
        if (result && ending)
            break;
    }
    plx_disconnect(client);
    print_tally(&tally);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 6 && !strcmp(argv[1], "service"))
        return serve(argv + 2);
    if ((argc == 4 || argc == 5) && !strcmp(argv[1], "reader"))
        return read_frames(argv[2], strtoull(argv[3], NULL, 10), argc == 5 ? argv[4] : "");
    fprintf(stderr, "usage: see the top of ring_peer.c\n");
    return 64;
}
