/* SPDX-License-Identifier: Apache-2.0 */
/* parallaxd: reads the command line, then supervises. Man page: parallaxd(8). */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/exit.h"
#include "app/supervisor/log.h"
#include "app/supervisor/supervisor.h"
#include "app/version.h"

#define DEFAULT_CONFIG "/etc/parallax/parallax.yaml"

static const char usage[] =
    "usage: parallaxd [--config FILE] [--set KEY=VALUE]... [--wait | --check-config FILE | --dump-config | --version | "
    "--help]\n"
    "\n"
    "Turns stereo pictures into disparity and obstacles and publishes them over shared memory.\n"
    "\n"
    "  --config FILE        configuration (default: " DEFAULT_CONFIG " if it exists, else every key at its default)\n"
    "  --set KEY=VALUE      sets one key after the file was read; may be repeated\n"
    "  --wait               at the start, waits for cameras, devices, permissions and memory instead of ending without them\n"
    "  --check-config FILE  reads FILE, says whether it is right, and exits\n"
    "  --dump-config        writes every key with its value, default, range and meaning, and exits\n"
    "  --version            writes version, commit, compiler, CUDA and architectures, and exits\n"
    "  --help               writes this and exits\n"
    "\n"
    "SIGHUP reads the configuration again; SIGTERM and SIGINT stop. Exit codes: parallaxd(8).\n";

enum action { RUN, CHECK, DUMP };

struct command {
    enum action action;
    bool wait;
    struct plx_config_origin origin;
};

static int wrong_usage(const char *what)
{
    fprintf(stderr, "parallaxd: %s; see parallaxd --help\n", what);
    return PLX_EXIT_USAGE;
}

/* Returns -1 to go on, or the exit code. ASSIGNMENT has room for every argument. */
static int parse(int argc, char **argv, char **assignment, struct command *ret_command)
{
    static const struct option options[] = {
        {"config", required_argument, NULL, 'c'}, {"set", required_argument, NULL, 's'},
        {"wait", no_argument, NULL, 'w'},         {"check-config", required_argument, NULL, 'k'},
        {"dump-config", no_argument, NULL, 'd'},  {"version", no_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0},
    };
    struct command command = {.action = RUN, .origin = {.assignment = assignment}};
    int option;

    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        switch (option) {
        case 'c':
            command.origin.path = optarg;
            break;
        case 's':
            assignment[command.origin.assignments++] = optarg;
            break;
        case 'w':
            command.wait = true;
            break;
        case 'k':
            command.action = CHECK;
            command.origin.path = optarg;
            break;
        case 'd':
            command.action = DUMP;
            break;
        case 'v':
            plx_print_version("parallaxd");
            return PLX_EXIT_OK;
        case 'h':
            fputs(usage, stdout);
            return PLX_EXIT_OK;
        default: /* getopt has said what is wrong */
            return PLX_EXIT_USAGE;
        }
    }
    if (optind < argc)
        return wrong_usage("there are no arguments without --");
    if (!command.origin.path && access(DEFAULT_CONFIG, F_OK) == 0)
        command.origin.path = DEFAULT_CONFIG;
    *ret_command = command;
    return -1;
}

/* A file that is there and wrong is a wrong configuration, whatever is wrong in it. */
static int config_exit_code(int error)
{
    return error == PLX_ERR_FORMAT ? PLX_EXIT_CONFIG : plx_exit_code(error);
}

static int act(const struct command *command)
{
    static struct plx_config config; /* large */
    struct plx_why why;

    int result = plx_config_read(&command->origin, &config, &why);
    if (result < 0) {
        plx_log(LOG_ERR, "%s", why.text);
        return config_exit_code(result);
    }
    switch (command->action) {
    case RUN:
        if (!command->origin.path && config.source.kind == PLX_SOURCE_SYNTHETIC)
            plx_log(LOG_WARNING, "there is no " DEFAULT_CONFIG ", and no --config: the pictures are simulated");
        return plx_supervise(&command->origin, &config, command->wait);
    case CHECK:
        printf("%s: fine\n", command->origin.path);
        return PLX_EXIT_OK;
    case DUMP:
        return plx_config_dump(&config, stdout) < 0 ? PLX_EXIT_IO : PLX_EXIT_OK;
    }
    return PLX_EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    struct command command;
    char **assignment = calloc((size_t)argc, sizeof *assignment);

    plx_log_open();
    if (!assignment) {
        plx_log(LOG_ERR, "out of memory");
        return PLX_EXIT_OS;
    }
    int exit_code = parse(argc, argv, assignment, &command);
    if (exit_code < 0)
        exit_code = act(&command);
    free(assignment);
    if (fflush(stdout) == 0 && !ferror(stdout)) /* what was printed has arrived */
        return exit_code;
    plx_log(LOG_ERR, "cannot write the output");
    return PLX_EXIT_IO;
}
