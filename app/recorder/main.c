/* SPDX-License-Identifier: Apache-2.0 */
/* parallax-recorder: reads the command line, then records. Page: docs/flight-recorder.md. */
#include <unistd.h>

#include <parallax/error.h>

#include "app/exit.h"
#include "app/log.h"
#include "app/options.h"
#include "app/recorder/recorder.h"

int main(int argc, char **argv)
{
    static struct plx_option_list assignments; /* large */
    static struct plx_config config;           /* likewise */
    struct plx_config_source from = {.path = NULL};
    const struct plx_option options[] = {
        PLX_OPTION("config", "FILE", from.path,
                   "reads this configuration (default: " PLX_DEFAULT_CONFIG " if it exists, else every key at its default)"),
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
    if (!from.path && access(PLX_DEFAULT_CONFIG, F_OK) == 0)
        from.path = PLX_DEFAULT_CONFIG;
    from.assignment = assignments.item;
    from.assignments = assignments.count;
    const int result = plx_config_read(&from, &config, &message);
    if (result < 0) {
        plx_log(LOG_ERR, "%s", message.text);
        return result == PLX_ERR_FORMAT ? PLX_EXIT_CONFIG : plx_exit_code(result);
    }
    return plx_recorder_run(&config);
}
