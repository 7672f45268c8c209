/* SPDX-License-Identifier: Apache-2.0 */
/* The pairs of `parallax run`: a line of the listing each, whatever their files are called. */
#include "app/cli/offline/pairs.h"

#include "drivers/files/picture.h"
#include "tests/cmocka.h"
#include "tests/unit/files.h"

static void a_name_is_one_line_and_its_file_is_found(void **state)
{
    (void)state;
    static uint8_t pixels[8][16];
    const struct plx_image picture = {pixels, 16, 8, 16, PLX_U8};
    struct plx_error_message message;
    struct plx_image image[PLX_EYES];
    struct plx_pairs pairs;
    assert_int_equal(plx_png_write(files_path("left_1\n\x1B[2J.png"), &picture, &message), 0);
    assert_int_equal(plx_png_write(files_path("right_1\n\x1B[2J.png"), &picture, &message), 0);
    assert_int_equal(plx_pairs_find(files_directory, &pairs, &message), 0);
    assert_int_equal(pairs.count, 1);
    assert_string_equal(pairs.item[0].name, "left_1??[2J");
    assert_int_equal(plx_pair_load(&pairs, 0, &image[PLX_LEFT], &image[PLX_RIGHT], &message), 0);
    free(image[PLX_LEFT].data);
    free(image[PLX_RIGHT].data);
    plx_pairs_destroy(&pairs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_name_is_one_line_and_its_file_is_found, files_begin, files_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
