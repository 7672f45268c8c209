/* SPDX-License-Identifier: Apache-2.0 */
/* Binary PGM in and out, and what is said about bad files. */
#include <parallax/error.h>

#include "drivers/files/picture.h"
#include "tests/cmocka.h"
#include "tests/pgm_write.h"
#include "tests/unit/files.h"

static struct plx_error_message message;

static void test_round_trip_at_any_size(void **state)
{
    (void)state;
    static const int side[] = {1, 2, 7, 513};
    static uint8_t bytes[2 * (513 + 3) * 513];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 31 + i / 7);
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++)
            for (int type = PLX_U8; type <= PLX_U16; type++) {
                const struct plx_image image = {bytes, side[i], side[j], (size_t)(side[i] + 3) * (size_t)type,
                                                (enum plx_type)type};
                const char *path = files_path("round.pgm");
                struct plx_image read;
                struct plx_picture_info info;
                assert_int_equal(plx_pgm_write(path, &image, &message), 0);
                assert_int_equal(plx_picture_info(path, &info, &message), 0);
                assert_true(info.width == side[i] && info.height == side[j] && (int)info.type == type);
                assert_int_equal(plx_picture_read(path, (enum plx_type)type, &read, &message), 0);
                assert_true(plx_same_size(&read, &image));
                for (int y = 0; y < side[j]; y++)
                    assert_memory_equal(plx_row(&read, y), plx_row(&image, y), (size_t)(side[i] * type));
                free(read.data);
            }
}

static void test_headers(void **state)
{
    (void)state;
    static const char *const good[] = {"P5\n2 1\n255\nAB", "P5 2 1 255 AB", "P5\n# a comment\n2 # another\n1\n#\n255\nAB",
                                       "P5\t2\r\n1 200\nAB"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct plx_image image;
        files_text("good.pgm", good[i]);
        assert_int_equal(plx_pgm_read(files_path("good.pgm"), &image, &message), 0);
        assert_memory_equal(image.data, "AB", 2);
        free(image.data);
    }
    struct plx_image image;
    files_text("deep.pgm", "P5 1 1 1023 \x02\x01"); /* the most significant byte first */
    assert_int_equal(plx_pgm_read(files_path("deep.pgm"), &image, &message), 0);
    assert_int_equal(*(uint16_t *)image.data, 0x201);
    free(image.data);
}

static void test_bad_files(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"", "is empty"},
        {"P2 2 1 255 1 2", "expected a PNG, a JPEG or a binary PGM"},
        {"P5", "width or height"},
        {"P5 2", "width or height"},
        {"P5 0 1 255 A", "width or height"},
        {"P5 -2 1 255 AB", "width or height"},
        {"P5 two 1 255 AB", "width or height"},
        {"P5 9999 1 255 A", "width or height"},
        {"P5 99999999999999999999 1 255 A", "width or height"},
        {"P5 2 1", "width or height"},
        {"P5 2 1 ", "largest value"},
        {"P5 2 1 0 AB", "largest value"},
        {"P5 2 1 65536 AB", "largest value"},
        {"P5 2 1 255", "largest value"},
        {"P5 2 1 255 A", "truncated: 1 of 2 bytes"},
        {"P5 2 1 256 ABC", "truncated: 3 of 4 bytes"},
        {"P5 8192 8192 65535 A", "truncated: 1 of 134217728 bytes"},
        {"P5 # a comment that never ends", "width or height"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct plx_image image = {0};
        files_text("bad.pgm", bad[i].text);
        assert_int_equal(plx_picture_read(files_path("bad.pgm"), PLX_U8, &image, &message), PLX_ERR_FORMAT);
        assert_non_null(strstr(message.text, "bad.pgm: "));
        if (!strstr(message.text, bad[i].words))
            fail_msg("expected '%s' in '%s'", bad[i].words, message.text);
        assert_null(image.data);
    }
    assert_int_equal(plx_pgm_info(files_path("missing.pgm"), &(struct plx_picture_info){0}, &message), PLX_ERR_NOT_FOUND);
    assert_int_equal(plx_pgm_write(files_path("a.pgm"), &(struct plx_image){&message, 1, 1, 4, PLX_U32}, &message),
                     PLX_ERR_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip_at_any_size),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_bad_files),
    };
    return cmocka_run_group_tests(tests, files_begin, files_end);
}
