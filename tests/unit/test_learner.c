/* SPDX-License-Identifier: Apache-2.0 */
/* What the learner corrects, and when it stops; without a worker, so that the frames run its jobs. */
#include "core/drift/learner.h"

#include <math.h>
#include <string.h>

#include "tests/cmocka.h"
#include "tests/drifting_rows.h"

static struct drifting_rows t;

static int setup(void **state)
{
    (void)state;
    return drifting_create(test_seed(), &t);
}

static int teardown(void **state)
{
    (void)state;
    plx_learner_destroy(t.learner);
    return 0;
}

static double applied(void)
{
    return (double)plx_learner_correction(t.learner)->applied.pitch_rad;
}

static void a_drift_is_corrected_after_20_seconds(void **state)
{
    (void)state;
    drifting_look(&t, 19, 0.002);
    assert_int_equal(plx_learner_correction(t.learner)->number, 0);
    drifting_look(&t, 21, 0.002);
    assert_true(fabs(applied() - 0.002) < 1e-4);
    assert_false(plx_learner_gave_up(t.learner));
    drifting_look(&t, 200, 0.002);
    assert_true(fabs(applied() - 0.002) < 1e-4);
}

/* Whatever comes and goes again is no drift: the second time that it is taken back is the last. */
static void what_is_taken_back_twice_ends_it(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_false(plx_learner_gave_up(t.learner));
        drifting_look(&t, 240, 0.003);
        assert_true(applied() > 0.0025 || i > 0);
        drifting_look(&t, 240, 0);
    }
    assert_true(plx_learner_gave_up(t.learner));
    const uint32_t number = plx_learner_correction(t.learner)->number;
    drifting_look(&t, 240, 0.003);
    assert_int_equal(plx_learner_correction(t.learner)->number, number);
    assert_true(plx_learner_correction(t.learner)->proposed_number > 0);
}

/* Frame by frame, over a correction and what follows it. */
static void the_same_matches_give_the_same_bits(void **state)
{
    (void)state;
    struct drifting_rows other;
    assert_int_equal(drifting_create(t.random, &other), 0);
    for (int frame = 0; frame < 600; frame++) {
        const double pitch_rad = frame < 400 ? 0.002 : -0.001;
        drifting_frame(&t, pitch_rad);
        drifting_frame(&other, pitch_rad);
        assert_memory_equal(plx_learner_drift(t.learner), plx_learner_drift(other.learner), sizeof(struct plx_drift_info));
        assert_memory_equal(plx_learner_correction(t.learner), plx_learner_correction(other.learner),
                            sizeof(struct plx_correction_info));
    }
    assert_true(plx_learner_correction(t.learner)->number > 0);
    plx_learner_destroy(other.learner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_drift_is_corrected_after_20_seconds, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_taken_back_twice_ends_it, setup, teardown),
        cmocka_unit_test_setup_teardown(the_same_matches_give_the_same_bits, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
