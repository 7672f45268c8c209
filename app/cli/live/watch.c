/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax watch`: what the service sees, live. */
#include "app/cli/live/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/cli/commands.h"
#include "app/cli/live/age.h"
#include "app/cli/live/connection.h"
#include "app/exit.h"
#include "core/clock.h"
#include "core/words.h"

#define LINE_PERIOD_NS PLX_NS_PER_S
#define SCREEN_PERIOD_NS (PLX_NS_PER_S / 2)
#define LAST_LOOK_NS (3 * PLX_NS_PER_S)

void plx_watch_faults(const struct plx_watch *watch, char ret_text[PLX_WATCH_FAULTS])
{
    const char *note = watch->any ? plx_source_note(watch->frame.source) : "";
    char faults[512];
    plx_health_sentence(watch->health, faults, sizeof faults);
    snprintf(ret_text, PLX_WATCH_FAULTS, "%s%s%s", faults, *note ? "; " : "", note);
}

void plx_watch_print_age(const struct plx_watch *watch)
{
    char age[PLX_DURATION_TEXT];
    if (!watch->any) {
        fputs("no frames", stdout);
        return;
    }
    plx_duration_text(plx_age_ns(&watch->frame), age, sizeof age);
    printf("no frames, the last picture is %s old", age);
}

/* One wait for a frame, until UNTIL_NS at the latest. 0 also when none came; an error that ends the watch. */
static int look(struct plx_connection *connection, struct plx_watch *watch, int64_t until_ns)
{
    int64_t left_ms = (until_ns - plx_now_ns()) / PLX_NS_PER_MS + 1;
    int result = plx_connection_next_header(connection, left_ms > 0 ? (int)left_ms : 0, &watch->frame);
    if (result == 0) {
        watch->any = true;
        plx_frame_stats_add(&watch->recent, &watch->frame);
        plx_frame_stats_add(&watch->total, &watch->frame);
    } else if (!watch->any) {
        watch->any = plx_last_header(connection->client, &watch->frame) == 0;
    }
    watch->state = plx_state(connection->client);
    watch->health = plx_health(connection->client);
    watch->on_gpu = plx_launch(connection->client) != 0;
    if (result == PLX_ERR_TIMEOUT || result == PLX_ERR_LOST) /* the library reattaches by itself */
        return 0;
    return result;
}

/* TIMEOUT where the watch ends without a fresh picture. */
static int look_once_more(struct plx_connection *connection, struct plx_watch *watch)
{
    const uint64_t before = watch->total.frames;
    const int result = look(connection, watch, plx_now_ns() + LAST_LOOK_NS);
    return result < 0 || watch->total.frames != before ? result : PLX_ERR_TIMEOUT;
}

/* Until END_NS (0: for ever), a signal, or an error, which is returned. */
static int watch_until(struct plx_connection *connection, struct plx_watch *watch, int64_t end_ns, bool screen)
{
    const int64_t period = screen ? SCREEN_PERIOD_NS : LINE_PERIOD_NS;
    int64_t report_ns = watch->started_ns + period;
    while (!plx_stopped() && (end_ns == 0 || plx_now_ns() < end_ns)) {
        const uint64_t before = watch->total.frames;
        int result = look(connection, watch, end_ns && end_ns < report_ns ? end_ns : report_ns);
        if (result < 0)
            return result;
        if (!screen && watch->total.frames != before)
            plx_watch_changes(watch);
        if (plx_now_ns() < report_ns)
            continue;
        if (screen)
            plx_watch_screen(watch);
        else
            plx_watch_line(watch);
        plx_frame_stats_restart(&watch->recent);
        report_ns += period;
    }
    return 0;
}

static int watch_service(struct plx_connection *connection, double seconds, bool screen)
{
    struct plx_watch *watch = calloc(1, sizeof *watch); /* large */
    if (!watch)
        return plx_connection_fail(connection, PLX_ERR_NOMEM);
    watch->started_ns = plx_now_ns();
    plx_stop_on_signals();
    if (screen)
        plx_watch_screen_begin();
    int result =
        watch_until(connection, watch, seconds > 0 ? watch->started_ns + (int64_t)(seconds * PLX_NS_PER_S) : 0, screen);
    if (screen)
        plx_watch_screen_end();
    if (result == 0 && !plx_stopped() && !plx_is_fresh(&watch->frame)) /* it may only have stumbled */
        result = look_once_more(connection, watch);
    if (watch->total.frames)
        plx_watch_summary(watch);
    free(watch);
    return result < 0 ? plx_connection_fail(connection, result) : PLX_EXIT_OK;
}

int plx_command_watch(int argc, char **argv)
{
    const char *socket = NULL;
    double seconds = 0;
    bool changes = false;
    const struct plx_option options[] = {
        PLX_SOCKET_OPTION(socket),
        PLX_OPTION("seconds", "S", seconds, .help = "ends after S seconds (default: at Ctrl-C)", .min = 0.1, .max = 100000),
        PLX_OPTION("changes", NULL, changes,
                   .help = "prints plain lines: the numbers of every second, and obstacles that appear, move or disappear"),
        {0},
    };
    const struct plx_command_line line = {
        .program = "parallax watch",
        .about =
            "Shows rate, latency of each stage, faults and the nearest obstacles: a screen on a terminal, else plain lines as "
            "with --changes. If the service stops, `watch` waits until it is back.",
        .option = options};
    struct plx_connection connection;

    plx_parse_command_line(&line, argc, argv, NULL);
    int exit_code = plx_connection_open(line.program, socket, &connection);
    if (exit_code != PLX_EXIT_OK)
        return exit_code;
    exit_code = watch_service(&connection, seconds, isatty(STDOUT_FILENO) && !changes);
    plx_connection_close(&connection);
    return exit_code;
}
