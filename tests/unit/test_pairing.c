/* SPDX-License-Identifier: Apache-2.0 */
/* Pairing against a brute-force oracle, with random drops, lags and jitter, and each of its flags by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/clock.h"
#include "core/source/pairing.h"
#include "tests/cmocka.h"

#define PERIOD (33 * PLX_NS_PER_MS)
#define FRAMES 200
#define ROUNDS 400

static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((random_state >> 33) % limit);
}

static char pixels[2];

static struct plx_capture capture_of(enum plx_eye eye, int64_t capture_ns, uint32_t sequence, void *buffer)
{
    struct plx_capture capture = {.capture_ns = capture_ns, .sequence = sequence, .buffer = buffer};
    capture.raw[eye].data = &pixels[eye];
    return capture;
}

/* --- the oracle: the most pairs that two rising lists of times allow, by dynamic programming ------------------------ */

static int oracle_pairs(const int64_t *left, int lefts, const int64_t *right, int rights, int64_t tolerance)
{
    static int best[FRAMES + 1][FRAMES + 1];
    for (int i = 0; i <= lefts; i++)
        for (int j = 0; j <= rights; j++) {
            best[i][j] = 0;
            if (i > 0 && best[i - 1][j] > best[i][j])
                best[i][j] = best[i - 1][j];
            if (j > 0 && best[i][j - 1] > best[i][j])
                best[i][j] = best[i][j - 1];
            if (i > 0 && j > 0 && llabs(left[i - 1] - right[j - 1]) <= tolerance && best[i - 1][j - 1] + 1 > best[i][j])
                best[i][j] = best[i - 1][j - 1] + 1;
        }
    return best[lefts][rights];
}

/* One eye's frames: some dropped, each a little early or late. */
static int make_times(int64_t *times, uint32_t *sequences, uint32_t drop_percent, uint32_t jitter)
{
    int count = 0;
    for (uint32_t k = 0; k < FRAMES; k++) {
        if (random_below(100) < drop_percent)
            continue;
        times[count] = PERIOD + k * PERIOD + (int64_t)random_below(2 * jitter + 1) - (int64_t)jitter;
        sequences[count++] = k;
    }
    return count;
}

static void take_out(const struct plx_capture *capture, int *count)
{
    bool *mark = capture->buffer;
    assert_false(*mark); /* never twice */
    *mark = true;
    (*count)++;
}

/* Pushes both eyes' frames in an order in which the later eye lags by up to PLX_PAIRING_QUEUE - 1 frames. */
static void test_as_many_pairs_as_possible(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        static int64_t times[PLX_EYES][FRAMES];
        static uint32_t sequences[PLX_EYES][FRAMES];
        static bool out[PLX_EYES][FRAMES];
        int count[PLX_EYES], next[PLX_EYES] = {0, 0}, pairs = 0, released = 0, unique = 0;
        const uint32_t drops = random_below(40), jitter = random_below((uint32_t)(PERIOD / 9));
        const int64_t lag = random_below(2) ? random_below((uint32_t)PERIOD * (PLX_PAIRING_QUEUE - 1)) : 0;
        const enum plx_eye late = (enum plx_eye)random_below(2);
        for (int eye = 0; eye < PLX_EYES; eye++)
            count[eye] = make_times(times[eye], sequences[eye], drops, jitter);
        memset(out, 0, sizeof out);

        struct plx_pairing pairing;
        struct plx_pairing_result result;
        plx_pairing_init(&pairing, PERIOD / 4);
        while (next[PLX_LEFT] < count[PLX_LEFT] || next[PLX_RIGHT] < count[PLX_RIGHT]) {
            enum plx_eye early = late == PLX_LEFT ? PLX_RIGHT : PLX_LEFT, eye = early;
            if (next[early] == count[early] ||
                (next[late] < count[late] && times[late][next[late]] + lag < times[early][next[early]]))
                eye = late;
            int i = next[eye]++;
            struct plx_capture capture = capture_of(eye, times[eye][i], sequences[eye][i], &out[eye][i]);
            assert_int_equal(plx_pairing_push(&pairing, &capture, &result), 0);
            assert_false(result.health & (PLX_HEALTH_TIMESTAMP | PLX_HEALTH_BUFFER_ERROR));
            for (int r = 0; r < result.release_count; r++)
                take_out(&result.release[r], &released);
            if (!result.paired)
                continue;
            assert_ptr_equal(result.pair[PLX_LEFT].raw[PLX_LEFT].data, &pixels[PLX_LEFT]);
            assert_ptr_equal(result.pair[PLX_RIGHT].raw[PLX_RIGHT].data, &pixels[PLX_RIGHT]);
            assert_true(llabs(result.pair[0].capture_ns - result.pair[1].capture_ns) <= PERIOD / 4);
            unique += result.pair[0].sequence == result.pair[1].sequence;
            take_out(&result.pair[PLX_LEFT], &released);
            take_out(&result.pair[PLX_RIGHT], &released);
            pairs++;
        }
        plx_pairing_flush(&pairing, &result);
        for (int r = 0; r < result.release_count; r++)
            take_out(&result.release[r], &released);
        assert_int_equal(released, count[PLX_LEFT] + count[PLX_RIGHT]);
        assert_int_equal(pairs, oracle_pairs(times[0], count[0], times[1], count[1], PERIOD / 4));
        assert_int_equal(unique, pairs); /* jitter is small: partners were taken together */
        for (int eye = 0; eye < PLX_EYES; eye++)
            assert_int_equal(pairing.eye[eye].dropped,
                             sequences[eye][count[eye] - 1] - sequences[eye][0] + 1 - (uint32_t)count[eye]);
    }
}

static uint32_t push(struct plx_pairing *pairing, enum plx_eye eye, int64_t ms, uint32_t sequence,
                     struct plx_pairing_result *ret_result)
{
    struct plx_capture capture = capture_of(eye, ms * PLX_NS_PER_MS, sequence, &pixels[eye]);
    assert_int_equal(plx_pairing_push(pairing, &capture, ret_result), 0);
    return ret_result->health;
}

static void test_tolerance(void **state)
{
    (void)state;
    assert_int_equal(plx_pairing_default_tolerance_ns(25.0), 10 * PLX_NS_PER_MS);
    assert_int_equal(plx_pairing_default_tolerance_ns(0.0), 8333333);
    for (int late = 0; late < 2; late++)
        for (int apart = 9; apart <= 11; apart++) {
            struct plx_pairing pairing;
            struct plx_pairing_result result;
            plx_pairing_init(&pairing, 10 * PLX_NS_PER_MS);
            push(&pairing, PLX_LEFT, 100 + (late ? 0 : apart), 0, &result);
            push(&pairing, PLX_RIGHT, 100 + (late ? apart : 0), 0, &result);
            assert_int_equal(result.paired, apart <= 10);
        }
}

static void test_drops_are_counted_and_numbers_wrap(void **state)
{
    (void)state;
    struct plx_pairing pairing;
    struct plx_pairing_result result;
    plx_pairing_init(&pairing, PLX_NS_PER_MS);
    assert_int_equal(push(&pairing, PLX_LEFT, 0, UINT32_MAX - 1, &result), 0);
    assert_int_equal(push(&pairing, PLX_LEFT, 30, UINT32_MAX, &result), 0);
    assert_int_equal(push(&pairing, PLX_LEFT, 60, 0, &result), 0);
    assert_int_equal(push(&pairing, PLX_LEFT, 90, 3, &result), PLX_HEALTH_DROPPED);
    assert_int_equal(pairing.eye[PLX_LEFT].dropped, 2);
    assert_int_equal(push(&pairing, PLX_LEFT, 120, 0, &result), 0); /* began again */
    assert_int_equal(pairing.eye[PLX_LEFT].dropped, 2);
    assert_int_equal(pairing.eye[PLX_RIGHT].dropped, 0);
}

/* Pictures that the source skipped do not count as dropped by the camera; all other missing numbers do. */
static void test_skipped_is_not_dropped(void **state)
{
    (void)state;
    struct plx_pairing pairing;
    struct plx_pairing_result result;
    struct plx_capture capture = capture_of(PLX_RIGHT, 0, 10, NULL);

    plx_pairing_init(&pairing, PLX_NS_PER_MS);
    assert_int_equal(plx_pairing_push(&pairing, &capture, &result), 0);
    capture = capture_of(PLX_RIGHT, 100, 14, NULL);
    capture.skipped = 3;
    assert_int_equal(plx_pairing_push(&pairing, &capture, &result), 0);
    assert_int_equal(result.health, 0);
    capture = capture_of(PLX_RIGHT, 200, 20, NULL);
    capture.skipped = 3;
    assert_int_equal(plx_pairing_push(&pairing, &capture, &result), 0);
    assert_int_equal(result.health, PLX_HEALTH_DROPPED);
    assert_int_equal(pairing.eye[PLX_RIGHT].dropped, 2);
}

/* A lost frame is no desync; two cameras that run half a period apart are. */
static void test_desync(void **state)
{
    (void)state;
    struct plx_pairing pairing;
    struct plx_pairing_result result;
    plx_pairing_init(&pairing, 8 * PLX_NS_PER_MS);
    uint32_t health = 0;
    for (uint32_t k = 0; k < 30; k++) {
        health |= push(&pairing, PLX_LEFT, 33 * k, k, &result);
        if (k % 3 != 0)
            health |= push(&pairing, PLX_RIGHT, 33 * k + 2, k, &result);
    }
    assert_int_equal(health, PLX_HEALTH_DROPPED);
    assert_int_equal(pairing.eye[PLX_RIGHT].dropped, 9);
    assert_int_equal(pairing.eye[PLX_LEFT].unmatched, 10);

    plx_pairing_init(&pairing, 8 * PLX_NS_PER_MS);
    health = 0;
    for (uint32_t k = 0; k < 4; k++) {
        health |= push(&pairing, PLX_LEFT, 33 * k, k, &result);
        health |= push(&pairing, PLX_RIGHT, 33 * k + 16, k, &result);
        assert_false(result.paired);
    }
    assert_int_equal(health, PLX_HEALTH_DESYNC);
    assert_int_equal(push(&pairing, PLX_LEFT, 134, 4, &result), PLX_HEALTH_DESYNC);
    assert_int_equal(push(&pairing, PLX_RIGHT, 135, 4, &result), 0); /* in step again */
    assert_true(result.paired);

    plx_pairing_init(&pairing, 17 * PLX_NS_PER_MS); /* paired by nearest time, and far apart all the same */
    pairing.drift_ns = 8 * PLX_NS_PER_MS;
    for (uint32_t k = 0; k < 17; k++) {
        push(&pairing, PLX_LEFT, 33 * k, k, &result);
        assert_int_equal(push(&pairing, PLX_RIGHT, 33 * k + k, k, &result), k > 8 ? PLX_HEALTH_DESYNC : 0);
        assert_true(result.paired);
    }

    plx_pairing_init(&pairing, 8 * PLX_NS_PER_MS); /* one eye alone is lost, not out of step */
    for (uint32_t k = 0; k < 30; k++)
        assert_int_equal(push(&pairing, PLX_LEFT, 33 * k, k, &result), 0);
    assert_int_equal(result.release_count, 1);
    assert_int_equal(pairing.eye[PLX_LEFT].unmatched, 30 - PLX_PAIRING_QUEUE);
}

static void test_time_goes_back(void **state)
{
    (void)state;
    struct plx_pairing pairing;
    struct plx_pairing_result result;
    plx_pairing_init(&pairing, 8 * PLX_NS_PER_MS);
    push(&pairing, PLX_LEFT, 1000, 0, &result);
    push(&pairing, PLX_LEFT, 1033, 1, &result);
    assert_int_equal(push(&pairing, PLX_LEFT, 500, 2, &result), PLX_HEALTH_TIMESTAMP);
    assert_int_equal(result.release_count, 2);
    push(&pairing, PLX_RIGHT, 501, 2, &result);
    assert_true(result.paired);
    assert_int_equal(push(&pairing, PLX_LEFT, 533, 3, &result), 0);
    assert_int_equal(push(&pairing, PLX_LEFT, 533, 4, &result), PLX_HEALTH_TIMESTAMP); /* the same time twice */

    /* one wild time far ahead costs the pairs until the next sane one, no more */
    plx_pairing_init(&pairing, 8 * PLX_NS_PER_MS);
    push(&pairing, PLX_LEFT, INT64_MAX / PLX_NS_PER_MS, 0, &result);
    push(&pairing, PLX_RIGHT, 1000, 0, &result);
    assert_false(result.paired);
    assert_int_equal(push(&pairing, PLX_LEFT, 1033, 1, &result), PLX_HEALTH_TIMESTAMP);
    push(&pairing, PLX_RIGHT, 1033, 1, &result);
    assert_true(result.paired);
}

static void test_side_by_side_passes_through(void **state)
{
    (void)state;
    struct plx_pairing pairing;
    struct plx_pairing_result result;
    struct plx_capture capture = capture_of(PLX_LEFT, PLX_NS_PER_S, 5, &pixels[0]);
    capture.raw[PLX_RIGHT].data = &pixels[PLX_RIGHT];
    capture.health = PLX_HEALTH_BUFFER_ERROR;
    plx_pairing_init(&pairing, 1);
    assert_int_equal(plx_pairing_push(&pairing, &capture, &result), 0);
    assert_true(result.paired);
    assert_int_equal(result.release_count, 0);
    assert_int_equal(result.health, PLX_HEALTH_BUFFER_ERROR);
    assert_ptr_equal(result.pair[PLX_LEFT].buffer, &pixels[0]);
    assert_null(result.pair[PLX_RIGHT].buffer);
    assert_ptr_equal(result.pair[PLX_RIGHT].raw[PLX_RIGHT].data, &pixels[PLX_RIGHT]);
    capture.sequence = 7;
    capture.capture_ns++;
    assert_int_equal(plx_pairing_push(&pairing, &capture, &result), 0);
    assert_int_equal(result.health, PLX_HEALTH_BUFFER_ERROR | PLX_HEALTH_DROPPED);
    assert_int_equal(pairing.eye[PLX_RIGHT].dropped, 1);

    const struct plx_capture empty = {.capture_ns = 1};
    assert_int_equal(plx_pairing_push(&pairing, &empty, &result), PLX_ERR_ARG);
}

int main(void)
{
    const char *seed = getenv("PLX_TEST_SEED");
    random_state = seed ? strtoull(seed, NULL, 10) : 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_many_pairs_as_possible),
        cmocka_unit_test(test_tolerance),
        cmocka_unit_test(test_drops_are_counted_and_numbers_wrap),
        cmocka_unit_test(test_skipped_is_not_dropped),
        cmocka_unit_test(test_desync),
        cmocka_unit_test(test_time_goes_back),
        cmocka_unit_test(test_side_by_side_passes_through),
    };
    printf("PLX_TEST_SEED=%llu\n", (unsigned long long)random_state);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
