/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reloads of a service whose cameras are at work: a configuration that is rejected changes nothing of them, one that is
 * accepted all that it names.
 *
 * guest: stereocam width=64 height=48
 */
#include "tests/vm/controls.h"
#include "tests/vm/service.h"

#define CONFIG_FILE "/tmp/parallax.yaml"

static const char *const cards[PLX_EYES] = {"card=stereocam left", "card=stereocam right"};
static struct service service = {.config = CONFIG_FILE};

static void write_file(const char *text)
{
    FILE *file = fopen(CONFIG_FILE, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Reloads TEXT and waits until the service says SENTENCE. */
static void reload(const char *text, const char *sentence)
{
    write_file(text);
    assert_int_equal(truncate(service.daemon.log, 0), 0);
    kill(service.daemon.pid, SIGHUP);
    for (int64_t end = plx_now_ns() + SERVICE_MS * PLX_NS_PER_MS; !strstr(daemon_said(&service.daemon), sentence);) {
        if (plx_now_ns() > end)
            fail_msg("expected \"%s\": %s", sentence, daemon_said(&service.daemon));
        usleep(20000);
    }
}

static void wait_for_frame(void)
{
    struct plx_view view = service_next(&service, plx_now_ns());
    plx_release(service.client, &view);
}

static void test_rejected(void **state)
{
    (void)state;
    static const struct {
        const char *config, *sentence;
    } cases[] = {
        {"source:\n  controls: \"gain=32, exposure=777, sensor_mode=99\"\n  rate_hz: 7\n", "sensor_mode cannot be 99"},
        {"source:\n  controls: \"gain=32, no_such=1\"\n", "no control \"no_such\""},
        {"source:\n  controls: \"gain=32\"\n  rate_hz: 7\n  format: NV12\n", "does not give NV12"},
        {"source:\n  controls: \"gain=32\"\n  rate_hz: 7\nmatch:\n  min_disparity: 60\n", "configuration kept"},
    };
    char before[PLX_EYES][DESCRIPTION], after[DESCRIPTION];

    daemon_make(&service.daemon);
    write_calibration(64, 48);
    write_file("source:\n  rate_hz: 5\n  controls: \"override_enable=1, gain=16\"\n");
    service_start(&service, (const char *const[]){SERVICE_STEREOCAM, "exposure.enabled=false", NULL});
    wait_for_frame();
    const pid_t engine = daemon_child(&service.daemon, "parallax-engine");
    for (int eye = 0; eye < PLX_EYES; eye++)
        describe_camera(cards[eye], before[eye]);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        reload(cases[i].config, cases[i].sentence);
        assert_non_null(strstr(daemon_said(&service.daemon), "configuration kept"));
        for (int eye = 0; eye < PLX_EYES; eye++) {
            describe_camera(cards[eye], after);
            assert_string_equal(after, before[eye]);
        }
        wait_for_frame();
        assert_int_equal(daemon_child(&service.daemon, "parallax-engine"), engine);
    }
}

static void test_accepted(void **state)
{
    (void)state;
    reload("source:\n  rate_hz: 6\n  controls: \"override_enable=1, gain=32\"\n", "configuration reloaded");
    wait_for_frame();
    for (int eye = 0; eye < PLX_EYES; eye++)
        assert_int_equal(read_control(cards[eye], "gain"), 32);
    service_stop(&service);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rejected),
        cmocka_unit_test(test_accepted),
    };
    return cmocka_run_group_tests_name("service_reload", tests, NULL, NULL);
}
