/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How pictures come into memory: USERPTR where the driver has it, else DMABUF, else one copy; the same pictures each way,
 * always in memory that the backend reads in place, and every buffer back with the driver.
 *
 * guest: stereocam width=320 height=180
 * guest: udmabuf
 */
#include "tests/vm/stereocam.h"

#include <stdlib.h>

#include "tests/memory_spy.h"

#define RATE_HZ 20
#define PAIRS 40

static void load(const char *parameters)
{
    char command[160];
    snprintf(command, sizeof command, "rmmod stereocam && modprobe stereocam width=320 height=180 %s", parameters);
    assert_int_equal(system(command), 0);
}

/* Sample (x, y) of picture n is (x + y + 3 n, + 8 in the right eye) mod 256, as stereocam promises. */
static void check_ramp(const struct plx_capture *capture, int eye)
{
    const struct plx_raw *raw = &capture->raw[eye];
    for (int y = 0; y < raw->height; y++) {
        const uint8_t *row = (const uint8_t *)raw->data + (size_t)y * raw->pitch;
        for (int x = 0; x < raw->width; x++)
            if (row[x] != (uint8_t)((uint32_t)(x + y) + 3 * capture->sequence + (eye == PLX_RIGHT ? 8 : 0)))
                fail_msg("picture %u, eye %d, %d, %d is %u", capture->sequence, eye, x, y, row[x]);
    }
}

/* The kind of backend. */
enum backend { USUAL, PINS_NOTHING, ADOPTS_NOTHING };

/* Pictures must come as MEMORY, into what the backend allocated or ADOPTED. */
static void check_memory(enum backend backend, enum plx_memory memory, bool adopted)
{
    const struct plx_v4l2_options options = stereocam_options(RATE_HZ);
    struct plx_stages *stages = pairs_stages();
    static const char *const name[PLX_EYES] = {"left", "right"};
    struct pairs pairs;

    spy_on(stages);
    spy.pins_nothing = backend == PINS_NOTHING;
    spy.adopts_nothing = backend == ADOPTS_NOTHING;
    pairs_open_in(&pairs, stages, &options);
    assert_int_equal(spied_blocks(!adopted), 0); /* nothing is kept of what was only tried */
    for (int i = 0; i < PAIRS; i++) {
        pairs_take(&pairs, 1);
        for (int eye = 0; eye < PLX_EYES; eye++) {
            struct camera_record record;
            assert_int_equal(pairs.pair[eye].memory, memory);
            const struct spied_block *block = spied_block(pairs.pair[eye].raw[eye].data, pairs.pair[eye].raw[eye].bytes);
            assert_non_null(block);
            assert_true(block->adopted == adopted);
            check_ramp(&pairs.pair[eye], eye);
            assert_true(camera_record(name[eye], pairs.pair[eye].sequence, &record));
            assert_string_equal(record.fate, "good");
        }
    }
    /* The last pictures found a buffer each: none is lost on the way. */
    for (int eye = 0; eye < PLX_EYES; eye++)
        for (uint32_t back = 1; back < 20; back++) {
            struct camera_record record;
            assert_true(camera_record(name[eye], pairs.pair[eye].sequence - back, &record));
            assert_string_not_equal(record.fate, "no-buffer");
        }
    pairs_release(&pairs);
    pairs.source->ops->destroy(pairs.source);
    assert_int_equal(spied_blocks(false) + spied_blocks(true), 0);
    stages->ops->destroy(stages);
}

static void test_userptr(void **state)
{
    (void)state;
    check_memory(USUAL, PLX_MEMORY_USERPTR, false);
    check_memory(ADOPTS_NOTHING, PLX_MEMORY_USERPTR, false);
}

/* The driver cannot reach memory that the backend allocates. It can reach ordinary memory that the backend adopts. */
static void test_userptr_into_adopted_memory(void **state)
{
    (void)state;
    check_memory(PINS_NOTHING, PLX_MEMORY_USERPTR, true);
}

static void test_dmabuf(void **state)
{
    (void)state;
    load("userptr=0");
    check_memory(USUAL, PLX_MEMORY_DMABUF, true);
}

static void test_mmap(void **state)
{
    (void)state;
    check_memory(ADOPTS_NOTHING, PLX_MEMORY_MMAP, false);
    assert_int_equal(system("rmmod udmabuf"), 0);
    check_memory(USUAL, PLX_MEMORY_MMAP, false);
}

/* Rows that are longer than the picture. */
static void test_pitch(void **state)
{
    (void)state;
    load("stride_align=256");
    check_memory(USUAL, PLX_MEMORY_USERPTR, false);
    load("stride_align=256 userptr=0");
    check_memory(USUAL, PLX_MEMORY_MMAP, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_userptr), cmocka_unit_test(test_userptr_into_adopted_memory),
        cmocka_unit_test(test_dmabuf),  cmocka_unit_test(test_mmap),
        cmocka_unit_test(test_pitch),
    };
    return cmocka_run_group_tests_name("source_memory", tests, NULL, NULL);
}
