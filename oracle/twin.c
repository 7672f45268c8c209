/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/twin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle/test_image.h"

#define PADDING 3 /* elements after each row */

struct twin twin_new(struct plx_stages *stages, int width, int height, enum plx_type type)
{
    struct twin twin = {.want = test_image_new(width, height, type, PADDING)};

    twin.got = twin.want;
    if (stages->ops->alloc(stages, twin.want.pitch * (size_t)height, &twin.got.data) < 0) {
        fprintf(stderr, "no memory for a %d x %d test image: %s\n", width, height, stages->message.text);
        exit(1);
    }
    twin_share(&twin);
    return twin;
}

void twin_free(struct plx_stages *stages, struct twin *twin)
{
    test_image_free(&twin->want);
    stages->ops->free(stages, twin->got.data);
    twin->got.data = NULL;
}

void twin_share(struct twin *twin)
{
    memcpy(twin->got.data, twin->want.data, twin->want.pitch * (size_t)twin->want.height);
}

bool twin_equal(const struct twin *twin, char *ret_text, size_t size)
{
    const uint8_t *want = twin->want.data, *got = twin->got.data;
    const size_t pitch = twin->want.pitch, bytes = pitch * (size_t)twin->want.height;
    size_t different = 0, first = bytes;

    for (size_t i = 0; i < bytes; i++)
        if (want[i] != got[i])
            first = different++ == 0 ? i : first;
    if (different > 0)
        snprintf(ret_text, size, "%d x %d: %zu bytes differ, the first in row %zu, element %zu: %d, expected %d",
                 twin->want.width, twin->want.height, different, first / pitch, first % pitch / twin->want.type, got[first],
                 want[first]);
    return different == 0;
}
