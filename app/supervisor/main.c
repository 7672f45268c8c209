/* SPDX-License-Identifier: Apache-2.0 */
/* parallaxd: reads the command line, then supervises. Man page: parallaxd(8). */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/exit.h"
#include "app/log.h"
#include "app/options.h"
#include "app/supervisor/supervisor.h"
#include "app/supervisor/zone_drawing.h"
#include "app/zone_warnings.h"
#include "drivers/v4l2/v4l2.h"

struct command {
    const char *check; /* the file of --check-config, or NULL */
    bool wait, dump, all;
    struct plx_config_source config_source;
};

/* ASSIGNMENTS holds the texts that ret_command->config_source refers to. */
static void parse(int argc, char **argv, struct plx_option_list *assignments, struct command *ret_command)
{
    struct command command = {.wait = false};
    const struct plx_option options[] = {
        PLX_OPTION("config", "FILE", command.config_source.path,
                   "reads this configuration (default: " PLX_DEFAULT_CONFIG " if it exists, else every key at its default)"),
        PLX_OPTION("set", "KEY=VALUE", *assignments, "sets one key after the file was read; may be repeated"),
        PLX_OPTION("wait", NULL, command.wait,
                   "waits at the start for cameras, devices, permissions and memory instead of ending without them"),
        PLX_OPTION("check-config", "FILE", command.check,
                   "checks FILE and the calibration that it names, draws the zones, and exits"),
        PLX_OPTION("dump-config", NULL, command.dump,
                   "prints the keys with their values, defaults, ranges and meanings, and exits; expert keys at their defaults "
                   "are left out"),
        PLX_OPTION("all", NULL, command.all, "with --dump-config: prints every key"),
        {0},
    };
    const struct plx_command_line line = {
        .program = "parallaxd",
        .about =
            "Computes disparity and obstacles from the pictures of two cameras and publishes them over shared memory. SIGHUP "
            "reloads the configuration; SIGTERM and SIGINT stop the service. parallaxd(8) lists the exit codes.",
        .option = options};

    plx_parse_command_line(&line, argc, argv, NULL);
    if (command.check)
        command.config_source.path = command.check;
    else if (!command.config_source.path && access(PLX_DEFAULT_CONFIG, F_OK) == 0)
        command.config_source.path = PLX_DEFAULT_CONFIG;
    command.config_source.assignment = assignments->item;
    command.config_source.assignments = assignments->count;
    *ret_command = command;
}

/* Any fault in a file that can be read is a wrong configuration. */
static int config_exit_code(int error)
{
    return error == PLX_ERR_FORMAT ? PLX_EXIT_CONFIG : plx_exit_code(error);
}

/* Reads the calibration that CONFIG names, as a start does. SOURCE.width and height stand for the source's pictures, which
 * count only where the calibration does not say its size. */
static int check_calibration(const struct plx_config *config, struct plx_stereo_calibration *ret_calibration,
                             struct plx_error_message *message)
{
    const struct plx_calibration_options options = {
        .alpha = config->rectify_alpha,
        .scale = config->calibration_scale,
        .width = config->source.width,
        .height = config->source.height,
    };

    if (config->calibration[0] == '\0' || strcmp(config->calibration, PLX_CALIBRATION_NONE) == 0)
        return 0;
    return plx_calibration_read(config->calibration, &options, ret_calibration, message);
}

/* Checks the calibration, and draws the zones. */
static int check(const struct plx_config *config, struct plx_error_message *message)
{
    static struct plx_stereo_calibration calibration; /* zeroed: none was read */

    plx_zone_warnings_log(config);
    const int result = check_calibration(config, &calibration, message);
    if (result == 0 && plx_calibration_exists(&calibration))
        return plx_zone_drawing_print(config, &calibration, stdout, message);
    if (result == 0 && config->pipeline.zones.count > 0)
        puts("the zones are not drawn: what the cameras see of them is known with a file in the key calibration");
    return result;
}

/* What only the driver of the cameras can judge, with the place in the file. */
static int check_cameras(const struct plx_config_source *config_source, const struct plx_config *config,
                         struct plx_error_message *message)
{
    struct plx_error_message reason;
    const char *key;

    if (config->source.type != PLX_SOURCE_V4L2 || plx_v4l2_check(&config->source.cameras, &key, &reason) == 0)
        return 0;
    return plx_config_fail(config_source, key, message, PLX_ERR_RANGE, "%s", reason.text);
}

static int act(const struct command *command)
{
    static struct plx_config config; /* large */
    struct plx_error_message message;

    if (command->all && !command->dump)
        return plx_exit_error("parallaxd", PLX_EXIT_USAGE, "--all needs --dump-config (parallaxd --help)");
    int result = plx_config_read(&command->config_source, &config, &message);
    if (result == 0)
        result = check_cameras(&command->config_source, &config, &message);
    if (result == 0 && command->check)
        result = check(&config, &message);
    if (result < 0) {
        plx_log(LOG_ERR, "%s", message.text);
        return config_exit_code(result);
    }
    if (command->check) {
        printf("%s: fine\n", command->check);
        return PLX_EXIT_OK;
    }
    if (command->dump)
        return (command->all ? plx_config_dump : plx_config_dump_common)(&config, stdout) < 0 ? PLX_EXIT_IO : PLX_EXIT_OK;
    if (!command->config_source.path && config.source.type == PLX_SOURCE_SYNTHETIC)
        plx_log(LOG_WARNING, "there is no " PLX_DEFAULT_CONFIG ", and no --config: the pictures are simulated");
    return plx_supervise(&command->config_source, &config, command->wait);
}

int main(int argc, char **argv)
{
    static struct plx_option_list assignments; /* large */
    struct command command;

    plx_exit_check_output();
    plx_log_open("parallaxd");
    parse(argc, argv, &assignments, &command);
    return act(&command);
}
