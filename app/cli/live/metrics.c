/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax metrics`: the state of the service as Prometheus text, for the textfile collector of node_exporter, or as JSON. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/cli/commands.h"
#include "app/cli/live/connection.h"
#include "app/exit.h"
#include "app/view/json.h"
#include "app/view/metrics.h"

#define FRAME_MS 1000

/* Without a service STATUS has up false, which is no error. */
static void read_status(const char *socket, struct plx_status *status)
{
    struct plx_connection connection = {.socket = socket};

    *status = (struct plx_status){.state = PLX_STATE_STOPPED, .health = PLX_HEALTH_NO_FRAMES};
    if (plx_connect(socket, &connection.client) < 0)
        return;
    status->fresh = plx_connection_next_header(&connection, FRAME_MS, &status->frame) == 0;
    status->any = status->fresh || plx_last_header(connection.client, &status->frame) == 0;
    if (plx_status_read(connection.client, status) < 0) { /* damaged memory */
        status->up = true;
        status->state = PLX_STATE_FAILED;
    }
    plx_disconnect(connection.client);
}

/* Replaces PATH atomically, because the collector may read it at any moment. */
static int write_file(const char *path, const struct plx_status *status)
{
    char part[4096];
    if (snprintf(part, sizeof part, "%s.XXXXXX", path) >= (int)sizeof part)
        return plx_exit_error("parallax metrics", PLX_EXIT_USAGE,
                              "--output: the path is too long; expected less than 4089 bytes");
    const int fd = mkstemp(part);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!out) {
        if (fd >= 0)
            close(fd);
        return plx_exit_error("parallax metrics", PLX_EXIT_CANNOT_WRITE, "%s: cannot create: %s", path, strerror(errno));
    }
    plx_metrics_print(out, status);
    const bool readable = fchmod(fd, 0644) == 0; /* the collector runs as another user */
    const bool complete = !ferror(out);
    if (fclose(out) == 0 && complete && readable && rename(part, path) == 0)
        return PLX_EXIT_OK;
    const int error = errno;
    unlink(part);
    return plx_exit_error("parallax metrics", PLX_EXIT_CANNOT_WRITE, "%s: cannot write: %s", path, strerror(error));
}

int plx_command_metrics(int argc, char **argv)
{
    const char *socket = NULL, *output = NULL;
    bool json = false;
    const struct plx_option options[] = {
        PLX_SOCKET_OPTION(socket),
        PLX_OPTION("output", "FILE", output, "replaces FILE (NAME.prom for the textfile collector) instead of printing"),
        PLX_OPTION("json", NULL, json, "prints JSON: {NAME: {help, type, samples: [{labels, value}]}}"),
        {0},
    };
    const struct plx_command_line line = {
        .program = "parallax metrics",
        .about =
            "Prints state, faults, counters and times as Prometheus text, for the textfile collector of node_exporter. Without "
            "a service it prints parallax_up 0, with exit code 0, so that no old numbers remain.",
        .option = options};
    static struct plx_status status; /* large */

    plx_parse_command_line(&line, argc, argv, NULL);
    if (output && json)
        return plx_exit_error("parallax metrics", PLX_EXIT_USAGE, "--output writes Prometheus text; leave out --json");
    read_status(socket, &status);
    if (output)
        return write_file(output, &status);
    if (json)
        plx_json_print(plx_metrics_json(&status));
    else
        plx_metrics_print(stdout, &status);
    return PLX_EXIT_OK;
}
