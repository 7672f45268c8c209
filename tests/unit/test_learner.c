/* SPDX-License-Identifier: Apache-2.0 */
/* What the learner corrects, and when it stops: matches drawn at random, ten frames a second, of rows that are off by what the
 * test says, less what is corrected. */
#include "core/drift/learner.h"
#include "core/drift/matches.h"

#include <math.h>
#include <string.h>

#include "core/base/clock.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"

#define WIDTH 640
#define HEIGHT 480
#define FOCAL 530.0
#define NOISE_PX 0.1
#define PERIOD_NS (100 * PLX_NS_PER_MS)

static struct {
    struct plx_learner *learner;
    uint64_t random;
    int64_t now_ns;
} t;

static int setup(void **state)
{
    (void)state;
    const struct plx_calibration_info info = {FOCAL, FOCAL, 319.5, 239.5, 319.5, 0.1};
    struct plx_stereo_calibration calibration;
    memset(&t, 0, sizeof t);
    t.random = test_seed();
    plx_calibration_pinhole(WIDTH, HEIGHT, &info, &calibration);
    return plx_learner_create(PLX_CORRECTION_ROWS, &calibration, &t.learner);
}

static int teardown(void **state)
{
    (void)state;
    plx_learner_destroy(t.learner);
    return 0;
}

/* Frames for SECONDS, in which the right camera is pitched by PITCH_RAD. */
static void look(double seconds, double pitch_rad)
{
    for (const int64_t until_ns = t.now_ns + (int64_t)(seconds * 1e9); t.now_ns < until_ns; t.now_ns += PERIOD_NS) {
        struct plx_row_match match[PLX_PLACES_FIRST];
        const struct plx_remap *map;
        uint32_t place;
        plx_learner_take(t.learner, &map);
        const double left_rad = pitch_rad - (double)plx_learner_correction(t.learner)->applied.pitch_rad;
        const int places = plx_learner_places(t.learner, t.now_ns, &place);
        for (int i = 0; i < places; i++) {
            const double x = 1.2 * random_below(&t.random, 1001) / 1000 - 0.6,
                         y = 0.9 * random_below(&t.random, 1001) / 1000 - 0.45;
            const double rows = FOCAL * left_rad * (1 + y * y) + NOISE_PX * random_normal(&t.random);
            match[i] = (struct plx_row_match){.x = (float)x, .y = (float)y, .rows = (float)rows, .odd = i % 2 == 0, .z_m = 3};
        }
        plx_learner_add(t.learner, match, places, NULL);
    }
}

static double applied(void)
{
    return (double)plx_learner_correction(t.learner)->applied.pitch_rad;
}

static void a_drift_is_corrected_after_20_seconds(void **state)
{
    (void)state;
    look(19, 0.002);
    assert_int_equal(plx_learner_correction(t.learner)->number, 0);
    look(21, 0.002);
    assert_true(fabs(applied() - 0.002) < 1e-4);
    assert_false(plx_learner_gave_up(t.learner));
    look(200, 0.002);
    assert_true(fabs(applied() - 0.002) < 1e-4);
}

/* Whatever comes and goes again is no drift: the second time that it is taken back is the last. */
static void what_is_taken_back_twice_ends_it(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_false(plx_learner_gave_up(t.learner));
        look(240, 0.003);
        assert_true(applied() > 0.0025 || i > 0);
        look(240, 0);
    }
    assert_true(plx_learner_gave_up(t.learner));
    const uint32_t number = plx_learner_correction(t.learner)->number;
    look(240, 0.003);
    assert_int_equal(plx_learner_correction(t.learner)->number, number);
    assert_true(plx_learner_correction(t.learner)->proposed_number > 0);
}

/* A store that lets the learner apply nothing, as after an undo. OFF: corrections contradicted each other in an earlier run. */
struct refusing {
    _Atomic bool off;
    uint32_t kept;
};

static bool refuses_orders(void *context, struct plx_correction_order *order)
{
    order->off = ((struct refusing *)context)->off;
    order->hold = false;
    return false;
}

static uint32_t refuses_to_apply(void *context, struct plx_correction_evidence *evidence)
{
    evidence->applied = false;
    return ++((struct refusing *)context)->kept;
}

/* With a store the learner does not wait for its thread, so these look for as long as it takes. */
static void what_the_store_refuses_is_not_in_force(void **state)
{
    (void)state;
    struct refusing refusing = {.off = false};
    const struct plx_correction_store store = {&refusing, refuses_orders, refuses_to_apply};
    assert_null(plx_learner_keep(t.learner, &store));
    while (plx_learner_correction(t.learner)->proposed_number == 0)
        look(1, 0.003);
    assert_true(plx_learner_correction(t.learner)->number == 0 && applied() == 0);
    assert_true((double)plx_learner_correction(t.learner)->proposed.pitch_rad > 0.0025);
}

static void giving_up_is_kept_by_the_store(void **state)
{
    (void)state;
    struct refusing refusing = {.off = true};
    const struct plx_correction_store store = {&refusing, refuses_orders, refuses_to_apply};
    assert_null(plx_learner_keep(t.learner, &store));
    assert_true(plx_learner_gave_up(t.learner));
    look(30, 0);
    assert_true(plx_learner_gave_up(t.learner));
    refusing.off = false; /* somebody accepted */
    while (plx_learner_gave_up(t.learner))
        look(1, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_drift_is_corrected_after_20_seconds, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_taken_back_twice_ends_it, setup, teardown),
        cmocka_unit_test_setup_teardown(what_the_store_refuses_is_not_in_force, setup, teardown),
        cmocka_unit_test_setup_teardown(giving_up_is_kept_by_the_store, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
