/* SPDX-License-Identifier: Apache-2.0 */
#include "app/cli/live/connection.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>
#include <parallax/shm.h>

#include "app/exit.h"
#include "app/view/export.h"
#include "app/view/frame_text.h"
#include "core/base/clock.h"
#include "core/base/text.h"

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

void plx_stop_on_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal}; /* without SA_RESTART, so that a signal ends a wait */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool plx_stopped(void)
{
    return stopped != 0;
}

int plx_connection_run(const char *command, const char *socket, int (*work)(struct plx_connection *connection, void *context),
                       void *context)
{
    struct plx_connection connection = {.command = command, .socket = plx_socket_path(socket)};

    int result = plx_connect(connection.socket, &connection.client);
    if (result < 0)
        return plx_connection_fail(&connection, result);
    const int exit_code = work(&connection, context);
    plx_disconnect(connection.client);
    free(connection.frame);
    return exit_code;
}

int plx_connection_fail(const struct plx_connection *connection, int error)
{
    static const struct {
        int error, exit_code;
        const char *sentence;
    } known[] = {
        {PLX_ERR_NOT_FOUND, PLX_EXIT_UNAVAILABLE, "no service there; start parallaxd, or name its socket with --socket"},
        {PLX_ERR_PERMISSION, PLX_EXIT_PERMISSION, "not allowed; join the group of the socket (ls -l shows it)"},
        {PLX_ERR_BUSY, PLX_EXIT_BUSY,
         "the service has no place left for another client of this user or process; its log names the limit"},
        {PLX_ERR_TIMEOUT, PLX_EXIT_UNAVAILABLE, "the service does not answer; see its log"},
        {PLX_ERR_LOST, PLX_EXIT_UNAVAILABLE, "the service stopped; start it again"},
        {PLX_ERR_FORMAT, PLX_EXIT_UNAVAILABLE,
         "the program behind this socket is not parallaxd, or its shared memory is damaged; check --socket"},
        {PLX_ERR_RANGE, PLX_EXIT_USAGE, "the path of the socket is too long; expected at most 107 bytes"},
    };
    const int state = connection->client ? plx_state(connection->client) : PLX_STATE_STOPPED;
    if ((error == PLX_ERR_TIMEOUT || error == PLX_ERR_LOST) && state >= 0 && state != PLX_STATE_STOPPED) {
        char faults[512], reason[PLX_REASON_BYTES] = "";
        plx_health_sentence(plx_health(connection->client), faults, sizeof faults);
        plx_reason(connection->client, reason, sizeof reason);
        return plx_exit_error(connection->command, PLX_EXIT_UNAVAILABLE, "%s: no fresh picture; the service is %s (%s): %s",
                              connection->socket, plx_state_word((uint32_t)state), faults, *reason ? reason : "see its log");
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].error == error)
            return plx_exit_error(connection->command, known[i].exit_code, "%s: %s", connection->socket, known[i].sentence);
    return plx_exit_error(connection->command, plx_exit_code(error), "%s: %s", connection->socket, plx_strerror(error));
}

static int remaining_ms(int64_t deadline_ns)
{
    int64_t remaining_ns = deadline_ns - plx_now_ns();
    return remaining_ns > 0 ? (int)(remaining_ns / PLX_NS_PER_MS + 1) : 0;
}

int plx_connection_next_header(struct plx_connection *connection, int timeout_ms, struct plx_frame *ret_frame)
{
    const int64_t deadline_ns = plx_now_ns() + timeout_ms * PLX_NS_PER_MS;
    for (bool again = true;;) {
        struct plx_view view;
        int result = plx_next(connection->client, remaining_ms(deadline_ns), &view);
        if (result == 0) {
            memcpy(ret_frame, view.frame, sizeof *ret_frame);
            ret_frame->obstacle_count = view.obstacle_count;
            connection->free_m = plx_free_ahead(&view);
            connection->drop = plx_drop_ahead(&view);
            result = plx_release(connection->client, &view);
        }
        if (result == PLX_ERR_OVERWRITTEN)
            continue;
        if (result != PLX_ERR_LOST || !again)
            return result;
        again = false; /* plx_next returns LOST at once; the next call waits until the service is back */
    }
}

int plx_connection_next_frame(struct plx_connection *connection, int timeout_ms)
{
    const int64_t deadline_ns = plx_now_ns() + timeout_ms * PLX_NS_PER_MS;
    for (bool again = true;;) {
        size_t bytes = 0;
        int result = plx_copy(connection->client, remaining_ms(deadline_ns), connection->frame, connection->capacity, &bytes);
        if (result == PLX_ERR_LOST && again) {
            again = false;
            continue;
        }
        if (result != PLX_ERR_RANGE)
            return result;
        struct plx_frame *larger = realloc(connection->frame, bytes);
        if (!larger)
            return PLX_ERR_NOMEM;
        connection->frame = larger;
        connection->capacity = bytes;
    }
}

struct plx_image plx_connection_plane(const struct plx_connection *connection, enum plx_plane_id id)
{
    return plx_export_plane(connection->frame, id);
}

void plx_print_source_note(const struct plx_frame *frame)
{
    const char *note = plx_source_note(frame->source);
    if (*note)
        printf("note: %s\n", note);
}
