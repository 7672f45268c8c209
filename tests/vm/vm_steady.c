/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In 1,000 frames after its first ones, an engine that captures, computes and publishes asks for no memory, no file and no
 * thread, and takes no page fault: with cameras, and with the synthetic source.
 *
 * guest: stereocam width=64 height=48
 */
#include "tests/vm/camera.h"
#include "tests/vm/service.h"

#define WARM_UP 100 /* frames, as in the fault "steady" */
#define FRAMES 1000

static struct service service;

/* Page faults of PROCESS, minor and major (proc_pid_stat(5)). */
static unsigned long page_faults(pid_t process)
{
    char path[64], text[1024] = "";
    unsigned long minor = 0, major = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    const char *rest = strrchr(text, ')'); /* behind the name, which may hold anything */
    assert_non_null(rest);
    assert_int_equal(sscanf(rest, ") %*c %*d %*d %*d %*d %*d %*u %lu %*u %lu", &minor, &major), 2);
    return minor + major;
}

static void wait_for_frame(uint64_t sequence)
{
    uint64_t seen = 0;
    while (seen < sequence) {
        struct plx_view view = service_next(&service, 0);
        seen = view.frame->sequence;
        assert_int_equal(plx_release(service.client, &view), 0);
    }
}

static void expect_steady(const char *const *settings)
{
    daemon_make(&service.daemon);
    service.daemon.fault = "steady 100";
    service_start(&service, settings);
    wait_for_frame(WARM_UP);
    const pid_t engine = daemon_child(&service.daemon, "parallax-engine");
    const unsigned long before = page_faults(engine);
    wait_for_frame(WARM_UP + FRAMES);
    const unsigned long during = page_faults(engine) - before;
    if (daemon_child(&service.daemon, "parallax-engine") != engine)
        fail_msg("the engine ended: %s", daemon_said(&service.daemon));
    print_message("%lu page faults in %d frames\n", during, FRAMES);
    assert_int_equal(during, 0);
    service_stop(&service);
}

#define ALL                                                                                                                    \
    "source.rate_hz=30", "mount.z_m=0.5", "zones=[{name: a, polygon: [[0.5, -0.5], [1.5, -0.5], [1.5, 0.5], [0.5, 0.5]]}]"

static void cameras(void **state)
{
    (void)state;
    write_calibration(64, 48);
    expect_steady((const char *const[]){SERVICE_STEREOCAM, ALL, NULL});
}

static void synthetic_pictures(void **state)
{
    (void)state;
    expect_steady((const char *const[]){"source.type=synthetic", "source.width=64", "source.height=48", "match.disparities=64",
                                        ALL, NULL});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cameras),
        cmocka_unit_test(synthetic_pictures),
    };
    return cmocka_run_group_tests_name("steady", tests, NULL, NULL);
}
