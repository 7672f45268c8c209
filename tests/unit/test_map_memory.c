/* SPDX-License-Identifier: Apache-2.0 */
/* What a map keeps of what is no longer seen, for how long, and what ends its memory. */
#include "tests/unit/map_scene.h"

static void what_is_not_seen_is_forgotten(void **state)
{
    (void)state;
    see_ground(4);
    see_thing(70, 90, 2, 0.6);
    for (int i = 0; i < 5; i++)
        next(0);
    see_nothing();
    for (int i = 0; i < 50; i++)
        next(0);
    expect(2.0, 0, PLX_CELL_OCCUPIED);
    assert_int_equal(at(2.0, 0).age, 40);
    next(0);
    assert_int_equal(count(PLX_CELL_OCCUPIED) + count(PLX_CELL_FREE), 0);
    expect(2.0, 0, PLX_CELL_LOST); /* it may stand there still */
    expect(1.5, 0, PLX_CELL_UNKNOWN);
}

/* It may stand there still: nothing but a look can tell. */
static void what_stands_out_of_view_is_never_forgotten(void **state)
{
    (void)state;
    see_ground(4);
    see_thing(70, 90, 1.3, 0.2);
    for (int i = 0; i < 4; i++)
        next(0);
    see_ground(4);
    next(0.4); /* the thing is below the picture */
    for (int i = 0; i < 100; i++)
        next(0);
    expect(1.3, 0, PLX_CELL_OCCUPIED);
    t.frame.blind = PLX_BLIND_NO_PICTURE; /* a hand before the lens, for a second */
    t.frame.motion.valid = 0;
    for (int i = 0; i < 10; i++) {
        next(0);
        t.frame.motion.valid = 0;
    }
    expect(1.3, 0, PLX_CELL_OCCUPIED);
    t.frame.blind = 0;
    for (int i = 0; i < 5; i++)
        next(0);
    expect(1.3, 0, PLX_CELL_OCCUPIED);
    next(-0.4); /* back, and it is gone */
    for (int i = 0; i < 6; i++)
        next(0);
    assert_int_equal(count(PLX_CELL_OCCUPIED), 0);
    expect(1.3, 0, PLX_CELL_FREE);
}

/* A thing that was seen free once of the times that it takes is no longer known to stand there, nor to be gone. */
static void what_leaves_the_view_half_seen_free_is_lost(void **state)
{
    (void)state;
    see_ground(4);
    see_thing(70, 90, 1.3, 0.2);
    next(0);
    next(0);
    see_ground(4);
    for (int i = 0; i < 3; i++)
        next(0);
    assert_int_equal(count(PLX_CELL_OCCUPIED), 0);
    next(0.4);
    expect(1.3, 0, PLX_CELL_LOST);
    for (int i = 0; i < 100; i++)
        next(0);
    expect(1.3, 0, PLX_CELL_LOST);
}

/* The next engine knows nothing of what the dead one knew. */
static void after_another_map_all_is_lost(void **state)
{
    (void)state;
    plx_local_map_continue(t.map);
    see_ground(4);
    next(0);
    expect(1.5, 0, PLX_CELL_FREE);
    expect(0.5, 0, PLX_CELL_LOST); /* below the picture */
    assert_int_equal(count(PLX_CELL_UNKNOWN), 0);
    next(0);
    next(-1); /* now it is seen, three times */
    next(0);
    next(0);
    expect(0.5, 0, PLX_CELL_FREE);
}

static void what_moves_is_forgotten_soon(void **state)
{
    (void)state;
    see_ground(4);
    see_thing(70, 90, 2, 0.6);
    for (int x = 70; x <= 90; x++)
        t.stixel[x][0].label = 7;
    t.frame.obstacle_count = 1;
    t.frame.obstacle[0] = (struct plx_obstacle){.label = 7, .moving = 1};
    for (int i = 0; i < 5; i++)
        next(0);
    see_nothing();
    for (int i = 0; i < 5; i++)
        next(0);
    expect(2.0, 0, PLX_CELL_OCCUPIED);
    next(0);
    assert_int_equal(count(PLX_CELL_OCCUPIED), 0);
    expect(1.5, 0, PLX_CELL_FREE);
}

/* After exactly its time, a cell is still there. */
static void memory_lasts_to_the_millisecond(void **state)
{
    (void)state;
    for (int moving = 0; moving < 2; moving++) {
        see_ground(4);
        see_thing(70, 90, 2, 0.6);
        for (int x = 70; x <= 90; x++)
            t.stixel[x][0].label = 7;
        t.frame.obstacle_count = 1;
        t.frame.obstacle[0] = (struct plx_obstacle){.label = 7, .moving = (uint32_t)moving};
        next(0);
        next(0);
        memset(t.scan, 0, sizeof t.scan);
        memset(t.stixel, 0, sizeof t.stixel);
        t.capture_ns += (moving ? 500 : 5000) * PLX_NS_PER_MS - PERIOD_NS;
        next(0);
        expect(2.0, 0, PLX_CELL_OCCUPIED);
        t.capture_ns += PLX_NS_PER_MS - PERIOD_NS;
        next(0);
        assert_int_equal(count(PLX_CELL_OCCUPIED), 0);
    }
}

/* So is a free one. */
static void what_was_free_is_unknown_after_its_time(void **state)
{
    (void)state;
    see_ground(4);
    for (int i = 0; i < 3; i++)
        next(0);
    see_nothing();
    t.capture_ns += 5000 * PLX_NS_PER_MS - PERIOD_NS;
    next(0);
    expect(1.5, 0, PLX_CELL_FREE);
    t.capture_ns += PLX_NS_PER_MS - PERIOD_NS;
    next(0);
    expect(1.5, 0, PLX_CELL_UNKNOWN);
}

/* Nothing is remembered over a time without a mount, or from a frame of the same time. */
static void a_break_of_the_mount_or_the_time_ends_the_memory(void **state)
{
    (void)state;
    see_ground(4);
    see_thing(70, 90, 2, 0.6);
    next(0);
    next(0);
    const struct plx_mount_info mount = t.frame.mount;
    memset(&t.frame.mount, 0, sizeof t.frame.mount);
    memset(t.cell, 0xFF, sizeof t.cell);
    next(0);
    for (int i = 0; i < PLX_MAP_CELLS * PLX_MAP_CELLS; i++) {
        const struct plx_cell *cell = &t.cell[i / PLX_MAP_CELLS][i % PLX_MAP_CELLS], none = {0};
        assert_memory_equal(cell, &none, sizeof none);
    }
    t.frame.mount = mount;
    next(0);
    assert_int_equal(t.frame.map.remembers, 0);
    next(0);
    assert_int_equal(t.frame.map.remembers, 1);
    t.capture_ns -= PERIOD_NS;
    next(0);
    assert_int_equal(t.frame.map.remembers, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_is_not_seen_is_forgotten),
        CASE(what_stands_out_of_view_is_never_forgotten),
        CASE(what_leaves_the_view_half_seen_free_is_lost),
        CASE(after_another_map_all_is_lost),
        CASE(what_moves_is_forgotten_soon),
        CASE(memory_lasts_to_the_millisecond),
        CASE(what_was_free_is_unknown_after_its_time),
        CASE(a_break_of_the_mount_or_the_time_ends_the_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
