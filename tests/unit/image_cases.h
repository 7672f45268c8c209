/* SPDX-License-Identifier: Apache-2.0 */
/* Fixture of the image stages' tests: a CPU backend, awkward sizes, and images that are black, white and noise. */
#ifndef PLX_TESTS_UNIT_IMAGE_CASES_H
#define PLX_TESTS_UNIT_IMAGE_CASES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "cpu/cpu.h"
#include "oracle/image.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"

#define SIDE 600 /* the backend's limit */
#define PADDING 3

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static const int sizes[][2] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {7, 1}, {1, 7}, {7, 7}, {513, 2}, {2, 513}, {513, 7}, {260, 67}};

enum pattern { BLACK, WHITE, NOISE, PATTERNS };
static const char *const pattern_name[PATTERNS] = {"black", "white", "noise"};

static struct plx_stages *stages;
static uint64_t random_state;

static inline int set_up(void **state)
{
    (void)state;
    const struct plx_limits limits = {SIDE, SIDE, 64, 3};
    random_state = test_seed();
    return plx_cpu_create(&limits, &stages);
}

static inline int tear_down(void **state)
{
    (void)state;
    stages->ops->destroy(stages);
    return 0;
}

/* A new image with padded rows; free it with test_image_free. */
static inline struct plx_image pattern_new(int width, int height, enum plx_type type, enum pattern pattern)
{
    struct plx_image image = test_image_new(width, height, type, PADDING);
    for (int y = 0; y < height; y++)
        for (size_t i = 0; i < (size_t)width * type; i++)
            ((uint8_t *)plx_row(&image, y))[i] = (uint8_t)(pattern == BLACK   ? 0
                                                           : pattern == WHITE ? 0xFF
                                                                              : random_next(&random_state));
    return image;
}

/* Compares with the oracle's image, frees both, and says what differed. */
static inline void expect_equal(struct plx_image *got, struct plx_image *expected, const char *what)
{
    bool equal = test_image_equal(got, expected), intact = test_image_padding_intact(got);
    if (!equal || !intact)
        fail_msg("%s, %d x %d: %s; PLX_TEST_SEED=%llu", what, got->width, got->height,
                 equal ? "wrote between the rows" : "differs from the oracle", (unsigned long long)test_seed());
    test_image_free(got);
    test_image_free(expected);
}

#endif
