/* SPDX-License-Identifier: Apache-2.0 */
/* The worker of the corrections: what its store takes and refuses, and frames beside a worker that is slow. */
#include "app/corrections/worker.h"

#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "tests/cmocka.h"
#include "tests/drifting_rows.h"

/* A store that lets the learner apply nothing, as after an undo, or all. OFF: corrections contradicted each other in an earlier
 * run. */
struct store {
    bool applies;
    _Atomic bool off;
    uint32_t kept;
    _Atomic bool is_slow; /* the worker's calls of wanted post BEGUN, and wait for ALLOWS */
    sem_t begun, allows;
};

static struct {
    struct drifting_rows rows;
    struct store store;
    struct plx_worker *worker;
    int wanted_calls; /* the first is the frames', before the worker's */
} t;

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) < 0 && errno == EINTR)
        ;
}

static void let_go(void)
{
    t.store.is_slow = false;
    sem_post(&t.store.allows);
}

static bool wanted(void *context, struct plx_correction_order *order)
{
    struct store *store = context;
    if (store->is_slow && t.wanted_calls++ > 0) {
        sem_post(&store->begun);
        wait_for(&store->allows);
    }
    order->off = store->off;
    order->hold = false;
    return false;
}

static uint32_t keep(void *context, struct plx_correction_evidence *evidence)
{
    struct store *store = context;
    evidence->applied = evidence->applied && store->applies;
    return ++store->kept;
}

static int setup(void **state)
{
    (void)state;
    memset(&t, 0, sizeof t);
    sem_init(&t.store.begun, 0, 0);
    sem_init(&t.store.allows, 0, 0);
    return drifting_create(test_seed(), &t.rows);
}

static int teardown(void **state)
{
    (void)state;
    let_go();
    plx_worker_destroy(t.worker);
    plx_learner_destroy(t.rows.learner);
    sem_destroy(&t.store.begun);
    sem_destroy(&t.store.allows);
    return 0;
}

static void use_worker(void)
{
    const struct plx_correction_store store = {&t.store, wanted, keep};
    assert_int_equal(plx_worker_create(&t.rows.calibration, &store, &t.worker), 0);
    const struct plx_correction_worker ops = plx_worker_ops(t.worker);
    assert_null(plx_learner_use_worker(t.rows.learner, &ops));
}

/* The frames do not wait for the worker, so these look for as long as it takes. */
static void what_the_store_refuses_is_not_in_force(void **state)
{
    (void)state;
    use_worker();
    while (plx_learner_correction(t.rows.learner)->proposed_number == 0)
        drifting_look(&t.rows, 1, 0.003);
    const struct plx_correction_info *correction = plx_learner_correction(t.rows.learner);
    assert_true(correction->number == 0 && correction->applied.pitch_rad == 0);
    assert_true((double)correction->proposed.pitch_rad > 0.0025);
}

static void what_the_store_takes_is_in_force_with_its_map(void **state)
{
    (void)state;
    t.store.applies = true;
    use_worker();
    while (plx_learner_correction(t.rows.learner)->number == 0)
        drifting_look(&t.rows, 0.1, 0.003); /* a frame: the next correction has another map */
    const struct plx_correction_info *correction = plx_learner_correction(t.rows.learner);
    assert_true((double)correction->applied.pitch_rad > 0.0025);
    struct plx_remap expected = {.width = 640, .height = 480};
    expected.entry = malloc(640 * 480 * sizeof *expected.entry);
    assert_non_null(expected.entry);
    assert_int_equal(plx_remap_fill(&t.rows.calibration, PLX_RIGHT, &correction->applied, &expected), 0);
    assert_true(drifting_hash(&expected) == t.rows.map_hash);
    free(expected.entry);
}

static void giving_up_is_kept_by_the_store(void **state)
{
    (void)state;
    t.store.off = true;
    use_worker();
    assert_true(plx_learner_gave_up(t.rows.learner));
    drifting_look(&t.rows, 30, 0);
    assert_true(plx_learner_gave_up(t.rows.learner));
    t.store.off = false; /* somebody accepted */
    while (plx_learner_gave_up(t.rows.learner))
        drifting_look(&t.rows, 1, 0);
}

/* The store holds the worker's thread until 1,000 frames have passed: would one of them wait, the test did not end. */
static void no_frame_waits_for_a_slow_worker(void **state)
{
    (void)state;
    t.store.is_slow = true;
    use_worker();
    drifting_look(&t.rows, 10, 0.003);
    wait_for(&t.store.begun);
    drifting_look(&t.rows, 90, 0.003);
    assert_int_equal(plx_learner_drift(t.rows.learner)->matches, 0); /* no result yet */
    let_go();
    while (plx_learner_drift(t.rows.learner)->matches == 0)
        drifting_look(&t.rows, 1, 0.003);
}

/* A worker takes one job at a time, and gives its result once. */
static void a_job_has_one_result(void **state)
{
    (void)state;
    t.store.is_slow = true;
    t.wanted_calls = 1;
    const struct plx_correction_store store = {&t.store, wanted, keep};
    assert_int_equal(plx_worker_create(&t.rows.calibration, &store, &t.worker), 0);
    const struct plx_correction_worker ops = plx_worker_ops(t.worker);
    struct plx_drift_job *job = calloc(1, sizeof *job);
    assert_non_null(job);
    job->mode = PLX_CORRECTION_ROWS;
    job->since = 7;
    assert_null(ops.take(ops.context));
    assert_true(ops.ask(ops.context, job));
    wait_for(&t.store.begun);
    assert_false(ops.ask(ops.context, job));
    assert_null(ops.take(ops.context));
    let_go();
    const struct plx_drift_result *result = NULL;
    while (!result)
        result = ops.take(ops.context);
    assert_true(result->since == 7 && !result->changed);
    assert_null(ops.take(ops.context));
    assert_true(ops.ask(ops.context, job));
    free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_the_store_refuses_is_not_in_force, setup, teardown),
        cmocka_unit_test_setup_teardown(what_the_store_takes_is_in_force_with_its_map, setup, teardown),
        cmocka_unit_test_setup_teardown(giving_up_is_kept_by_the_store, setup, teardown),
        cmocka_unit_test_setup_teardown(no_frame_waits_for_a_slow_worker, setup, teardown),
        cmocka_unit_test_setup_teardown(a_job_has_one_result, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
