/* SPDX-License-Identifier: Apache-2.0 */
/* The heartbeats of threads: who joined marks its own, who did not marks nothing. */
#include <pthread.h>

#include "core/base/clock.h"
#include "core/checks/health_table.h"
#include "tests/cmocka.h"

static void who_never_joined_marks_nothing(void **state)
{
    (void)state;
    int64_t since_ns;
    struct plx_heartbeats heartbeats = {0};
    assert_int_equal(plx_heartbeat_busy(PLX_WATCHED_DECODE), PLX_HEARTBEAT_IDLE);
    plx_heartbeat_mark(NULL, PLX_WATCHED_DECODE);
    for (int i = 0; i < PLX_THREAD_COUNT; i++)
        assert_int_equal(plx_heartbeat_read(&heartbeats.thread[i], &since_ns), PLX_HEARTBEAT_IDLE);
}

static void *decode(void *argument)
{
    plx_heartbeat_join(argument);
    plx_heartbeat_busy(PLX_WATCHED_DECODE);
    return NULL;
}

static void each_thread_marks_its_own(void **state)
{
    (void)state;
    struct plx_heartbeats heartbeats = {0};
    int64_t since_ns;
    pthread_t thread;

    plx_heartbeat_join(&heartbeats.thread[PLX_THREAD_WORK]);
    plx_heartbeat_busy(PLX_STAGE_CONVERT);
    assert_int_equal(pthread_create(&thread, NULL, decode, &heartbeats.thread[PLX_THREAD_DECODE + 1]), 0);
    pthread_join(thread, NULL);
    assert_int_equal(plx_heartbeat_read(&heartbeats.thread[PLX_THREAD_WORK], &since_ns), PLX_STAGE_CONVERT);
    assert_int_equal(plx_heartbeat_read(&heartbeats.thread[PLX_THREAD_DECODE + 1], &since_ns), PLX_WATCHED_DECODE);
    assert_int_equal(plx_heartbeat_read(&heartbeats.thread[PLX_THREAD_CAMERAS], &since_ns), PLX_HEARTBEAT_IDLE);
    plx_heartbeat_leave();
    assert_int_equal(plx_heartbeat_read(&heartbeats.thread[PLX_THREAD_WORK], &since_ns), PLX_HEARTBEAT_IDLE);
    assert_int_equal(plx_heartbeat_busy(PLX_STAGE_SGM), PLX_HEARTBEAT_IDLE);
    assert_int_equal(plx_heartbeat_read(&heartbeats.thread[PLX_THREAD_WORK], &since_ns), PLX_HEARTBEAT_IDLE);
}

static void marking_the_same_again_advances(void **state)
{
    (void)state;
    struct plx_heartbeats heartbeats = {0};
    struct plx_heartbeat *own = &heartbeats.thread[PLX_THREAD_CAMERAS];
    int64_t first_ns, second_ns;

    plx_heartbeat_join(own);
    plx_heartbeat_busy(PLX_WATCHED_CAMERAS);
    plx_heartbeat_read(own, &first_ns);
    while (plx_now_ns() < first_ns + PLX_NS_PER_MS)
        ;
    assert_int_equal(plx_heartbeat_busy(PLX_WATCHED_DRIVER_CALL), PLX_WATCHED_CAMERAS);
    assert_int_equal(plx_heartbeat_busy(PLX_WATCHED_CAMERAS), PLX_WATCHED_DRIVER_CALL);
    assert_int_equal(plx_heartbeat_read(own, &second_ns), PLX_WATCHED_CAMERAS);
    assert_true(second_ns > first_ns && second_ns <= plx_now_ns());
    plx_heartbeat_leave();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_never_joined_marks_nothing),
        cmocka_unit_test(each_thread_marks_its_own),
        cmocka_unit_test(marking_the_same_again_advances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
