/* SPDX-License-Identifier: Apache-2.0 */
/* The command `parallax`: a table of subcommands. */
#include <stdio.h>
#include <string.h>

#include "app/cli/commands.h"
#include "app/cli/options.h"
#include "app/exit.h"
#include "app/version.h"

static const struct {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} command[] = {
    {"run", "disparity and obstacles of stereo pairs in files, without the service", plx_command_run},
    {"status", "what the service is doing", plx_command_status},
    {"watch", "rate, latency, health and obstacles, live", plx_command_watch},
    {"snapshot", "write one frame of the service as pictures and point cloud", plx_command_snapshot},
    {"record", "write the service's pairs into a directory that can be replayed", plx_command_record},
    {"cameras", "what cameras there are, what they offer, how to configure them", plx_command_cameras},
    {"metrics", "state, faults and times as Prometheus text", plx_command_metrics},
    {"config", "the configuration that the service has in force", plx_command_config},
    {"blackbox", "what the service's black box holds of its last seconds", plx_command_blackbox},
    {"report", "gather what is needed to understand a fault", plx_command_report},
    {"tune", "measure on this GPU what is fastest, for the service", plx_command_tune},
};
#define COMMANDS (int)(sizeof command / sizeof *command)

static int print_help(void)
{
    puts(
        "Usage: parallax COMMAND [options]\n\nReads what the Parallax service publishes, or works on stereo pairs in files.\n");
    puts("Commands:");
    for (int i = 0; i < COMMANDS; i++)
        printf("  %-10s %s\n", command[i].name, command[i].summary);
    puts("\n`parallax COMMAND --help` lists the options of a command. The service is `parallaxd`.\n"
         "The socket is --socket, else $PARALLAX_SOCKET, else /run/parallax/parallax.sock.");
    return PLX_EXIT_OK;
}

/* What was printed must have arrived too. */
static int finish(int exit_code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return exit_code;
    perror("parallax: cannot write the output");
    return exit_code == PLX_EXIT_OK ? PLX_EXIT_IO : exit_code;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return finish(print_help());
    if (strcmp(name, "--version") == 0) {
        plx_print_version("parallax");
        return finish(PLX_EXIT_OK);
    }
    for (int i = 0; i < COMMANDS; i++)
        if (strcmp(name, command[i].name) == 0)
            return finish(command[i].run(argc - 1, argv + 1));
    const char *nearest = plx_nearest_name(name, &command[0].name, COMMANDS, sizeof command[0]);
    if (nearest)
        fprintf(stderr, "parallax: unknown command %s; did you mean %s? (parallax --help)\n", name, nearest);
    else
        fprintf(stderr,
                "parallax: %s%s; expected run, status, watch, snapshot, record, cameras, metrics, config, blackbox, report or "
                "tune (parallax --help)\n",
                *name ? "unknown command " : "a command is missing", name);
    return PLX_EXIT_USAGE;
}
