/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verdict when the service becomes slow: how long it takes from then to stop.
 *
 * guest: stereocam width=64 height=48
 */
#include "tests/vm/verdict.h"

#define SLOW_FILE "/tmp/slow" /* while it is there, a stage takes longer */

static void become_slow(const struct verdict_fault *fault)
{
    (void)fault;
    const int file = open(SLOW_FILE, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    assert_true(file >= 0);
    close(file);
}

/* Not before the frames say it themselves: a verdict whose time is over is stop, too. */
static void become_fast(const struct verdict_fault *fault)
{
    const int64_t begin_ns = plx_now_ns();
    while (!(plx_health(service.client) & PLX_HEALTH_LATE)) {
        if (plx_now_ns() - begin_ns > SERVICE_MS * PLX_NS_PER_MS)
            fail_msg("%s: not late: %s", fault->name, daemon_said(&service.daemon));
        usleep(VERDICT_POLL_US);
    }
    assert_int_equal(unlink(SLOW_FILE), 0);
}

/* More than the health table allows a stage; and more than a verdict holds. */
static const struct {
    const char *fault;
    struct verdict_fault times;
} slow[] = {
    {"drag plx_cpu_sgm 120", {"a stage takes 120 ms longer", 12, 0, become_slow, become_fast, NULL, 0, 0}},
    {"drag plx_cpu_sgm 300", {"a stage takes 300 ms longer", 12, 0, become_slow, become_fast, NULL, 0, 0}},
};

static void test_slow_stages(void **state)
{
    (void)state;
    bool in_time = true;

    write_calibration(64, 48);
    setenv("PLX_FAULT_WHILE", SLOW_FILE, 1);
    verdict_heading();
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) {
        daemon_make(&service.daemon);
        service.daemon.fault = slow[i].fault;
        verdict_start();
        in_time &= verdict_measure(&slow[i].times);
        service_stop(&service);
    }
    assert_true(in_time);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_stages),
    };
    return cmocka_run_group_tests_name("verdict_late", tests, NULL, NULL);
}
