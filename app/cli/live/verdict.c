/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax verdict`: may the robot go? As an exit code, as text, as JSON. */
#include <stdio.h>
#include <time.h>

#include <parallax/error.h>

#include "app/cli/commands.h"
#include "app/cli/live/connection.h"
#include "app/exit.h"
#include "app/view/json.h"
#include "app/view/verdict.h"
#include "core/base/clock.h"

#define READ_INTERVAL_NS (5 * PLX_NS_PER_MS) /* between two reads of --watch */
#define FIRST_NS PLX_NS_PER_S                /* a service that has just started gets so long for its first verdict */

static const char program[] = "parallax verdict";

struct request {
    const char *socket;
    bool watch, json;
    struct plx_client *client; /* NULL while there is no service */
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

static void pause_between_reads(void)
{
    const struct timespec pause = {.tv_nsec = READ_INTERVAL_NS};
    nanosleep(&pause, NULL);
}

/* The verdict now. A service that starts later is found. */
static struct plx_verdict_now read_verdict(struct request *request)
{
    struct plx_verdict_now verdict;

    if (!request->client)
        plx_connect(request->socket, &request->client);
    plx_verdict(request->client, &verdict);
    return verdict;
}

/* The first verdict: where there is none yet, the service may have begun a moment ago. */
static struct plx_verdict_now first_verdict(struct request *request)
{
    const int64_t until = plx_now_ns() + FIRST_NS;
    struct plx_verdict_now verdict = read_verdict(request);

    while (verdict.reasons & PLX_REASON_STALE && plx_now_ns() < until && !plx_stopped()) {
        pause_between_reads();
        verdict = read_verdict(request);
    }
    return verdict;
}

static int judge(struct request *request)
{
    struct plx_verdict_now shown = first_verdict(request);

    print(&shown, request->json);
    while (request->watch && !plx_stopped() && plx_exit_flush_output()) {
        pause_between_reads();
        const struct plx_verdict_now verdict = read_verdict(request);
        if (!plx_verdict_is_same(&verdict, &shown))
            print(&verdict, request->json);
        shown = verdict;
    }
    return exit_code(shown.verdict);
}

int plx_command_verdict(int argc, char **argv)
{
    struct request request = {.socket = NULL};
    const struct plx_option options[] = {
        PLX_SOCKET_OPTION(request.socket),
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

    plx_parse_command_line(&line, argc, argv, NULL);
    plx_stop_on_signals();
    plx_exit_allow_closed_pipe();
    const int result = plx_connect(request.socket, &request.client);
    if (result < 0 && result != PLX_ERR_NOT_FOUND && result != PLX_ERR_TIMEOUT) {
        const struct plx_connection connection = {.command = program, .socket = plx_socket_path(request.socket)};
        plx_connection_fail(&connection, result);
        return PLX_EXIT_STOP;
    }
    const int exit_code = judge(&request);
    plx_disconnect(request.client);
    return exit_code;
}
