/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax verdict`: may the robot go? As an exit code, as text, as JSON. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <parallax/error.h>

#include "app/cli/commands.h"
#include "app/cli/live/connection.h"
#include "app/exit.h"
#include "app/view/json.h"
#include "app/view/verdict.h"
#include "core/base/clock.h"

#define LOOK_NS (5 * PLX_NS_PER_MS) /* between two looks of --watch */
#define FIRST_NS PLX_NS_PER_S       /* a service that has just started gets so long for its first verdict */

static const char program[] = "parallax verdict";

struct request {
    bool watch, json;
};

static int exit_code(uint32_t verdict)
{
    return verdict == PLX_VERDICT_GO ? PLX_EXIT_OK : verdict == PLX_VERDICT_SLOW ? PLX_EXIT_SLOW : PLX_EXIT_STOP;
}

static void print(const struct plx_verdict_now *verdict, bool json)
{
    char text[PLX_VERDICT_TEXT];

    if (json) {
        plx_json_print_line(plx_verdict_json(verdict));
        return;
    }
    plx_verdict_text(verdict, text, sizeof text);
    puts(text);
}

/* Whether a person would call both the same. */
static bool is_same(const struct plx_verdict_now *a, const struct plx_verdict_now *b)
{
    return a->verdict == b->verdict && a->reasons == b->reasons && a->faults == b->faults && strcmp(a->name, b->name) == 0;
}

static void pause_look(void)
{
    const struct timespec pause = {.tv_nsec = LOOK_NS};
    nanosleep(&pause, NULL);
}

/* The first verdict: where there is none yet, the service may have begun a moment ago. */
static struct plx_verdict_now first_verdict(struct plx_client *client)
{
    const int64_t until = plx_now_ns() + FIRST_NS;
    struct plx_verdict_now verdict;

    plx_verdict(client, &verdict);
    while (verdict.reasons & PLX_REASON_STALE && plx_now_ns() < until && !plx_stopped()) {
        pause_look();
        plx_verdict(client, &verdict);
    }
    return verdict;
}

static int judge(struct plx_client *client, const struct request *request)
{
    struct plx_verdict_now shown = first_verdict(client), verdict;

    print(&shown, request->json);
    while (request->watch && !plx_stopped() && plx_exit_flush_output()) {
        pause_look();
        plx_verdict(client, &verdict);
        if (!is_same(&verdict, &shown))
            print(&verdict, request->json);
        shown = verdict;
    }
    return exit_code(shown.verdict);
}

int plx_command_verdict(int argc, char **argv)
{
    const char *socket = NULL;
    struct request request = {.watch = false};
    const struct plx_option options[] = {
        PLX_SOCKET_OPTION(socket),
        PLX_OPTION("watch", NULL, request.watch, "prints a line whenever the verdict changes, until Ctrl-C"),
        PLX_OPTION("json", NULL, request.json, "prints JSON, one object a line"),
        {0},
    };
    const struct plx_command_line line = {
        .program = program,
        .about =
            "Prints whether the robot may go: go (exit code 0), slow (2) or stop (3), and why, by the zones and checks of the "
            "configuration. Without a service, or when its verdict is too old, it is stop. Nothing of this is certified.",
        .option = options};
    struct plx_client *client = NULL;

    plx_parse_command_line(&line, argc, argv, NULL);
    plx_stop_on_signals();
    plx_exit_allow_closed_pipe();
    const int result = request.watch ? plx_connect_wait(socket, 0, &client) : plx_connect(socket, &client);
    if (result < 0 && result != PLX_ERR_NOT_FOUND && result != PLX_ERR_TIMEOUT) {
        const struct plx_connection connection = {.command = program, .socket = plx_socket_path(socket)};
        plx_connection_fail(&connection, result);
        return PLX_EXIT_STOP;
    }
    const int code = judge(client, &request);
    plx_disconnect(client);
    return code;
}
