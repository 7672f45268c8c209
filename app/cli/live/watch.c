/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax watch`: shows the service until Ctrl-C, as a screen that is redrawn, as plain lines or as a line of JSON a frame.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/cli/commands.h"
#include "app/cli/live/connection.h"
#include "app/cli/live/watch_screen.h"
#include "app/exit.h"
#include "app/view/frame_text.h"
#include "app/view/json.h"
#include "app/view/verdict.h"
#include "core/base/clock.h"
#include "core/base/text.h"

#define LINE_PERIOD_NS PLX_NS_PER_S
#define SCREEN_PERIOD_NS (PLX_NS_PER_S / 2)
#define LAST_WAIT_NS (3 * PLX_NS_PER_S)
/* An obstacle is printed again after its distance changed by this much. */
#define CHANGE_M 0.25f
#define CHANGE_SHARE 0.1f

struct printed_track {
    uint32_t track;
    float nearest_m; /* when it was last printed */
};

struct watch {
    int64_t started_ns;
    struct plx_status status;     /* status.stats: since the last report */
    struct plx_frame_stats total; /* since the start */
    struct plx_confirmed newest;  /* in status.frame, */
    struct plx_confirmed before;  /* and in the frame before, which was read */
    bool verdict_printed;
    struct plx_verdict_now verdict; /* the last one that was printed */
    struct printed_track printed[PLX_MAX_OBSTACLES];
    int printed_count;
};

/* --- plain lines --------------------------------------------------------------------------------------------------- */

static double elapsed_s(const struct watch *watch)
{
    return (double)(plx_now_ns() - watch->started_ns) / PLX_NS_PER_S;
}

static void print_world(const struct watch *watch)
{
    const struct plx_frame *frame = &watch->status.frame;
    const struct plx_obstacle *sorted[PLX_MAX_OBSTACLES];
    char speed[PLX_MOTION_TEXT], blind[PLX_BLIND_SENTENCE];

    plx_blind_sentence(frame->blind, blind, sizeof blind);
    plx_speed_text(&frame->motion, speed, sizeof speed);
    if (frame->blind)
        printf("  obstacles unknown: %s", blind);
    else
        printf("  %d obstacles", plx_obstacles_confirmed(frame, &watch->before, sorted));
    printf("  %s%s", speed, *speed ? "  " : "");
}

static void print_line(const struct watch *watch)
{
    char faults[PLX_FAULTS_TEXT];
    plx_status_faults(&watch->status, faults);
    printf("%6.1f s  %-10s ", elapsed_s(watch), plx_state_word(watch->status.state));
    if (watch->status.stats.frames && plx_is_fresh(&watch->status.frame)) {
        plx_frame_stats_print_rate_columns(&watch->status.stats);
        print_world(watch);
    } else {
        plx_status_print_age(&watch->status);
        fputs("  ", stdout);
    }
    puts(faults);
}

static struct printed_track *find_printed(struct watch *watch, uint32_t track)
{
    for (int i = 0; i < watch->printed_count; i++)
        if (watch->printed[i].track == track)
            return &watch->printed[i];
    return NULL;
}

static bool is_listed(const struct plx_frame *frame, uint32_t track)
{
    for (uint32_t i = 0; i < frame->obstacle_count; i++)
        if (frame->obstacle[i].track == track)
            return true;
    return false;
}

/* A lost track stays in the frame for a while and may be found again: until then the thing is not gone. */
static void print_gone(struct watch *watch)
{
    int kept = 0;
    for (int i = 0; i < watch->printed_count; i++) {
        if (is_listed(&watch->status.frame, watch->printed[i].track))
            watch->printed[kept++] = watch->printed[i];
        else
            printf("%6.1f s    - #%-4u gone\n", elapsed_s(watch), watch->printed[i].track);
    }
    watch->printed_count = kept;
}

static void print_changes(struct watch *watch)
{
    const struct plx_obstacle *sorted[PLX_MAX_OBSTACLES];
    int count = plx_obstacles_confirmed(&watch->status.frame, &watch->before, sorted);
    print_gone(watch);
    for (int i = 0; i < count; i++) {
        struct printed_track *printed = find_printed(watch, sorted[i]->track);
        float limit = printed ? fmaxf(CHANGE_M, CHANGE_SHARE * printed->nearest_m) : 0;
        if (printed && fabsf(sorted[i]->nearest_m - printed->nearest_m) < limit)
            continue;
        char text[PLX_OBSTACLE_TEXT];
        plx_obstacle_text(sorted[i], true, text, sizeof text);
        printf("%6.1f s    %c %s\n", elapsed_s(watch), printed ? ' ' : '+', text);
        if (!printed)
            printed = &watch->printed[watch->printed_count++];
        *printed = (struct printed_track){sorted[i]->track, sorted[i]->nearest_m};
    }
}

/* With zones only: without, it is always stop. */
static void print_verdict_change(struct watch *watch)
{
    const struct plx_verdict_now *now = &watch->status.verdict;
    char text[PLX_VERDICT_TEXT];

    if (watch->status.frame.zone[0].points == 0 || (watch->verdict_printed && plx_verdict_is_same(now, &watch->verdict)))
        return;
    plx_verdict_text(now, text, sizeof text);
    printf("%6.1f s  verdict    %s\n", elapsed_s(watch), text);
    watch->verdict = *now;
    watch->verdict_printed = true;
}

static void print_summary(const struct watch *watch)
{
    const struct plx_frame_stats *stats = &watch->total;
    printf("%.1f s: %llu frames, ", elapsed_s(watch), (unsigned long long)stats->frames);
    plx_frame_stats_print_rates(stats);
    fputs("\nstages, ms:", stdout);
    plx_frame_stats_print_stage_times(stats);
}

/* --- reports -------------------------------------------------------------------------------------------------------- */

enum form { SCREEN, LINES, JSON };

/* Rate and latency of JSON are those since the line before. */
static void print_json(struct watch *watch, bool is_new)
{
    struct plx_status *status = &watch->status;

    status->fresh = is_new && plx_is_fresh(&status->frame);
    status->age_ns = status->any ? plx_age_ns(&status->frame) : INT64_MAX;
    plx_json_print_line(plx_status_json(status));
    plx_frame_stats_restart(&status->stats);
}

static void report_frame(struct watch *watch, enum form form)
{
    if (form == LINES && !watch->status.frame.blind) /* else tracks are not gone: nobody can see them */
        print_changes(watch);
    else if (form == JSON)
        print_json(watch, true);
}

/* At the end of a period, in which FRAMES came. */
static void report_period(struct watch *watch, enum form form, uint64_t frames)
{
    if (form == SCREEN)
        plx_watch_screen(&watch->status, &watch->before);
    else if (form == LINES)
        print_line(watch);
    else if (frames == 0)
        print_json(watch, false);
    plx_frame_stats_restart(&watch->status.stats);
}

/* --- the loop ------------------------------------------------------------------------------------------------------ */

/* Waits for one frame, until UNTIL_NS at the latest. 0 also without a frame; an error ends the watch. */
static int wait_for_frame(struct plx_connection *connection, struct watch *watch, int64_t until_ns)
{
    int64_t remaining_ms = (until_ns - plx_now_ns()) / PLX_NS_PER_MS + 1;
    int result = plx_connection_next_header(connection, remaining_ms > 0 ? (int)remaining_ms : 0, &watch->status.frame);
    if (result == 0) {
        watch->status.any = true;
        watch->status.free_m = connection->free_m;
        watch->status.drop = connection->drop;
        watch->before = watch->newest;
        plx_confirmed_keep(&watch->newest, watch->status.frame.obstacle, watch->status.frame.obstacle_count);
        plx_frame_stats_add(&watch->status.stats, &watch->status.frame);
        plx_frame_stats_add(&watch->total, &watch->status.frame);
    } else if (!watch->status.any) {
        watch->status.any = plx_last_header(connection->client, &watch->status.frame) == 0;
    }
    plx_status_read(connection->client, &watch->status);
    if (result == PLX_ERR_TIMEOUT || result == PLX_ERR_LOST) /* libparallax attaches again */
        return 0;
    return result;
}

/* TIMEOUT if the watch ends without a fresh picture. */
static int wait_for_last_frame(struct plx_connection *connection, struct watch *watch)
{
    const uint64_t before = watch->total.frames;
    const int result = wait_for_frame(connection, watch, plx_now_ns() + LAST_WAIT_NS);
    return result < 0 || watch->total.frames != before ? result : PLX_ERR_TIMEOUT;
}

/* Watches until END_NS (0: no limit), a signal, or an error, which is returned; END if the output cannot be written. */
static int watch_until(struct plx_connection *connection, struct watch *watch, int64_t end_ns, enum form form)
{
    const int64_t period = form == SCREEN ? SCREEN_PERIOD_NS : LINE_PERIOD_NS;
    int64_t report_ns = watch->started_ns + period;
    uint64_t reported = 0; /* frames at the last report of a period */
    while (!plx_stopped() && (end_ns == 0 || plx_now_ns() < end_ns)) {
        const uint64_t before = watch->total.frames;
        int result = wait_for_frame(connection, watch, end_ns && end_ns < report_ns ? end_ns : report_ns);
        if (result < 0)
            return result;
        if (watch->total.frames != before)
            report_frame(watch, form);
        if (form == LINES)
            print_verdict_change(watch);
        if (plx_now_ns() >= report_ns) {
            report_period(watch, form, watch->total.frames - reported);
            reported = watch->total.frames;
            report_ns += period;
        }
        if (!plx_exit_flush_output() || plx_exit_reader_is_gone())
            return PLX_ERR_END;
    }
    return 0;
}

struct request {
    double seconds; /* 0 = until Ctrl-C */
    enum form form;
};

static int watch_service(struct plx_connection *connection, void *context)
{
    const struct request *request = context;
    struct watch *watch = calloc(1, sizeof *watch); /* large */
    if (!watch)
        return plx_connection_fail(connection, PLX_ERR_NOMEM);
    watch->started_ns = plx_now_ns();
    const int64_t end_ns = request->seconds > 0 ? watch->started_ns + (int64_t)(request->seconds * PLX_NS_PER_S) : 0;
    plx_stop_on_signals();
    plx_exit_allow_closed_pipe();
    if (request->form == SCREEN)
        plx_watch_screen_begin();
    int result = watch_until(connection, watch, end_ns, request->form);
    if (request->form == SCREEN)
        plx_watch_screen_end();
    if (result == 0 && !plx_stopped() && !plx_is_fresh(&watch->status.frame)) /* a single late frame is no failure */
        result = wait_for_last_frame(connection, watch);
    if (watch->total.frames && request->form != JSON && result != PLX_ERR_END)
        print_summary(watch);
    free(watch);
    return result < 0 && result != PLX_ERR_END ? plx_connection_fail(connection, result) : PLX_EXIT_OK;
}

int plx_command_watch(int argc, char **argv)
{
    const char *socket = NULL;
    struct request request = {.seconds = 0};
    bool changes = false, json = false;
    const struct plx_option options[] = {
        PLX_SOCKET_OPTION(socket),
        PLX_OPTION("seconds", "S", request.seconds, "ends after S seconds (default: at Ctrl-C)", .min = 0.1, .max = 100000),
        PLX_OPTION(
            "changes", NULL, changes,
            "prints plain lines: the numbers of every second, obstacles that appear, move or disappear, and each new verdict"),
        PLX_OPTION("json", NULL, json, "prints a line of JSON for each frame, and one for each second without a frame"),
        {0},
    };
    const struct plx_command_line line = {.program = "parallax watch",
                                          .about = "Shows rate, latency of each stage, faults, motion and the nearest "
                                                   "obstacles: a screen on a terminal, else plain lines as "
                                                   "with --changes. If the service stops, `watch` waits until it is back.",
                                          .option = options};

    plx_parse_command_line(&line, argc, argv, NULL);
    if (changes && json)
        return plx_exit_error(line.program, PLX_EXIT_USAGE, "--changes and --json exclude each other");
    request.form = json ? JSON : changes || !isatty(STDOUT_FILENO) ? LINES : SCREEN;
    return plx_connection_run(line.program, socket, watch_service, &request);
}
