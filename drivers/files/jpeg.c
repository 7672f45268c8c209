/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/files/picture.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <turbojpeg.h>

#include <parallax/error.h>

#include "drivers/files/exif.h"
#include "drivers/files/file.h"

#define MAX_FILE (256 << 20) /* bytes: more than a picture of PLX_MAX_SIDE needs */

#ifdef TJFLAG_LIMITSCANS
#    define FLAGS TJFLAG_LIMITSCANS /* limits the decoding time: a small file can hold very many scans */
#else
#    define FLAGS 0
#endif

struct jpeg_file {
    tjhandle handle;
    unsigned char *data;
    size_t bytes;
    int width, height;
    bool colour;
};

static void finish(struct jpeg_file *file)
{
    if (file->handle)
        tjDestroy(file->handle);
    free(file->data);
}

static int load(const char *path, struct jpeg_file *file, struct plx_error_message *message)
{
    FILE *stream;
    struct stat status;
    int result = plx_file_open(path, &stream, message);
    if (result < 0)
        return result;
    if (fstat(fileno(stream), &status) < 0)
        result = plx_file_fail(path, message);
    else if (status.st_size > MAX_FILE)
        result =
            plx_fail(message, PLX_ERR_RANGE, "%s: %lld bytes, expected at most %d", path, (long long)status.st_size, MAX_FILE);
    else if (!(file->data = malloc((size_t)status.st_size + 1)))
        result = plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", path);
    else
        file->bytes = fread(file->data, 1, (size_t)status.st_size, stream);
    if (result == 0 && ferror(stream))
        result = plx_fail(message, PLX_ERR_IO, "%s: cannot be read to its end", path);
    fclose(stream);
    return result;
}

/* Refuses what would be read as another picture than the one that a viewer shows, and what has no luma. */
static int check_kind(const struct jpeg_file *file, int colours, const char *path, struct plx_error_message *message)
{
    if (colours == TJCS_CMYK || colours == TJCS_YCCK)
        return plx_fail(message, PLX_ERR_UNSUPPORTED,
                        "%s: a JPEG in print colours (CMYK), expected grey or colour; "
                        "convert it, for example with `convert FILE -colorspace sRGB NEW`",
                        path);
    const int orientation = plx_exif_orientation(file->data, file->bytes);
    if (orientation != 1)
        return plx_fail(message, PLX_ERR_UNSUPPORTED,
                        "%s: EXIF orientation %d (the picture is stored turned or mirrored), expected 1; turn the pixels with "
                        "`exiftran -ai FILE`, or, if they are as in the calibration, drop the tag with `jpegtran -copy none`",
                        path, orientation);
    return 0;
}

/* Reads the file into memory and checks its header. Call finish also after an error. */
static int open_file(const char *path, struct jpeg_file *file, struct plx_error_message *message)
{
    int subsampling, colours;
    int result = load(path, file, message);
    if (result < 0)
        return result;
    file->handle = tjInitDecompress();
    if (!file->handle)
        return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", path);
    if (tjDecompressHeader3(file->handle, file->data, file->bytes, &file->width, &file->height, &subsampling, &colours) < 0)
        return plx_fail(message, PLX_ERR_FORMAT, "%s: damaged JPEG (%s)", path, tjGetErrorStr2(file->handle));
    if (file->width < 1 || file->width > PLX_MAX_SIDE || file->height < 1 || file->height > PLX_MAX_SIDE)
        return plx_fail(message, PLX_ERR_RANGE, "%s: %dx%d pixels, expected 1..%d per side", path, file->width, file->height,
                        PLX_MAX_SIDE);
    file->colour = colours != TJCS_GRAY;
    return check_kind(file, colours, path, message);
}

int plx_jpeg_info(const char *path, struct plx_picture_info *ret_info, struct plx_error_message *message)
{
    struct jpeg_file file = {0};
    int result = open_file(path, &file, message);
    if (result == 0)
        *ret_info = (struct plx_picture_info){file.width, file.height, PLX_U8, file.colour};
    finish(&file);
    return result;
}

/* As grey (U8) or RGB. */
static int read_file(const char *path, enum plx_type type, struct plx_image *ret_image, struct plx_error_message *message)
{
    struct jpeg_file file = {0};
    unsigned char *pixels = NULL;
    int result = open_file(path, &file, message);
    const size_t pitch = (size_t)file.width * type;
    if (result == 0 && type == PLX_RGB && !file.colour)
        result = plx_picture_is_grey(path, message);
    if (result == 0 && !(pixels = malloc(pitch * (size_t)file.height)))
        result = plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", path);
    /* A warning of libjpeg-turbo is an error here: a truncated picture is grey from there on. */
    if (result == 0 && tjDecompress2(file.handle, file.data, file.bytes, pixels, file.width, 0, file.height,
                                     type == PLX_RGB ? TJPF_RGB : TJPF_GRAY, FLAGS) < 0)
        result = plx_fail(message, PLX_ERR_FORMAT, "%s: damaged JPEG (%s)", path, tjGetErrorStr2(file.handle));
    if (result == 0)
        *ret_image = (struct plx_image){pixels, file.width, file.height, pitch, type};
    else
        free(pixels);
    finish(&file);
    return result;
}

int plx_jpeg_read(const char *path, struct plx_image *ret_image, struct plx_error_message *message)
{
    return read_file(path, PLX_U8, ret_image, message);
}

int plx_jpeg_read_rgb(const char *path, struct plx_image *ret_image, struct plx_error_message *message)
{
    return read_file(path, PLX_RGB, ret_image, message);
}

/* --- pictures in memory, of a camera or a bag -------------------------------------------------------------------------------
 */

struct plx_jpeg {
    tjhandle handle;
};

int plx_jpeg_create(struct plx_jpeg **ret_jpeg)
{
    struct plx_jpeg *jpeg = calloc(1, sizeof *jpeg);
    if (!jpeg)
        return PLX_ERR_NOMEM;
    jpeg->handle = tjInitDecompress();
    if (!jpeg->handle) {
        free(jpeg);
        return PLX_ERR_NOMEM;
    }
    *ret_jpeg = jpeg;
    return 0;
}

void plx_jpeg_destroy(struct plx_jpeg *jpeg)
{
    if (!jpeg)
        return;
    if (jpeg->handle)
        tjDestroy(jpeg->handle);
    free(jpeg);
}

static int read_header(tjhandle handle, const void *data, size_t bytes, struct plx_picture_info *ret_info,
                       struct plx_error_message *message)
{
    int width = 0, height = 0, subsampling = 0, colours = TJCS_GRAY; /* a header that is cut off sets none of them */

    if (tjDecompressHeader3(handle, data, bytes, &width, &height, &subsampling, &colours) < 0 || width < 1 || height < 1)
        return plx_fail(message, PLX_ERR_FORMAT, "no JPEG picture: %s", tjGetErrorStr2(handle));
    if (colours == TJCS_CMYK || colours == TJCS_YCCK)
        return plx_fail(message, PLX_ERR_UNSUPPORTED, "a JPEG picture in print colours (CMYK), expected grey or colour");
    *ret_info = (struct plx_picture_info){width, height, PLX_U8, colours != TJCS_GRAY};
    return 0;
}

/* Into IMAGE, if there is one. */
static int decompress(tjhandle handle, const void *data, size_t bytes, const struct plx_image *image, int format,
                      struct plx_error_message *message)
{
    struct plx_picture_info info;
    int result = image ? read_header(handle, data, bytes, &info, message) : 0;
    if (!image || result < 0)
        return result;
    if (info.width != image->width || info.height != image->height)
        return plx_fail(message, PLX_ERR_FORMAT, "a JPEG picture of %dx%d pixels, expected %dx%d", info.width, info.height,
                        image->width, image->height);
    /* A warning of libjpeg-turbo is an error here: a truncated picture is grey from there on. */
    if (tjDecompress2(handle, data, bytes, image->data, info.width, (int)image->pitch, info.height, format, FLAGS) < 0)
        return plx_fail(message, PLX_ERR_FORMAT, "a damaged JPEG picture: %s", tjGetErrorStr2(handle));
    return 0;
}

/* The decompressor, made anew after an error: libjpeg-turbo 2.1 resumes where a header broke off, so the next picture would
 * fail too. */
static int prepare(struct plx_jpeg *jpeg, struct plx_error_message *message)
{
    if (!jpeg->handle)
        jpeg->handle = tjInitDecompress();
    return jpeg->handle ? 0 : plx_fail(message, PLX_ERR_NOMEM, "JPEG: out of memory");
}

static int conclude(struct plx_jpeg *jpeg, int result)
{
    if (result < 0 && jpeg->handle) {
        tjDestroy(jpeg->handle);
        jpeg->handle = NULL;
    }
    return result;
}

int plx_jpeg_header(struct plx_jpeg *jpeg, const void *data, size_t bytes, struct plx_picture_info *ret_info,
                    struct plx_error_message *message)
{
    int result = prepare(jpeg, message);
    if (result == 0)
        result = read_header(jpeg->handle, data, bytes, ret_info, message);
    return conclude(jpeg, result);
}

int plx_jpeg_decode(struct plx_jpeg *jpeg, const void *data, size_t bytes, const struct plx_image *grey,
                    const struct plx_image *rgb, struct plx_error_message *message)
{
    int result = prepare(jpeg, message);
    if (result == 0)
        result = decompress(jpeg->handle, data, bytes, grey, TJPF_GRAY, message);
    if (result == 0)
        result = decompress(jpeg->handle, data, bytes, rgb, TJPF_RGB, message);
    return conclude(jpeg, result);
}
