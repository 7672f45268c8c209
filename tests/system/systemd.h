/* SPDX-License-Identifier: Apache-2.0 */
/* A test in systemd's place: it hears what the service tells by sd_notify. */
#ifndef PLX_TESTS_SYSTEM_SYSTEMD_H
#define PLX_TESTS_SYSTEM_SYSTEMD_H

#include "tests/system/service.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

static int systemd_fd = -1;

/* Services that are started from now on tell this test, and have WatchdogSec= of WATCHDOG_MS. */
static inline void systemd_listen(const char *directory, int watchdog_ms)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char text[32];

    snprintf(address.sun_path, sizeof address.sun_path, "%s/notify", directory);
    systemd_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(systemd_fd, (const struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(chmod(address.sun_path, 0777), 0); /* for a service of another user */
    setenv("NOTIFY_SOCKET", address.sun_path, 1);
    snprintf(text, sizeof text, "%d000", watchdog_ms);
    setenv("WATCHDOG_USEC", text, 1);
}

static inline void systemd_leave(void)
{
    unsetenv("NOTIFY_SOCKET");
    unsetenv("WATCHDOG_USEC");
    close(systemd_fd);
}

/* True if the watchdog was fed within TIMEOUT_MS; what was said before that counts, and is forgotten. */
static inline bool systemd_fed(int timeout_ms)
{
    const int64_t deadline = now_ms() + timeout_ms;
    struct pollfd readable = {.fd = systemd_fd, .events = POLLIN};
    char text[2048];
    ssize_t bytes;
    bool found = false;

    do {
        poll(&readable, 1, found || now_ms() >= deadline ? 0 : (int)(deadline - now_ms()));
        while ((bytes = recv(systemd_fd, text, sizeof text - 1, 0)) > 0) {
            text[bytes] = '\0';
            found = found || strncmp(text, "WATCHDOG=1", 10) == 0;
        }
    } while (!found && now_ms() < deadline);
    return found;
}

/* The service tells something that begins with KEY and holds WORDS; what it told before is forgotten. */
static inline void systemd_expect(const char *key, const char *words, int timeout_ms)
{
    const int64_t begin_ms = now_ms();
    struct pollfd readable = {.fd = systemd_fd, .events = POLLIN};
    char text[2048];

    while (!is_late(begin_ms, timeout_ms)) {
        poll(&readable, 1, 50);
        const ssize_t bytes = recv(systemd_fd, text, sizeof text - 1, 0);
        text[bytes > 0 ? bytes : 0] = '\0';
        if (strncmp(text, key, strlen(key)) == 0 && strstr(text, words))
            return;
    }
    fail_msg("not told \"%s...%s\" within %d ms; the service said: %s", key, words, timeout_ms, daemon_said(&daemon_));
}

#endif
