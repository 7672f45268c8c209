/* SPDX-License-Identifier: Apache-2.0 */
/* A job of the learner: the same job has the same result, and its decisions are settled by whoever keeps corrections. */
#include "core/drift/job.h"

#include <math.h>
#include <string.h>

#include "core/base/clock.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"

#define FOCAL 530.0
#define PITCH_RAD 0.003
#define MATCHES 600
#define EACH_NS (100 * PLX_NS_PER_MS) /* from match to match */

static struct plx_drift_job job;
static struct plx_drift_result result;

/* Matches of a minute, in which the right camera is pitched by PITCH. */
static void make_job(double pitch)
{
    uint64_t random = test_seed();
    memset(&job, 0, sizeof job);
    memset(&result, 0, sizeof result);
    job.mode = PLX_CORRECTION_ROWS;
    job.calibration = (struct plx_calibration_info){FOCAL, FOCAL, 319.5, 239.5, 319.5, 0.1};
    job.width = 640;
    job.height = 480;
    plx_row_drift_init(&job.drift, FOCAL);
    for (int i = 0; i < MATCHES; i++) {
        const double x = 1.2 * random_below(&random, 1001) / 1000 - 0.6, y = 0.9 * random_below(&random, 1001) / 1000 - 0.45;
        const double rows = FOCAL * pitch * (1 + y * y) + 0.1 * random_normal(&random);
        const struct plx_row_match match = {(float)x, (float)y, (float)rows, i % 2 == 0, 3, i * EACH_NS};
        plx_row_drift_add(&job.drift, &match);
    }
    job.since = MATCHES;
}

static int setup(void **state)
{
    (void)state;
    make_job(PITCH_RAD);
    return 0;
}

/* A drive straight ahead, half a metre a step, between points at 2 to 30 m, whose disparities are OFFSET px too small. */
static void add_steps(double offset)
{
    const struct plx_fit_camera camera = {FOCAL, FOCAL, 319.5, 239.5, FOCAL * 0.1};
    const struct plx_pose ahead = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, -0.5}};
    uint64_t random = test_seed();

    job.steps.camera = camera;
    for (int i = 0; i < PLX_STEPS; i++) {
        struct plx_fit_point point[PLX_STEP_POINTS];
        struct plx_fit fit;
        for (int k = 0; k < PLX_STEP_POINTS; k++) {
            const double z = 60 / (2 + 28.0 * random_below(&random, 1001) / 1000), shown = camera.focal_baseline / z - offset;
            const double u = random_below(&random, 640), v = random_below(&random, 480), near = z / (z - 0.5);
            point[k] = (struct plx_fit_point){.disparity = shown,
                                              .seen = {319.5 + (u - 319.5) * near + 0.1 * random_normal(&random),
                                                       239.5 + (v - 239.5) * near + 0.1 * random_normal(&random),
                                                       camera.focal_baseline / (z - 0.5) - offset},
                                              .has_disparity = true};
            plx_fit_unproject(&camera, u, v, shown, point[k].at);
        }
        assert_true(plx_fit_motion(&camera, point, PLX_STEP_POINTS, &ahead, &fit));
        plx_motion_steps_add(&job.steps, point, PLX_STEP_POINTS, &(struct plx_disparity_error){0, 0}, &fit.pose);
    }
    job.has_steps = true;
}

static void the_same_job_has_the_same_result(void **state)
{
    (void)state;
    static struct plx_drift_job before;
    static struct plx_drift_result other;
    memset(&other, 0xA5, sizeof other); /* nothing of it is read */
    before = job;
    plx_drift_job_run(&job, &result);
    plx_drift_job_run(&job, &other);
    assert_memory_equal(&before, &job, sizeof job);
    assert_memory_equal(&result.drift.info, &other.drift.info, sizeof result.drift.info);
    plx_drift_result_settle_all(&result);
    plx_drift_result_settle_all(&other);
    assert_memory_equal(&result.state, &other.state, sizeof result.state);
    assert_true(result.changed && result.state.number == 1 && result.since == 0);
    assert_true(fabs((double)result.state.applied.pitch_rad - PITCH_RAD) < 1e-4);
}

/* The keeper numbers a decision, and may take it back. */
static void a_decision_is_what_its_keeper_makes_of_it(void **state)
{
    (void)state;
    for (int is_applied = 0; is_applied < 2; is_applied++) {
        struct plx_correction_evidence evidence;
        plx_drift_job_run(&job, &result);
        assert_true(plx_drift_result_next(&result, &evidence));
        assert_true(evidence.applied && evidence.before.pitch_rad == 0 && evidence.matches == MATCHES);
        plx_drift_result_settle(&result, is_applied, 9);
        assert_false(plx_drift_result_next(&result, &evidence));
        assert_int_equal(result.changed, is_applied);
        assert_int_equal(result.state.number, is_applied ? 9 : 0);
        assert_int_equal(result.state.proposed_number, is_applied ? 0 : 9);
        const struct plx_correction *kept = is_applied ? &result.state.applied : &result.state.proposed;
        assert_memory_equal(kept, &evidence.after, sizeof *kept);
    }
}

static void on_hold_it_proposes_once(void **state)
{
    (void)state;
    struct plx_correction_evidence evidence;
    job.order.hold = true;
    plx_drift_job_run(&job, &result);
    assert_true(plx_drift_result_next(&result, &evidence));
    assert_false(evidence.applied);
    plx_drift_result_settle(&result, false, 1);
    assert_false(result.changed);
    assert_int_equal(result.since, 0);
    job.state = result.state;
    plx_drift_job_run(&job, &result);
    assert_false(plx_drift_result_next(&result, &evidence)); /* no news */
}

/* The matches were found without it: they decide nothing. */
static void an_order_is_obeyed_first(void **state)
{
    (void)state;
    struct plx_correction_evidence evidence;
    job.is_ordered = true;
    job.order = (struct plx_correction_order){.number = 5, .correction = {.pitch_rad = 0.001F}};
    job.gave_up = true;
    job.memory.taken_back = 2;
    plx_drift_job_run(&job, &result);
    assert_false(plx_drift_result_next(&result, &evidence));
    assert_true(result.changed && !result.gave_up && result.memory.taken_back == 0);
    assert_true(result.state.number == 5 && result.state.applied.pitch_rad == 0.001F);
}

/* What the learner did counts no more after an order, or after somebody has switched it on again. */
static void only_a_person_makes_it_forget_what_was_taken_back(void **state)
{
    (void)state;
    static const struct {
        bool is_ordered, gave_up, off, forgets;
    } cases[] = {{.forgets = false},
                 {.off = true, .forgets = false}, /* a person switches it off */
                 {.gave_up = true, .off = true, .forgets = false},
                 {.gave_up = true, .forgets = true},
                 {.is_ordered = true, .forgets = true},
                 {.is_ordered = true, .off = true, .forgets = true},
                 {.is_ordered = true, .gave_up = true, .off = true, .forgets = true}};
    job.mode = PLX_CORRECTION_OFF; /* it decides nothing itself */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        job.is_ordered = cases[i].is_ordered;
        job.gave_up = cases[i].gave_up;
        job.order.off = cases[i].off;
        job.memory.taken_back = 1;
        job.memory.change.pitch_rad = 0.001F;
        plx_drift_job_run(&job, &result);
        assert_int_equal(result.memory.taken_back, cases[i].forgets ? 0 : 1);
        assert_true(result.memory.change.pitch_rad == (cases[i].forgets ? 0 : 0.001F));
        assert_int_equal(result.gave_up, cases[i].off);
    }
}

/* Twice in a row: what comes and goes is no drift, whichever number of the rows it is. */
static void the_second_correction_that_is_taken_back_is_the_last(void **state)
{
    (void)state;
    job.memory.change.pitch_rad = -(float)PITCH_RAD;
    plx_drift_job_run(&job, &result);
    assert_int_equal(result.memory.taken_back, 1);
    assert_false(result.gave_up);
    job.memory.taken_back = 1;
    plx_drift_job_run(&job, &result);
    assert_int_equal(result.memory.taken_back, 2);
    assert_true(result.gave_up);
    job.memory.change.pitch_rad = (float)PITCH_RAD; /* further in the same direction */
    plx_drift_job_run(&job, &result);
    assert_int_equal(result.memory.taken_back, 1);
    assert_false(result.gave_up);
}

static void half_of_the_matches_are_new_before_it_decides_again(void **state)
{
    (void)state;
    struct plx_correction_evidence evidence;
    job.state.number = 1;
    job.state.applied.pitch_rad = 0.001F;
    job.since = PLX_ROW_MATCHES / 2 - 1;
    plx_drift_job_run(&job, &result);
    assert_false(plx_drift_result_next(&result, &evidence));
    job.since++;
    plx_drift_job_run(&job, &result);
    assert_true(plx_drift_result_next(&result, &evidence));
    assert_true(evidence.applied && fabs((double)evidence.after.pitch_rad - 0.001 - PITCH_RAD) < 1e-4);
}

/* The rows are right already. */
static void disparities_are_corrected_or_proposed_as_the_mode_says(void **state)
{
    (void)state;
    struct plx_correction_evidence evidence;
    make_job(0);
    add_steps(0.5);
    job.memory.refines = true;
    for (int all = 0; all < 2; all++) {
        job.mode = all ? PLX_CORRECTION_ALL : PLX_CORRECTION_ROWS;
        plx_drift_job_run(&job, &result);
        assert_true(plx_drift_result_next(&result, &evidence));
        assert_int_equal(evidence.applied, all);
        assert_true(fabs((double)evidence.after.disparity_offset_px - 0.5) < 0.1 && evidence.after.pitch_rad == 0);
        assert_int_equal(result.memory.refines, !all); /* with as many steps as are kept no more of them refine it */
        plx_drift_result_settle(&result, evidence.applied, 1);
        assert_false(plx_drift_result_next(&result, &evidence));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_same_job_has_the_same_result, setup),
        cmocka_unit_test_setup(a_decision_is_what_its_keeper_makes_of_it, setup),
        cmocka_unit_test_setup(on_hold_it_proposes_once, setup),
        cmocka_unit_test_setup(an_order_is_obeyed_first, setup),
        cmocka_unit_test_setup(only_a_person_makes_it_forget_what_was_taken_back, setup),
        cmocka_unit_test_setup(the_second_correction_that_is_taken_back_is_the_last, setup),
        cmocka_unit_test_setup(half_of_the_matches_are_new_before_it_decides_again, setup),
        cmocka_unit_test_setup(disparities_are_corrected_or_proposed_as_the_mode_says, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
