/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The service with a camera that is missing when it starts, comes, goes and comes back: it is ready, says what it lacks and
 * why, publishes as soon as it can, and keeps its processes throughout.
 *
 * guest: stereocam width=64 height=48
 */
#include <sys/socket.h>
#include <sys/un.h>

#include "tests/command.h"
#include "tests/vm/camera.h"
#include "tests/vm/service.h"

#define RATE_HZ 5
#define PERIOD_NS (PLX_NS_PER_S / RATE_HZ)
#define LOST_NS (2 * PERIOD_NS + 50 * PLX_NS_PER_MS)
#define BACK_NS PLX_NS_PER_S
#define ROUNDS 8
#define PAST_BUDGETS_S 17 /* longer than an engine may starve, and than its start may last */

static struct service service;
static int systemd_fd; /* what systemd would be told comes here */
static pid_t engine;

/* Whether WHAT took no longer than it may; a busy host makes single rounds of the guest slow, not all of them. */
static bool in_time(const char *what, int64_t ns, int64_t max_ns)
{
    print_message("%s after %.0f ms, at most %.0f\n", what, (double)ns / PLX_NS_PER_MS, (double)max_ns / PLX_NS_PER_MS);
    return ns <= max_ns;
}

static bool wait_for_state(bool lost)
{
    for (int64_t end = plx_now_ns() + SERVICE_MS * PLX_NS_PER_MS; plx_now_ns() < end; usleep(2000))
        if (((plx_health(service.client) & PLX_HEALTH_CAMERA_LOST_LEFT) != 0) == lost)
            return true;
    return false;
}

/* The left camera comes. Whether a frame was captured within a second; that the guest computes long is left out. */
static bool come(void)
{
    const int64_t since_ns = plx_now_ns();
    stereocam_set("left/connected", 1);
    struct plx_view view = service_next(&service, since_ns);
    const int64_t work_ns = view.frame->published_ns - view.frame->capture[PLX_LEFT].capture_ns;
    const int64_t passed_ns = plx_now_ns() - since_ns;
    plx_release(service.client, &view);
    assert_true(wait_for_state(false));
    return in_time("captured", passed_ns - work_ns, BACK_NS);
}

/* The left camera goes. Whether that was published in time. */
static bool go(void)
{
    for (int i = 0; i < RATE_HZ; i++) {
        struct plx_view view = service_next(&service, 0);
        plx_release(service.client, &view);
    }
    const int64_t since_ns = plx_now_ns();
    stereocam_set("left/connected", 0);
    assert_true(wait_for_state(true));
    return in_time("published as lost", plx_now_ns() - since_ns, LOST_NS);
}

static void stay_lost(void)
{
    sleep(PAST_BUDGETS_S);
    assert_true(plx_health(service.client) & PLX_HEALTH_CAMERA_LOST_LEFT);
    assert_int_equal(daemon_child(&service.daemon, "parallax-engine"), engine);
}

static bool systemd_is_told(const char *what)
{
    const struct timeval patience = {.tv_sec = SERVICE_MS / 1000};
    char text[256];

    setsockopt(systemd_fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    for (ssize_t bytes; (bytes = recv(systemd_fd, text, sizeof text - 1, 0)) > 0;) {
        text[bytes] = '\0';
        if (strstr(text, what))
            return true;
    }
    return false;
}

static void start_service(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    daemon_make(&service.daemon);
    write_calibration(64, 48);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/notify", service.daemon.directory);
    systemd_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(systemd_fd, (const struct sockaddr *)&address, sizeof address), 0);
    setenv("NOTIFY_SOCKET", address.sun_path, 1);
    service_start(&service, (const char *const[]){SERVICE_STEREOCAM, "source.rate_hz=5", NULL});
    unsetenv("NOTIFY_SOCKET");
}

static void test_missing_at_the_start(void **state)
{
    (void)state;
    struct command command;
    stereocam_set("left/connected", 0);
    start_service();
    assert_true(wait_for_state(true));
    assert_false(plx_health(service.client) & PLX_HEALTH_CAMERA_LOST_RIGHT);
    engine = daemon_child(&service.daemon, "parallax-engine");
    assert_true(engine > 0);
    assert_non_null(strstr(daemon_said(&service.daemon), "camera lost, looking for it: none of the"));
    assert_true(systemd_is_told("READY=1"));
    close(systemd_fd); /* nobody reads it any more, and it holds few words */
    command_run(&command, (const char *const[]){"status", "--socket", service.daemon.socket, NULL});
    print_message("%s", command.err);
    assert_int_equal(command.code, 69);
    assert_non_null(strstr(command.err, "left camera lost"));
    command_free(&command);
    stay_lost();
    come();
}

static void test_gone_and_back(void **state)
{
    (void)state;
    bool gone_in_time = false, back_in_time = false;
    for (int i = 0; i < ROUNDS && !(gone_in_time && back_in_time); i++) {
        gone_in_time |= go();
        back_in_time |= come();
    }
    assert_true(gone_in_time && back_in_time);
}

static void test_gone_for_long(void **state)
{
    (void)state;
    go();
    stay_lost();
    come();
}

static void test_nothing_was_restarted(void **state)
{
    (void)state;
    assert_int_equal(daemon_child(&service.daemon, "parallax-engine"), engine);
    print_message("%s", daemon_said(&service.daemon));
    assert_null(strstr(daemon_said(&service.daemon), "the start has taken")); /* to wait for a camera is not to be late */
}

/* The engine is replaced while a camera refuses its format: the new one says so and waits, and the service does not end. */
static void test_refused_to_a_new_engine(void **state)
{
    (void)state;
    stereocam_set("left/refuse_format", EINVAL);
    assert_int_equal(kill(engine, SIGKILL), 0);
    assert_true(wait_for_state(true));
    sleep(2);
    assert_int_equal(daemon_wait(&service.daemon, 0), -1);
    const pid_t next = daemon_child(&service.daemon, "parallax-engine");
    assert_true(next > 0 && next != engine);
    assert_non_null(strstr(daemon_said(&service.daemon), "the format cannot be set: Invalid argument"));
    stereocam_set("left/refuse_format", 0);
    const int64_t since_ns = plx_now_ns();
    struct plx_view view = service_next(&service, since_ns);
    plx_release(service.client, &view);
    assert_true(wait_for_state(false));
    assert_int_equal(daemon_child(&service.daemon, "parallax-engine"), next);
    service_stop(&service);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_at_the_start),    cmocka_unit_test(test_gone_and_back),
        cmocka_unit_test(test_gone_for_long),           cmocka_unit_test(test_nothing_was_restarted),
        cmocka_unit_test(test_refused_to_a_new_engine),
    };
    return cmocka_run_group_tests_name("service_return", tests, NULL, NULL);
}
