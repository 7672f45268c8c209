/* SPDX-License-Identifier: Apache-2.0 */
/* The flight recorder's parts: its memory, its copies of pairs, and what it takes for a fault. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <parallax/error.h>
#include <parallax/frame.h>

#include "app/flight_recorder/dump.h"
#include "app/flight_recorder/pair.h"
#include "app/flight_recorder/ring.h"
#include "app/flight_recorder/watch.h"
#include "config/text.h"
#include "tests/cmocka.h"
#include "tests/scratch.h"

#define WIDTH 37
#define HEIGHT 11
#define PITCH 64

/* --- the ring ------------------------------------------------------------------------------------------------------- */

static void put(struct plx_pair_ring *ring, size_t bytes, uint64_t number)
{
    uint8_t *memory = plx_pair_ring_begin(ring);
    assert_int_equal((uintptr_t)memory % 64, 0);
    memset(memory, (int)(number % 251), bytes);
    plx_pair_ring_commit(ring);
}

static void check(const struct plx_pair_ring *ring, size_t bytes)
{
    for (uint64_t number = ring->first; number < ring->end; number++) {
        const uint8_t *pair = plx_pair_ring_get(ring, number);
        assert_true(pair >= ring->memory && pair + bytes <= ring->memory + ring->bytes);
        for (size_t i = 0; i < bytes; i++)
            assert_int_equal(pair[i], number % 251);
    }
}

static void it_holds_the_newest_pairs_in_order(void **state)
{
    (void)state;
    uint64_t seed = scratch_seed();
    print_message("seed %llu\n", (unsigned long long)seed);
    struct plx_pair_ring ring;
    struct plx_error_message message;
    assert_int_equal(plx_pair_ring_init(&ring, 100001, &message), 0);
    for (int round = 0; round < 50; round++) { /* odd sizes, each a new layout */
        const size_t bytes = 1 + scratch_random(&seed) % 50000;
        assert_int_equal(plx_pair_ring_layout(&ring, bytes, &message), 0);
        assert_true(ring.slots >= 2 && ring.slots * bytes <= 100001 && ring.first == ring.end);
        const uint64_t pairs = ring.slots * 2 + 1 < 300 ? ring.slots * 2 + 1 : 300;
        for (uint64_t number = 0; number < pairs; number++)
            put(&ring, bytes, number);
        assert_int_equal(ring.end, pairs);
        assert_int_equal(ring.end - ring.first, pairs < ring.slots ? pairs : ring.slots);
        check(&ring, bytes);
    }
    plx_pair_ring_finish(&ring);
}

static void a_pair_that_is_not_committed_costs_the_oldest_one_alone(void **state)
{
    (void)state;
    struct plx_pair_ring ring;
    struct plx_error_message message;
    assert_int_equal(plx_pair_ring_init(&ring, 4096, &message), 0);
    assert_int_equal(plx_pair_ring_layout(&ring, 1000, &message), 0);
    assert_int_equal(ring.slots, 4);
    for (uint64_t number = 0; number < 6; number++)
        put(&ring, 1000, number);
    for (int i = 0; i < 3; i++)
        memset(plx_pair_ring_begin(&ring), 0xFF, 1000);
    assert_int_equal(ring.first, 3);
    assert_int_equal(ring.end, 6);
    check(&ring, 1000);
    plx_pair_ring_finish(&ring);
}

static void pairs_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const size_t wrong[] = {0, 2049, 4096, 4097, SIZE_MAX - 32, SIZE_MAX};
    struct plx_pair_ring ring;
    struct plx_error_message message;
    assert_int_equal(plx_pair_ring_init(&ring, 4096, &message), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(plx_pair_ring_layout(&ring, 64, &message), 0);
        assert_int_equal(plx_pair_ring_layout(&ring, wrong[i], &message), PLX_ERR_RANGE);
        assert_int_equal(ring.slots, 0);
    }
    assert_int_equal(plx_pair_ring_layout(&ring, 2048, &message), 0);
    assert_int_equal(ring.slots, 2);
    plx_pair_ring_finish(&ring);
}

/* --- a pair --------------------------------------------------------------------------------------------------------- */

static uint8_t picture[PLX_EYES][HEIGHT][PITCH];
static struct plx_frame frame;

static struct plx_view make_view(bool right)
{
    struct plx_view view = {.frame = &frame, .obstacle_count = 3, .plane = {[PLX_PLANE_LEFT] = picture[0]}};
    uint64_t seed = scratch_seed();
    for (size_t i = 0; i < sizeof picture; i++)
        ((uint8_t *)picture)[i] = (uint8_t)scratch_random(&seed);
    frame.sequence = 7;
    frame.obstacle_count = UINT32_MAX; /* changed after it was checked */
    frame.width = UINT32_MAX;
    frame.plane[PLX_PLANE_DISPARITY] = (struct plx_plane){.width = 5, .height = 5, .element = 2};
    view.layout[PLX_PLANE_LEFT] = (struct plx_plane){.pitch = PITCH, .width = WIDTH, .height = HEIGHT, .element = 1};
    if (right) {
        view.plane[PLX_PLANE_RIGHT] = picture[1];
        view.layout[PLX_PLANE_RIGHT] = view.layout[PLX_PLANE_LEFT];
    }
    return view;
}

static void check_picture(const struct plx_frame *pair, enum plx_plane_id id, enum plx_eye eye)
{
    const struct plx_plane *plane = &pair->plane[id];
    assert_true(plane->width == WIDTH && plane->height == HEIGHT && plane->pitch == WIDTH && plane->element == 1);
    assert_true(plane->offset >= sizeof *pair && plane->offset + WIDTH * HEIGHT <= pair->bytes);
    for (int y = 0; y < HEIGHT; y++)
        assert_memory_equal((const uint8_t *)pair + plane->offset + y * WIDTH, picture[eye][y], WIDTH);
}

static void a_copy_is_a_frame_of_two_pictures(void **state)
{
    (void)state;
    for (int right = 0; right < 2; right++) {
        const struct plx_view view = make_view(right);
        const size_t bytes = plx_pair_bytes(&view);
        struct plx_frame *pair = malloc(bytes); /* exact size: sanitizers see a byte beyond it */
        assert_non_null(pair);
        plx_pair_copy(&view, pair);
        assert_true(pair->sequence == 7 && pair->obstacle_count == 3 && pair->width == WIDTH && pair->height == HEIGHT);
        assert_true(pair->bytes == bytes && pair->plane[PLX_PLANE_DISPARITY].width == 0);
        check_picture(pair, PLX_PLANE_LEFT, PLX_LEFT);
        if (right)
            check_picture(pair, PLX_PLANE_RIGHT, PLX_RIGHT);
        else
            assert_int_equal(pair->plane[PLX_PLANE_RIGHT].width, 0);
        free(pair);
    }
}

static void a_copy_has_the_colours(void **state)
{
    (void)state;
    struct plx_view view = make_view(false);
    static uint8_t colour[HEIGHT][3 * PITCH];
    const size_t grey = plx_pair_bytes(&view);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < 3 * PITCH; x++)
            colour[y][x] = (uint8_t)(7 * x + y);
    view.plane[PLX_PLANE_COLOUR] = colour;
    view.layout[PLX_PLANE_COLOUR] = (struct plx_plane){.pitch = 3 * PITCH, .width = WIDTH, .height = HEIGHT, .element = 3};
    assert_int_equal(plx_pair_bytes(&view), grey + (size_t)3 * WIDTH * HEIGHT);
    struct plx_frame *pair = malloc(plx_pair_bytes(&view)); /* exact size */
    assert_non_null(pair);
    plx_pair_copy(&view, pair);
    const struct plx_plane *plane = &pair->plane[PLX_PLANE_COLOUR];
    assert_true(plane->width == WIDTH && plane->height == HEIGHT && plane->pitch == 3 * WIDTH && plane->element == 3);
    for (int y = 0; y < HEIGHT; y++)
        assert_memory_equal((const uint8_t *)pair + plane->offset + (size_t)y * plane->pitch, colour[y], 3 * WIDTH);
    free(pair);
}

static void odd_pictures_are_left_out(void **state)
{
    (void)state;
    struct plx_view view = make_view(true);
    const size_t both = plx_pair_bytes(&view);
    view.layout[PLX_PLANE_RIGHT].width--;
    assert_int_equal(plx_pair_bytes(&view), both - WIDTH * HEIGHT);
    view.layout[PLX_PLANE_LEFT].element = 2;
    assert_int_equal(plx_pair_bytes(&view), 0);
    view = make_view(false);
    view.plane[PLX_PLANE_LEFT] = NULL;
    assert_int_equal(plx_pair_bytes(&view), 0);
}

/* --- a file --------------------------------------------------------------------------------------------------------- */

#define DUMPED 5

/* A ring of pairs that were published at 1, 2, 3 ... */
static void fill_ring(struct plx_pair_ring *ring)
{
    const struct plx_view view = make_view(true);
    struct plx_error_message message;
    assert_int_equal(plx_pair_ring_init(ring, 1 << 22, &message), 0);
    assert_int_equal(plx_pair_ring_layout(ring, plx_pair_bytes(&view), &message), 0);
    for (int i = 0; i < DUMPED; i++) {
        frame.published_ns = frame.capture[PLX_LEFT].capture_ns = frame.sequence = 1 + (uint64_t)i;
        plx_pair_copy(&view, plx_pair_ring_begin(ring));
        plx_pair_ring_commit(ring);
    }
}

/* Ended after STEPS pairs of the LAST that it should get: what is missing is said in the file's name and in it. */
static void check_end(int steps, int last, const char *ending, int left_out)
{
    static char folder[] = "/tmp/plx-dump-XXXXXX";
    static struct plx_dump dump;
    struct plx_error_message message = {""};
    struct plx_pair_ring ring;
    assert_non_null(mkdtemp(strcpy(folder, "/tmp/plx-dump-XXXXXX")));
    fill_ring(&ring);
    dump = (struct plx_dump){.directory = folder, .keep = 3, .ring = &ring};
    assert_int_equal(plx_dump_begin(&dump, "fault", 0, last, &message), 0);
    for (int i = 0; i < steps; i++)
        assert_int_equal(plx_dump_step(&dump, &message), 1);
    assert_int_equal(plx_dump_end(&dump, &message), 0);
    assert_int_equal(dump.pairs, steps);
    assert_int_equal(dump.left_out, left_out);
    assert_string_equal(strstr(dump.path, "-fault"), ending);
    assert_int_equal(access(dump.path, R_OK), 0);
    assert_int_equal(unlink(dump.path), 0);
    assert_int_equal(rmdir(folder), 0); /* and nothing else is left */
    plx_pair_ring_finish(&ring);
}

static void a_file_says_what_it_lacks(void **state)
{
    (void)state;
    check_end(DUMPED, DUMPED, "-fault.mcap", 0);
    check_end(2, DUMPED, "-fault-cut.mcap", DUMPED - 2);
    check_end(1, 3, "-fault-cut.mcap", 2); /* the later pairs are none of its own */
    check_end(3, 3, "-fault.mcap", 0);
}

/* --- faults --------------------------------------------------------------------------------------------------------- */

static void faults_have_names(void **state)
{
    (void)state;
    enum { RUN = PLX_STATE_RUNNING, BAD = PLX_STATE_DEGRADED, FAILED = PLX_STATE_FAILED };
    static const struct {
        struct plx_watch_sample now;
        const char *reason; /* NULL: none */
    } step[] = {
        {{false, PLX_STATE_STOPPED, 0, PLX_HEALTH_NO_FRAMES}, NULL}, /* it has not begun yet */
        {{true, PLX_STATE_STARTING, 0, 0}, NULL},
        {{true, RUN, 0, PLX_HEALTH_DARK}, NULL}, /* nobody asked for this flag */
        {{true, BAD, 0, PLX_HEALTH_DESYNC | PLX_HEALTH_FROZEN}, "flag-desync"},
        {{true, BAD, 0, PLX_HEALTH_DESYNC}, NULL},
        {{true, BAD, 0, PLX_HEALTH_DESYNC | PLX_HEALTH_CAMERA_LOST_LEFT}, "flag-camera-lost-left"},
        {{true, RUN, 0, 0}, NULL},
        {{true, PLX_STATE_RECOVERING, 1, 0}, "engine-replaced"},
        {{true, RUN, 1, 0}, NULL},
        {{true, FAILED, 1, 0}, "failed"},
        {{true, FAILED, 1, 0}, NULL},
        {{true, RUN, 1, 0}, NULL},
        {{false, PLX_STATE_STOPPED, 0, PLX_HEALTH_NO_FRAMES}, "service-gone"},
        {{false, PLX_STATE_STOPPED, 0, PLX_HEALTH_NO_FRAMES}, NULL},
        {{true, RUN, 5, 0}, NULL}, /* another service, or one that went on unseen */
        {{true, RUN, 0, 0}, NULL},
    };
    struct plx_watch watch = {.flags = PLX_HEALTH_DESYNC | PLX_HEALTH_FROZEN | PLX_HEALTH_CAMERA_LOST_LEFT};
    char reason[PLX_WATCH_REASON];

    for (size_t i = 0; i < sizeof step / sizeof *step; i++) {
        const bool begun = plx_watch_update(&watch, &step[i].now, reason);
        if (begun != (step[i].reason != NULL))
            fail_msg("step %zu: %s", i, begun ? reason : "no fault");
        if (begun)
            assert_string_equal(reason, step[i].reason);
    }
}

static void flags_by_name(void **state)
{
    (void)state;
    static const char *const wrong[] = {",", "desync,", ",desync", "Desync", "desync, frozen", "unknown", "desyn", "desyncs"};
    uint32_t flags = 9;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(plx_health_flags_parse(wrong[i], &flags));
        assert_int_equal(flags, 9);
    }
    assert_true(plx_health_flags_parse("desync,camera_lost_left,hot", &flags));
    assert_int_equal(flags, PLX_HEALTH_DESYNC | PLX_HEALTH_CAMERA_LOST_LEFT | PLX_HEALTH_HOT);
    assert_true(plx_health_flags_parse("", &flags));
    assert_int_equal(flags, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_holds_the_newest_pairs_in_order),
        cmocka_unit_test(a_pair_that_is_not_committed_costs_the_oldest_one_alone),
        cmocka_unit_test(pairs_that_do_not_fit_are_refused),
        cmocka_unit_test(a_copy_is_a_frame_of_two_pictures),
        cmocka_unit_test(a_copy_has_the_colours),
        cmocka_unit_test(odd_pictures_are_left_out),
        cmocka_unit_test(a_file_says_what_it_lacks),
        cmocka_unit_test(faults_have_names),
        cmocka_unit_test(flags_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
