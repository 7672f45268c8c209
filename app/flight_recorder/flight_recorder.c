/* SPDX-License-Identifier: Apache-2.0 */
#include "app/flight_recorder/flight_recorder.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <parallax/client.h>
#include <parallax/error.h>

#include "app/exit.h"
#include "app/flight_recorder/dump.h"
#include "app/flight_recorder/pair.h"
#include "app/flight_recorder/ring.h"
#include "app/flight_recorder/snapshot_server.h"
#include "app/flight_recorder/watch.h"
#include "app/log.h"
#include "config/text.h"
#include "core/base/clock.h"

#define AFTER_NS PLX_NS_PER_S        /* that a file goes on after its fault */
#define RETRY_NS PLX_NS_PER_S        /* between two attempts to connect */
#define STEP_NS (10 * PLX_NS_PER_MS) /* longest write between two looks at the service */
#define IDLE_MS 50                   /* the longest sleep: a state that changes without a frame is seen after this time */
#define PAIRS_AT_ONCE 4
#define SNAPSHOTS 8 /* that may be asked for within SNAPSHOTS_NS: each writes all that is in memory */
#define SNAPSHOTS_NS (60 * PLX_NS_PER_S)
#define DRAIN_NS (5 * PLX_NS_PER_S) /* for the rest of the file at the recorder's end; its unit allows 10 s */
#define RESIZE_NS PLX_NS_PER_S      /* likewise when pairs change their size, and new ones wait */

struct recorder {
    const struct plx_config *config;
    struct plx_client *client; /* NULL: not connected yet */
    int64_t retry_ns;
    int connect_error; /* the last one that was logged */
    struct plx_pair_ring ring;
    size_t pair_bytes; /* size of the pairs in the ring */
    bool raw;          /* they are as captured */
    struct plx_dump dump;
    bool answers; /* the open file is for a request */
    struct plx_snapshot_server requests;
    int64_t snapshot_ns[SNAPSHOTS]; /* when the last ones were asked for, a circle */
    unsigned snapshots;
    struct plx_watch watch;
    char pending[PLX_WATCH_REASON]; /* reason of a fault whose file is not begun; "" = none */
    int64_t fault_ns;               /* its time */
    bool is_cap_checked;
    uint64_t overwritten; /* pairs that the service overwrote while they were copied */
};

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

/* --- files ---------------------------------------------------------------------------------------------------------- */

static void answer(struct recorder *recorder, int error, const char *text)
{
    static struct plx_recorder_answer said;
    const struct plx_dump *dump = &recorder->dump;

    said = (struct plx_recorder_answer){.error = error};
    if (error == 0)
        said.pairs = (uint32_t)dump->pairs;
    snprintf(said.text, sizeof said.text, "%s", text);
    plx_snapshot_server_answer(&recorder->requests, &said);
}

/* The open file has failed. */
static void report_failure(struct recorder *recorder, int error, const struct plx_error_message *message)
{
    plx_log(LOG_ERR, "%s", message->text);
    if (recorder->answers)
        answer(recorder, error, message->text);
    recorder->answers = false;
}

static void end_file(struct recorder *recorder)
{
    struct plx_error_message message = {""};
    const struct plx_dump *dump = &recorder->dump;
    const int result = plx_dump_end(&recorder->dump, &message);

    if (result < 0) {
        report_failure(recorder, result, &message);
        return;
    }
    plx_log(LOG_NOTICE, "%s: %" PRIu64 " pairs, %" PRIu64 " missed, because of: %s", dump->path, dump->pairs, dump->missed,
            dump->reasons);
    if (dump->left_out > 0)
        plx_log(LOG_ERR, "%s lacks %" PRIu64 " pairs: the disk is too slow for the time that was left", dump->path,
                dump->left_out);
    if (recorder->answers)
        answer(recorder, 0, dump->path);
    recorder->answers = false;
}

/* True if a snapshot may be written now; else the request has its answer. */
static bool take_turn(struct recorder *recorder)
{
    char text[96];
    int64_t *last_ns = &recorder->snapshot_ns[recorder->snapshots % SNAPSHOTS];
    const int64_t now = plx_now_ns(), wait_ns = *last_ns + SNAPSHOTS_NS - now;

    if (*last_ns != 0 && wait_ns > 0) {
        snprintf(text, sizeof text, "%d snapshots within %d s are enough; ask again in %d s", SNAPSHOTS,
                 (int)(SNAPSHOTS_NS / PLX_NS_PER_S), (int)(wait_ns / PLX_NS_PER_S) + 1);
        answer(recorder, PLX_ERR_BUSY, text);
        return false;
    }
    *last_ns = now;
    recorder->snapshots++;
    return true;
}

/* Begins the file that a fault or, without a fault, a request waits for. */
static void begin_file(struct recorder *recorder)
{
    struct plx_error_message message = {""};
    const int64_t now = plx_now_ns(), before = (int64_t)(recorder->config->recorder.seconds * PLX_NS_PER_S);
    int result;

    if (recorder->pending[0] != '\0') {
        result = plx_dump_begin(&recorder->dump, recorder->pending, recorder->fault_ns - before, recorder->fault_ns + AFTER_NS,
                                &message);
        if (result == PLX_ERR_NOT_FOUND && now < recorder->fault_ns + AFTER_NS) /* a fault at the start: pairs may come yet */
            return;
        if (result < 0)
            plx_log(LOG_ERR, "%s: %s", recorder->pending, message.text);
        recorder->pending[0] = '\0';
    } else if (recorder->requests.has_request && take_turn(recorder)) {
        recorder->answers = true;
        result = plx_dump_begin(&recorder->dump, PLX_DUMP_SNAPSHOT, now - recorder->requests.range_ns, now, &message);
        if (result < 0)
            report_failure(recorder, result, &message);
    }
}

/* Writes the next pair of the open file; true if there was one. */
static bool write_pair(struct recorder *recorder)
{
    struct plx_error_message message;
    const int result = plx_dump_step(&recorder->dump, &message);
    if (result < 0)
        report_failure(recorder, result, &message);
    return result > 0;
}

/* Writes for STEP_NS at most. True: there is more to write now. */
static bool write_pairs(struct recorder *recorder)
{
    const int64_t begin = plx_now_ns();

    if (!plx_dump_is_open(&recorder->dump))
        begin_file(recorder);
    while (plx_dump_is_open(&recorder->dump) && write_pair(recorder))
        if (plx_now_ns() - begin > STEP_NS)
            return true;
    if (plx_dump_is_open(&recorder->dump) && plx_now_ns() >= recorder->dump.until_ns)
        end_file(recorder);
    return false;
}

/* Writes what is in memory for the file that is open or waits for its beginning, for LIMIT_NS at most, and ends it. False: it
 * lacks pairs. */
static bool end_all(struct recorder *recorder, int64_t limit_ns)
{
    const int64_t deadline = plx_now_ns() + limit_ns;
    bool more = true;

    recorder->dump.left_out = 0;
    while (more && plx_now_ns() < deadline)
        more = write_pairs(recorder);
    if (plx_dump_is_open(&recorder->dump))
        end_file(recorder);
    return recorder->dump.left_out == 0;
}

/* --- pairs ---------------------------------------------------------------------------------------------------------- */

/* Pairs of another size begin the memory anew. */
static int begin_memory(struct recorder *recorder, const struct plx_view *view, size_t bytes)
{
    struct plx_error_message message;

    end_all(recorder, RESIZE_NS);
    recorder->pair_bytes = bytes;
    recorder->is_cap_checked = false;
    const int result = plx_pair_ring_layout(&recorder->ring, bytes, &message);
    if (result < 0)
        plx_log(LOG_ERR, "%s", message.text);
    else
        plx_log(LOG_INFO, "%u x %u, %s%s: memory for %" PRIu64 " pairs", view->layout[PLX_PLANE_LEFT].width,
                view->layout[PLX_PLANE_LEFT].height,
                view->plane[PLX_PLANE_RIGHT] ? "both pictures" : "the left picture alone (publish.right is off)",
                view->plane[PLX_PLANE_COLOUR] ? ", the left one in colour" : "", recorder->ring.slots);
    return result;
}

/* Makes room for the next pair: the open file gets the oldest one first, if it lacks it. */
static void make_room(struct recorder *recorder, int64_t published_ns)
{
    const struct plx_pair_ring *ring = &recorder->ring;

    if (!plx_pair_ring_is_full(ring))
        return;
    if (plx_dump_is_open(&recorder->dump) && recorder->dump.next <= ring->first)
        write_pair(recorder);
    const struct plx_frame *oldest = plx_pair_ring_get(ring, ring->first);
    const double held_s = (double)(published_ns - oldest->published_ns) / PLX_NS_PER_S;
    if (!recorder->is_cap_checked && held_s < recorder->config->recorder.seconds)
        plx_log(LOG_NOTICE, "%d MiB hold the last %.1f s, less than recorder.seconds; set recorder.memory_mb to more",
                recorder->config->recorder.memory_mb, held_s);
    recorder->is_cap_checked = true;
}

static void keep_pair(struct recorder *recorder, struct plx_view *view)
{
    const size_t bytes = plx_pair_bytes(view);
    const bool raw = (view->frame->health & PLX_HEALTH_NOT_CALIBRATED) != 0;

    if (bytes > 0 && (bytes != recorder->pair_bytes || raw != recorder->raw)) {
        recorder->raw = raw;
        begin_memory(recorder, view, bytes);
    }
    if (bytes == 0 || recorder->ring.slots == 0) {
        plx_release(recorder->client, view);
        return;
    }
    make_room(recorder, plx_now_ns());
    plx_pair_copy(view, plx_pair_ring_begin(&recorder->ring));
    if (plx_release(recorder->client, view) == 0)
        plx_pair_ring_commit(&recorder->ring);
    else
        recorder->overwritten++;
}

/* --- the service ---------------------------------------------------------------------------------------------------- */

static void connect_service(struct recorder *recorder)
{
    const char *path = recorder->config->publish.socket;
    const int64_t now = plx_now_ns();

    if (now < recorder->retry_ns)
        return;
    recorder->retry_ns = now + RETRY_NS;
    const int result = plx_connect(path, &recorder->client);
    if (result == 0)
        plx_log(LOG_INFO, "%s: reading the service", path);
    else if (result != recorder->connect_error)
        plx_log(LOG_NOTICE, "%s: no service is there (%s); waiting for it", path, plx_strerror(result));
    recorder->connect_error = result;
}

static void take_pairs(struct recorder *recorder)
{
    struct plx_view view;
    int result = 0;

    for (int i = 0; i < PAIRS_AT_ONCE && result == 0; i++) {
        result = plx_next(recorder->client, 0, &view);
        if (result == 0)
            keep_pair(recorder, &view);
    }
    if (result == PLX_ERR_VERSION || result == PLX_ERR_FORMAT) {
        plx_log(LOG_ERR, "%s: %s; it is tried again", recorder->config->publish.socket, plx_strerror(result));
        plx_disconnect(recorder->client);
        recorder->client = NULL;
    }
}

static void watch(struct recorder *recorder)
{
    char reason[PLX_WATCH_REASON];
    const int state = recorder->client ? plx_state(recorder->client) : PLX_STATE_STOPPED;
    const struct plx_watch_sample now = {
        .there = state >= 0 && state != PLX_STATE_STOPPED,
        .state = state,
        .restarts = recorder->client ? plx_restarts(recorder->client) : 0,
        .health = recorder->client ? plx_health(recorder->client) : 0,
    };

    if (!plx_watch_update(&recorder->watch, &now, reason))
        return;
    plx_log(LOG_NOTICE, "fault: %s", reason);
    if (plx_dump_is_open(&recorder->dump) && !recorder->answers) {
        plx_dump_merge(&recorder->dump, reason, plx_now_ns() + AFTER_NS);
    } else if (recorder->pending[0] == '\0') {
        memcpy(recorder->pending, reason, sizeof reason);
        recorder->fault_ns = plx_now_ns();
    }
}

static void sleep_until_something(const struct recorder *recorder, bool more)
{
    struct pollfd ready[] = {
        {.fd = recorder->client ? plx_fd(recorder->client) : -1, .events = POLLIN},
        {.fd = plx_snapshot_server_fd(&recorder->requests), .events = POLLIN},
    };
    poll(ready, sizeof ready / sizeof *ready, more ? 0 : IDLE_MS);
}

/* --- its life ------------------------------------------------------------------------------------------------------- */

static int start(struct recorder *recorder, struct plx_error_message *message)
{
    struct sigaction action = {.sa_handler = on_signal}; /* without SA_RESTART, so that a signal ends poll */
    const struct plx_config *config = recorder->config;

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    recorder->dump =
        (struct plx_dump){.directory = config->recorder.directory, .keep = config->recorder.keep, .ring = &recorder->ring};
    plx_health_flags_parse(config->recorder.flags, &recorder->watch.flags); /* plx_config_check has accepted them */
    int result = plx_snapshot_server_open(&recorder->requests, config->recorder.socket, message);
    if (result < 0)
        return result;
    result = plx_dump_prepare(&recorder->dump, message);
    if (result == 0)
        result = plx_pair_ring_init(&recorder->ring, (size_t)config->recorder.memory_mb << 20, message);
    if (result < 0)
        plx_snapshot_server_close(&recorder->requests);
    return result;
}

/* False: a file lacks pairs. */
static bool finish(struct recorder *recorder)
{
    if (recorder->client)
        take_pairs(recorder);
    const bool whole = end_all(recorder, DRAIN_NS);
    if (recorder->overwritten > 0)
        plx_log(LOG_NOTICE, "%" PRIu64 " pairs were overwritten while they were copied", recorder->overwritten);
    plx_disconnect(recorder->client);
    plx_snapshot_server_close(&recorder->requests);
    plx_pair_ring_finish(&recorder->ring);
    return whole;
}

int plx_flight_recorder_run(const struct plx_config *config)
{
    struct recorder recorder = {.config = config};
    struct plx_error_message message;

    const int result = start(&recorder, &message);
    if (result < 0) {
        plx_log(LOG_ERR, "%s", message.text);
        return plx_exit_code(result);
    }
    for (bool more = false; !stopped;) {
        sleep_until_something(&recorder, more);
        if (!recorder.client)
            connect_service(&recorder);
        if (recorder.client)
            take_pairs(&recorder);
        watch(&recorder);
        plx_snapshot_server_receive(&recorder.requests);
        more = write_pairs(&recorder);
        plx_log_flush();
    }
    return finish(&recorder) ? PLX_EXIT_OK : PLX_EXIT_CANNOT_WRITE;
}
