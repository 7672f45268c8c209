/* SPDX-License-Identifier: Apache-2.0 */
#include "app/cli/calibrate/install.h"

#include <errno.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <parallax/client.h>
#include <parallax/error.h>
#include <parallax/shm.h>

#include "app/cli/calibrate/install_files.h"
#include "app/cli/calibrate/request.h"
#include "app/cli/live/connection.h"
#include "app/exit.h"
#include "app/service_config.h"
#include "config/config.h"
#include "core/base/clock.h"

#define RELOAD_NS (40 * PLX_NS_PER_S) /* a reload is decided after 37 s at most */
#define ROWS_NS (5 * PLX_NS_PER_S)    /* for matches in the service's pictures */
#define SAME_BASELINE 1e-5            /* relative: the frame has it in single precision */

/* --- files ------------------------------------------------------------------------------------------------------------ */

static bool names_file(const struct plx_config *config)
{
    return *config->calibration && strcmp(config->calibration, PLX_CALIBRATION_NONE) != 0;
}

/* Where the calibration goes: an absolute path, for the service runs in another directory. */
static int choose_path(struct plx_install *install, const struct plx_config *config, struct plx_error_message *message)
{
    char chosen[PATH_MAX], beside[PATH_MAX], directory[PATH_MAX];
    snprintf(beside, sizeof beside, "%s", install->config);
    if (install->output || (names_file(config) && !strchr(config->calibration, ',')))
        snprintf(chosen, sizeof chosen, "%s", install->output ? install->output : config->calibration);
    else
        snprintf(chosen, sizeof chosen, "%.4000s/stereo.yaml", dirname(beside));
    snprintf(beside, sizeof beside, "%s", chosen);
    if (!realpath(dirname(beside), directory))
        return plx_fail(message, plx_error_of_errno(errno), "%s: %s", beside, strerror(errno));
    const int length = snprintf(install->path, sizeof install->path, "%s/%s", directory, basename(chosen));
    return length < (int)sizeof install->path ? 0 : plx_fail(message, PLX_ERR_RANGE, "%s: the path is too long", chosen);
}

/* What the calibration in force so far makes of the boards. */
static void judge_before(struct plx_install *install, const struct plx_config *config, const struct plx_boards *boards)
{
    struct plx_stereo_calibration calibration;
    struct plx_error_message why;
    const struct plx_calibration_options options = {.scale = config->calibration_scale,
                                                    .alpha = config->rectify_alpha,
                                                    .width = boards->options.width,
                                                    .height = boards->options.height};
    install->had_before = names_file(config) && plx_calibration_read(config->calibration, &options, &calibration, &why) == 0;
    if (!install->had_before)
        return;
    struct plx_calibration_info info;
    plx_calibration_info(&calibration, &info);
    install->baseline_before_m = (double)info.baseline_m;
    install->rows_before = plx_row_error(&boards->board, boards->pair, boards->count, &calibration);
}

/* --- the service ------------------------------------------------------------------------------------------------------ */

/* Asks the process that listens at the socket to read its configuration again. */
static int ask_for_reload(const char *socket_path, struct plx_error_message *message)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct ucred peer = {0};
    socklen_t size = sizeof peer;
    snprintf(address.sun_path, sizeof address.sun_path, "%s", socket_path);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    const bool is_there = fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0 &&
                          getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
    const int error = errno;
    if (fd >= 0)
        close(fd);
    if (!is_there)
        return plx_fail(message, plx_error_of_errno(error), "%s: no service there: %s", socket_path, strerror(error));
    if (peer.pid <= 0) /* a process outside this PID namespace; kill(0) would signal this program's own group */
        return plx_fail(message, PLX_ERR_PERMISSION, "%s: the service runs in another container: send it SIGHUP from outside",
                        socket_path);
    if (kill(peer.pid, SIGHUP) == 0)
        return 0;
    return plx_fail(message, plx_error_of_errno(errno), "cannot ask process %d to reload: %s; run the command as root",
                    (int)peer.pid, strerror(errno));
}

struct wait {
    struct plx_install *install;
    double baseline_m;
    struct plx_error_message *message;
    int result;
};

/* Waits until frames have the new baseline, then for the rows that the service sees. */
static int wait_for_frames(struct plx_connection *connection, void *context)
{
    struct wait *wait = context;
    static struct plx_frame frame; /* large */
    char reason[PLX_REASON_BYTES] = "";
    bool taken = false;
    int64_t until_ns = plx_now_ns() + RELOAD_NS;
    wait->install->rows_service = -1;
    wait->result = 0;
    while (plx_now_ns() < until_ns && wait->install->rows_service < 0) {
        const int result = plx_connection_next_header(connection, 200, &frame);
        plx_reason(connection->client, reason, sizeof reason);
        if (!taken && strstr(reason, "configuration kept as it was")) {
            wait->result = plx_fail(wait->message, PLX_ERR_FORMAT, "the service does not take it: %s", reason);
            return PLX_EXIT_OK;
        }
        if (result < 0)
            continue; /* it restarts its engine */
        if (!taken && fabs((double)frame.calibration.baseline_m / wait->baseline_m - 1) < SAME_BASELINE) {
            taken = true;
            until_ns = plx_now_ns() + ROWS_NS;
        }
        if (taken && frame.drift.matches > 0)
            wait->install->rows_service = (double)frame.drift.epipolar_error_px;
    }
    if (!taken)
        wait->result = plx_fail(wait->message, PLX_ERR_TIMEOUT,
                                "the service read its configuration again and does not use the new calibration (%s); does it "
                                "run with --config %s, and without --set calibration=...?",
                                *reason ? reason : "no fault", wait->install->config);
    return PLX_EXIT_OK;
}

static int reload(struct plx_install *install, double baseline_m, struct plx_error_message *message)
{
    struct wait wait = {.install = install, .baseline_m = baseline_m, .message = message};
    int result = ask_for_reload(plx_socket_path(install->socket), message);
    if (result < 0)
        return result;
    if (plx_connection_run(PLX_CALIBRATE, install->socket, wait_for_frames, &wait) != PLX_EXIT_OK)
        return plx_fail(message, PLX_ERR_LOST, "the service went away while it reloaded");
    return wait.result;
}

/* The service runs with what the file says, so that a change of the file changes the service. */
static int check_service(const struct plx_install *install, const struct plx_config *config, struct plx_error_message *message)
{
    struct plx_config *in_force = malloc(sizeof *in_force); /* large */
    int result = 0;
    if (!in_force || !plx_service_config_ask(install->socket, in_force))
        result = plx_fail(message, PLX_ERR_NOT_FOUND, "%s: the service does not answer; start it first",
                          plx_socket_path(install->socket));
    else if (strcmp(in_force->calibration, config->calibration) != 0)
        result = plx_fail(message, PLX_ERR_FORMAT,
                          "the service runs with calibration \"%s\", and %s says \"%s\"; name the service's file by --config, "
                          "reload the service, or start it without --set calibration=...",
                          in_force->calibration, install->config, config->calibration);
    free(in_force);
    return result;
}

/* Writes the files and has the service take them; else everything is as before. */
static int put_in_force(struct plx_install *install, const struct plx_config *config, const struct plx_outcome *outcome,
                        struct plx_error_message *message)
{
    struct plx_installed_files files;
    struct plx_error_message ignored;

    int result = plx_installed_files_put(install->config, config, install->path, &outcome->calibration, &files, message);
    if (result < 0)
        return result;
    snprintf(install->old, sizeof install->old, "%s", files.old);
    result = reload(install, outcome->baseline_m, message);
    if (result == 0) {
        plx_installed_files_free(&files);
        return 0;
    }
    plx_installed_files_undo(&files);
    ask_for_reload(plx_socket_path(install->socket), &ignored);
    return result;
}

int plx_install_run(struct plx_install *install, const struct plx_boards *boards, const struct plx_outcome *outcome,
                    struct plx_error_message *message)
{
    struct plx_config *config = malloc(sizeof *config); /* large */
    if (!config)
        return plx_fail(message, PLX_ERR_NOMEM, "%s", plx_strerror(PLX_ERR_NOMEM));
    int result = plx_config_load(install->config, config, message);
    if (result == 0)
        result = check_service(install, config, message);
    if (result == 0 && config->calibration_scale != 1)
        result = plx_fail(message, PLX_ERR_RANGE,
                          "%s: calibration_scale is %g, and the new calibration is in metres; take that key away",
                          install->config, config->calibration_scale);
    if (result == 0)
        result = choose_path(install, config, message);
    if (result == 0) {
        judge_before(install, config, boards);
        result = put_in_force(install, config, outcome, message);
    }
    free(config);
    return result;
}
