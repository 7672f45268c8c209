/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/files/picture.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "drivers/files/file.h"

#define SIGNATURE 8                 /* bytes */
#define MAX_CHUNK (8 * 1024 * 1024) /* bytes of a text or profile after decompression */

/* State that must survive libpng's longjmp is here, not in local variables. A writer uses file and message only. */
struct reader {
    FILE *file;
    png_structp png;
    png_infop info;
    struct plx_picture_info size;
    int channels;
    uint8_t *pixels; /* as libpng decodes them, CHANNELS samples a pixel */
    size_t pitch;
    png_bytep *row;
    char message[160];
};

static void keep_message(png_structp png, png_const_charp message)
{
    struct reader *reader = png_get_error_ptr(png);
    snprintf(reader->message, sizeof reader->message, "%s", message);
    png_longjmp(png, 1);
}

static void ignore_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static void finish(struct reader *reader)
{
    if (reader->png)
        png_destroy_read_struct(&reader->png, reader->info ? &reader->info : NULL, NULL);
    free(reader->row);
    free(reader->pixels);
    if (reader->file)
        fclose(reader->file);
}

/* The error that libpng reported. */
static int damaged(const struct reader *reader, const char *path, struct plx_error_message *message)
{
    if (ferror(reader->file))
        return plx_fail(message, PLX_ERR_IO, "%s: cannot be read to its end", path);
    if (feof(reader->file))
        return plx_fail(message, PLX_ERR_FORMAT, "%s: the PNG is truncated", path);
    return plx_fail(message, PLX_ERR_FORMAT, "%s: damaged PNG (%s)", path, reader->message);
}

static int read_header(struct reader *reader, const char *path, struct plx_error_message *message)
{
    png_byte signature[SIGNATURE];
    int result = plx_file_open(path, &reader->file, message);
    if (result < 0)
        return result;
    if (fread(signature, 1, SIGNATURE, reader->file) != SIGNATURE || png_sig_cmp(signature, 0, SIGNATURE) != 0)
        return plx_fail(message, PLX_ERR_FORMAT, "%s: not a PNG", path);
    reader->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, reader, keep_message, ignore_warning);
    reader->info = reader->png ? png_create_info_struct(reader->png) : NULL;
    if (!reader->info)
        return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", path);
    if (setjmp(png_jmpbuf(reader->png)))
        return damaged(reader, path, message);
    png_set_user_limits(reader->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX); /* sizes are checked below, with a clearer message */
    png_set_chunk_malloc_max(reader->png, MAX_CHUNK);
    png_init_io(reader->png, reader->file);
    png_set_sig_bytes(reader->png, SIGNATURE);
    png_read_info(reader->png, reader->info);
    png_uint_32 width = png_get_image_width(reader->png, reader->info);
    png_uint_32 height = png_get_image_height(reader->png, reader->info);
    if (width > PLX_MAX_SIDE || height > PLX_MAX_SIDE)
        return plx_fail(message, PLX_ERR_RANGE, "%s: %ux%u pixels, expected at most %d a side", path, width, height,
                        PLX_MAX_SIDE);
    reader->size = (struct plx_picture_info){(int)width, (int)height,
                                             png_get_bit_depth(reader->png, reader->info) == 16 ? PLX_U16 : PLX_U8,
                                             png_get_color_type(reader->png, reader->info) & PNG_COLOR_MASK_COLOR};
    return 0;
}

/* Decodes to grey or RGB, 8 or 16 bits, native byte order; if SHALLOW to 8 bits. */
static int read_pixels(struct reader *reader, bool shallow, const char *path, struct plx_error_message *message)
{
    if (setjmp(png_jmpbuf(reader->png)))
        return damaged(reader, path, message);
    png_set_expand(reader->png);
    png_set_strip_alpha(reader->png);
    if (shallow) {
        png_set_strip_16(reader->png);
        reader->size.type = PLX_U8;
    }
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    png_set_swap(reader->png);
#endif
    png_set_interlace_handling(reader->png);
    png_read_update_info(reader->png, reader->info);
    reader->channels = png_get_channels(reader->png, reader->info);
    reader->pitch = png_get_rowbytes(reader->png, reader->info);
    size_t expected = (size_t)reader->size.width * (size_t)reader->channels * reader->size.type;
    if ((reader->channels != 1 && reader->channels != 3) || reader->pitch != expected)
        return plx_fail(message, PLX_ERR_UNSUPPORTED, "%s: unsupported kind of PNG, expected grey or colour", path);
    reader->pixels = malloc(reader->pitch * (size_t)reader->size.height);
    reader->row = malloc((size_t)reader->size.height * sizeof reader->row[0]);
    if (!reader->pixels || !reader->row)
        return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory for %dx%d pixels", path, reader->size.width,
                        reader->size.height);
    for (int y = 0; y < reader->size.height; y++)
        reader->row[y] = reader->pixels + (size_t)y * reader->pitch;
    png_read_image(reader->png, reader->row);
    png_read_end(reader->png, NULL);
    return 0;
}

/* The luma of core/pipeline/stages.h, in place: pixel i is written after it was read. */
static void to_grey(struct reader *reader)
{
    size_t count = (size_t)reader->size.width * (size_t)reader->size.height;
    if (reader->channels == 1)
        return;
    if (reader->size.type == PLX_U8) {
        uint8_t *pixel = reader->pixels;
        for (size_t i = 0; i < count; i++)
            pixel[i] = (uint8_t)((77u * pixel[3 * i] + 150u * pixel[3 * i + 1] + 29u * pixel[3 * i + 2] + 128u) >> 8);
    } else {
        uint16_t *pixel = (uint16_t *)(void *)reader->pixels; /* malloc aligned it */
        for (size_t i = 0; i < count; i++)
            pixel[i] = (uint16_t)((77u * pixel[3 * i] + 150u * pixel[3 * i + 1] + 29u * pixel[3 * i + 2] + 128u) >> 8);
    }
}

int plx_png_info(const char *path, struct plx_picture_info *ret_info, struct plx_error_message *message)
{
    struct reader reader = {0};
    int result = read_header(&reader, path, message);
    if (result == 0)
        *ret_info = reader.size;
    finish(&reader);
    return result;
}

int plx_png_read(const char *path, struct plx_image *ret_image, struct plx_error_message *message)
{
    struct reader reader = {0};
    int result = read_header(&reader, path, message);
    if (result == 0)
        result = read_pixels(&reader, false, path, message);
    if (result == 0) {
        to_grey(&reader);
        *ret_image = (struct plx_image){reader.pixels, reader.size.width, reader.size.height,
                                        (size_t)reader.size.width * reader.size.type, reader.size.type};
        reader.pixels = NULL;
    }
    finish(&reader);
    return result;
}

int plx_png_read_rgb(const char *path, struct plx_image *ret_image, struct plx_error_message *message)
{
    struct reader reader = {0};
    int result = read_header(&reader, path, message);
    if (result == 0 && !reader.size.colour)
        result = plx_picture_is_grey(path, message);
    if (result == 0)
        result = read_pixels(&reader, true, path, message);
    if (result == 0) {
        *ret_image = (struct plx_image){reader.pixels, reader.size.width, reader.size.height, reader.pitch, PLX_RGB};
        reader.pixels = NULL;
    }
    finish(&reader);
    return result;
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

static int write_rows(struct reader *writer, const char *path, const struct plx_image *image, int channels,
                      struct plx_error_message *message)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, writer, keep_message, ignore_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) {
        png_destroy_write_struct(&png, NULL);
        return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", path);
    }
    if (setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        return plx_fail(message, PLX_ERR_IO, "%s: writing failed (%s)", path, writer->message);
    }
    png_init_io(png, writer->file);
    png_set_IHDR(png, info, (png_uint_32)(image->width / channels), (png_uint_32)image->height, 8 * (int)image->type,
                 channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(png, 3); /* much faster than the default, for a few per cent more bytes */
    png_write_info(png, info);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (image->type == PLX_U16)
        png_set_swap(png);
#endif
    for (int y = 0; y < image->height; y++)
        png_write_row(png, plx_row(image, y));
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    return 0;
}

static int write_file(const char *path, const struct plx_image *image, int channels, struct plx_error_message *message)
{
    struct reader writer = {0};
    int result = plx_file_create(path, &writer.file, message);
    if (result < 0)
        return result;
    return plx_file_commit(path, writer.file, write_rows(&writer, path, image, channels, message), message);
}

int plx_png_write(const char *path, const struct plx_image *image, struct plx_error_message *message)
{
    if (!plx_image_ok(image, PLX_U8) && !plx_image_ok(image, PLX_U16))
        return plx_fail(message, PLX_ERR_ARG, "%s: only 8- and 16-bit images can be written", path);
    return write_file(path, image, 1, message);
}

/* The image is three times as wide as the picture, so plx_image_ok, which limits the width, cannot check it. */
static bool is_rgb(const struct plx_image *image)
{
    return image && image->data && image->type == PLX_U8 && image->width >= 3 && image->width % 3 == 0 &&
           image->width <= 3 * PLX_MAX_SIDE && image->height >= 1 && image->height <= PLX_MAX_SIDE &&
           image->pitch >= (size_t)image->width;
}

int plx_png_write_rgb(const char *path, const struct plx_image *image, struct plx_error_message *message)
{
    if (!is_rgb(image))
        return plx_fail(message, PLX_ERR_ARG, "%s: not an image of R G B bytes", path);
    return write_file(path, image, 3, message);
}

int plx_png_encode_rgb(const struct plx_image *image, char **ret_bytes, size_t *ret_count)
{
    struct reader writer = {0};
    struct plx_error_message message = {""};
    char *bytes = NULL;
    size_t count = 0;

    if (!is_rgb(image))
        return PLX_ERR_ARG;
    writer.file = open_memstream(&bytes, &count);
    if (!writer.file)
        return PLX_ERR_NOMEM;
    int result = write_rows(&writer, "memory", image, 3, &message);
    if (fclose(writer.file) != 0 && result == 0)
        result = PLX_ERR_NOMEM;
    if (result < 0) {
        free(bytes);
        return PLX_ERR_NOMEM; /* nothing else can fail */
    }
    *ret_bytes = bytes;
    *ret_count = count;
    return 0;
}
