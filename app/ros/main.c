/* SPDX-License-Identifier: Apache-2.0 */
/* parallax-ros: the frames of the service as topics of ROS 2, and the places of a detector's boxes. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include <parallax/error.h>
#include <systemd/sd-daemon.h>

#include "app/exit.h"
#include "app/log.h"
#include "app/options.h"
#include "app/ros/node.h"
#include "app/service_config.h"
#include "app/version.h"

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
    (void)number;
    stopped = 1;
}

enum presence { UNKNOWN, ABSENT, PRESENT };

/* Says once whether the service is there, and whenever it comes or goes. */
static void log_change(const struct plx_ros_node *node, const char *socket, int result, enum presence *before)
{
    const enum presence now = plx_ros_node_is_connected(node) ? PRESENT : ABSENT;
    if (now == PRESENT && *before != PRESENT)
        plx_log(LOG_INFO, "%s: reading the service", socket);
    else if (now == ABSENT && *before != ABSENT)
        plx_log(LOG_WARNING, "%s: %s (%s); waiting for it", socket,
                *before == UNKNOWN ? "no service is there yet" : "the service is gone", plx_strerror(result));
    *before = now;
}

static int run(const char *socket, const struct plx_ros_names *names, struct plx_error_message *message)
{
    struct plx_ros_publisher *publisher = NULL;
    struct plx_ros_node *node = NULL;
    enum presence before = UNKNOWN;
    int result = plx_ros_publisher_create(names, &publisher, message);
    if (result == 0 && plx_ros_node_create(socket, names, publisher, &node) < 0)
        result = plx_fail(message, PLX_ERR_NOMEM, "out of memory");
    if (result == 0) {
        plx_log(LOG_INFO, "%s: the topics are there", plx_version);
        sd_notify(0, "READY=1");
    }
    while (result == 0 && !stopped) {
        log_change(node, socket, plx_ros_node_step(node), &before);
        sd_notify(0, "WATCHDOG=1");
        plx_log_flush();
    }
    sd_notify(0, "STOPPING=1");
    if (result == 0)
        plx_log(LOG_INFO, "stopped; %" PRIu64 " messages sent, %" PRIu64 " dropped for slow readers", plx_ros_sent(publisher),
                plx_ros_dropped(publisher));
    plx_ros_node_destroy(node);
    plx_ros_publisher_destroy(publisher);
    return result;
}

int main(int argc, char **argv)
{
    const struct sigaction action = {.sa_handler = on_signal};
    static struct plx_config config;
    static struct plx_ros_names names;
    struct plx_error_message message = {""};
    const char *path = NULL;
    struct plx_option_list assignments = {.count = 0};
    const struct plx_option options[] = {
        PLX_OPTION("config", "FILE", path, PLX_SERVICE_CONFIG_HELP),
        PLX_OPTION("set", "KEY=VALUE", assignments, "sets a key, after the file; may be repeated"),
        {0},
    };
    const struct plx_command_line line = {
        .program = "parallax-ros",
        .about = "Publishes what the service at publish.socket, or at $PARALLAX_SOCKET, sees as topics of ROS 2, by DDS; no "
                 "ROS needs to be installed. The "
                 "section ros of the configuration names the topics; ROS_DOMAIN_ID and the other variables of ROS 2 and "
                 "CYCLONEDDS_URI choose the network. Messages that nobody reads are not made.",
        .option = options};
    plx_parse_command_line(&line, argc, argv, NULL);
    plx_log_open("parallax-ros");
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    int result = plx_service_config_read(path, &assignments, &config, &message);
    if (result == 0)
        result = plx_ros_names(&config, &names, &message);
    if (result < 0) {
        plx_log(LOG_ERR, "%s", message.text);
        return PLX_EXIT_CONFIG;
    }
    result = run(config.publish.socket, &names, &message);
    if (result < 0)
        plx_log(LOG_ERR, "%s", message.text);
    return result == 0 ? PLX_EXIT_OK : result == PLX_ERR_ARG ? PLX_EXIT_CONFIG : plx_exit_code(result);
}
