/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pictures in files, read as grey or as RGB. picture.c recognises PNG, JPEG and PGM by their first bytes; png.c (libpng),
 * jpeg.c (libturbojpeg) and pgm.c (Netpbm's P5, reading only) have one format each. Every error message begins with the path.
 */
#ifndef PLX_DRIVERS_FILES_PICTURE_H
#define PLX_DRIVERS_FILES_PICTURE_H

#include <stddef.h>

#include "core/base/image.h"
#include "core/base/text.h"

struct plx_picture_info {
    int width, height;
    enum plx_type type; /* PLX_U8, or PLX_U16 for files with more than 8 bits */
    bool colour;
};

/* Reads the header only. NOT_FOUND, PERMISSION, IO, FORMAT, UNSUPPORTED, RANGE (a side above PLX_MAX_SIDE). */
int plx_picture_info(const char *path, struct plx_picture_info *ret_info, struct plx_error_message *message);

/* Reads PATH as TYPE: U8, colour becoming luma (77 R + 150 G + 29 B + 128) >> 8 and 16 bits their upper 8; or U16 exactly as
 * the file has it, 8-bit files refused; or RGB, of 16 bits the upper 8, grey files refused as UNSUPPORTED. ret_image->data is
 * the caller's, to be freed with free(). The errors above, NOMEM. */
int plx_picture_read(const char *path, enum plx_type type, struct plx_image *ret_image, struct plx_error_message *message);

/* The same into IMAGE, whose size the picture must have: else FORMAT. After a failure the content of IMAGE is undefined. */
int plx_picture_read_into(const char *path, const struct plx_image *image, struct plx_error_message *message);

/* Writing: U8 or U16 as grey; RGB takes a U8 image three times as wide as the picture, R G B R G B ... A file that cannot be
 * completed is removed. IO, PERMISSION, NOT_FOUND, ARG, NOMEM. */
int plx_png_write(const char *path, const struct plx_image *image, struct plx_error_message *message);
int plx_png_write_rgb(const char *path, const struct plx_image *image, struct plx_error_message *message);

/* The bytes of that file, the caller's, to be freed with free(). ARG, NOMEM. */
int plx_png_encode_rgb(const struct plx_image *image, char **ret_bytes, size_t *ret_count);

/* Reading one format, for plx_picture_* and tests. Info reads the header; read gives U16 for more than 8 bits a sample, else
 * U8. PNG and JPEG give the luma of colours; transparency is ignored. A file that was cut off is an error. UNSUPPORTED: a JPEG
 * of print colours (CMYK), or one that its EXIF block wants turned. */
int plx_pgm_info(const char *path, struct plx_picture_info *ret_info, struct plx_error_message *message);
int plx_pgm_read(const char *path, struct plx_image *ret_image, struct plx_error_message *message);
int plx_png_info(const char *path, struct plx_picture_info *ret_info, struct plx_error_message *message);
int plx_png_read(const char *path, struct plx_image *ret_image, struct plx_error_message *message);
int plx_jpeg_info(const char *path, struct plx_picture_info *ret_info, struct plx_error_message *message);
int plx_jpeg_read(const char *path, struct plx_image *ret_image, struct plx_error_message *message);
int plx_png_read_rgb(const char *path, struct plx_image *ret_image, struct plx_error_message *message);
int plx_jpeg_read_rgb(const char *path, struct plx_image *ret_image, struct plx_error_message *message);

/* UNSUPPORTED, with what to do about a grey file where colour is wanted. */
int plx_picture_is_grey(const char *path, struct plx_error_message *message);

/* The decompressor alone: JPEG to grey and RGB through libturbojpeg. */
struct plx_jpeg;

int plx_jpeg_create(struct plx_jpeg **ret_jpeg); /* NOMEM */
void plx_jpeg_destroy(struct plx_jpeg *jpeg);    /* NULL is fine */

/* Reads the header of DATA. FORMAT; UNSUPPORTED: print colours (CMYK). One thread at a time. */
int plx_jpeg_header(struct plx_jpeg *jpeg, const void *data, size_t bytes, struct plx_picture_info *ret_info,
                    struct plx_error_message *message);

/* Decodes the luma of DATA into GREY, U8, and its colours into RGB, each of the size of the picture, or NULL: without. FORMAT:
 * no whole JPEG picture, or another size; the content of both is then undefined. One thread at a time. */
int plx_jpeg_decode(struct plx_jpeg *jpeg, const void *data, size_t bytes, const struct plx_image *grey,
                    const struct plx_image *rgb, struct plx_error_message *message);

#endif
