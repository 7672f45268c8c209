/* SPDX-License-Identifier: Apache-2.0 */
/* The program `parallax`: finds the command and runs it. */
#include <stdio.h>
#include <string.h>

#include "app/cli/commands.h"
#include "app/exit.h"
#include "app/options.h"
#include "app/selftest/selftest.h"

static const struct command {
    const char *name, *summary;
    int (*run)(int argc, char **argv); /* NULL: a heading */
} command[] = {
    {"", "Live, beside the service:", NULL},
    {"status", "shows what the service is doing", plx_command_status},
    {"watch", "shows rate, latency, health and obstacles until Ctrl-C", plx_command_watch},
    {"verdict", "says whether the robot may go: go, slow or stop", plx_command_verdict},
    {"locate", "says where the thing in a box of the picture is", plx_command_locate},
    {"snapshot", "writes one frame as pictures and point cloud", plx_command_snapshot},
    {"record", "writes stereo pairs into a directory that can be replayed", plx_command_record},
    {"pipe", "writes pictures as Y4M video, for ffmpeg", plx_command_pipe},
    {"metrics", "prints state, faults and times as Prometheus text", plx_command_metrics},
    {"config", "prints the configuration that the service uses", plx_command_config},
    {"cameras", "lists the cameras and suggests a configuration", plx_command_cameras},
    {"blackbox", "prints the last seconds of the service", plx_command_blackbox},
    {"calibration", "shows, accepts and takes back corrections of the calibration", plx_command_calibration},
    {"wall", "measures how good the depth of a wall is: bias, noise, fill", plx_command_wall},
    {"doctor", "says what is wrong with this installation, and what to do", plx_command_doctor},
    {"report", "collects what another person needs to understand a fault", plx_command_report},
    {"", "\nOffline, without the service:", NULL},
    {"run", "computes disparity and obstacles of stereo pairs in files", plx_command_run},
    {"calibrate", "calibrates cameras from recorded pairs of a chessboard", plx_command_calibrate},
    {"tune", "measures the fastest GPU schedule for the service", plx_command_tune},
    {"selftest", "checks processors, GPU, shared memory and cameras of this machine", plx_command_selftest},
};
#define COMMANDS (int)(sizeof command / sizeof *command)

/* The text of --help above the options. */
static const char *list_commands(void)
{
    static char text[2048];
    int used =
        snprintf(text, sizeof text, "Shows what the Parallax service publishes, or processes stereo pairs in files.\n\n");
    for (int i = 0; i < COMMANDS; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, command[i].run ? "  %-11s %s\n" : "%s%s\n", command[i].name,
                         command[i].summary);
    snprintf(text + used, sizeof text - (size_t)used,
             "\n`parallax COMMAND --help` lists the options of a command. The service is `parallaxd`.");
    return text;
}

static int fail_unknown_command(const char *name)
{
    const char *nearest = plx_nearest_name(name, &command[0].name, COMMANDS, sizeof command[0]);
    char known[256] = "";

    if (nearest && *nearest)
        return plx_exit_error("parallax", PLX_EXIT_USAGE, "unknown command %s; did you mean %s? (parallax --help)", name,
                              nearest);
    for (int i = 0, used = 0; i < COMMANDS; i++)
        if (command[i].run)
            used += snprintf(known + used, sizeof known - (size_t)used, "%s%s",
                             used == 0          ? ""
                             : i + 1 < COMMANDS ? ", "
                                                : " or ",
                             command[i].name);
    return plx_exit_error("parallax", PLX_EXIT_USAGE, "%s%s; expected %s (parallax --help)",
                          *name ? "unknown command " : "a command is missing", name, known);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "", *slash = strrchr(argv[0], '/');

    plx_exit_check_output();
    if (strcmp(slash ? slash + 1 : argv[0], "parallax-selftest") == 0) /* a link to this program */
        return plx_command_selftest(argc, argv);
    for (int i = 0; i < COMMANDS; i++)
        if (command[i].run && strcmp(name, command[i].name) == 0)
            return command[i].run(argc - 1, argv + 1);
    if (name[0] == '-')
        plx_parse_command_line(&(struct plx_command_line){.program = "parallax", .words = "COMMAND", .about = list_commands()},
                               argc, argv, NULL);
    return fail_unknown_command(name);
}
