/* SPDX-License-Identifier: Apache-2.0 */
/* The queue between a thread that makes pairs and the reader: what is lost and what is not. The maker works in steps that the
 * test asks for, so that no time plays a part. */
#include <semaphore.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/clock.h"
#include "cpu/cpu.h"
#include "drivers/pair_queue.h"
#include "tests/cmocka.h"
#include "tests/patience.h"

#define SIDE 8
#define PAIRS 5
#define HOUR_NS (3600 * PLX_NS_PER_S)

struct source {
    struct plx_queued_source queued; /* first, as in every source with a queue */
    sem_t asked, made;
    int count;           /* pairs of the next step; 0: sleep for an hour */
    uint32_t next, lost; /* number of the next pair; pairs that found no buffer */
};

static struct plx_stages *stages;

static int begin(void **state)
{
    (void)state;
    const struct plx_limits limits = {64, 64, 64, 1};
    return plx_cpu_create(&limits, &stages);
}

static int end(void **state)
{
    (void)state;
    stages->ops->destroy(stages);
    return 0;
}

/* Both eyes, filled with the pair's number. False if the source is stopped. */
static bool make_pair(struct source *source)
{
    void *data[PLX_EYES];
    const int number = plx_pair_queue_begin_pair(source->queued.queue, data);
    const struct plx_capture capture = {.sequence = source->next++};
    for (int eye = 0; eye < PLX_EYES && number >= 0; eye++) {
        const struct plx_image image = {data[eye], SIDE, SIDE, SIDE, PLX_U8};
        memset(data[eye], (int)capture.sequence, (size_t)SIDE * SIDE);
        const struct plx_raw raw = plx_raw_of_grey(&image);
        plx_pair_queue_publish(source->queued.queue, number, (enum plx_eye)eye, &raw, &capture);
    }
    source->lost += number == PLX_PAIR_QUEUE_FULL;
    return number != PLX_PAIR_QUEUE_STOPPED;
}

static int make(struct plx_queued_source *queued, struct plx_error_message *error)
{
    struct source *source = (struct source *)queued;
    (void)error;
    for (;;) {
        sem_wait(&source->asked);
        if (source->count == 0) {
            sem_post(&source->made);
            return plx_pair_queue_sleep_until(queued->queue, plx_now_ns() + HOUR_NS) ? PLX_ERR_TIMEOUT : PLX_ERR_LOST;
        }
        for (int i = 0; i < source->count; i++)
            if (!make_pair(source))
                return PLX_ERR_LOST;
        sem_post(&source->made);
    }
}

static void start(struct source *source, enum plx_pair_queue_mode mode)
{
    static const struct plx_source_ops ops = {.name = "test", PLX_QUEUED_SOURCE_OPS};
    struct plx_error_message error;
    *source = (struct source){.queued = {.base = {.ops = &ops}, .make = make}};
    sem_init(&source->asked, 0, 0);
    sem_init(&source->made, 0, 0);
    assert_int_equal(plx_pair_queue_create(stages, mode, PAIRS, (size_t)SIDE * SIDE, &source->queued.queue), 0);
    assert_int_equal(ops.start(&source->queued.base, &error), 0);
}

/* Lets the maker begin with COUNT pairs. */
static void ask(struct source *source, int count)
{
    source->count = count;
    sem_post(&source->asked);
}

static void make_pairs(struct source *source, int count)
{
    ask(source, count);
    sem_wait(&source->made);
}

static void finish(struct source *source)
{
    make_pairs(source, 0);
    source->queued.base.ops->stop(&source->queued.base); /* does not wait for the hour to pass */
    plx_pair_queue_destroy(source->queued.queue);
    sem_destroy(&source->asked);
    sem_destroy(&source->made);
}

/* The next picture, which must be EYE of pair NUMBER. */
static struct plx_capture take(struct source *source, uint32_t number, enum plx_eye eye)
{
    struct plx_capture capture;
    assert_int_equal(source->queued.base.ops->next(&source->queued.base, patience_end_ns(), &capture), 0);
    assert_int_equal(capture.sequence, number);
    assert_non_null(capture.raw[eye].data);
    assert_null(capture.raw[!eye].data);
    assert_int_equal(((const uint8_t *)capture.raw[eye].data)[SIDE * SIDE - 1], number);
    return capture;
}

static void release(struct source *source, struct plx_capture *capture)
{
    source->queued.base.ops->release(&source->queued.base, capture);
}

static void take_pairs(struct source *source, uint32_t first, uint32_t last)
{
    for (uint32_t number = first; number <= last; number++)
        for (int eye = 0; eye < PLX_EYES; eye++) {
            struct plx_capture capture = take(source, number, (enum plx_eye)eye);
            release(source, &capture);
        }
}

static void assert_empty(struct source *source)
{
    struct plx_capture capture;
    assert_int_equal(source->queued.base.ops->next(&source->queued.base, 0, &capture), PLX_ERR_TIMEOUT);
    assert_string_not_equal(source->queued.base.message.text, "");
}

static void the_newest_pairs_are_kept(void **state)
{
    (void)state;
    struct source source;
    start(&source, PLX_PAIR_QUEUE_LATEST);
    make_pairs(&source, 30);
    take_pairs(&source, 30 - PAIRS, 29);
    assert_empty(&source);
    assert_int_equal(source.lost, 0); /* each of them had a buffer */
    finish(&source);
}

static void what_the_reader_began_is_not_overwritten(void **state)
{
    (void)state;
    struct source source;
    start(&source, PLX_PAIR_QUEUE_LATEST);
    make_pairs(&source, PAIRS);
    struct plx_capture kept = take(&source, 0, PLX_LEFT), right = take(&source, 0, PLX_RIGHT),
                       half = take(&source, 1, PLX_LEFT);
    release(&source, &right);
    release(&source, &half); /* the right eye of pair 1 waits */
    make_pairs(&source, 30);
    right = take(&source, 1, PLX_RIGHT);
    release(&source, &right);
    take_pairs(&source, PAIRS + 30 - (PAIRS - 2), PAIRS + 29);
    assert_empty(&source);
    assert_int_equal(((const uint8_t *)kept.raw[PLX_LEFT].data)[0], 0);
    release(&source, &kept);
    finish(&source);
}

static void a_reader_that_holds_everything_loses_the_next_pairs(void **state)
{
    (void)state;
    struct source source;
    struct plx_capture held[PAIRS * PLX_EYES];
    start(&source, PLX_PAIR_QUEUE_LATEST);
    make_pairs(&source, PAIRS);
    for (int i = 0; i < PAIRS * PLX_EYES; i++)
        held[i] = take(&source, (uint32_t)(i / PLX_EYES), (enum plx_eye)(i % PLX_EYES));
    make_pairs(&source, 7);
    assert_int_equal(source.lost, 7);
    assert_empty(&source);
    for (int i = 0; i < PAIRS * PLX_EYES; i++)
        release(&source, &held[i]);
    make_pairs(&source, 1);
    take_pairs(&source, PAIRS + 7, PAIRS + 7);
    finish(&source);
}

static void a_maker_that_waits_loses_nothing(void **state)
{
    (void)state;
    struct source source;
    start(&source, PLX_PAIR_QUEUE_WAIT);
    ask(&source, 30);
    take_pairs(&source, 0, 29);
    sem_wait(&source.made);
    assert_empty(&source);
    finish(&source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_pairs_are_kept),
        cmocka_unit_test(what_the_reader_began_is_not_overwritten),
        cmocka_unit_test(a_reader_that_holds_everything_loses_the_next_pairs),
        cmocka_unit_test(a_maker_that_waits_loses_nothing),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
