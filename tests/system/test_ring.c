/* SPDX-License-Identifier: Apache-2.0 */
/* The ring, its readers and its writers as real processes, killed, stopped and replaced while they work. */
#include "app/region/region.h"
#include "core/clock.h"
#include "tests/cmocka.h"
#include "tests/ring_crowd.h"
#include "tests/system/peer.h"

#define FRAMES 100000
#define MAX_READERS 64
#define SETTLE_US 700000 /* for niced readers to catch up, on a busy machine too */

static char directory[] = "/tmp/plx-ring-XXXXXX";
static char path[64];

static void wait_for_newest(struct peer *service, uint64_t sequence)
{
    while (peer_ask(service, "newest\n") < sequence)
        usleep(1000);
}

/* A service that has published frame 1, so that readers begin with it. */
static struct peer start_service(int epoch, int slots)
{
    struct peer service = peer_service(path, epoch, slots, MAX_READERS);
    peer_ask(&service, "go 1 0\n");
    peer_ask(&service, "wait\n");
    return service;
}

static void print_sum(const char *who, const struct peer_tally *t)
{
    print_message("    %s: frames %" PRIu64 "..%" PRIu64 ", seen %" PRIu64 ", missed %" PRIu64 ", overwritten %" PRIu64
                  ", torn and accepted %" PRIu64 "\n",
                  who, t->first, t->last, t->seen, t->missed, t->overwritten, t->torn);
}

/* READERS processes of PROGRAM against a writer at full speed; the first is stopped while the writer goes on. The sum over all
 * of them. */
static struct peer_tally run_readers(const char *program, int readers, uint64_t frames)
{
    peer_check(readers >= 1 && readers <= MAX_READERS, "too few or too many readers");
    struct peer service = start_service(1, 8), reader[MAX_READERS];
    for (int i = 0; i < readers; i++)
        reader[i] = peer_reader(program, path, frames, i % 2 || readers == 1 ? "hold" : "");
    assert_int_equal(peer_ask(&service, "count\n"), readers);

    peer_ask(&service, "go %d 0\n", (int)frames - 1);
    wait_for_newest(&service, frames / 100);
    kill(reader[0].pid, SIGSTOP);
    assert_true(peer_ask(&service, "newest\n") < frames); /* else this machine is too fast for the test */
    peer_ask(&service, "wait\n");
    assert_int_equal(peer_ask(&service, "newest\n"), frames);

    struct peer_tally sum = {0};
    for (int i = readers - 1; i >= 0; i--) { /* the stopped one last: nobody waits for it */
        if (i == 0)
            kill(reader[0].pid, SIGCONT);
        struct peer_tally t = peer_tally(&reader[i]);
        assert_int_equal(t.first, 1);
        assert_int_equal(t.last, frames);
        assert_int_equal(t.seen + t.missed, frames); /* every frame is accounted for */
        if (i == 0)
            assert_true(t.missed > 0);
        sum.seen += t.seen;
        sum.missed += t.missed;
        sum.overwritten += t.overwritten;
        sum.torn += t.torn;
        sum.first = t.first;
        sum.last = t.last;
    }
    assert_int_equal(peer_end(&service), 0);
    return sum;
}

enum { TRIES = 10 }; /* a busy machine may give a reader too few turns to be overtaken in */

static void no_torn_frame_is_accepted(void **state)
{
    int readers = *(int *)*state;
    struct peer_tally sum = {0};
    for (int i = 0; i < TRIES && sum.overwritten == 0; i++) {
        sum = run_readers("ring_peer", readers, FRAMES);
        print_sum(readers == 1 ? "1 reader" : "readers together", &sum);
        assert_int_equal(sum.torn, 0);
    }
    assert_true(sum.overwritten > 0); /* the readers that hold their views saw some go */
}

static void client_without_recheck_is_caught(void **state)
{
    (void)state;
    struct peer_tally sum = {0};
    for (int i = 0; i < TRIES && sum.torn == 0; i++) {
        sum = run_readers("ring_peer_mutant", 2, FRAMES / 2);
        print_sum("mutant", &sum);
        assert_int_equal(sum.overwritten, 0);
    }
    assert_true(sum.torn > 0);
}

static void killed_writer_is_followed_by_the_next(void **state)
{
    (void)state;
    enum { ROUNDS = 40, INSIDE = 5, READERS = 3 };
    int rounds = 0;
    struct peer service = start_service(1, 4), reader[READERS];
    for (int i = 0; i < READERS; i++)
        reader[i] = peer_reader("ring_peer", path, 0, i == 1 ? "poll" : "");
    const char *seed = getenv("PLX_TEST_SEED");
    srand(seed ? (unsigned)atoi(seed) : 1);
    uint64_t inside = 0, before = 1;
    for (; rounds < ROUNDS || (inside < INSIDE && rounds < 25 * ROUNDS); rounds++) {
        peer_ask(&service, "go 100000000 0\n");
        wait_for_newest(&service, before + 1);
        usleep((useconds_t)(rand() % 5000));
        inside += peer_ask(&service, "kill\n");
        uint64_t newest = peer_ask(&service, "newest\n");
        assert_true(newest > before); /* the new writer got past the old one's slot */
        before = newest;
    }
    usleep(SETTLE_US); /* the last death lasts long enough for every reader to get a processor and be told */
    peer_ask(&service, "go 20 10000\n");
    peer_ask(&service, "wait\n");
    uint64_t last = peer_ask(&service, "newest\n");
    assert_int_equal(last, before + 20);
    usleep(SETTLE_US);
    print_message("    %d writers killed, %" PRIu64 " of them inside a slot\n", rounds, inside);
    assert_true(inside >= INSIDE);
    for (int i = 0; i < READERS; i++) {
        kill(reader[i].pid, SIGTERM);
        struct peer_tally t = peer_tally(&reader[i]);
        print_sum("reader", &t);
        assert_int_equal(t.torn, 0);
        assert_int_equal(t.last, last);
        assert_int_equal(t.seen + t.missed, last);
        assert_true(t.lost > 0); /* it was told */
        assert_int_equal(t.epochs, 1);
    }
    assert_int_equal(peer_end(&service), 0);
}

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
    usleep(300000);

    service = peer_service(path, 2, 8, MAX_READERS); /* replaces the stale socket */
    for (int i = 0; i < 100 && peer_ask(&service, "count\n") < READERS; i++)
        usleep(20000);
    assert_int_equal(peer_ask(&service, "count\n"), READERS);
    peer_ask(&service, "go 20 5000\n");
    peer_ask(&service, "wait\n");
    usleep(SETTLE_US);
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
    struct plx_shared_region *region;
    const struct plx_region_options options = {.epoch = 1, .slots = 4, .frame_bytes = sizeof(struct plx_frame)};
    assert_int_equal(plx_region_create(&options, &region, NULL), 0);
    struct ring_crowd crowd = ring_crowd_start(region, threads);
    for (int i = 0; i < COUNT; i++) {
        int64_t begin = plx_now_ns();
        plx_ring_begin(region);
        plx_ring_commit(region);
        cost[i] = plx_now_ns() - begin;
        usleep(2000);
    }
    ring_crowd_end(&crowd);
    plx_region_destroy(region);
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

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof path, "%s/socket", directory);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char lock[80];
    snprintf(lock, sizeof lock, "%s.lock", path);
    unlink(lock);
    return rmdir(directory); /* fails if the socket was left behind */
}

int main(void)
{
    static int one = 1, eight = 8, many = 64;
    const struct CMUnitTest tests[] = {
        {"1 reader: no torn frame is accepted", no_torn_frame_is_accepted, NULL, NULL, &one},
        {"8 readers: no torn frame is accepted", no_torn_frame_is_accepted, NULL, NULL, &eight},
        {"64 readers: no torn frame is accepted", no_torn_frame_is_accepted, NULL, NULL, &many},
        cmocka_unit_test(client_without_recheck_is_caught),
        cmocka_unit_test(killed_writer_is_followed_by_the_next),
        cmocka_unit_test(killed_service_is_noticed_and_replaced),
        cmocka_unit_test(a_crowd_of_waiting_threads_costs_a_bounded_time),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
