/* SPDX-License-Identifier: Apache-2.0 */
/* Readers and the writer of shared memory as threads, for ThreadSanitizer: readers look at the writer's own mapping, because
 * ThreadSanitizer knows memory by its address. */
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/checksum.h"
#include "tests/unit/ring_shm.h"

enum { THREAD_FRAMES = 20000, THREADS = 4 };

static void *read_until_last(void *memory)
{
    struct plx_map map;
    uint64_t last = 0, torn = 0;
    if (plx_map_check(memory, ((const struct plx_shm_header *)memory)->region_bytes, &map))
        return (void *)1;
    while (last < THREAD_FRAMES) {
        struct plx_view view;
        int found = plx_map_find_newest(&map, last, &view);
        if (found < 0)
            return (void *)2;
        if (!found)
            continue;
        uint64_t wrong = 0;
        for (int i = 0; i < PLX_MAX_OBSTACLES; i++)
            wrong |= plx_fetch32(&view.frame->obstacle[i].age_frames) ^ (uint32_t)view.sequence;
        torn += plx_map_whole(&map, view.sequence) && wrong;
        last = view.sequence;
    }
    return (void *)(uintptr_t)(torn ? 3 : 0);
}

static void threads_agree(void **state)
{
    (void)state;
    struct plx_shm *shm = make_shm(4);
    void *memory = memory_of(shm);
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, read_until_last, memory), 0);
    for (uint32_t n = 1; n <= THREAD_FRAMES; n++) {
        struct plx_frame *frame = plx_ring_begin(shm);
        for (int i = 0; i < PLX_MAX_OBSTACLES; i++)
            __atomic_store_n(&frame->obstacle[i].age_frames, n, __ATOMIC_RELAXED);
        plx_ring_commit(shm);
        if (n % 64 == 0)
            sched_yield();
    }
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(thread[i], &failed);
        assert_null(failed);
    }
    plx_shm_destroy(shm);
}

/* Plain accesses, in a ring that nobody comes round: only newest orders them, and ThreadSanitizer says if it does not. */
enum { PLAIN_SLOTS = 64, PLAIN_FRAMES = PLAIN_SLOTS - 1 };

static void *read_plainly(void *memory)
{
    struct plx_map map;
    uint64_t last = 0, wrong = 0;
    if (plx_map_check(memory, ((const struct plx_shm_header *)memory)->region_bytes, &map))
        return (void *)1;
    while (last < PLAIN_FRAMES) {
        struct plx_view view;
        if (plx_map_find_newest(&map, last, &view) < 1)
            continue;
        wrong |= view.frame->obstacle[0].age_frames ^ view.sequence;
        last = view.sequence;
    }
    return (void *)(uintptr_t)(wrong ? 2 : 0);
}

static void newest_publishes_what_was_written_before(void **state)
{
    (void)state;
    struct plx_shm *shm = make_shm(PLAIN_SLOTS);
    void *memory = memory_of(shm);
    pthread_t thread;
    void *failed;
    assert_int_equal(pthread_create(&thread, NULL, read_plainly, memory), 0);
    for (uint32_t n = 1; n <= PLAIN_FRAMES; n++) {
        plx_ring_begin(shm)->obstacle[0].age_frames = n;
        plx_ring_commit(shm);
        usleep(100);
    }
    pthread_join(thread, &failed);
    assert_null(failed);
    plx_shm_destroy(shm);
}

static const char *const reasons[] = {"engine failed: no picture",
                                      "the GPU was lost 3 times, and the CPU replaces it: it hangs"};

/* A read beside a write gives one of the two reasons, or reports a torn read. */
static void *read_reasons(void *memory)
{
    struct plx_map map;
    char text[PLX_REASON_BYTES];
    uint64_t wrong = 0;
    if (plx_map_check(memory, ((const struct plx_shm_header *)memory)->region_bytes, &map))
        return (void *)1;
    while (plx_fetch64(&map.header->newest) == 0)
        wrong |= plx_map_reason(&map, text, sizeof text) == 0 && strcmp(text, "") != 0 && strcmp(text, reasons[0]) != 0 &&
                 strcmp(text, reasons[1]) != 0;
    return (void *)(uintptr_t)(wrong ? 2 : 0);
}

static void a_reason_is_never_torn(void **state)
{
    (void)state;
    struct plx_shm *shm = make_shm(4);
    pthread_t thread;
    void *failed;
    assert_int_equal(pthread_create(&thread, NULL, read_reasons, memory_of(shm)), 0);
    for (int i = 0; i < 100000; i++)
        plx_shm_set_reason(shm, reasons[i % 2]);
    publish(shm);
    pthread_join(thread, &failed);
    assert_null(failed);
    plx_shm_destroy(shm);
}

/* Each verdict says the same number in all of its fields. */
static void *read_verdicts(void *memory)
{
    struct plx_map map;
    struct plx_verdict_now verdict;
    uint64_t wrong = 0;
    if (plx_map_check(memory, ((const struct plx_shm_header *)memory)->region_bytes, &map))
        return (void *)1;
    while (plx_fetch64(&map.header->newest) == 0)
        wrong |= plx_map_verdict(&map, &verdict) &&
                 (verdict.capture_ns != (int64_t)verdict.sequence || verdict.valid_ns != (int64_t)verdict.sequence ||
                  verdict.faults != (uint32_t)verdict.sequence);
    return (void *)(uintptr_t)(wrong ? 2 : 0);
}

static void a_verdict_is_never_torn(void **state)
{
    (void)state;
    static struct plx_frame frame; /* large */
    struct plx_shm *shm = make_shm(4);
    pthread_t thread;
    void *failed;
    frame.verdict.zone = -1;
    assert_int_equal(pthread_create(&thread, NULL, read_verdicts, memory_of(shm)), 0);
    for (int i = 1; i <= 100000; i++) {
        frame.sequence = frame.verdict.faults = (uint32_t)i;
        frame.capture[PLX_LEFT].capture_ns = frame.verdict.valid_ns = i;
        plx_shm_set_verdict(shm, &frame);
    }
    publish(shm);
    pthread_join(thread, &failed);
    assert_null(failed);
    plx_shm_destroy(shm);
}

struct watcher {
    struct plx_client client;
    int led_to_it; /* a plain one: only the state orders it */
};

static void *wait_for_running(void *memory)
{
    struct watcher *watcher = memory;
    while (plx_state(&watcher->client) != PLX_STATE_RUNNING)
        sched_yield();
    return (void *)(uintptr_t)(watcher->led_to_it == 1 ? 0 : 1);
}

static void state_publishes_what_led_to_it(void **state)
{
    (void)state;
    struct plx_shm *shm = make_shm(4);
    void *memory = memory_of(shm);
    struct watcher watcher = {.led_to_it = 0};
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0); /* a connection that lives: plx_state asks for it */
    watcher.client.socket = pair[0];
    assert_int_equal(plx_map_check(memory, ((const struct plx_shm_header *)memory)->region_bytes, &watcher.client.map), 0);
    pthread_t thread;
    void *failed;
    assert_int_equal(pthread_create(&thread, NULL, wait_for_running, &watcher), 0);
    usleep(2000);
    watcher.led_to_it = 1;
    plx_shm_set_state(shm, PLX_STATE_RUNNING, 0);
    pthread_join(thread, &failed);
    assert_null(failed);
    close(pair[0]);
    close(pair[1]);
    plx_shm_destroy(shm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_agree),
        cmocka_unit_test(newest_publishes_what_was_written_before),
        cmocka_unit_test(a_reason_is_never_torn),
        cmocka_unit_test(a_verdict_is_never_torn),
        cmocka_unit_test(state_publishes_what_led_to_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
