/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs by capture time: the exact skew is published, cameras out of step are flagged, one that lags or drops costs its own
 * pictures only.
 *
 * guest: stereocam width=128 height=96
 */
#include "tests/vm/stereocam.h"

#define RATE_HZ 10
#define PERIOD_NS (PLX_NS_PER_S / RATE_HZ)

static struct pairs pairs;

static int setup(void **state)
{
    struct plx_v4l2_options options = stereocam_options(RATE_HZ);
    options.width = 128;
    options.height = 96;
    stereocam_set("left/skew_ns", 0);
    stereocam_set("right/skew_ns", 0);
    return pairs_setup(state, &pairs, &options, 1);
}

static int64_t skew(void)
{
    return pairs.pair[PLX_RIGHT].capture_ns - pairs.pair[PLX_LEFT].capture_ns;
}

/* Pairs whose skew was made before the setting was changed may still be on their way. */
static void settle(int count)
{
    while (count-- > 0)
        pairs_next(&pairs, 1000);
    pairs.health = 0;
}

static void test_skew_is_exact(void **state)
{
    (void)state;
    static const int64_t skews[] = {0, 1000000, 7000000, PERIOD_NS / 5};
    for (int eye = 0; eye < PLX_EYES; eye++)
        for (size_t i = 0; i < sizeof skews / sizeof *skews; i++) {
            stereocam_set(eye == PLX_LEFT ? "left/skew_ns" : "right/skew_ns", skews[i]);
            settle(3);
            for (int k = 0; k < 5; k++) {
                pairs_take(&pairs, 1);
                const int64_t off = skew() - (eye == PLX_LEFT ? -skews[i] : skews[i]);
                assert_true(off >= -PLX_NS_PER_US && off <= PLX_NS_PER_US); /* V4L2's times are whole microseconds */
            }
            assert_int_equal(pairs.health & PLX_HEALTH_DESYNC, 0);
            stereocam_set("left/skew_ns", 0);
        }
}

static void test_out_of_step(void **state)
{
    (void)state;
    stereocam_set("right/skew_ns", PERIOD_NS * 2 / 5); /* beyond a quarter, and no other is nearer than this */
    settle(3);
    assert_false(pairs_next(&pairs, 1000));
    assert_int_equal(pairs.health & PLX_HEALTH_DESYNC, PLX_HEALTH_DESYNC);
    stereocam_set("right/skew_ns", 0);
    settle(5);
    pairs_take(&pairs, 5);
    assert_int_equal(pairs.health & PLX_HEALTH_DESYNC, 0);
}

/* As of two cameras that run free: every picture has its nearest, and it is said when that is far. */
static void test_nearest(void **state)
{
    (void)state;
    const int64_t quarter = pairs.pairing.tolerance_ns;
    pairs.pairing.tolerance_ns = PERIOD_NS / 2;
    pairs.pairing.drift_ns = quarter;
    for (int tenth = 0; tenth < 10; tenth++) {
        int64_t nearest = tenth * PERIOD_NS / 10;
        if (nearest > PERIOD_NS / 2)
            nearest -= PERIOD_NS;
        stereocam_set("right/skew_ns", tenth * PERIOD_NS / 10);
        settle(4);
        if (tenth == 5) /* as far as the one before */
            continue;
        for (int k = 0; k < 4; k++) {
            pairs_take(&pairs, 1);
            const int64_t off = skew() - nearest;
            assert_true(off >= -2 * PLX_NS_PER_US && off <= 2 * PLX_NS_PER_US);
        }
        assert_int_equal((pairs.health & PLX_HEALTH_DESYNC) != 0, llabs(nearest) > quarter);
    }
}

static void test_one_eye_drops(void **state)
{
    (void)state;
    stereocam_set("right/drop_percent", 30);
    const uint32_t first = pairs.pair[PLX_LEFT].sequence;
    for (int i = 0; i < 20; i++) {
        pairs_take(&pairs, 1);
        assert_true(llabs(skew()) <= PLX_NS_PER_US);
    }
    stereocam_set("right/drop_percent", 0);
    const uint32_t passed = pairs.pair[PLX_LEFT].sequence - first;
    print_message("20 pairs of %u frames, %llu dropped on the right\n", passed,
                  (unsigned long long)pairs.pairing.eye[PLX_RIGHT].dropped);
    assert_true(passed >= 24);
    assert_true(pairs.pairing.eye[PLX_RIGHT].dropped >= 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_skew_is_exact, setup, pairs_teardown),
        cmocka_unit_test_setup_teardown(test_out_of_step, setup, pairs_teardown),
        cmocka_unit_test_setup_teardown(test_nearest, setup, pairs_teardown),
        cmocka_unit_test_setup_teardown(test_one_eye_drops, setup, pairs_teardown),
    };
    return cmocka_run_group_tests_name("source_pairing", tests, NULL, NULL);
}
