/* SPDX-License-Identifier: Apache-2.0 */
/* Which pair the engine takes when pairs come slower, faster and in between: from a source whose pictures come when the test
 * says so, and which knows what it has lent. */
#include <stdlib.h>

#include <parallax/error.h>

#include "app/engine/capture_queue.h"
#include "core/base/clock.h"
#include "tests/cmocka.h"

#define PERIOD (10 * PLX_NS_PER_MS)
#define MAX_IMAGES 64

struct source {
    struct plx_source base;
    int64_t first_ns; /* capture time of the first pair; the next ones come a PERIOD apart */
    int come, given;  /* pictures, left and right in turn */
    int waits;        /* calls that would have slept */
    bool ends;        /* after those */
    bool lent[MAX_IMAGES];
    uint8_t pixel[MAX_IMAGES];
};

static volatile sig_atomic_t stop;

static int next(struct plx_source *base, int64_t deadline_ns, struct plx_capture *ret_capture)
{
    struct source *source = (struct source *)base;
    const int number = source->given;

    if (number == source->come) {
        source->waits += deadline_ns > plx_now_ns();
        return source->ends ? PLX_ERR_END : PLX_ERR_TIMEOUT;
    }
    *ret_capture =
        (struct plx_capture){.capture_ns = source->first_ns + number / 2 * PERIOD, .sequence = (uint32_t)(number / 2)};
    ret_capture->raw[number % 2].data = ret_capture->buffer = &source->pixel[number];
    source->lent[number] = true;
    source->given++;
    return 0;
}

static void release(struct plx_source *base, struct plx_capture *capture)
{
    struct source *source = (struct source *)base;
    const ptrdiff_t number = (uint8_t *)capture->buffer - source->pixel;

    assert_true(source->lent[number]); /* and once only */
    source->lent[number] = false;
}

static int lent(const struct source *source)
{
    int count = 0;
    for (int i = 0; i < MAX_IMAGES; i++)
        count += source->lent[i];
    return count;
}

static const struct plx_source_ops ops = {.name = "test", .next = next, .release = release};

static void begin(struct source *source, struct plx_capture_queue *queue, double rate_hz)
{
    *source = (struct source){.base = {.ops = &ops, .width = 1, .height = 1, .rate_hz = rate_hz},
                              .first_ns = plx_now_ns() + 3600 * PLX_NS_PER_S}; /* never old */
    plx_capture_queue_init(queue, &source->base, 0);
    plx_capture_queue_start(queue);
}

static void end(struct source *source, struct plx_capture_queue *queue)
{
    plx_capture_queue_release(queue);
    assert_int_equal(lent(source), 0);
}

static void assert_pair(const struct plx_capture *pair, int number)
{
    assert_non_null(pair);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        assert_int_equal(pair[eye].sequence, number);
        assert_non_null(pair[eye].raw[eye].data);
    }
}

static void test_newest_is_taken(void **state)
{
    (void)state;
    struct plx_capture_queue queue;
    struct source source;

    begin(&source, &queue, 100);
    assert_int_equal(plx_capture_queue_next(&queue, &stop), PLX_ERR_TIMEOUT);
    assert_int_equal(source.waits, 1);
    source.come = 2 * 3 + 1; /* and half of the fourth */
    assert_int_equal(plx_capture_queue_next(&queue, &stop), 0);
    assert_pair(queue.pair, 2);
    assert_int_equal(queue.skipped, 2);
    assert_true(queue.health & PLX_HEALTH_OVERLOAD);
    assert_int_equal(lent(&source), 2 + 1);
    plx_capture_queue_release(&queue);
    queue.health = 0;
    source.come++;
    assert_int_equal(plx_capture_queue_next(&queue, &stop), 0);
    assert_pair(queue.pair, 3);
    assert_int_equal(queue.skipped, 2);
    assert_int_equal(queue.health, 0);
    end(&source, &queue);
}

static void test_source_without_rate_is_never_skipped(void **state)
{
    (void)state;
    struct plx_capture_queue queue;
    struct source source;

    begin(&source, &queue, 0);
    source.come = 2 * 4;
    source.ends = true;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(plx_capture_queue_next(&queue, &stop), 0);
        assert_pair(queue.pair, i);
        plx_capture_queue_release(&queue);
    }
    assert_int_equal(plx_capture_queue_next(&queue, &stop), PLX_ERR_END);
    assert_int_equal(queue.skipped, 0);
    end(&source, &queue);
}

static void test_stop_ends_the_wait(void **state)
{
    (void)state;
    struct plx_capture_queue queue;
    struct source source;

    begin(&source, &queue, 100);
    source.come = 4;
    stop = 1;
    assert_int_equal(plx_capture_queue_next(&queue, &stop), PLX_ERR_TIMEOUT);
    stop = 0;
    assert_int_equal(lent(&source), 0);
    assert_int_equal(plx_capture_queue_next(&queue, &stop), 0);
    end(&source, &queue);
}

/* As when the engine was stopped: what lies in the queue is old, and what comes then is not. */
static void test_old_pairs_are_dropped_and_counted(void **state)
{
    (void)state;
    struct plx_capture_queue queue;
    struct source source;

    begin(&source, &queue, 100);
    source.first_ns = plx_now_ns() - 8 * PLX_NS_PER_S;
    source.come = 2 * 3;
    assert_int_equal(plx_capture_queue_next(&queue, &stop), PLX_ERR_TIMEOUT);
    assert_int_equal(lent(&source), 0);
    assert_int_equal(queue.skipped, 3);
    assert_true(queue.health & PLX_HEALTH_LATE);
    source.first_ns = plx_now_ns() + 3600 * PLX_NS_PER_S;
    source.come += 2;
    assert_int_equal(plx_capture_queue_next(&queue, &stop), 0);
    assert_pair(queue.pair, 3);
    assert_int_equal(queue.skipped, 3);
    assert_int_equal(plx_capture_queue_fresh_ns(&queue), 250 * PLX_NS_PER_MS); /* the stall in between is no period */
    end(&source, &queue);

    int result;
    do { /* within the bound; again if this process lost its processor for so long that the pair grew old */
        begin(&source, &queue, 100);
        source.first_ns = plx_now_ns() - 100 * PLX_NS_PER_MS;
        source.come = 2;
        result = plx_capture_queue_next(&queue, &stop);
        end(&source, &queue);
    } while (result != 0 && plx_now_ns() - source.first_ns >= 250 * PLX_NS_PER_MS);
    assert_int_equal(result, 0);

    begin(&source, &queue, 0); /* its capture times are not those of the clock */
    source.first_ns = PERIOD;
    source.come = 2;
    assert_int_equal(plx_capture_queue_next(&queue, &stop), 0);
    assert_int_equal(plx_capture_queue_fresh_ns(&queue), 0);
    end(&source, &queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_newest_is_taken),
        cmocka_unit_test(test_source_without_rate_is_never_skipped),
        cmocka_unit_test(test_stop_ends_the_wait),
        cmocka_unit_test(test_old_pairs_are_dropped_and_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
