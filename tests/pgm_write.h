/* SPDX-License-Identifier: Apache-2.0 */
/* Writes binary PGM files, for tests that need pictures in that format. */
#ifndef PLX_TESTS_PGM_WRITE_H
#define PLX_TESTS_PGM_WRITE_H

#include <parallax/error.h>

#include "core/base/image.h"
#include "drivers/files/file.h"

static inline int write_pgm_pixels(FILE *file, const char *path, const struct plx_image *image,
                                   struct plx_error_message *message)
{
    uint8_t line[2 * PLX_MAX_SIDE];
    fprintf(file, "P5\n%d %d\n%d\n", image->width, image->height, image->type == PLX_U16 ? 65535 : 255);
    for (int y = 0; y < image->height; y++) {
        const void *row = plx_row(image, y);
        size_t bytes = (size_t)image->width * image->type;
        for (int x = 0; x < image->width && image->type == PLX_U16; x++) {
            line[2 * x] = (uint8_t)(((const uint16_t *)row)[x] >> 8);
            line[2 * x + 1] = (uint8_t)((const uint16_t *)row)[x];
        }
        if (fwrite(image->type == PLX_U16 ? line : row, 1, bytes, file) != bytes)
            return plx_file_fail(path, message);
    }
    return 0;
}

/* Writes IMAGE, U8 or U16, as binary PGM (P5). IO, PERMISSION, NOT_FOUND, ARG. */
static inline int plx_pgm_write(const char *path, const struct plx_image *image, struct plx_error_message *message)
{
    FILE *file;
    if (!plx_image_ok(image, PLX_U8) && !plx_image_ok(image, PLX_U16))
        return plx_fail(message, PLX_ERR_ARG, "%s: only 8- and 16-bit images can be written", path);
    int result = plx_file_create(path, &file, message);
    if (result < 0)
        return result;
    return plx_file_commit(path, file, write_pgm_pixels(file, path, image, message), message);
}

#endif
