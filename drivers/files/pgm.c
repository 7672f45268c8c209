/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/files/picture.h"

#include <ctype.h>
#include <stdlib.h>

#include <parallax/error.h>

#include "drivers/files/file.h"

#define MAX_VALUE 65535

/* The next character of the header, without comments; EOF at the end. */
static int next_character(FILE *file)
{
    int c = getc(file);
    if (c == '#')
        do
            c = getc(file);
        while (c != '\n' && c != '\r' && c != EOF);
    return c;
}

/* A decimal number up to LIMIT and the one white space after it; false if there is none or it is larger. */
static bool read_number(FILE *file, int limit, int *ret_number)
{
    int c, number = 0;
    do
        c = next_character(file);
    while (isspace(c));
    if (!isdigit(c))
        return false;
    for (; isdigit(c); c = next_character(file)) {
        number = 10 * number + (c - '0');
        if (number > limit)
            return false;
    }
    *ret_number = number;
    return isspace(c);
}

static int read_header(FILE *file, const char *path, struct plx_picture_info *ret_info, struct plx_error_message *message)
{
    int width, height, max_value;
    const int first = getc(file), second = getc(file);
    if (first != 'P' || second != '5')
        return plx_fail(message, PLX_ERR_FORMAT, "%s: not a binary PGM; expected P5 as its first two bytes", path);
    if (!read_number(file, PLX_MAX_SIDE, &width) || !read_number(file, PLX_MAX_SIDE, &height) || width < 1 || height < 1)
        return plx_fail(message, PLX_ERR_FORMAT, "%s: the PGM's width or height is missing or not within 1..%d", path,
                        PLX_MAX_SIDE);
    if (!read_number(file, MAX_VALUE, &max_value) || max_value < 1)
        return plx_fail(message, PLX_ERR_FORMAT, "%s: the PGM's largest value is missing or not within 1..%d", path, MAX_VALUE);
    *ret_info = (struct plx_picture_info){width, height, max_value > 255 ? PLX_U16 : PLX_U8, false};
    return 0;
}

int plx_pgm_info(const char *path, struct plx_picture_info *ret_info, struct plx_error_message *message)
{
    FILE *file;
    int result = plx_file_open(path, &file, message);
    if (result < 0)
        return result;
    result = read_header(file, path, ret_info, message);
    fclose(file);
    return result;
}

/* Words of the file are big endian. */
static void swap_words(uint16_t *word, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint8_t *byte = (const uint8_t *)&word[i];
        word[i] = (uint16_t)(byte[0] << 8 | byte[1]);
    }
}

static int read_pixels(FILE *file, const char *path, const struct plx_picture_info *info, void **ret_pixels,
                       struct plx_error_message *message)
{
    size_t count = (size_t)info->width * (size_t)info->height, bytes = count * info->type;
    void *pixels = malloc(bytes);
    if (!pixels)
        return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory for %dx%d pixels", path, info->width, info->height);
    size_t got = fread(pixels, 1, bytes, file);
    if (got != bytes) {
        free(pixels);
        if (ferror(file))
            return plx_fail(message, PLX_ERR_IO, "%s: cannot be read to its end", path);
        return plx_fail(message, PLX_ERR_FORMAT, "%s: the PGM is truncated: %zu of %zu bytes of pixels", path, got, bytes);
    }
    if (info->type == PLX_U16)
        swap_words(pixels, count);
    *ret_pixels = pixels;
    return 0;
}

int plx_pgm_read(const char *path, struct plx_image *ret_image, struct plx_error_message *message)
{
    FILE *file;
    struct plx_picture_info info;
    void *pixels = NULL;
    int result = plx_file_open(path, &file, message);
    if (result < 0)
        return result;
    result = read_header(file, path, &info, message);
    if (result == 0)
        result = read_pixels(file, path, &info, &pixels, message);
    fclose(file);
    if (result == 0)
        *ret_image = (struct plx_image){pixels, info.width, info.height, (size_t)info.width * info.type, info.type};
    return result;
}
