/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax config`: the configuration that the running service has in force. */
#include <stdio.h>

#include <parallax/client.h>
#include <parallax/shm.h>

#include "app/cli/commands.h"
#include "app/cli/live/connection.h"
#include "app/exit.h"

int plx_command_config(int argc, char **argv)
{
    const char *socket = NULL;
    const struct plx_option options[] = {PLX_SOCKET_OPTION(socket), {0}};
    const struct plx_command_line line = {
        .program = "parallax config",
        .about =
            "Prints the configuration that the service uses, every key: its file, --set and all reloads, even after the file "
            "changed. `parallaxd --config` reads the output back.",
        .option = options};
    static char text[PLX_CONFIG_BYTES + 1]; /* large */
    size_t bytes;

    plx_parse_command_line(&line, argc, argv, NULL);
    const struct plx_connection connection = {.command = line.program, .socket = plx_socket_path(socket)};
    const int result = plx_config(connection.socket, text, sizeof text, &bytes);
    if (result < 0)
        return plx_connection_fail(&connection, result);
    fputs(text, stdout);
    return PLX_EXIT_OK;
}
