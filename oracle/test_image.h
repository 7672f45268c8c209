/* SPDX-License-Identifier: Apache-2.0 */
/* Images for tests, with owned memory and padded rows whose padding is checked; and seeded random numbers. */
#ifndef PLX_ORACLE_TEST_IMAGE_H
#define PLX_ORACLE_TEST_IMAGE_H

#include <stdint.h>

#include "core/base/image.h"

/* Allocates WIDTH x HEIGHT elements of TYPE with PADDING elements after each row; all bytes, padding too, are 0xA5. Exits when
 * out of memory. Free with test_image_free. */
struct plx_image test_image_new(int width, int height, enum plx_type type, int padding);
void test_image_free(struct plx_image *image);

/* True if nothing was written between the rows. */
bool test_image_padding_intact(const struct plx_image *image);

/* True if both hold the same elements; padding does not count. */
bool test_image_equal(const struct plx_image *a, const struct plx_image *b);

/* SplitMix64 (Steele, Lea, Flood 2014). */
uint64_t random_next(uint64_t *state);
/* 0 .. limit - 1 */
uint32_t random_below(uint64_t *state, uint32_t limit);
/* About standard normal: the sum of twelve uniform numbers, less 6. */
double random_normal(uint64_t *state);

/* $PLX_TEST_SEED, or a fixed one. */
uint64_t test_seed(void);

#endif
