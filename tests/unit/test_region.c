/* SPDX-License-Identifier: Apache-2.0 */
/* The shared memory: what its seals and modes forbid, and what the writer's calls leave in it. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/region/region.h"
#include "client/client.h"
#include "client/fetch.h"
#include "core/clock.h"
#include "core/reason.h"
#include "tests/cmocka.h"

#define NOBODY 65534

static struct plx_shared_region *make_region(int slots)
{
    const struct plx_region_options options = {.epoch = 7, .slots = slots, .frame_bytes = sizeof(struct plx_frame) + 4096};
    struct plx_shared_region *region;
    assert_int_equal(plx_region_create(&options, &region, NULL), 0);
    return region;
}

static struct plx_map map_of(const struct plx_shared_region *region)
{
    struct plx_map map;
    assert_int_equal(plx_map_open(plx_region_client_fd(region), &map), 0);
    return map;
}

/* Publishes a frame that the reader's checks accept. */
static void publish(struct plx_shared_region *region)
{
    struct plx_frame *frame = plx_ring_begin(region);
    frame->bytes = sizeof *frame;
    frame->fresh_ns = 60 * PLX_NS_PER_S;
    frame->obstacle_count = 0;
    plx_ring_commit(region);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    static const struct plx_region_options wrong[] = {
        {.slots = 3, .frame_bytes = 1 << 20}, {.slots = 65, .frame_bytes = 1 << 20}, {.slots = 8, .frame_bytes = 100}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct plx_shared_region *region = NULL;
        struct plx_error_message message = {{0}};
        assert_int_equal(plx_region_create(&wrong[i], &region, &message), PLX_ERR_RANGE);
        assert_null(region);
        assert_true(message.text[0]);
    }
    plx_region_destroy(NULL);
}

/* As whoever runs the test, root included: it is the seals that hold. */
static void client_descriptor_gives_no_way_to_write(void **state)
{
    (void)state;
    struct plx_shared_region *region = make_region(4);
    int fd = plx_region_client_fd(region);
    struct stat status;
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_true(status.st_blocks * 512 >= status.st_size); /* all of it is there */
    assert_int_equal(fcntl(fd, F_GET_SEALS), F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL);
    assert_true(mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED);
    void *mapping = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    assert_true(mapping != MAP_FAILED);
    assert_int_equal(mprotect(mapping, 4096, PROT_READ | PROT_WRITE), -1);
    munmap(mapping, 4096);

    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int again = open(path, O_RDWR);
    if (again >= 0) { /* the owner may open it, and still do nothing */
        assert_int_equal(write(again, "x", 1), -1);
        assert_int_equal(ftruncate(again, 0), -1);
        assert_int_equal(ftruncate(again, status.st_size + 4096), -1);
        assert_true(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, again, 0) == MAP_FAILED);
        close(again);
    }
    plx_region_destroy(region);
}

static void another_user_cannot_even_open_it(void **state)
{
    (void)state;
    if (geteuid())
        skip(); /* needs root to become somebody else */
    struct plx_shared_region *region = make_region(4);
    pid_t child = fork();
    if (child == 0) {
        char path[40];
        snprintf(path, sizeof path, "/proc/self/fd/%d", plx_region_client_fd(region));
        if (setuid(NOBODY))
            _exit(1);
        _exit(open(path, O_RDWR) == -1 && errno == EACCES ? 0 : 2);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    plx_region_destroy(region);
}

static void frames_come_in_order(void **state)
{
    (void)state;
    struct plx_shared_region *region = make_region(4);
    struct plx_map map = map_of(region);
    struct plx_view view = {0};
    assert_int_equal(plx_map_look(&map, 0, &view), 0);
    for (uint64_t i = 1; i <= 20; i++) {
        publish(region);
        assert_int_equal(plx_ring_newest(region), i);
        assert_int_equal(plx_map_look(&map, i - 1, &view), 1);
        assert_int_equal(view.sequence, i);
        assert_int_equal(view.frame->epoch, 7);
        assert_true(plx_map_whole(&map, i));
        assert_int_equal(plx_map_look(&map, i, &view), 0);
    }
    plx_map_close(&map);
    plx_region_destroy(region);
}

static void frame_stays_whole_until_its_slot_is_begun_again(void **state)
{
    (void)state;
    struct plx_shared_region *region = make_region(4);
    struct plx_map map = map_of(region);
    publish(region);
    for (int i = 0; i < 3; i++)
        publish(region);
    assert_true(plx_map_whole(&map, 1));
    plx_ring_begin(region);
    assert_false(plx_map_whole(&map, 1));
    plx_map_close(&map);
    plx_region_destroy(region);
}

static void a_copy_is_of_one_frame_and_within_it(void **state)
{
    (void)state;
    struct plx_shared_region *region = make_region(4);
    struct plx_frame copy;
    const size_t bytes = sizeof(struct plx_frame) + 4096;
    assert_false(plx_ring_copy(region, 1, 0, &copy, sizeof copy)); /* not there yet */
    publish(region);
    assert_true(plx_ring_copy(region, 1, 0, &copy, sizeof copy));
    assert_int_equal(copy.sequence, 1);
    assert_true(plx_ring_copy(region, 1, bytes - 8, &copy, 8));
    assert_false(plx_ring_copy(region, 1, bytes - 8, &copy, 9));
    assert_false(plx_ring_copy(region, 1, UINT64_MAX, &copy, 8));
    assert_false(plx_ring_copy(region, 2, 0, &copy, sizeof copy));
    for (int i = 0; i < 3; i++)
        publish(region);
    assert_true(plx_ring_copy(region, 1, 0, &copy, sizeof copy));
    plx_ring_begin(region); /* of the fifth, in the slot of the first */
    assert_false(plx_ring_copy(region, 1, 0, &copy, sizeof copy));
    plx_region_destroy(region);
}

static void abandoned_slot_is_skipped_and_taken_over(void **state)
{
    (void)state;
    struct plx_shared_region *region = make_region(4);
    struct plx_map map = map_of(region);
    struct plx_view view;
    publish(region);
    struct plx_frame *frame = plx_ring_begin(region);
    plx_ring_abandon(region);
    assert_int_equal(plx_ring_newest(region), 1);
    assert_int_equal(plx_map_look(&map, 0, &view), 1);
    assert_int_equal(view.sequence, 1);
    assert_ptr_equal(plx_ring_begin(region), frame);
    plx_ring_commit(region);
    assert_int_equal(plx_ring_newest(region), 2);
    plx_map_close(&map);
    plx_region_destroy(region);
}

/* --- threads, for ThreadSanitizer: readers look at the writer's own mapping, since it knows memory by its address ---- */

static void *memory_of(struct plx_shared_region *region)
{
    unsigned char *frame = (unsigned char *)plx_ring_begin(region);
    struct plx_map map = map_of(region);
    size_t slot = (plx_ring_newest(region) + 1) % map.slot_count;
    size_t to_header = (size_t)(map.frames - (const unsigned char *)map.header) + slot * map.frame_stride;
    plx_map_close(&map);
    return frame - to_header;
}

enum { THREAD_FRAMES = 20000, THREADS = 4 };

static void *read_until_last(void *memory)
{
    struct plx_map map;
    uint64_t last = 0, torn = 0;
    if (plx_map_check(memory, ((const struct plx_region_header *)memory)->region_bytes, &map))
        return (void *)1;
    while (last < THREAD_FRAMES) {
        struct plx_view view;
        int found = plx_map_look(&map, last, &view);
        if (found < 0)
            return (void *)2;
        if (!found)
            continue;
        uint64_t wrong = 0;
        for (int i = 0; i < PLX_MAX_OBSTACLES; i++)
            wrong |= plx_fetch32(&view.frame->obstacle[i].age) ^ (uint32_t)view.sequence;
        torn += plx_map_whole(&map, view.sequence) && wrong;
        last = view.sequence;
    }
    return (void *)(uintptr_t)(torn ? 3 : 0);
}

static void threads_agree(void **state)
{
    (void)state;
    struct plx_shared_region *region = make_region(4);
    void *memory = memory_of(region);
    pthread_t thread[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, read_until_last, memory), 0);
    for (uint32_t n = 1; n <= THREAD_FRAMES; n++) {
        struct plx_frame *frame = plx_ring_begin(region);
        for (int i = 0; i < PLX_MAX_OBSTACLES; i++)
            __atomic_store_n(&frame->obstacle[i].age, n, __ATOMIC_RELAXED);
        plx_ring_commit(region);
        if (n % 64 == 0)
            sched_yield();
    }
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(thread[i], &failed);
        assert_null(failed);
    }
    plx_region_destroy(region);
}

/* Plain accesses, in a ring that nobody comes round: only newest orders them, and ThreadSanitizer says if it does not. */
enum { PLAIN_SLOTS = 64, PLAIN_FRAMES = PLAIN_SLOTS - 1 };

static void *read_plainly(void *memory)
{
    struct plx_map map;
    uint64_t last = 0, wrong = 0;
    if (plx_map_check(memory, ((const struct plx_region_header *)memory)->region_bytes, &map))
        return (void *)1;
    while (last < PLAIN_FRAMES) {
        struct plx_view view;
        if (plx_map_look(&map, last, &view) < 1)
            continue;
        wrong |= view.frame->obstacle[0].age ^ view.sequence;
        last = view.sequence;
    }
    return (void *)(uintptr_t)(wrong ? 2 : 0);
}

static void newest_publishes_what_was_written_before(void **state)
{
    (void)state;
    struct plx_shared_region *region = make_region(PLAIN_SLOTS);
    void *memory = memory_of(region);
    pthread_t thread;
    void *failed;
    assert_int_equal(pthread_create(&thread, NULL, read_plainly, memory), 0);
    for (uint32_t n = 1; n <= PLAIN_FRAMES; n++) {
        plx_ring_begin(region)->obstacle[0].age = n;
        plx_ring_commit(region);
        usleep(100);
    }
    pthread_join(thread, &failed);
    assert_null(failed);
    plx_region_destroy(region);
}

static const char *const reasons[] = {"engine failed: no picture", "the GPU was lost 3 times, and the CPU works: it hangs"};

/* Whatever is read while another reason is written is one of them, or is said to be torn. */
static void *read_reasons(void *memory)
{
    struct plx_map map;
    char text[PLX_REASON_BYTES];
    uint64_t wrong = 0;
    if (plx_map_check(memory, ((const struct plx_region_header *)memory)->region_bytes, &map))
        return (void *)1;
    while (plx_fetch64(&map.header->newest) == 0)
        wrong |= plx_map_reason(&map, text, sizeof text) == 0 && strcmp(text, "") != 0 && strcmp(text, reasons[0]) != 0 &&
                 strcmp(text, reasons[1]) != 0;
    return (void *)(uintptr_t)(wrong ? 2 : 0);
}

static void a_reason_is_never_torn(void **state)
{
    (void)state;
    struct plx_shared_region *region = make_region(4);
    pthread_t thread;
    void *failed;
    assert_int_equal(pthread_create(&thread, NULL, read_reasons, memory_of(region)), 0);
    for (int i = 0; i < 100000; i++)
        plx_region_set_reason(region, reasons[i % 2]);
    publish(region);
    pthread_join(thread, &failed);
    assert_null(failed);
    plx_region_destroy(region);
}

static void a_reason_is_one_line_cut_to_fit(void **state)
{
    (void)state;
    struct plx_shared_region *region = make_region(4);
    struct plx_map map = map_of(region);
    char text[PLX_REASON_BYTES], longest[600];

    assert_int_equal(plx_map_reason(&map, text, sizeof text), 0);
    assert_string_equal(text, "");
    plx_region_set_reason(region, "stage sgm\n\x1b[31m is late");
    assert_int_equal(plx_map_reason(&map, text, sizeof text), 0);
    assert_string_equal(text, "stage sgm??[31m is late");
    assert_int_equal(plx_map_reason(&map, text, 6), 0);
    assert_string_equal(text, "stage");
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    plx_region_set_reason(region, longest);
    assert_int_equal(plx_map_reason(&map, text, sizeof text), 0);
    assert_int_equal(strlen(text), PLX_REASON_BYTES - 1);
    plx_map_close(&map);

    /* A writer that died in between, or lies: another sum; no end. */
    struct plx_region_header *header = memory_of(region);
    header->reason_sum++;
    assert_int_equal(plx_map_check(header, header->region_bytes, &map), 0);
    assert_int_equal(plx_map_reason(&map, text, sizeof text), PLX_ERR_FORMAT);
    uint64_t endless[PLX_REASON_WORDS];
    memset(endless, 'x', sizeof endless);
    for (unsigned i = 0; i < PLX_REASON_WORDS; i++)
        header->reason[i] = endless[i];
    header->reason_sum = plx_reason_checksum(endless);
    assert_int_equal(plx_map_reason(&map, text, sizeof text), PLX_ERR_FORMAT);
    plx_region_destroy(region);
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
    struct plx_shared_region *region = make_region(4);
    void *memory = memory_of(region);
    struct watcher watcher = {.led_to_it = 0};
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0); /* a connection that lives: plx_state asks for it */
    watcher.client.socket = pair[0];
    assert_int_equal(plx_map_check(memory, ((const struct plx_region_header *)memory)->region_bytes, &watcher.client.map), 0);
    pthread_t thread;
    void *failed;
    assert_int_equal(pthread_create(&thread, NULL, wait_for_running, &watcher), 0);
    usleep(2000);
    watcher.led_to_it = 1;
    plx_region_set_state(region, PLX_STATE_RUNNING, 0);
    pthread_join(thread, &failed);
    assert_null(failed);
    close(pair[0]);
    close(pair[1]);
    plx_region_destroy(region);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(client_descriptor_gives_no_way_to_write),
        cmocka_unit_test(another_user_cannot_even_open_it),
        cmocka_unit_test(frames_come_in_order),
        cmocka_unit_test(frame_stays_whole_until_its_slot_is_begun_again),
        cmocka_unit_test(a_copy_is_of_one_frame_and_within_it),
        cmocka_unit_test(abandoned_slot_is_skipped_and_taken_over),
        cmocka_unit_test(threads_agree),
        cmocka_unit_test(newest_publishes_what_was_written_before),
        cmocka_unit_test(a_reason_is_never_torn),
        cmocka_unit_test(a_reason_is_one_line_cut_to_fit),
        cmocka_unit_test(state_publishes_what_led_to_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
