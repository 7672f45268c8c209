/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict from zones and faults that are made up: the strictest one, its reasons, and how long it holds. */
#include "core/verdict/verdict.h"

#include <math.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/pipeline/pipeline.h"
#include "tests/cmocka.h"

#define PERIOD_NS (40 * PLX_NS_PER_MS)

static const struct plx_verdict_params params = {.stop_flags = PLX_HEALTH_FROZEN | PLX_HEALTH_LATE,
                                                 .slow_flags = PLX_HEALTH_OVERLOAD | PLX_HEALTH_LATE};

static struct plx_frame frame;

static int setup(void **state)
{
    (void)state;
    memset(&frame, 0, sizeof frame);
    frame.map.valid = 1;
    return 0;
}

static void set_zone(int index, enum plx_verdict_kind verdict, uint32_t reasons, float nearest_m)
{
    frame.zone[index] = (struct plx_zone_info){.active = 1, .verdict = verdict, .reasons = reasons, .nearest_m = nearest_m};
}

static void expect(enum plx_verdict_kind verdict, uint32_t reasons, int zone)
{
    assert_int_equal(frame.verdict.verdict, verdict);
    assert_int_equal(frame.verdict.reasons, reasons);
    assert_int_equal(frame.verdict.zone, zone);
    assert_true(zone < 0 ? isinf(frame.verdict.distance_m) : frame.verdict.distance_m == frame.zone[zone].nearest_m);
}

static void reasons_of_all_active_zones_are_collected(void **state)
{
    (void)state;
    set_zone(0, PLX_VERDICT_SLOW, PLX_REASON_UNKNOWN, 3);
    set_zone(5, PLX_VERDICT_STOP, PLX_REASON_OCCUPIED, 2);
    set_zone(PLX_MAX_ZONES - 1, PLX_VERDICT_SLOW, PLX_REASON_LITTLE_DEPTH, 1);
    set_zone(7, PLX_VERDICT_STOP, PLX_REASON_DROP, 0.5F);
    frame.zone[7].active = 0;
    frame.health = PLX_HEALTH_OVERLOAD;
    plx_verdict_decide(&params, 0, PERIOD_NS, &frame);
    expect(PLX_VERDICT_STOP, PLX_REASON_UNKNOWN | PLX_REASON_OCCUPIED | PLX_REASON_LITTLE_DEPTH | PLX_REASON_FAULT, 5);
    frame.map.valid = 0;
    plx_verdict_decide(&params, 0, PERIOD_NS, &frame);
    expect(PLX_VERDICT_STOP,
           PLX_REASON_UNKNOWN | PLX_REASON_OCCUPIED | PLX_REASON_LITTLE_DEPTH | PLX_REASON_FAULT | PLX_REASON_NO_MAP, 5);
}

/* The strictest zone decides, and of those the one with the nearest thing, and of those the first. */
static void the_deciding_zone(void **state)
{
    (void)state;
    static const struct {
        enum plx_verdict_kind verdict[3];
        float nearest_m[3];
        int zone;
    } cases[] = {
        {{PLX_VERDICT_GO, PLX_VERDICT_GO, PLX_VERDICT_GO}, {1, 2, 3}, -1},
        {{PLX_VERDICT_GO, PLX_VERDICT_SLOW, PLX_VERDICT_GO}, {1, 2, 1}, 1},
        {{PLX_VERDICT_SLOW, PLX_VERDICT_STOP, PLX_VERDICT_SLOW}, {1, 2, 3}, 1},
        {{PLX_VERDICT_STOP, PLX_VERDICT_SLOW, PLX_VERDICT_SLOW}, {3, 1, 2}, 0},
        {{PLX_VERDICT_SLOW, PLX_VERDICT_SLOW, PLX_VERDICT_SLOW}, {3, 1, 2}, 1},
        {{PLX_VERDICT_STOP, PLX_VERDICT_STOP, PLX_VERDICT_SLOW}, {3, 2, 1}, 1},
        {{PLX_VERDICT_STOP, PLX_VERDICT_STOP, PLX_VERDICT_STOP}, {2, 2, 3}, 0},
        {{PLX_VERDICT_STOP, PLX_VERDICT_STOP, PLX_VERDICT_STOP}, {2, 3, 1}, 2},
        {{PLX_VERDICT_SLOW, PLX_VERDICT_GO, PLX_VERDICT_SLOW}, {INFINITY, 1, INFINITY}, 0},
        {{PLX_VERDICT_GO, PLX_VERDICT_GO, PLX_VERDICT_STOP}, {INFINITY, 1, INFINITY}, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum plx_verdict_kind strictest = PLX_VERDICT_GO;
        for (int k = 0; k < 3; k++) {
            set_zone(k, cases[i].verdict[k], 0, cases[i].nearest_m[k]);
            strictest = cases[i].verdict[k] < strictest ? cases[i].verdict[k] : strictest;
        }
        plx_verdict_decide(&params, 0, PERIOD_NS, &frame);
        expect(strictest, 0, cases[i].zone);
    }
    /* A zone that does not count decides nothing, however near its thing is. */
    set_zone(0, PLX_VERDICT_STOP, PLX_REASON_OCCUPIED, 0.1F);
    frame.zone[0].active = 0;
    plx_verdict_decide(&params, 0, PERIOD_NS, &frame);
    expect(PLX_VERDICT_STOP, 0, 2);
}

static void a_verdict_holds_as_long_as_it_says(void **state)
{
    (void)state;
    static const struct {
        double reaction_ms;
        int64_t valid_ns;
    } cases[] = {{0, 180 * PLX_NS_PER_MS}, {0.5, PLX_NS_PER_MS / 2}, {1, PLX_NS_PER_MS}, {250, 250 * PLX_NS_PER_MS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct plx_verdict_params reacts = {.reaction_ms = cases[i].reaction_ms};
        frame.verdict.speed_mps = 1.25F;
        plx_verdict_decide(&reacts, 0, PERIOD_NS, &frame); /* by default two periods and 100 ms */
        assert_int_equal(frame.verdict.valid_ns, cases[i].valid_ns);
        assert_true(frame.verdict.speed_mps == 1.25F);
    }
}

static void faults_without_zones_say_so(void **state)
{
    (void)state;
    frame.health = PLX_HEALTH_OVERLOAD | PLX_HEALTH_HOT;
    plx_verdict_decide(&params, 0, PERIOD_NS, &frame);
    expect(PLX_VERDICT_STOP, PLX_REASON_FAULT | PLX_REASON_NO_ZONES, -1);
    assert_int_equal(frame.verdict.faults, PLX_HEALTH_OVERLOAD);
    set_zone(3, PLX_VERDICT_GO, 0, INFINITY);
    plx_verdict_decide(&params, 0, PERIOD_NS, &frame);
    expect(PLX_VERDICT_SLOW, PLX_REASON_FAULT, -1);
    frame.health |= PLX_HEALTH_FROZEN;
    plx_verdict_decide(&params, 0, PERIOD_NS, &frame);
    expect(PLX_VERDICT_STOP, PLX_REASON_FAULT, -1);
    assert_int_equal(frame.verdict.faults, PLX_HEALTH_OVERLOAD | PLX_HEALTH_FROZEN);
    frame.health = 0;
    frame.map.valid = 0;
    plx_verdict_decide(&params, 0, PERIOD_NS, &frame);
    expect(PLX_VERDICT_STOP, PLX_REASON_NO_MAP, -1);
}

/* A flag whose check has not seen enough yet demands what it would demand if it were set. */
static void what_is_not_checked_yet_counts(void **state)
{
    (void)state;
    static const struct {
        uint32_t unchecked, verdict, reasons;
    } cases[] = {
        {PLX_HEALTH_FROZEN, PLX_VERDICT_STOP, PLX_REASON_SETTLING},
        {PLX_HEALTH_OVERLOAD, PLX_VERDICT_SLOW, PLX_REASON_SETTLING},
        {PLX_HEALTH_OVERLOAD | PLX_HEALTH_FROZEN, PLX_VERDICT_STOP, PLX_REASON_SETTLING},
        {PLX_HEALTH_HOT, PLX_VERDICT_GO, 0}, /* in no list */
    };
    set_zone(0, PLX_VERDICT_GO, 0, INFINITY);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        plx_verdict_decide(&params, cases[i].unchecked, PERIOD_NS, &frame);
        expect((enum plx_verdict_kind)cases[i].verdict, cases[i].reasons, -1);
        assert_int_equal(frame.verdict.faults, 0);
    }
    frame.health = PLX_HEALTH_OVERLOAD;
    plx_verdict_decide(&params, PLX_HEALTH_FROZEN, PERIOD_NS, &frame);
    expect(PLX_VERDICT_STOP, PLX_REASON_SETTLING | PLX_REASON_FAULT, -1);
    assert_int_equal(frame.verdict.faults, PLX_HEALTH_OVERLOAD);
}

/* The table of docs/verdict.md: without a word in the configuration, each fault alone has the verdict that it says. */
static void each_fault_has_its_verdict_by_default(void **state)
{
    (void)state;
    static const uint32_t stop[] = {
        PLX_HEALTH_CAMERA_LOST_LEFT,
        PLX_HEALTH_CAMERA_LOST_RIGHT,
        PLX_HEALTH_NO_FRAMES,
        PLX_HEALTH_DESYNC,
        PLX_HEALTH_TIMESTAMP,
        PLX_HEALTH_FROZEN,
        PLX_HEALTH_DARK,
        PLX_HEALTH_OVEREXPOSED,
        PLX_HEALTH_MISALIGNED,
        PLX_HEALTH_LATE,
        PLX_HEALTH_BUFFER_ERROR,
        PLX_HEALTH_NOT_CALIBRATED,
        PLX_HEALTH_CAMERA_MOVED,
    };
    static const uint32_t slow[] = {PLX_HEALTH_BRIGHTNESS_MISMATCH, PLX_HEALTH_BLURRED, PLX_HEALTH_OVERLOAD,
                                    PLX_HEALTH_GROUND_LOST};
    struct plx_pipeline_params defaults;
    uint32_t expected[32];

    plx_pipeline_params_default(&defaults);
    for (int bit = 0; bit < 32; bit++)
        expected[bit] = PLX_VERDICT_GO;
    for (size_t i = 0; i < sizeof stop / sizeof *stop; i++)
        expected[__builtin_ctz(stop[i])] = PLX_VERDICT_STOP;
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
        expected[__builtin_ctz(slow[i])] = PLX_VERDICT_SLOW;
    set_zone(0, PLX_VERDICT_GO, 0, INFINITY);
    for (int bit = 0; bit < 32; bit++) {
        frame.health = 1U << bit;
        plx_verdict_decide(&defaults.verdict, 0, PERIOD_NS, &frame);
        if (frame.verdict.verdict != expected[bit])
            fail_msg("bit %d: verdict %u, expected %u", bit, frame.verdict.verdict, expected[bit]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(reasons_of_all_active_zones_are_collected, setup),
        cmocka_unit_test_setup(the_deciding_zone, setup),
        cmocka_unit_test_setup(a_verdict_holds_as_long_as_it_says, setup),
        cmocka_unit_test_setup(faults_without_zones_say_so, setup),
        cmocka_unit_test_setup(what_is_not_checked_yet_counts, setup),
        cmocka_unit_test_setup(each_fault_has_its_verdict_by_default, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
