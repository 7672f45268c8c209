/* SPDX-License-Identifier: Apache-2.0 */
/* The ring's promises of time: readers learn at once that a service is gone, and waiting threads do not delay the writer. */
#include "app/publish/shm.h"
#include "core/base/clock.h"
#include "tests/ring_crowd.h"
#include "tests/system/ring.h"

static void killed_service_is_noticed_and_replaced(void **state)
{
    (void)state;
    enum { READERS = 8 };
    struct peer service = start_service(1, 8), reader[READERS];
    for (int i = 0; i < READERS; i++)
        reader[i] = peer_reader("ring_peer", path, 0, i % 2 ? "poll" : "");
    peer_ask(&service, "go 100000 33000\n"); /* 30 frames a second, and no more after the kill */
    wait_for_newest(&service, 10);
    int64_t killed_ns = plx_now_ns();
    peer_kill(&service);
    for (int i = 0; i < READERS; i++)
        peer_check(!strcmp(peer_line(&reader[i]), "told\n"), "a reader is not told");

    service = peer_service(path, 2, 8, MAX_READERS); /* replaces the stale socket */
    while (peer_ask(&service, "count\n") < READERS)
        usleep(1000);
    peer_ask(&service, "go 20 5000\n");
    peer_ask(&service, "wait\n");
    for (int i = 0; i < READERS; i++) {
        kill(reader[i].pid, SIGTERM);
        struct peer_tally t = peer_tally(&reader[i]);
        double told_ms = (double)(t.lost_ns - killed_ns) / 1e6;
        print_message("    %s reader was told after %.1f ms, saw %" PRIu64 " frames\n", i % 2 ? "polling" : "waiting", told_ms,
                      t.seen);
        assert_true(t.lost > 0);
        assert_true(told_ms >= 0 && told_ms < 100);
        assert_int_equal(t.epochs, 2);
        assert_int_equal(t.last, 20);
        assert_int_equal(t.torn, 0);
    }
    assert_int_equal(peer_end(&service), 0);
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Median cost of publishing a frame beside waiting threads; *ret_threads is their number. */
static int64_t publish_cost_ns(int threads, int *ret_threads)
{
    enum { COUNT = 101 };
    int64_t cost[COUNT];
    struct plx_shm *region;
    const struct plx_shm_options options = {.epoch = 1, .slots = 4, .frame_bytes = sizeof(struct plx_frame)};
    assert_int_equal(plx_shm_create(&options, &region, NULL), 0);
    struct ring_crowd crowd = ring_crowd_start(region, threads);
    for (int i = 0; i < COUNT; i++) {
        int64_t begin = plx_now_ns();
        plx_ring_begin(region);
        plx_ring_commit(region);
        cost[i] = plx_now_ns() - begin;
        usleep(2000);
    }
    ring_crowd_end(&crowd);
    plx_shm_destroy(region);
    qsort(cost, COUNT, sizeof cost[0], by_size);
    *ret_threads = crowd.threads;
    return cost[COUNT / 2];
}

/* Thirty times as many must not cost thirty times as much: the writer wakes a bounded number of them. */
static void a_crowd_of_waiting_threads_costs_a_bounded_time(void **state)
{
    (void)state;
    int few, many;
    int64_t few_ns = publish_cost_ns(100, &few), many_ns = publish_cost_ns(3000, &many);
    print_message("    a frame: %.0f us beside %d waiting threads, %.0f us beside %d\n", (double)few_ns / 1e3, few,
                  (double)many_ns / 1e3, many);
    if (many < 1000)
        skip(); /* RLIMIT_NPROC, or the control group's */
    assert_true(many_ns < 5 * few_ns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_service_is_noticed_and_replaced),
        cmocka_unit_test(a_crowd_of_waiting_threads_costs_a_bounded_time),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
