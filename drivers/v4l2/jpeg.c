/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/jpeg.h"

#include <stdlib.h>
#include <turbojpeg.h>

#include <parallax/error.h>

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

static int decode(tjhandle handle, const void *data, size_t bytes, const struct plx_image *grey,
                  struct plx_error_message *message)
{
    int width, height, subsampling, colours;

    if (tjDecompressHeader3(handle, data, bytes, &width, &height, &subsampling, &colours) < 0)
        return plx_fail(message, PLX_ERR_FORMAT, "no JPEG picture: %s", tjGetErrorStr2(handle));
    if (width != grey->width || height != grey->height)
        return plx_fail(message, PLX_ERR_FORMAT, "a JPEG picture of %dx%d pixels, expected %dx%d", width, height, grey->width,
                        grey->height);
    /* A warning is an error here: a picture that was cut off is grey from there on. */
    if (tjDecompress2(handle, data, bytes, grey->data, width, (int)grey->pitch, height, TJPF_GRAY, 0) < 0)
        return plx_fail(message, PLX_ERR_FORMAT, "a damaged JPEG picture: %s", tjGetErrorStr2(handle));
    return 0;
}

int plx_jpeg_decode(struct plx_jpeg *jpeg, const void *data, size_t bytes, const struct plx_image *grey,
                    struct plx_error_message *message)
{
    if (!jpeg->handle)
        jpeg->handle = tjInitDecompress();
    if (!jpeg->handle)
        return plx_fail(message, PLX_ERR_NOMEM, "JPEG: out of memory");
    int result = decode(jpeg->handle, data, bytes, grey, message);
    if (result < 0) { /* libjpeg-turbo 2.1 goes on where a header broke off, so that the next picture would fail too */
        tjDestroy(jpeg->handle);
        jpeg->handle = NULL;
    }
    return result;
}
