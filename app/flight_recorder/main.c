/* SPDX-License-Identifier: Apache-2.0 */
/* parallax-recorder: reads the command line, then records. Page: docs/flight-recorder.md. */
#include <parallax/error.h>

#include "app/exit.h"
#include "app/flight_recorder/flight_recorder.h"
#include "app/log.h"
#include "app/options.h"
#include "app/service_config.h"

int main(int argc, char **argv)
{
    static struct plx_option_list assignments; /* large */
    static struct plx_config config;           /* likewise */
    const char *path = NULL;
    const struct plx_option options[] = {
        PLX_OPTION("config", "FILE", path, PLX_SERVICE_CONFIG_HELP),
        PLX_OPTION("set", "KEY=VALUE", assignments, "sets one key after the file was read; may be repeated"),
        {0},
    };
    const struct plx_command_line line = {
        .program = "parallax-recorder",
        .about = "Keeps the last pairs of the service in memory, and writes them into an MCAP file after a fault, or when "
                 "`parallax snapshot --last` asks. SIGTERM and SIGINT stop it. parallax-recorder(8) describes it.",
        .option = options};
    struct plx_error_message message;

    plx_log_open("parallax-recorder");
    plx_parse_command_line(&line, argc, argv, NULL);
    const int result = plx_service_config_read(path, &assignments, &config, &message);
    if (result < 0) {
        plx_log(LOG_ERR, "%s", message.text);
        return result == PLX_ERR_FORMAT ? PLX_EXIT_CONFIG : plx_exit_code(result);
    }
    return plx_flight_recorder_run(&config);
}
