/* SPDX-License-Identifier: Apache-2.0 */
/* What the supervisor tells of its state: which reason counts, which failed start ends the service, and what is told then. */
#include <string.h>

#include "app/exit.h"
#include "app/supervisor/supervisor.h"
#include "client/map.h"
#include "tests/cmocka.h"
#include "tests/socket_folder.h"

#define NOW_NS (1000 * PLX_NS_PER_S)
#define BACKOFF_NS (PLX_NS_PER_S / 4)

static struct plx_supervisor supervisor;

/* A service without shared memory: nothing is published yet. */
static void begin(bool ready, bool wait)
{
    memset(&supervisor, 0, sizeof supervisor);
    supervisor.notify.ready = ready;
    supervisor.wait = wait;
    supervisor.now_ns = NOW_NS;
    supervisor.recovery.backoff_ns = BACKOFF_NS;
}

static struct plx_report failure(const char *sentence, bool transient)
{
    struct plx_report report = {.kind = PLX_REPORT_FAILED, .transient = transient, .exit_code = PLX_EXIT_OS};
    plx_say(&report.message, "%s", sentence);
    return report;
}

static void frames_come_before_the_configuration_and_the_gpu(void **state)
{
    (void)state;
    begin(true, false);
    assert_string_equal(plx_supervisor_reason(&supervisor), "");
    plx_say(&supervisor.gpu.reason, "the GPU is lost");
    assert_string_equal(plx_supervisor_reason(&supervisor), "the GPU is lost");
    plx_say(&supervisor.reload.refusal, "line 3 is wrong");
    assert_string_equal(plx_supervisor_reason(&supervisor), "line 3 is wrong");
    plx_say(&supervisor.degraded_reason, "no camera");
    assert_string_equal(plx_supervisor_reason(&supervisor), "no camera");
}

static void a_failed_start_ends_only_what_never_ran_and_does_not_wait(void **state)
{
    (void)state;
    static const struct {
        bool ready, wait, transient, final;
    } cases[] = {
        {false, false, false, true}, {false, false, true, true}, {false, true, false, true}, {false, true, true, false},
        {true, false, false, false}, {true, false, true, false}, {true, true, false, false}, {true, true, true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct plx_report report = failure("no camera at /dev/video7", cases[i].transient);
        begin(cases[i].ready, cases[i].wait);
        assert_int_equal(plx_supervisor_is_final(&supervisor, &report), cases[i].final);
        plx_supervisor_start_failed(&supervisor, &report);
        assert_string_equal(plx_supervisor_reason(&supervisor), "no camera at /dev/video7");
        assert_int_equal(supervisor.stopping, cases[i].final);
        assert_int_equal(supervisor.exit_code, cases[i].final ? PLX_EXIT_OS : 0);
        assert_int_equal(supervisor.blackbox.saving != NULL, cases[i].final);
        assert_true(supervisor.recovery.start_ns == (cases[i].final ? 0 : NOW_NS + BACKOFF_NS));
        /* One that waits is ready meanwhile: systemd shall not report a timeout. */
        assert_int_equal(supervisor.notify.ready, cases[i].ready || (cases[i].wait && !cases[i].final));
    }
}

static void a_newer_failure_replaces_the_reason(void **state)
{
    (void)state;
    const struct plx_report first = failure("no camera", true), second = failure("no permission", true);
    begin(true, false);
    plx_supervisor_start_failed(&supervisor, &first);
    plx_supervisor_start_failed(&supervisor, &second);
    assert_string_equal(plx_supervisor_reason(&supervisor), "no permission");
}

static void the_first_end_counts(void **state)
{
    (void)state;
    begin(true, false);
    plx_say(&supervisor.degraded_reason, "no camera");
    plx_supervisor_stop(&supervisor, PLX_EXIT_OS);
    assert_true(supervisor.stopping);
    assert_string_equal(supervisor.notify.status, "STATUS=stopping: no camera");
    plx_supervisor_stop(&supervisor, PLX_EXIT_FAILURE);
    assert_int_equal(supervisor.exit_code, PLX_EXIT_OS);
    plx_supervisor_fail(&supervisor, PLX_EXIT_FAILURE, "too late");
    assert_string_equal(plx_supervisor_reason(&supervisor), "no camera");
    assert_int_equal(supervisor.exit_code, PLX_EXIT_OS);
    begin(true, false);
    plx_supervisor_stop(&supervisor, 0);
    assert_string_equal(supervisor.notify.status, "STATUS=stopping");
}

/* A resource is missing: a service that waits is ready, another is not. */
static void a_service_that_waits_keeps_waiting(void **state)
{
    (void)state;
    for (int wait = 0; wait < 2; wait++) {
        begin(false, wait);
        plx_supervisor_keep_waiting(&supervisor);
        assert_int_equal(supervisor.notify.ready, wait);
        assert_true(supervisor.recovery.camera_lost_ns == NOW_NS);
        assert_false(supervisor.stopping);
    }
}

/* What a client reads in the shared memory. */
static void expect_published(enum plx_state s, uint32_t health, const char *reason)
{
    struct plx_map map;
    char text[PLX_REASON_BYTES];
    assert_int_equal(plx_map_open(plx_shm_client_fd(supervisor.publisher.shm), &map), 0);
    assert_true(map.header->status == ((uint64_t)health << 32 | s));
    assert_int_equal(plx_map_reason(&map, text, sizeof text), 0);
    assert_string_equal(text, reason);
    plx_map_close(&map);
}

/* A service with shared memory for frames without planes; the event loop is the caller's. */
static sd_event *begin_published(struct plx_config *config)
{
    struct plx_error_message message;
    sd_event *event;

    begin(true, false);
    plx_config_default(config);
    snprintf(config->publish.socket, sizeof config->publish.socket, "%s", path);
    config->publish.group[0] = '\0';
    assert_true(sd_event_new(&event) >= 0);
    if (plx_publisher_open(&supervisor.publisher, event, config, sizeof(struct plx_frame), &message) < 0)
        fail_msg("%s", message.text);
    plx_recovery_init(&supervisor.recovery, NOW_NS);
    return event;
}

static void expect_restarts(uint32_t expected)
{
    struct plx_map map;
    assert_int_equal(plx_map_open(plx_shm_client_fd(supervisor.publisher.shm), &map), 0);
    assert_int_equal(map.header->restarts, expected);
    plx_map_close(&map);
}

/* Clients of the larger memory are told of the same engines as those of the memory before. */
static void restarts_are_counted_on_in_a_new_memory(void **state)
{
    (void)state;
    static struct plx_config config; /* large */
    struct plx_error_message message;
    sd_event *event = begin_published(&config);
    const struct plx_shm *before = supervisor.publisher.shm;

    plx_shm_set_restarts(supervisor.publisher.shm, 3);
    supervisor.recovery.deaths = 3;
    assert_int_equal(plx_publisher_prepare(&supervisor.publisher, &config, sizeof(struct plx_frame) + 4096, &message), 0);
    plx_supervisor_confirm_reload(&supervisor, false); /* nothing is loaded anew */
    supervisor.reload.phase = PLX_RELOAD_STARTING;
    supervisor.engine.has_failed = true;
    plx_supervisor_confirm_reload(&supervisor, false);
    assert_ptr_equal(supervisor.publisher.shm, before);
    supervisor.engine.has_failed = false;
    plx_supervisor_confirm_reload(&supervisor, false);
    assert_int_equal(supervisor.reload.phase, PLX_RELOAD_NONE);
    assert_int_equal(supervisor.publisher.frame_bytes, sizeof(struct plx_frame) + 4096);
    expect_restarts(3);
    plx_publisher_close(&supervisor.publisher);
    sd_event_unref(event);
}

static void clients_read_state_and_reason(void **state)
{
    (void)state;
    static struct plx_config config; /* large */
    sd_event *event = begin_published(&config);

    plx_supervisor_publish_state(&supervisor);
    expect_published(PLX_STATE_STARTING, 0, "");
    supervisor.recovery.state = PLX_STATE_DEGRADED;
    supervisor.recovery.health = PLX_HEALTH_LATE;
    plx_say(&supervisor.degraded_reason, "x"); /* however short */
    plx_supervisor_publish_state(&supervisor);
    expect_published(PLX_STATE_DEGRADED, PLX_HEALTH_LATE, "x");
    assert_null(supervisor.blackbox.saving);

    supervisor.recovery.state = PLX_STATE_FAILED;
    plx_supervisor_publish_state(&supervisor);
    expect_published(PLX_STATE_FAILED, PLX_HEALTH_LATE, "x");
    assert_non_null(supervisor.blackbox.saving); /* once, when it fails */
    supervisor.blackbox.saving = NULL;
    supervisor.recovery.health |= PLX_HEALTH_DARK;
    plx_supervisor_publish_state(&supervisor);
    expect_published(PLX_STATE_FAILED, PLX_HEALTH_LATE | PLX_HEALTH_DARK, "x");
    assert_null(supervisor.blackbox.saving);

    supervisor.recovery.state = PLX_STATE_RUNNING;
    plx_supervisor_publish_state(&supervisor);
    plx_supervisor_fail(&supervisor, PLX_EXIT_BUSY, "another daemon has taken the socket");
    expect_published(PLX_STATE_FAILED, PLX_HEALTH_LATE | PLX_HEALTH_DARK, "another daemon has taken the socket");
    assert_non_null(supervisor.blackbox.saving);
    assert_int_equal(supervisor.exit_code, PLX_EXIT_BUSY);
    plx_publisher_close(&supervisor.publisher);
    sd_event_unref(event);
}

/* A file whose frames no memory can hold opens well: the plan that runs stays. */
static void a_ring_that_cannot_be_made_changes_nothing(void **state)
{
    (void)state;
    static struct plx_config config; /* large */
    begin(true, false);
    plx_config_default(&config);
    plx_reload_init(&supervisor.reload, &config);
    supervisor.reload.plan.frame_bytes = supervisor.publisher.frame_bytes = sizeof(struct plx_frame);
    supervisor.reload.phase = PLX_RELOAD_PROBING;
    supervisor.reload.candidate.frame_bytes = 100; /* less than the smallest frame */
    supervisor.recovery.state = PLX_STATE_RUNNING;
    plx_supervisor_follow_reload(&supervisor, PLX_RELOAD_OPENS);
    assert_int_equal(supervisor.reload.phase, PLX_RELOAD_NONE);
    assert_int_equal(supervisor.reload.plan.frame_bytes, sizeof(struct plx_frame));
    assert_non_null(
        strstr(plx_supervisor_reason(&supervisor), "configuration kept as it was: shared memory: frames of 100 bytes"));
    assert_null(supervisor.publisher.next);
    assert_true(supervisor.recovery.start_ns == 0); /* no engine is started in place of the one that runs */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_come_before_the_configuration_and_the_gpu),
        cmocka_unit_test(a_failed_start_ends_only_what_never_ran_and_does_not_wait),
        cmocka_unit_test(a_newer_failure_replaces_the_reason),
        cmocka_unit_test(the_first_end_counts),
        cmocka_unit_test(a_service_that_waits_keeps_waiting),
        cmocka_unit_test(restarts_are_counted_on_in_a_new_memory),
        cmocka_unit_test(clients_read_state_and_reason),
        cmocka_unit_test(a_ring_that_cannot_be_made_changes_nothing),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
