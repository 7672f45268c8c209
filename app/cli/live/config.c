/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax config`: the configuration that the running service has in force. */
#include <stdio.h>
#include <stdlib.h>

#include <parallax/client.h>
#include <parallax/region.h>

#include "app/cli/commands.h"
#include "app/cli/live/connection.h"
#include "app/exit.h"

int plx_command_config(int argc, char **argv)
{
    const char *socket = NULL;
    const struct plx_option table[] = {PLX_SOCKET_OPTION(socket)};
    const struct plx_usage usage = {
        .command = "config",
        .synopsis = "[options]",
        .about =
            "Prints the configuration that the service has in force, every key: of its file, --set and reloads what it has\n"
            "taken, whatever a file says by now. parallaxd --config reads it back.",
        .option = table,
        .option_count = sizeof table / sizeof *table};
    static char text[PLX_CONFIG_BYTES + 1]; /* large */
    struct plx_connection online;
    int exit_code;
    size_t bytes;
    if (!plx_connection_parse(&usage, argc, argv, &socket, NULL, &online, &exit_code))
        return exit_code;
    const int result = plx_config(online.socket, text, sizeof text, &bytes);
    if (result < 0)
        return plx_connection_fail(&online, result);
    fputs(text, stdout);
    return PLX_EXIT_OK;
}
