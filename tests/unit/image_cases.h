/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the image stages share: a CPU backend, awkward sizes, and pictures that are black, white and noise. */
#ifndef PLX_TESTS_UNIT_IMAGE_CASES_H
#define PLX_TESTS_UNIT_IMAGE_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <parallax/error.h>

#include "cpu/cpu.h"
#include "tests/oracle/board.h"
#include "tests/oracle/image.h"

#define SIDE 600 /* the backend's limit */
#define PADDING 3

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static const int sizes[][2] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {7, 1}, {1, 7}, {7, 7}, {513, 2}, {2, 513}, {513, 7}, {260, 67}};

enum picture { BLACK, WHITE, NOISE, PICTURES };
static const char *const picture_name[PICTURES] = {"black", "white", "noise"};

static struct plx_stages *stages;
static uint64_t random_state;

static inline int set_up(void **state)
{
    (void)state;
    const struct plx_limits limits = {SIDE, SIDE, 64, 3};
    random_state = board_seed();
    return plx_cpu_create(&limits, &stages);
}

static inline int tear_down(void **state)
{
    (void)state;
    stages->ops->destroy(stages);
    return 0;
}

/* A new picture with padded rows; free it with board_free. */
static inline struct plx_image picture_new(int width, int height, enum plx_type type, enum picture picture)
{
    struct plx_image image = board_new(width, height, type, PADDING);
    for (int y = 0; y < height; y++)
        for (size_t i = 0; i < (size_t)width * type; i++)
            ((uint8_t *)plx_row(&image, y))[i] = (uint8_t)(picture == BLACK   ? 0
                                                           : picture == WHITE ? 0xFF
                                                                              : board_random(&random_state));
    return image;
}

/* Compares with the oracle's image, frees both, and says what differed. */
static inline void expect_equal(struct plx_image *got, struct plx_image *expected, const char *what)
{
    bool equal = board_equal(got, expected), intact = board_padding_intact(got);
    if (!equal || !intact)
        fail_msg("%s, %d x %d: %s; PLX_TEST_SEED=%llu", what, got->width, got->height,
                 equal ? "wrote between the rows" : "differs from the oracle", (unsigned long long)board_seed());
    board_free(got);
    board_free(expected);
}

#endif
