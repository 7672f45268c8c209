/* SPDX-License-Identifier: Apache-2.0 */
/* JPEG files that would be read as another picture than the one that people see: turned by EXIF, or in print colours. */
#include <turbojpeg.h>

#include <parallax/error.h>

#include "drivers/files/exif.h"
#include "drivers/files/picture.h"
#include "tests/cmocka.h"
#include "tests/scratch.h"
#include "tests/unit/files.h"

#define WIDTH 16
#define HEIGHT 8

static struct plx_error_message message;

/* Writes a JPEG of FORMAT with SEGMENT behind its start of image. */
static const char *make_jpeg(const char *name, enum TJPF format, enum TJSAMP subsampling, const uint8_t *segment,
                             size_t segment_bytes)
{
    static uint8_t pixels[WIDTH * HEIGHT * 4], file[4096];
    unsigned char *data = NULL;
    unsigned long bytes = 0;
    tjhandle handle = tjInitCompress();
    assert_int_equal(tjCompress2(handle, pixels, WIDTH, 0, HEIGHT, format, &data, &bytes, subsampling, 90, 0), 0);
    tjDestroy(handle);
    assert_in_range(bytes, 4, sizeof file - segment_bytes);
    memcpy(file, data, 2);
    if (segment_bytes > 0)
        memcpy(file + 2, segment, segment_bytes);
    memcpy(file + 2 + segment_bytes, data + 2, bytes - 2);
    tjFree(data);
    files_write(name, file, bytes + segment_bytes);
    return files_path(name);
}

#define ENTRIES 2
#define SEGMENT (4 + 6 + 8 + 2 + 12 * ENTRIES)

static void put(uint8_t *at, size_t count, uint32_t value, bool little)
{
    for (size_t i = 0; i < count; i++)
        at[i] = (uint8_t)(value >> 8 * (little ? i : count - 1 - i));
}

/* An APP1 segment with two tags, of which the second is the orientation. */
static void make_segment(uint8_t segment[SEGMENT], uint32_t orientation, bool little)
{
    uint8_t *tiff = segment + 10, *entry = tiff + 10;
    memset(segment, 0, SEGMENT);
    put(segment, 2, 0xFFE1, false);
    put(segment + 2, 2, SEGMENT - 2, false);
    put(segment + 4, 4, 0x45786966, false);         /* Exif */
    put(tiff, 2, little ? 0x4949 : 0x4D4D, little); /* II or MM */
    put(tiff + 2, 2, 42, little);
    put(tiff + 4, 4, 8, little);
    put(tiff + 8, 2, ENTRIES, little);
    put(entry, 2, 0x0100, little); /* the width */
    put(entry + 2, 2, 3, little);
    put(entry + 4, 4, 1, little);
    put(entry + 8, 2, 6, little);
    put(entry + 12, 2, 0x0112, little);
    put(entry + 14, 2, 3, little);
    put(entry + 16, 4, 1, little);
    put(entry + 20, 2, orientation, little);
}

static void a_picture_that_lies_on_its_side_is_refused(void **state)
{
    (void)state;
    for (uint32_t orientation = 0; orientation <= 9; orientation++)
        for (int little = 0; little < 2; little++) {
            const bool turned = orientation >= 2 && orientation <= 8;
            uint8_t segment[SEGMENT];
            struct plx_picture_info info = {0};
            struct plx_image image = {.data = NULL};
            make_segment(segment, orientation, little);
            const char *path = make_jpeg("turned.jpg", TJPF_GRAY, TJSAMP_GRAY, segment, sizeof segment);
            assert_int_equal(plx_picture_info(path, &info, &message), turned ? PLX_ERR_UNSUPPORTED : 0);
            assert_int_equal(plx_picture_read(path, PLX_U8, &image, &message), turned ? PLX_ERR_UNSUPPORTED : 0);
            assert_true((image.data != NULL) == !turned && (info.width == WIDTH) == !turned);
            free(image.data);
            if (!turned)
                continue;
            char expected[40];
            snprintf(expected, sizeof expected, "turned.jpg: EXIF orientation %u (", orientation);
            assert_non_null(strstr(message.text, expected));
            assert_non_null(strstr(message.text, "`exiftran -ai FILE`"));
        }
}

/* Every cut and many a damaged byte; a copy of exactly that size, so that a sanitizer sees a byte too many. */
static void a_damaged_block_is_no_reason_to_read_beyond_it(void **state)
{
    (void)state;
    uint64_t random = scratch_seed();
    for (size_t bytes = 0; bytes <= 2 + SEGMENT; bytes++)
        for (int turn = 0; turn < 200; turn++) {
            uint8_t whole[2 + SEGMENT] = {0xFF, 0xD8};
            make_segment(whole + 2, 6, turn % 2);
            if (turn >= 2)
                whole[scratch_random(&random) % sizeof whole] = (uint8_t)scratch_random(&random);
            uint8_t *copy = malloc(bytes + !bytes);
            assert_non_null(copy);
            memcpy(copy, whole, bytes);
            const int orientation = plx_exif_orientation(copy, bytes);
            free(copy);
            assert_in_range(orientation, 1, 8);
            if (turn < 2)
                assert_int_equal(orientation, bytes == sizeof whole ? 6 : 1);
        }
}

/* The file ends where the block should begin: AddressSanitizer sees a byte too far. */
static void a_block_without_content_is_none(void **state)
{
    (void)state;
    static const uint8_t start[] = {0xFF, 0xD8, 0xFF, 0xE1, 0, 8, 'E', 'x', 'i', 'f', 0, 0};
    uint8_t *exact = malloc(sizeof start);
    assert_non_null(exact);
    memcpy(exact, start, sizeof start);
    assert_int_equal(plx_exif_orientation(exact, sizeof start), 1);
    free(exact);
}

static void print_colours_are_refused_by_their_name(void **state)
{
    (void)state;
    struct plx_image image = {.data = NULL};
    const char *path = make_jpeg("print.jpg", TJPF_CMYK, TJSAMP_444, NULL, 0);
    assert_int_equal(plx_picture_read(path, PLX_U8, &image, &message), PLX_ERR_UNSUPPORTED);
    assert_null(image.data);
    assert_non_null(strstr(message.text, "print.jpg: a JPEG in print colours (CMYK), expected grey or colour; convert it"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_picture_that_lies_on_its_side_is_refused, files_begin, files_end),
        cmocka_unit_test(a_damaged_block_is_no_reason_to_read_beyond_it),
        cmocka_unit_test(a_block_without_content_is_none),
        cmocka_unit_test_setup_teardown(print_colours_are_refused_by_their_name, files_begin, files_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
