/* SPDX-License-Identifier: Apache-2.0 */
/* The shared memory: what its seals and modes forbid, and what the writer's calls leave in it. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/checksum.h"
#include "tests/patience.h"
#include "tests/unit/ring_shm.h"

#define NOBODY 65534

/* What the machine says when the memory's pages are to be made; 0: it makes them. */
static int allocation_error;

int fallocate(int fd, int mode, off_t offset, off_t length)
{
    int (*const real)(int, int, off_t, off_t) = (int (*)(int, int, off_t, off_t))(uintptr_t)dlsym(RTLD_NEXT, "fallocate");
    if (allocation_error == 0)
        return real(fd, mode, offset, length);
    errno = allocation_error;
    return -1;
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    static const struct plx_shm_options wrong[] = {
        {.slots = 3, .frame_bytes = 1 << 20}, {.slots = 65, .frame_bytes = 1 << 20}, {.slots = 8, .frame_bytes = 100}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct plx_shm *shm = NULL;
        struct plx_error_message message = {{0}};
        assert_int_equal(plx_shm_create(&wrong[i], &shm, &message), PLX_ERR_RANGE);
        assert_null(shm);
        assert_true(message.text[0]);
    }
    plx_shm_destroy(NULL);
}

static void the_smallest_and_the_largest_ring_are_made(void **state)
{
    (void)state;
    static const struct plx_shm_options right[] = {{.slots = 4, .frame_bytes = sizeof(struct plx_frame)},
                                                   {.slots = 64, .frame_bytes = sizeof(struct plx_frame)},
                                                   {.slots = 5, .frame_bytes = 32 * 4096},
                                                   {.slots = 5, .frame_bytes = 32 * 4096 + 1}};
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        struct plx_shm *shm = NULL;
        size_t bytes;
        assert_int_equal(plx_shm_create(&right[i], &shm, NULL), 0);
        struct plx_map map = map_of(shm); /* it passes the reader's checks */
        assert_int_equal(map.slot_count, right[i].slots);
        assert_int_equal(map.frame_bytes, right[i].frame_bytes);
        assert_int_equal(map.frame_stride, (right[i].frame_bytes + 4095) / 4096 * 4096); /* whole pages, and no page more */
        assert_non_null(plx_shm_frames(shm, &bytes));
        assert_int_equal(bytes, map.slot_count * map.frame_stride);
        assert_int_equal(map.bytes, map.frames_offset + bytes);
        plx_map_close(&map);
        plx_shm_destroy(shm);
    }
    struct plx_shm *shm = NULL;
    const struct plx_shm_options small = {.slots = 4, .frame_bytes = sizeof(struct plx_frame) - 1};
    assert_int_equal(plx_shm_create(&small, &shm, NULL), PLX_ERR_RANGE);
}

/* Whatever a full machine calls it. */
static void no_memory_left_is_said(void **state)
{
    (void)state;
    static const struct {
        int error, result;
    } cases[] = {{ENOMEM, PLX_ERR_NOMEM}, {ENOSPC, PLX_ERR_NOMEM}, {ENFILE, PLX_ERR_NOMEM}, {EIO, PLX_ERR_IO}};
    const struct plx_shm_options options = {.epoch = 1, .slots = 4, .frame_bytes = 1 << 20};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plx_error_message message = {{0}};
        struct plx_shm *shm = NULL;
        allocation_error = cases[i].error;
        const int result = plx_shm_create(&options, &shm, &message);
        allocation_error = 0;
        assert_int_equal(result, cases[i].result);
        assert_non_null(strstr(message.text, "cannot allocate it"));
        assert_int_equal(strstr(message.text, "; lower publish.slots") != NULL, cases[i].result == PLX_ERR_NOMEM);
        assert_null(shm);
    }
}

/* A process without room for a descriptor is told what to do, as one without memory is. */
static void no_descriptor_left_is_said(void **state)
{
    (void)state;
    const struct plx_shm_options options = {.epoch = 1, .slots = 4, .frame_bytes = 1 << 20};
    struct plx_error_message message = {{0}};
    struct plx_shm *shm = NULL;
    struct rlimit before, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    const int result = plx_shm_create(&options, &shm, &message);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(result, PLX_ERR_NOMEM);
    assert_non_null(strstr(message.text, "; lower publish.slots"));
    assert_null(shm);
}

/* As whoever runs the test, root included: it is the seals that hold. */
static void client_descriptor_gives_no_way_to_write(void **state)
{
    (void)state;
    struct plx_shm *shm = make_shm(4);
    int fd = plx_shm_client_fd(shm);
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
    plx_shm_destroy(shm);
}

static void another_user_cannot_even_open_it(void **state)
{
    (void)state;
    if (geteuid())
        skip(); /* needs root to become somebody else */
    struct plx_shm *shm = make_shm(4);
    pid_t child = fork();
    if (child == 0) {
        char path[40];
        snprintf(path, sizeof path, "/proc/self/fd/%d", plx_shm_client_fd(shm));
        if (setuid(NOBODY))
            _exit(1);
        _exit(open(path, O_RDWR) == -1 && errno == EACCES ? 0 : 2);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    plx_shm_destroy(shm);
}

static void frames_come_in_order(void **state)
{
    (void)state;
    struct plx_shm *shm = make_shm(4);
    struct plx_map map = map_of(shm);
    struct plx_view view = {0};
    assert_int_equal(plx_map_find_newest(&map, 0, &view), 0);
    for (uint64_t i = 1; i <= 20; i++) {
        publish(shm);
        assert_int_equal(plx_ring_newest(shm), i);
        assert_int_equal(plx_map_find_newest(&map, i - 1, &view), 1);
        assert_int_equal(view.sequence, i);
        assert_int_equal(view.frame->epoch, 7);
        assert_true(plx_map_whole(&map, i));
        assert_int_equal(plx_map_find_newest(&map, i, &view), 0);
    }
    plx_map_close(&map);
    plx_shm_destroy(shm);
}

static void frame_stays_whole_until_its_slot_is_begun_again(void **state)
{
    (void)state;
    struct plx_shm *shm = make_shm(4);
    struct plx_map map = map_of(shm);
    publish(shm);
    for (int i = 0; i < 3; i++)
        publish(shm);
    assert_true(plx_map_whole(&map, 1));
    plx_ring_begin(shm);
    assert_false(plx_map_whole(&map, 1));
    plx_map_close(&map);
    plx_shm_destroy(shm);
}

static void a_copy_is_of_one_frame_and_within_it(void **state)
{
    (void)state;
    struct plx_shm *shm = make_shm(4);
    struct plx_frame copy;
    const size_t bytes = sizeof(struct plx_frame) + 4096;
    assert_false(plx_ring_copy(shm, 1, 0, &copy, sizeof copy)); /* not there yet */
    publish(shm);
    assert_true(plx_ring_copy(shm, 1, 0, &copy, sizeof copy));
    assert_int_equal(copy.sequence, 1);
    assert_true(plx_ring_copy(shm, 1, bytes - 8, &copy, 8));
    assert_true(plx_ring_copy(shm, 1, bytes, &copy, 0));
    assert_false(plx_ring_copy(shm, 1, bytes - 8, &copy, 9));
    assert_false(plx_ring_copy(shm, 1, UINT64_MAX, &copy, 8));
    assert_false(plx_ring_copy(shm, 2, 0, &copy, sizeof copy));
    for (int i = 0; i < 3; i++)
        publish(shm);
    assert_true(plx_ring_copy(shm, 1, 0, &copy, sizeof copy));
    plx_ring_begin(shm); /* begins the fifth, in the slot of the first */
    assert_false(plx_ring_copy(shm, 1, 0, &copy, sizeof copy));
    plx_shm_destroy(shm);
}

static void abandoned_slot_is_skipped_and_taken_over(void **state)
{
    (void)state;
    struct plx_shm *shm = make_shm(4);
    struct plx_map map = map_of(shm);
    struct plx_view view;
    publish(shm);
    struct plx_frame *frame = plx_ring_begin(shm);
    assert_int_equal(plx_ring_newest(shm), 1);
    assert_int_equal(plx_map_find_newest(&map, 0, &view), 1);
    assert_int_equal(view.sequence, 1);
    assert_ptr_equal(plx_ring_begin(shm), frame);
    plx_ring_commit(shm);
    assert_int_equal(plx_ring_newest(shm), 2);
    plx_map_close(&map);
    plx_shm_destroy(shm);
}

/* A robot must not go on by the verdict of an engine that gives no frames any more. */
static void a_verdict_ends_with_the_frames(void **state)
{
    (void)state;
    struct plx_shm *shm = make_shm(4);
    struct plx_map map = map_of(shm);
    struct plx_verdict_now now;
    struct plx_frame frame = {.sequence = 3,
                              .suspended_ns = 11,
                              .verdict = {.verdict = PLX_VERDICT_GO,
                                          .reasons = PLX_REASON_DROP,
                                          .faults = PLX_HEALTH_LATE,
                                          .zone = PLX_MAX_ZONES - 1,
                                          .distance_m = 2,
                                          .speed_mps = 1,
                                          .valid_ns = 12},
                              .zone[PLX_MAX_ZONES - 1].name = "last"};
    frame.capture[PLX_LEFT].capture_ns = 10;
    for (enum plx_state s = PLX_STATE_STARTING; s <= PLX_STATE_STOPPED; s++) {
        plx_shm_set_verdict(shm, &frame);
        plx_shm_set_state(shm, s, 0);
        assert_true(plx_map_verdict(&map, &now));
        if (s != PLX_STATE_RUNNING && s != PLX_STATE_DEGRADED) {
            assert_int_equal(now.verdict, PLX_VERDICT_STOP);
            assert_true(now.valid_ns == 0);
            continue;
        }
        assert_true(now.sequence == 3 && now.capture_ns == 10 && now.suspended_ns == 11 && now.valid_ns == 12);
        assert_true(now.verdict == PLX_VERDICT_GO && now.reasons == PLX_REASON_DROP && now.faults == PLX_HEALTH_LATE);
        assert_true(now.zone == PLX_MAX_ZONES - 1 && now.distance_m == 2 && now.speed_mps == 1);
        assert_string_equal(now.name, "last");
    }
    frame.verdict.zone = 0;
    snprintf(frame.zone[0].name, sizeof frame.zone[0].name, "first");
    plx_shm_set_verdict(shm, &frame);
    assert_true(plx_map_verdict(&map, &now));
    assert_string_equal(now.name, "first");
    frame.verdict.zone = -1;
    plx_shm_set_verdict(shm, &frame);
    assert_true(plx_map_verdict(&map, &now));
    assert_string_equal(now.name, "");
    plx_map_close(&map);
    plx_shm_destroy(shm);
}

/* LOST, and without having waited for a frame. */
static void expect_lost_at_once(struct plx_client *client)
{
    struct plx_view view;
    const int64_t end_ns = patience_end_ns();
    assert_int_equal(plx_next(client, patience_ms(), &view), PLX_ERR_LOST);
    assert_true(plx_now_ns() < end_ns);
}

/* Whatever the state is called in which no frames come, a robot hears of it at once, and anew after each recovery. */
static void a_reader_is_told_that_the_engine_is_gone(void **state)
{
    (void)state;
    struct plx_shm *shm = make_shm(4);
    struct plx_client client = {.map = map_of(shm), .poll_fd = -1, .poll_timer = -1};
    struct plx_view view;
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0); /* the service lives */
    client.socket = pair[0];
    for (enum plx_state s = PLX_STATE_STARTING; s <= PLX_STATE_STOPPED; s++) {
        const bool gone = s == PLX_STATE_RECOVERING || s == PLX_STATE_FAILED || s == PLX_STATE_STOPPED;
        plx_shm_set_state(shm, s, 0);
        for (int i = 0; i < 2; i++) /* also who asks again */
            assert_int_equal(plx_next(&client, 0, &view), gone ? PLX_ERR_LOST : PLX_ERR_TIMEOUT);
        plx_shm_set_state(shm, PLX_STATE_RUNNING, 0);
        assert_int_equal(plx_next(&client, 0, &view), PLX_ERR_TIMEOUT);
        plx_shm_set_state(shm, s, 0);
        if (!gone)
            continue;
        expect_lost_at_once(&client);
        publish(shm); /* the engine was back, and is gone again before the reader asks */
        assert_int_equal(plx_next(&client, 0, &view), 0);
        assert_int_equal(plx_release(&client, &view), 0);
        expect_lost_at_once(&client);
    }
    plx_map_close(&client.map);
    close(pair[0]);
    close(pair[1]);
    plx_shm_destroy(shm);
}

/* The next engine's tracks get numbers that no robot has seen; only a change of the state wakes readers. */
static void the_memory_outlives_the_engine(void **state)
{
    (void)state;
    struct plx_shm *shm = make_shm(4);
    struct plx_map map = map_of(shm);
    static struct plx_frame frame = {.obstacle_count = 3,
                                     .obstacle = {{.track = 4}, {.track = 9}, {.track = 2}, {.track = 50}}};
    assert_int_equal(plx_shm_tracks(shm), 0);
    plx_shm_note_tracks(shm, &frame);
    assert_int_equal(plx_shm_tracks(shm), 9);
    frame.obstacle_count = 1; /* the others have left */
    plx_shm_note_tracks(shm, &frame);
    assert_int_equal(plx_shm_tracks(shm), 9);

    plx_shm_set_restarts(shm, 5);
    plx_shm_set_gpu_schedule(shm, 6);
    assert_true(map.header->restarts == 5 && map.header->gpu_schedule == 6);
    plx_shm_set_state(shm, PLX_STATE_RUNNING, 0);
    const uint32_t word = map.header->wake;
    plx_shm_set_state(shm, PLX_STATE_RUNNING, PLX_HEALTH_LATE);
    assert_int_equal(map.header->wake, word);
    assert_true(map.header->status == ((uint64_t)PLX_HEALTH_LATE << 32 | PLX_STATE_RUNNING));
    plx_shm_set_state(shm, PLX_STATE_DEGRADED, PLX_HEALTH_LATE);
    assert_int_equal(map.header->wake, word + 1);
    publish(shm);
    assert_int_equal(map.header->wake, word + 2);
    assert_int_equal(map.header->replaced, 0);
    plx_shm_hand_over(shm);
    assert_int_equal(map.header->replaced, 1);
    assert_int_equal((uint32_t)map.header->status, PLX_STATE_STOPPED);
    plx_map_close(&map);
    plx_shm_destroy(shm);
}

static void a_reason_is_one_line_cut_to_fit(void **state)
{
    (void)state;
    struct plx_shm *shm = make_shm(4);
    struct plx_map map = map_of(shm);
    char text[PLX_REASON_BYTES], longest[600];

    assert_int_equal(plx_map_reason(&map, text, sizeof text), 0);
    assert_string_equal(text, "");
    plx_shm_set_reason(shm, "stage sgm\n\x1b[31m is late");
    assert_int_equal(plx_map_reason(&map, text, sizeof text), 0);
    assert_string_equal(text, "stage sgm??[31m is late");
    assert_int_equal(plx_map_reason(&map, text, 6), 0);
    assert_string_equal(text, "stage");
    plx_shm_set_reason(shm, "six by");
    for (size_t size = 1; size < 9; size++) { /* nothing is written beyond it */
        memset(text, 'z', sizeof text);
        assert_int_equal(plx_map_reason(&map, text, size), 0);
        assert_int_equal(strlen(text), size <= 6 ? size - 1 : 6);
        assert_memory_equal(text, "six by", strlen(text));
        assert_true(text[size] == 'z');
    }
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    plx_shm_set_reason(shm, longest);
    assert_int_equal(plx_map_reason(&map, text, sizeof text), 0);
    assert_int_equal(strlen(text), PLX_REASON_BYTES - 1);
    plx_map_close(&map);

    /* A writer that died in between, or lies: another sum; no end. */
    struct plx_shm_header *header = memory_of(shm);
    header->reason_sum++;
    assert_int_equal(plx_map_check(header, header->region_bytes, &map), 0);
    assert_int_equal(plx_map_reason(&map, text, sizeof text), PLX_ERR_FORMAT);
    uint64_t endless[PLX_REASON_WORDS];
    memset(endless, 'x', sizeof endless);
    for (unsigned i = 0; i < PLX_REASON_WORDS; i++)
        header->reason[i] = endless[i];
    header->reason_sum = plx_words_checksum(endless, PLX_REASON_WORDS);
    assert_int_equal(plx_map_reason(&map, text, sizeof text), PLX_ERR_FORMAT);
    plx_shm_destroy(shm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(the_smallest_and_the_largest_ring_are_made),
        cmocka_unit_test(no_memory_left_is_said),
        cmocka_unit_test(no_descriptor_left_is_said),
        cmocka_unit_test(client_descriptor_gives_no_way_to_write),
        cmocka_unit_test(another_user_cannot_even_open_it),
        cmocka_unit_test(frames_come_in_order),
        cmocka_unit_test(frame_stays_whole_until_its_slot_is_begun_again),
        cmocka_unit_test(a_copy_is_of_one_frame_and_within_it),
        cmocka_unit_test(abandoned_slot_is_skipped_and_taken_over),
        cmocka_unit_test(a_verdict_ends_with_the_frames),
        cmocka_unit_test(a_reader_is_told_that_the_engine_is_gone),
        cmocka_unit_test(the_memory_outlives_the_engine),
        cmocka_unit_test(a_reason_is_one_line_cut_to_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
