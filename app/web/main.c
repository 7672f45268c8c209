/* SPDX-License-Identifier: Apache-2.0 */
/* parallax-web: the live page of the service, for any browser, and for Foxglove. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <parallax/error.h>
#include <systemd/sd-daemon.h>

#include "app/exit.h"
#include "app/log.h"
#include "app/options.h"
#include "app/service_config.h"
#include "app/version.h"
#include "app/web/server.h"

static int run(const struct plx_config *config, struct plx_error_message *message)
{
    sd_event *event = NULL;
    struct plx_web_server *server = NULL;
    char address[128];
    sigset_t signals;
    int result = 0;

    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    signal(SIGPIPE, SIG_IGN); /* sendfile has no flag for it */
    if (sigprocmask(SIG_BLOCK, &signals, NULL) < 0 || sd_event_new(&event) < 0 || sd_event_set_watchdog(event, true) < 0 ||
        sd_event_add_signal(event, NULL, SIGINT, NULL, NULL) < 0 || sd_event_add_signal(event, NULL, SIGTERM, NULL, NULL) < 0)
        result = plx_fail(message, PLX_ERR_NOMEM, "%s", plx_strerror(PLX_ERR_NOMEM));
    if (result == 0)
        result = plx_web_server_create(event, config, &server, message);
    if (result == 0) {
        plx_web_server_address(server, address, sizeof address);
        plx_log(LOG_INFO, "%s: the page is at %s", plx_version, address);
        sd_notify(0, "READY=1");
        if (sd_event_loop(event) < 0)
            result = plx_fail(message, PLX_ERR_IO, "the event loop failed");
        sd_notify(0, "STOPPING=1");
    }
    plx_web_server_destroy(server);
    sd_event_unref(event);
    return result;
}

int main(int argc, char **argv)
{
    static struct plx_config config;
    struct plx_error_message message = {""};
    struct plx_option_list assignments = {.count = 0};
    const char *path = NULL, *listen = NULL;
    const struct plx_option options[] = {
        PLX_OPTION("config", "FILE", path, PLX_SERVICE_CONFIG_HELP),
        PLX_OPTION("listen", "ADDRESS:PORT", listen,
                   "where to listen, instead of web.listen; beyond this machine only with a token"),
        PLX_OPTION("set", "KEY=VALUE", assignments, "sets a key, after the file; may be repeated"),
        {0},
    };
    const struct plx_command_line line = {
        .program = "parallax-web",
        .about = "Shows what the service at publish.socket, or at $PARALLAX_SOCKET, sees to any browser: pictures, "
                 "depth, obstacles, points, health. Foxglove "
                 "connects to the same address. By default only this machine may look; the "
                 "section web of the configuration says who "
                 "else. Nothing here changes the service.",
        .option = options};
    plx_parse_command_line(&line, argc, argv, NULL);
    plx_log_open("parallax-web");
    int result = plx_service_config_read(path, &assignments, &config, &message);
    if (result == 0 && listen &&
        snprintf(config.web.listen, sizeof config.web.listen, "%s", listen) >= (int)sizeof config.web.listen)
        result = plx_fail(&message, PLX_ERR_ARG, "--listen: the address is too long");
    if (result == 0)
        result = run(&config, &message);
    else
        result = PLX_ERR_ARG; /* whatever is wrong with the configuration */
    if (result < 0)
        plx_log(LOG_ERR, "%s", message.text);
    plx_log_flush();
    return result == 0 ? PLX_EXIT_OK : result == PLX_ERR_ARG ? PLX_EXIT_CONFIG : plx_exit_code(result);
}
