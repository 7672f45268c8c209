/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/systemd.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <systemd/sd-daemon.h>

#include "core/base/clock.h"
#include "core/base/text.h"

#define FEEDINGS 4 /* in one watchdog period, so that a late one does no harm */

/* Sends one datagram. sd_notify(3) would wait while systemd's queue is full. False: send it again later. */
static bool send_status(const char *text)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (!path || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof address.sun_path)
        return true; /* nobody listens */
    const size_t length = strlen(path);
    memcpy(address.sun_path, path, length);
    if (path[0] == '@') /* an abstract name */
        address.sun_path[0] = '\0';
    const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    const ssize_t sent = sendto(fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)&address,
                                (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (path[0] == '/' ? 1 : 0)));
    close(fd);
    return sent >= 0;
}

void plx_notify_init(struct plx_notify *notify)
{
    uint64_t watchdog_us = 0;

    *notify = (struct plx_notify){0};
    if (sd_watchdog_enabled(0, &watchdog_us) > 0)
        notify->interval_ns = (int64_t)watchdog_us * PLX_NS_PER_US / FEEDINGS;
}

void plx_notify_ready(struct plx_notify *notify)
{
    notify->ready = true;
    if (!notify->is_ready_sent)
        notify->is_ready_sent = send_status("READY=1");
}

void plx_notify_alive(struct plx_notify *notify)
{
    const int64_t now_ns = plx_now_ns(); /* systemd's watchdog counts real time */

    if (notify->interval_ns == 0 || now_ns - notify->fed_ns < notify->interval_ns)
        return;
    if (send_status("WATCHDOG=1"))
        notify->fed_ns = now_ns;
}

void plx_notify_status(struct plx_notify *notify, const char *sentence)
{
    char line[sizeof notify->status];

    snprintf(line, sizeof line, "STATUS=%s", sentence);
    plx_clean_text(line); /* a newline in a message would begin another variable */
    if (strcmp(notify->status, line) == 0)
        return;
    if (send_status(line))
        memcpy(notify->status, line, sizeof line);
}

void plx_notify_reloading(void)
{
    char text[64];

    snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%" PRId64, plx_now_ns() / PLX_NS_PER_US);
    send_status(text);
}

void plx_notify_reloaded(struct plx_notify *notify)
{
    if (notify->ready) /* else the first frame sends it */
        send_status("READY=1");
}

void plx_notify_stopping(void)
{
    send_status("STOPPING=1");
}
