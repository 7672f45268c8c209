/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bad pictures on their way through the service: what is published was good by the driver's own records, each fault is flagged
 * in the frames around it, by name, passes with it, and costs no process.
 *
 * guest: stereocam width=64 height=48
 */
#include "tests/vm/camera.h"
#include "tests/vm/service.h"

#define ALL_ROWS 48
#define FRAMES 12 /* to flag a fault in, and to forget it in; a zone is frozen after 5 */
#define TRIES 3   /* frames that this client was too slow for may have borne the flag */

static struct service service;
static pid_t engine;

static int setup(void **state)
{
    (void)state;
    daemon_make(&service.daemon);
    write_calibration(64, 48);
    service_start(&service, (const char *const[]){SERVICE_STEREOCAM, "source.rate_hz=5", "exposure.enabled=false", NULL});
    struct plx_view view = service_next(&service, 0);
    plx_release(service.client, &view);
    engine = daemon_child(&service.daemon, "parallax-engine");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    const pid_t now = daemon_child(&service.daemon, "parallax-engine");
    service_stop(&service);
    return now == engine ? 0 : -1;
}

/* The health flags of the next frame that was taken from SINCE_NS on. Both its pictures must have been good. */
static uint32_t next_health(int64_t since_ns)
{
    struct plx_view view = service_next(&service, since_ns);
    const uint32_t health = view.frame->health;
    uint32_t sequence[PLX_EYES];

    for (int eye = 0; eye < PLX_EYES; eye++)
        sequence[eye] = view.frame->capture[eye].sequence;
    assert_int_equal(plx_release(service.client, &view), 0);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        struct camera_record record;
        assert_true(camera_record(eye == PLX_LEFT ? "left" : "right", sequence[eye], &record));
        assert_string_equal(record.fate, "good");
    }
    return health;
}

/* Whether FLAG is set (or not set, if not WANTED) in one of the next frames; how many it took is printed. */
static bool comes(uint32_t flag, bool wanted)
{
    const int64_t since_ns = plx_now_ns();
    for (int i = 1; i <= FRAMES; i++)
        if (((next_health(since_ns) & flag) != 0) == wanted) {
            print_message("%s in frame %d\n", wanted ? "flagged" : "over", i);
            return true;
        }
    return false;
}

static const struct fault {
    const char *setting;
    long long value, good; /* while it lasts, and after */
    uint32_t flag;
} faults[] = {
    {"left/frozen", 1, 0, PLX_HEALTH_FROZEN},
    {"right/frozen", 1, 0, PLX_HEALTH_FROZEN},
    {"right/frozen_rows", ALL_ROWS / 2, 0, PLX_HEALTH_FROZEN},
    {"left/error_count", 3, 0, PLX_HEALTH_BUFFER_ERROR},
    {"right/short_count", 3, 0, PLX_HEALTH_BUFFER_ERROR},
    {"left/drop_percent", 50, 0, PLX_HEALTH_DROPPED},
    {"right/timestamp_offset_ns", 3600000000000, 0, PLX_HEALTH_TIMESTAMP},
};

static void test_each_fault(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const struct fault *fault = &faults[i];
        bool flagged = false;
        print_message("%s\n", fault->setting);
        assert_true(comes(fault->flag, false));
        for (int try = 0; try < TRIES && !flagged; try++) {
            stereocam_set(fault->setting, fault->value);
            flagged = comes(fault->flag, true);
            stereocam_set(fault->setting, fault->good);
        }
        assert_true(flagged);
        assert_true(comes(fault->flag, false));
        assert_int_equal(daemon_child(&service.daemon, "parallax-engine"), engine);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_fault),
    };
    return cmocka_run_group_tests_name("service_faults", tests, setup, teardown);
}
