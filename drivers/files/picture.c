/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/files/picture.h"

#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "drivers/files/file.h"

struct kind {
    const char *magic;
    int (*info)(const char *path, struct plx_picture_info *ret_info, struct plx_error_message *message);
    int (*read)(const char *path, struct plx_image *ret_image, struct plx_error_message *message);
    int (*read_rgb)(const char *path, struct plx_image *ret_image, struct plx_error_message *message);
};

int plx_picture_is_grey(const char *path, struct plx_error_message *message)
{
    return plx_fail(message, PLX_ERR_UNSUPPORTED,
                    "%s: a grey picture, and colour is wanted; set colour.enabled to false, or name pictures in colour", path);
}

static int read_no_rgb(const char *path, struct plx_image *ret_image, struct plx_error_message *message)
{
    (void)ret_image;
    return plx_picture_is_grey(path, message);
}

static const struct kind kinds[] = {
    {"\x89PNG", plx_png_info, plx_png_read, plx_png_read_rgb},
    {"P5", plx_pgm_info, plx_pgm_read, read_no_rgb},
    {"\xFF\xD8\xFF", plx_jpeg_info, plx_jpeg_read, plx_jpeg_read_rgb},
};

static int find_kind(const char *path, const struct kind **ret_kind, struct plx_error_message *message)
{
    char start[4] = {0};
    FILE *file;
    int result = plx_file_open(path, &file, message);
    if (result < 0)
        return result;
    size_t got = fread(start, 1, sizeof start, file);
    bool failed = ferror(file) != 0;
    fclose(file);
    if (failed)
        return plx_fail(message, PLX_ERR_IO, "%s: cannot be read to its end", path);
    if (got == 0)
        return plx_fail(message, PLX_ERR_FORMAT, "%s: the file is empty, expected a PNG, a JPEG or a binary PGM", path);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strncmp(start, kinds[i].magic, strlen(kinds[i].magic)) == 0) {
            *ret_kind = &kinds[i];
            return 0;
        }
    return plx_fail(message, PLX_ERR_FORMAT, "%s: unknown kind of file, expected a PNG, a JPEG or a binary PGM (P5)", path);
}

int plx_picture_info(const char *path, struct plx_picture_info *ret_info, struct plx_error_message *message)
{
    const struct kind *kind = NULL;
    int result = find_kind(path, &kind, message);
    return result < 0 ? result : kind->info(path, ret_info, message);
}

/* Copies SRC to DST of the same size, U16 to U8 by its upper bits. */
static void copy(const struct plx_image *src, const struct plx_image *dst)
{
    for (int y = 0; y < src->height; y++) {
        if (src->type == dst->type) {
            memcpy(plx_row(dst, y), plx_row(src, y), (size_t)src->width * src->type);
            continue;
        }
        const uint16_t *from = plx_row(src, y);
        uint8_t *to = plx_row(dst, y);
        for (int x = 0; x < src->width; x++)
            to[x] = (uint8_t)(from[x] >> 8);
    }
}

static int read_as(const char *path, enum plx_type type, struct plx_image *ret_image, struct plx_error_message *message)
{
    const struct kind *kind = NULL;
    int result = find_kind(path, &kind, message);
    if (result == 0)
        result = (type == PLX_RGB ? kind->read_rgb : kind->read)(path, ret_image, message);
    if (result < 0 || ret_image->type == type || type == PLX_U8)
        return result;
    free(ret_image->data);
    return plx_fail(message, PLX_ERR_FORMAT, "%s: 8 bits a pixel, expected 16", path);
}

int plx_picture_read(const char *path, enum plx_type type, struct plx_image *ret_image, struct plx_error_message *message)
{
    struct plx_image image;
    if (type != PLX_U8 && type != PLX_U16 && type != PLX_RGB)
        return plx_fail(message, PLX_ERR_ARG, "%s: pictures have 8 or 16 bits", path);
    int result = read_as(path, type, &image, message);
    if (result < 0)
        return result;
    if (image.type != type) { /* in place: the upper byte of word i goes to byte i */
        const struct plx_image bytes = {image.data, image.width, image.height, (size_t)image.width, PLX_U8};
        copy(&image, &bytes);
        image = bytes;
    }
    *ret_image = image;
    return 0;
}

int plx_picture_read_into(const char *path, const struct plx_image *image, struct plx_error_message *message)
{
    struct plx_image found;
    if (!plx_image_ok(image, PLX_U8) && !plx_image_ok(image, PLX_U16) && !plx_image_ok(image, PLX_RGB))
        return plx_fail(message, PLX_ERR_ARG, "%s: pictures have 8 or 16 bits", path);
    int result = read_as(path, image->type, &found, message);
    if (result < 0)
        return result;
    if (plx_same_size(&found, image))
        copy(&found, image);
    else
        result = plx_fail(message, PLX_ERR_FORMAT, "%s: %dx%d pixels, expected %dx%d as in the first picture", path,
                          found.width, found.height, image->width, image->height);
    free(found.data);
    return result;
}
