/* SPDX-License-Identifier: Apache-2.0 */
/* What the checks look at: the configuration, the running service, its newest frame. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/timex.h>
#include <sys/un.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/doctor/check.h"
#include "app/options.h"
#include "app/service_config.h"

#define FRAME_MS 2000 /* the wait for a frame of a service that has just started */

/* Adds a line to TEXT. */
__attribute__((format(printf, 3, 0))) static void append(char *text, size_t size, const char *format, va_list args)
{
    size_t used = strlen(text);

    if (used > 0)
        used += (size_t)snprintf(text + used, size - used, "\n");
    if (used < size) {
        vsnprintf(text + used, size - used, format, args);
        plx_clean_text(text + used);
    }
}

void doctor_find(struct doctor_finding *finding, enum doctor_state state, const char *format, ...)
{
    va_list args;

    if (state > finding->state)
        finding->state = state;
    va_start(args, format);
    append(finding->found, sizeof finding->found, format, args);
    va_end(args);
}

void doctor_advise(struct doctor_finding *finding, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    append(finding->advice, sizeof finding->advice, format, args);
    va_end(args);
}

bool doctor_knows_config(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    const bool is_known = subject->has_config_in_force || subject->config_error == 0;

    if (!is_known)
        doctor_find(finding, DOCTOR_UNKNOWN, "there is no configuration to go by: see the row configuration");
    return is_known;
}

bool doctor_has_frame(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    if (!subject->status.any)
        doctor_find(finding, DOCTOR_UNKNOWN,
                    subject->connection < 0 ? "no service answers: see the row socket" : "the service has no frame yet");
    return subject->status.any;
}

bool doctor_uses_cameras(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    if (!subject->status.any && !doctor_knows_config(subject, finding))
        return false;
    const uint32_t source = subject->status.any ? subject->status.frame.source : (uint32_t)subject->config.source.type;
    if (source != PLX_SOURCE_V4L2)
        doctor_find(finding, DOCTOR_NOT_APPLICABLE, "no cameras are used: source.type is %s", plx_source_word(source));
    return source == PLX_SOURCE_V4L2;
}

/* The process that listens at PATH; 0: not known. */
static pid_t find_listener(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct ucred peer = {.pid = 0};
    socklen_t size = sizeof peer;

    if (strlen(path) >= sizeof address.sun_path)
        return 0;
    memcpy(address.sun_path, path, strlen(path));
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return 0;
    if (connect(fd, (const struct sockaddr *)&address, sizeof address) < 0 ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
        peer.pid = 0;
    close(fd);
    return peer.pid;
}

/* The service now and its newest frame, for which it waits a moment. */
static void read_service(struct doctor_subject *subject)
{
    struct plx_status *status = &subject->status;
    struct plx_client *client = NULL;
    struct plx_view view;

    subject->connection = plx_connect(subject->socket_path, &client);
    if (subject->connection < 0)
        return;
    if (plx_next(client, FRAME_MS, &view) == 0)
        plx_release(client, &view); /* the header is copied below, whole */
    subject->connection = plx_status_read(client, status);
    status->any = plx_last_header(client, &status->frame) == 0;
    status->fresh = status->any && plx_is_fresh(&status->frame);
    status->age_ns = status->any ? plx_age_ns(&status->frame) : INT64_MAX;
    plx_disconnect(client);
    subject->has_config_in_force = plx_service_config_ask(subject->socket_path, &subject->config);
    subject->service = find_listener(subject->socket_path);
}

void doctor_subject_read(const struct doctor_request *request, struct doctor_subject *ret_subject)
{
    struct doctor_subject *subject = ret_subject;
    struct timex clock = {.modes = 0}; /* only asks */

    memset(subject, 0, sizeof *subject);
    subject->root = request->root;
    subject->all = request->all;
    subject->config_is_default = request->config_path == NULL;
    subject->config_path = request->config_path ? request->config_path : PLX_DEFAULT_CONFIG;
    plx_config_default(&subject->file);
    subject->config_error = plx_config_load(subject->config_path, &subject->file, &subject->config_message);
    subject->config = subject->file;
    subject->socket_path = plx_socket_path(request->socket);
    read_service(subject);
    subject->clock_status = adjtimex(&clock) < 0 ? -1 : clock.status;
}
