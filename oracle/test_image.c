/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/test_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILL 0xA5

struct plx_image test_image_new(int width, int height, enum plx_type type, int padding)
{
    struct plx_image image = {.width = width, .height = height, .type = type};
    image.pitch = (size_t)(width + padding) * (size_t)type;
    image.data = malloc(image.pitch * (size_t)height);
    if (!image.data) {
        fprintf(stderr, "no memory for a %d x %d test image\n", width, height);
        exit(1);
    }
    memset(image.data, FILL, image.pitch * (size_t)height);
    return image;
}

void test_image_free(struct plx_image *image)
{
    free(image->data);
    image->data = NULL;
}

bool test_image_padding_intact(const struct plx_image *image)
{
    const size_t used = (size_t)image->width * (size_t)image->type;
    for (int y = 0; y < image->height; y++) {
        const uint8_t *row = plx_row(image, y);
        for (size_t i = used; i < image->pitch; i++)
            if (row[i] != FILL)
                return false;
    }
    return true;
}

bool test_image_equal(const struct plx_image *a, const struct plx_image *b)
{
    if (a->width != b->width || a->height != b->height || a->type != b->type)
        return false;
    for (int y = 0; y < a->height; y++)
        if (memcmp(plx_row(a, y), plx_row(b, y), (size_t)a->width * (size_t)a->type) != 0)
            return false;
    return true;
}

uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

uint32_t random_below(uint64_t *state, uint32_t limit)
{
    return (uint32_t)((random_next(state) >> 32) * limit >> 32);
}

double random_normal(uint64_t *state)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += (double)(random_next(state) >> 11) * 0x1p-53;
    return sum;
}

uint64_t test_seed(void)
{
    const char *seed = getenv("PLX_TEST_SEED");
    return seed ? strtoull(seed, NULL, 0) : 20261121;
}
