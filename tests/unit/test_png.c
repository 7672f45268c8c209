/* SPDX-License-Identifier: Apache-2.0 */
/* PNG files of every kind in, grey and colour out, and what is said about bad ones. */
#include <png.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <parallax/error.h>

#include "drivers/files/picture.h"
#include "tests/cmocka.h"
#include "tests/unit/files.h"

#define MAX_SIDE 520

static struct plx_error_message message;

/* Writes any kind of PNG; BYTES of all rows, as libpng wants them. */
static const char *make_png(const char *name, int width, int height, int depth, int colour, int interlace, const uint8_t *bytes,
                            size_t pitch)
{
    const char *path = files_path(name);
    FILE *file = fopen(path, "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    static const png_color palette[4] = {{0, 0, 0}, {255, 0, 0}, {0, 255, 0}, {10, 20, 30}};
    png_bytep row[MAX_SIDE];
    assert_non_null(file);
    for (int y = 0; y < height; y++)
        row[y] = (png_bytep)(uintptr_t)(bytes + (size_t)y * pitch);
    png_init_io(png, file);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, depth, colour, interlace, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (colour == PNG_COLOR_TYPE_PALETTE)
        png_set_PLTE(png, info, palette, 4);
    png_write_info(png, info);
    png_write_image(png, row);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    fclose(file);
    return path;
}

static void fill(uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(i * 37 + i / 11);
}

static void test_round_trip_at_any_size(void **state)
{
    (void)state;
    static const int side[] = {1, 2, 7, 64, 513};
    for (size_t i = 0; i < 5; i++)
        for (size_t j = 0; j < 5; j++)
            for (int type = PLX_U8; type <= PLX_U16; type++) {
                int width = side[i], height = side[j];
                size_t pitch = (size_t)(width + 5) * (size_t)type;
                uint8_t *bytes = malloc(pitch * (size_t)height);
                fill(bytes, pitch * (size_t)height);
                const struct plx_image image = {bytes, width, height, pitch, (enum plx_type)type};
                const char *path = files_path("round.png");
                struct plx_image read;
                struct plx_picture_info info;
                assert_int_equal(plx_png_write(path, &image, &message), 0);
                assert_int_equal(plx_picture_info(path, &info, &message), 0);
                assert_int_equal(info.width, width);
                assert_int_equal(info.height, height);
                assert_int_equal(info.type, type);
                assert_int_equal(plx_picture_read(path, (enum plx_type)type, &read, &message), 0);
                assert_true(plx_image_ok(&read, (enum plx_type)type) && plx_same_size(&read, &image));
                for (int y = 0; y < height; y++)
                    assert_memory_equal(plx_row(&read, y), plx_row(&image, y), (size_t)(width * type));
                free(read.data);
                free(bytes);
            }
}

static void test_colour_becomes_luma(void **state)
{
    (void)state;
    uint8_t rgb[4 * 3 * 7];
    fill(rgb, sizeof rgb);
    const struct plx_image image = {rgb, 12, 7, 12, PLX_U8};
    const char *path = files_path("colour.png");
    struct plx_image grey;
    assert_int_equal(plx_png_write_rgb(path, &image, &message), 0);
    assert_int_equal(plx_png_read(path, &grey, &message), 0);
    assert_int_equal(grey.width, 4);
    for (int i = 0; i < 28; i++)
        assert_int_equal(((uint8_t *)grey.data)[i], (77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2] + 128) >> 8);
    free(grey.data);
    assert_int_equal(plx_png_write_rgb(path, &(struct plx_image){rgb, 11, 7, 12, PLX_U8}, &message), PLX_ERR_ARG);
    assert_int_equal(plx_png_write(path, &(struct plx_image){rgb, 1, 7, 4, PLX_U32}, &message), PLX_ERR_ARG);
}

static void test_every_kind_of_png(void **state)
{
    (void)state;
    uint8_t bytes[8 * 8 * 8];
    struct plx_image grey;
    fill(bytes, sizeof bytes);

    const char *path = make_png("interlaced.png", 8, 8, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_ADAM7, bytes, 8);
    assert_int_equal(plx_png_read(path, &grey, &message), 0);
    assert_memory_equal(grey.data, bytes, 64);
    free(grey.data);

    path = make_png("alpha.png", 8, 8, 8, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_INTERLACE_NONE, bytes, 16);
    assert_int_equal(plx_png_read(path, &grey, &message), 0);
    for (int i = 0; i < 64; i++)
        assert_int_equal(((uint8_t *)grey.data)[i], bytes[2 * i]);
    free(grey.data);

    static const uint8_t indices = 0x1B; /* 0 1 2 3, two bits each */
    path = make_png("palette.png", 4, 1, 2, PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE, &indices, 1);
    assert_int_equal(plx_png_read(path, &grey, &message), 0);
    assert_memory_equal(grey.data, ((const uint8_t[]){0, 77, 149, 18}), 4);
    free(grey.data);

    static const uint8_t bits = 0xA0;
    path = make_png("bits.png", 3, 1, 1, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, &bits, 1);
    assert_int_equal(plx_png_read(path, &grey, &message), 0);
    assert_memory_equal(grey.data, ((const uint8_t[]){255, 0, 255}), 3);
    free(grey.data);

    path = make_png("deep.png", 4, 4, 16, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, bytes, 24);
    assert_int_equal(plx_png_read(path, &grey, &message), 0);
    assert_int_equal(grey.type, PLX_U16);
    for (int i = 0; i < 16; i++) {
        unsigned c[3];
        for (int k = 0; k < 3; k++)
            c[k] = (unsigned)bytes[6 * i + 2 * k] << 8 | bytes[6 * i + 2 * k + 1];
        assert_int_equal(((uint16_t *)grey.data)[i], (77 * c[0] + 150 * c[1] + 29 * c[2] + 128) >> 8);
    }
    free(grey.data);
    assert_int_equal(plx_picture_read(path, PLX_U8, &grey, &message), 0); /* the upper bytes */
    assert_int_equal(grey.pitch, 4);
    free(grey.data);
}

static void test_types_and_sizes_are_checked(void **state)
{
    (void)state;
    uint8_t bytes[64] = {0};
    const char *path = make_png("small.png", 8, 8, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, bytes, 8);
    struct plx_image image = {bytes, 7, 8, 8, PLX_U8};
    assert_int_equal(plx_picture_read(path, PLX_U16, &image, &message), PLX_ERR_FORMAT);
    assert_ptr_equal(image.data, bytes); /* untouched */
    assert_non_null(strstr(message.text, "small.png"));
    assert_int_equal(plx_picture_read_into(path, &image, &message), PLX_ERR_FORMAT);
    assert_non_null(strstr(message.text, "8x8 pixels, expected 7x8"));
    assert_int_equal(plx_picture_read(path, PLX_U32, &image, &message), PLX_ERR_ARG);
}

static void refused(const char *name, int error, const char *words)
{
    struct plx_image image = {0};
    message.text[0] = '\0';
    assert_int_equal(plx_picture_read(files_path(name), PLX_U8, &image, &message), error);
    assert_non_null(strstr(message.text, name)); /* names the file */
    if (!strstr(message.text, words))
        fail_msg("expected '%s' in '%s'", words, message.text);
    assert_null(image.data);
}

static void test_bad_files(void **state)
{
    (void)state;
    static uint8_t bytes[300 * 300], copy[300 * 400];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * i * 2654435761u >> 13); /* hard to compress */
    const char *path = make_png("good.png", 300, 300, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, bytes, 300);
    FILE *file = fopen(path, "rb");
    size_t size = fread(copy, 1, sizeof copy, file);
    fclose(file);
    assert_true(size > 1000 && size < sizeof copy);

    refused("missing.png", PLX_ERR_NOT_FOUND, "No such file");
    files_folder("folder.png");
    refused("folder.png", PLX_ERR_FORMAT, "not a regular file");
    files_write("empty.png", "", 0);
    refused("empty.png", PLX_ERR_FORMAT, "is empty");
    files_text("text.png", "hello, I am a picture");
    refused("text.png", PLX_ERR_FORMAT, "expected a PNG");
    files_write("magic.png", "\x89PNG", 4);
    refused("magic.png", PLX_ERR_FORMAT, "not a PNG");
    static const size_t length[] = {8, 12, 20, 33, 40, 60, 500};
    for (size_t i = 0; i < sizeof length / sizeof length[0]; i++) {
        files_write("cut.png", copy, length[i]);
        refused("cut.png", PLX_ERR_FORMAT, "truncated");
    }
    files_write("cut.png", copy, size - 12 - 4); /* in the check sum of the last pixels */
    refused("cut.png", PLX_ERR_FORMAT, "truncated");
    copy[size / 2] ^= 0x55;
    files_write("flipped.png", copy, size);
    refused("flipped.png", PLX_ERR_FORMAT, "damaged PNG");

    /* a header that promises far more than there is, with a right check sum */
    static uint8_t one_row[20000];
    path = make_png("wide.png", 20000, 1, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, one_row, sizeof one_row);
    refused("wide.png", PLX_ERR_RANGE, "20000x1 pixels, expected at most 8192");
    assert_int_equal(plx_picture_info(path, &(struct plx_picture_info){0}, &message), PLX_ERR_RANGE);
}

/* Any single damaged byte gives a picture or a sentence, never a crash. */
static void test_every_flipped_byte(void **state)
{
    (void)state;
    uint8_t bytes[16 * 16], copy[2048];
    fill(bytes, sizeof bytes);
    const char *path = make_png("tiny.png", 16, 16, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, bytes, 16);
    FILE *file = fopen(path, "rb");
    size_t size = fread(copy, 1, sizeof copy, file);
    fclose(file);
    for (size_t i = 0; i < size; i++)
        for (int bit = 0; bit < 8; bit += 3) {
            struct plx_image image = {0};
            copy[i] ^= (uint8_t)(1 << bit);
            files_write("hostile.png", copy, size);
            copy[i] ^= (uint8_t)(1 << bit);
            message.text[0] = '\0';
            int result = plx_picture_read(files_path("hostile.png"), PLX_U8, &image, &message);
            assert_true(result == 0 ? image.data != NULL : message.text[0] != '\0');
            free(image.data);
        }
}

static void test_writing_where_one_may_not(void **state)
{
    (void)state;
    uint8_t byte = 0;
    const struct plx_image image = {&byte, 1, 1, 1, PLX_U8};
    assert_int_equal(plx_png_write(files_path("no/such/folder.png"), &image, &message), PLX_ERR_NOT_FOUND);
    assert_non_null(strstr(message.text, "folder.png"));
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(plx_png_write("/dev/full", &image, &message), PLX_ERR_IO);
        assert_int_equal(access("/dev/full", F_OK), 0);
    }
    /* a full disk: nothing half written stays */
    const struct rlimit small = {.rlim_cur = 16, .rlim_max = RLIM_INFINITY};
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const int result = plx_png_write(files_path("full.png"), &image, &message);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(result, PLX_ERR_IO);
    assert_int_not_equal(access(files_path("full.png"), F_OK), 0);

    /* root follows no link that another user may have planted, and one's own as ever */
    char directory[256];
    snprintf(directory, sizeof directory, "%s", files_path("other"));
    assert_int_equal(mkdir(directory, 0755), 0);
    assert_int_equal(symlink("../victim.png", files_path("other/full.png")), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(directory, 12345, 12345), 0);
        assert_int_equal(plx_png_write(files_path("other/full.png"), &image, &message), PLX_ERR_IO);
        assert_int_not_equal(access(files_path("victim.png"), F_OK), 0);
        assert_int_equal(chown(directory, 0, 0), 0);
    }
    assert_int_equal(plx_png_write(files_path("other/full.png"), &image, &message), 0);
    assert_int_equal(access(files_path("victim.png"), F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip_at_any_size),
        cmocka_unit_test(test_colour_becomes_luma),
        cmocka_unit_test(test_every_kind_of_png),
        cmocka_unit_test(test_types_and_sizes_are_checked),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_every_flipped_byte),
        cmocka_unit_test(test_writing_where_one_may_not),
    };
    return cmocka_run_group_tests(tests, files_begin, files_end);
}
