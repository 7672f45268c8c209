/* SPDX-License-Identifier: Apache-2.0 */
/* Notifications to systemd: one datagram each, with cleaned texts, and without waiting. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "app/supervisor/systemd.h"
#include "tests/cmocka.h"

static int heard;

/* An abstract name, so that nothing is left behind. */
static int listen_as_systemd(void **state)
{
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char name[64];

    snprintf(name, sizeof name, "@plx-notify-%d", (int)getpid());
    memcpy(address.sun_path + 1, name + 1, strlen(name) - 1);
    heard = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(
        bind(heard, (const struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name))), 0);
    setenv("NOTIFY_SOCKET", name, 1);
    return 0;
}

static int hear_no_more(void **state)
{
    (void)state;
    unsetenv("NOTIFY_SOCKET");
    return close(heard);
}

static void expect_datagram(const char *expected)
{
    char text[2048] = "";
    const ssize_t bytes = recv(heard, text, sizeof text - 1, 0);

    assert_true(bytes > 0);
    assert_string_equal(text, expected);
}

static void a_camera_of_any_name_adds_no_line(void **state)
{
    (void)state;
    struct plx_notify notify;
    char text[8];

    plx_notify_init(&notify);
    plx_notify_status(&notify, "starting; camera lost: HD\nWATCHDOG=trigger\r\nMAINPID=1\x1B[2J");
    expect_datagram("STATUS=starting; camera lost: HD?WATCHDOG=trigger??MAINPID=1?[2J");
    plx_notify_status(&notify, "starting; camera lost: HD\nWATCHDOG=trigger\r\nMAINPID=1\x1B[2J");
    assert_true(recv(heard, text, sizeof text, 0) < 0); /* it has not changed */
}

/* Its queue holds a few: what does not fit is said again, and nobody waits. */
static void what_did_not_fit_is_said_later(void **state)
{
    (void)state;
    struct plx_notify notify;
    char text[2048], sentence[32];
    int said = 0;

    alarm(20); /* where somebody waits */
    plx_notify_init(&notify);
    for (int i = 0; i < 5000; i++) {
        snprintf(sentence, sizeof sentence, "number %d", i);
        plx_notify_status(&notify, sentence);
    }
    plx_notify_ready(&notify);
    while (recv(heard, text, sizeof text, 0) > 0)
        said++;
    assert_in_range(said, 1, 4999);
    plx_notify_ready(&notify);
    expect_datagram("READY=1");
    plx_notify_ready(&notify); /* the first time only */
    plx_notify_status(&notify, sentence);
    expect_datagram("STATUS=number 4999");
    alarm(0);
}

static void expect_silence(void)
{
    char text[64];
    assert_true(recv(heard, text, sizeof text, 0) < 0);
}

static void every_change_is_said_in_its_words(void **state)
{
    (void)state;
    struct plx_notify notify;
    char text[128];

    plx_notify_init(&notify);
    plx_notify_reloaded(&notify); /* the first frame will say it */
    expect_silence();
    plx_notify_ready(&notify);
    expect_datagram("READY=1");
    assert_true(notify.ready);
    plx_notify_reloading();
    const ssize_t bytes = recv(heard, text, sizeof text - 1, 0);
    assert_true(bytes > 0);
    text[bytes] = '\0';
    const char begin[] = "RELOADING=1\nMONOTONIC_USEC=";
    assert_memory_equal(text, begin, strlen(begin));
    assert_true(atoll(text + strlen(begin)) > 0);
    plx_notify_reloaded(&notify);
    expect_datagram("READY=1");
    plx_notify_stopping();
    expect_datagram("STOPPING=1");
    expect_silence();
}

/* The watchdog of the unit is fed four times in its period, and not more often. */
static void the_watchdog_is_fed_where_there_is_one(void **state)
{
    (void)state;
    struct plx_notify notify;

    unsetenv("WATCHDOG_USEC");
    unsetenv("WATCHDOG_PID");
    plx_notify_init(&notify);
    plx_notify_alive(&notify);
    expect_silence();
    setenv("WATCHDOG_USEC", "40000000000", 1); /* hours, so that no machine is too slow for this test */
    plx_notify_init(&notify);
    unsetenv("WATCHDOG_USEC");
    assert_true(notify.interval_ns == INT64_C(10000000000000) && notify.fed_ns == 0);
    notify.fed_ns = -notify.interval_ns; /* long ago, also where the machine has just started */
    plx_notify_alive(&notify);
    expect_datagram("WATCHDOG=1");
    plx_notify_alive(&notify);
    expect_silence();
    notify.fed_ns -= notify.interval_ns;
    plx_notify_alive(&notify);
    expect_datagram("WATCHDOG=1");
}

/* A path, as systemd gives it mostly, up to its longest; a name that is neither a path nor abstract is nobody's. */
static void a_socket_may_be_a_path(void **state)
{
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct plx_notify notify;
    char directory[] = "/tmp/plx-notify-XXXXXX";

    assert_non_null(mkdtemp(directory));
    snprintf(address.sun_path, sizeof address.sun_path, "%s/", directory);
    while (strlen(address.sun_path) < sizeof address.sun_path - 1)
        strcat(address.sun_path, "n");
    close(heard);
    heard = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(heard, (const struct sockaddr *)&address, sizeof address), 0);
    setenv("NOTIFY_SOCKET", address.sun_path, 1);
    plx_notify_init(&notify);
    plx_notify_ready(&notify);
    expect_datagram("READY=1");

    static const char *const nobody[] = {"relative", ""};
    for (size_t i = 0; i < sizeof nobody / sizeof *nobody; i++) {
        setenv("NOTIFY_SOCKET", nobody[i], 1);
        plx_notify_init(&notify);
        plx_notify_ready(&notify);
        assert_true(notify.is_ready_sent); /* it is not tried again and again */
    }
    char longer[sizeof address.sun_path + 1];
    snprintf(longer, sizeof longer, "%.*sn", (int)sizeof address.sun_path - 1, address.sun_path);
    setenv("NOTIFY_SOCKET", longer, 1);
    plx_notify_stopping();
    expect_silence();
    unlink(address.sun_path);
    rmdir(directory);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, listen_as_systemd, hear_no_more)
    const struct CMUnitTest tests[] = {
        TEST(a_camera_of_any_name_adds_no_line),
        TEST(what_did_not_fit_is_said_later),
        TEST(every_change_is_said_in_its_words),
        TEST(the_watchdog_is_fed_where_there_is_one),
        TEST(a_socket_may_be_a_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
