/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How pictures come into memory: USERPTR where the driver has it, else DMABUF, else one copy; the same pictures each way, and
 * every buffer back with the driver.
 *
 * guest: stereocam width=320 height=180
 * guest: udmabuf
 */
#include "tests/vm/stereocam.h"

#include <stdlib.h>

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

static void check_memory(const struct plx_v4l2_options *options, enum plx_memory memory)
{
    static const char *const name[PLX_EYES] = {"left", "right"};
    struct pairs pairs;

    pairs_open(&pairs, options);
    for (int i = 0; i < PAIRS; i++) {
        assert_true(pairs_next(&pairs, 3000));
        for (int eye = 0; eye < PLX_EYES; eye++) {
            struct camera_record record;
            assert_int_equal(pairs.pair[eye].memory, memory);
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
    pairs_close(&pairs);
}

static void test_userptr(void **state)
{
    (void)state;
    const struct plx_v4l2_options options = stereocam_options(RATE_HZ);
    check_memory(&options, PLX_MEMORY_USERPTR);
}

static void test_dmabuf(void **state)
{
    (void)state;
    const struct plx_v4l2_options options = stereocam_options(RATE_HZ);
    load("userptr=0");
    check_memory(&options, PLX_MEMORY_DMABUF);
}

static void test_mmap(void **state)
{
    (void)state;
    const struct plx_v4l2_options options = stereocam_options(RATE_HZ);
    assert_int_equal(system("rmmod udmabuf"), 0);
    check_memory(&options, PLX_MEMORY_MMAP);
}

/* Rows that are longer than the picture. */
static void test_pitch(void **state)
{
    (void)state;
    const struct plx_v4l2_options options = stereocam_options(RATE_HZ);
    load("stride_align=256");
    check_memory(&options, PLX_MEMORY_USERPTR);
    load("stride_align=256 userptr=0");
    check_memory(&options, PLX_MEMORY_MMAP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_userptr),
        cmocka_unit_test(test_dmabuf),
        cmocka_unit_test(test_mmap),
        cmocka_unit_test(test_pitch),
    };
    return cmocka_run_group_tests_name("source_memory", tests, NULL, NULL);
}
