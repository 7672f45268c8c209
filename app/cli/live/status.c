/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax status`: reads the service once. */
#include "app/cli/live/status.h"

#include <stdio.h>

#include <parallax/error.h>

#include "app/cli/commands.h"
#include "app/cli/live/connection.h"
#include "app/exit.h"
#include "core/clock.h"
#include "core/text.h"

#define MEASURE_NS PLX_NS_PER_S

/* Waits for a fresh frame, then reads the frames of one second. An error if the last one is not fresh. */
static int measure(struct plx_connection *connection, struct plx_status *status)
{
    struct plx_frame *frame = &status->frame;
    struct plx_frame_stats stats = {.frames = 0};
    int result = plx_connection_next_header(connection, PLX_FRESH_FRAME_MS, frame);
    const int64_t end = plx_now_ns() + MEASURE_NS;
    for (int64_t left_ms = 1; result == 0 && left_ms > 0;) {
        plx_frame_stats_add(&stats, frame);
        left_ms = stats.frames < 2 ? PLX_FRESH_FRAME_MS : (end - plx_now_ns()) / PLX_NS_PER_MS; /* a rate needs two */
        if (left_ms > 0 && plx_connection_next_header(connection, (int)left_ms, frame) < 0)
            break;
    }
    if (result == 0 && !plx_is_fresh(frame)) /* it may have been late only once */
        result = plx_connection_next_header(connection, PLX_FRESH_FRAME_MS, frame);
    status->any = status->fresh = result == 0;
    if (result == 0)
        status->stats = stats;
    return result;
}

int plx_status_read(struct plx_client *client, struct plx_status *status)
{
    const int state = plx_state(client);
    if (state < 0)
        return state;
    status->up = true;
    status->state = (uint32_t)state;
    status->health = plx_health(client);
    status->restarts = plx_restarts(client);
    status->schedule = plx_gpu_schedule(client);
    plx_reason(client, status->reason, sizeof status->reason);
    return 0;
}

void plx_status_faults(const struct plx_status *status, char ret_text[PLX_FAULTS_TEXT])
{
    const char *note = status->any ? plx_source_note(status->frame.source) : "";
    char faults[512];
    plx_health_sentence(status->health, faults, sizeof faults);
    snprintf(ret_text, PLX_FAULTS_TEXT, "%s%s%s", faults, *note ? "; " : "", note);
}

static int read_status(struct plx_connection *connection, struct plx_status *status)
{
    int result = measure(connection, status);
    if (result == 0 || result == PLX_ERR_TIMEOUT || result == PLX_ERR_LOST)
        result = plx_status_read(connection->client, status);
    if (result == 0 && status->state == PLX_STATE_STOPPED)
        result = PLX_ERR_LOST;
    if (result == 0 && !status->any)
        status->any = plx_last_header(connection->client, &status->frame) == 0;
    status->age_ns = status->any ? plx_age_ns(&status->frame) : INT64_MAX;
    return result;
}

int plx_command_status(int argc, char **argv)
{
    const char *socket = NULL;
    bool json = false;
    const struct plx_option options[] = {
        PLX_SOCKET_OPTION(socket),
        PLX_OPTION("json", NULL, json, .help = "prints JSON"),
        {0},
    };
    const struct plx_command_line line = {
        .program = "parallax status",
        .about =
            "Shows what the service is doing: state, faults, rate, age and latency of the picture, calibration, ground and "
            "obstacles. It looks at the frames of one second. The exit code is 69 without a service, or if no fresh picture "
            "comes within 3 s; `status` then marks the last picture as OLD and leaves out ground and obstacles.",
        .option = options};
    static struct plx_status status; /* large */
    struct plx_connection connection;

    plx_parse_command_line(&line, argc, argv, NULL);
    int exit_code = plx_connection_open(line.program, socket, &connection);
    if (exit_code != PLX_EXIT_OK)
        return exit_code;
    const int result = read_status(&connection, &status);
    if (result == 0 && json)
        plx_status_print_json(&status);
    else if (result == 0)
        plx_status_print_text(&status);
    if (result < 0 || !status.fresh)
        exit_code = plx_connection_fail(&connection, result < 0 ? result : PLX_ERR_TIMEOUT);
    plx_connection_close(&connection);
    return exit_code;
}
