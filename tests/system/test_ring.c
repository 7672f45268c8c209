/* SPDX-License-Identifier: Apache-2.0 */
/* The ring, its readers and its writers as real processes, killed, stopped and replaced while they work. */
#include "tests/cmocka.h"
#include "tests/system/ring.h"

#define FRAMES 100000

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
    for (int i = 0; i < READERS; i++) /* the last death lasts until each has been told of one */
        peer_check(!strcmp(peer_line(&reader[i]), "told\n"), "a reader is not told");
    peer_ask(&service, "go 20 10000\n");
    peer_ask(&service, "wait\n");
    uint64_t last = peer_ask(&service, "newest\n");
    assert_int_equal(last, before + 20);
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

int main(void)
{
    static int one = 1, eight = 8, many = 64;
    const struct CMUnitTest tests[] = {
        {"1 reader: no torn frame is accepted", no_torn_frame_is_accepted, NULL, NULL, &one},
        {"8 readers: no torn frame is accepted", no_torn_frame_is_accepted, NULL, NULL, &eight},
        {"64 readers: no torn frame is accepted", no_torn_frame_is_accepted, NULL, NULL, &many},
        cmocka_unit_test(client_without_recheck_is_caught),
        cmocka_unit_test(killed_writer_is_followed_by_the_next),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
