/* SPDX-License-Identifier: Apache-2.0 */
/* Standing in for systemd: hearing what the service says by sd_notify(3). */
#ifndef PLX_TESTS_SYSTEM_NOTIFIED_H
#define PLX_TESTS_SYSTEM_NOTIFIED_H

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "tests/system/service.h"

static int notify_fd;

/* For a service to be started in daemon_'s directory: sets what it finds in its environment. */
static inline void hear_notifications(int watchdog_ms)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char text[32];

    snprintf(address.sun_path, sizeof address.sun_path, "%s/notify", daemon_.directory);
    notify_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(notify_fd, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(chmod(address.sun_path, 0777), 0);
    setenv("NOTIFY_SOCKET", address.sun_path, 1);
    snprintf(text, sizeof text, "%d000", watchdog_ms);
    setenv("WATCHDOG_USEC", text, 1);
}

static inline void hear_no_notifications(void)
{
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    close(notify_fd);
}

/* The service says something that begins with KEY and holds WORDS; what it said before is forgotten. */
static inline void expect_notification(const char *key, const char *words, int timeout_ms)
{
    const int64_t begin_ms = now_ms();
    struct pollfd readable = {.fd = notify_fd, .events = POLLIN};
    char text[2048];

    while (!is_late(begin_ms, timeout_ms)) {
        poll(&readable, 1, 50);
        const ssize_t bytes = recv(notify_fd, text, sizeof text - 1, 0);
        text[bytes > 0 ? bytes : 0] = '\0';
        if (strncmp(text, key, strlen(key)) == 0 && strstr(text, words))
            return;
    }
    fail_msg("not told \"%s...%s\" within %d ms; the service said: %s", key, words, timeout_ms, daemon_said(&daemon_));
}

#endif
