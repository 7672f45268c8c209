/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of test_image: its patterns, the image operations, and the arguments that both backends must refuse. */
#ifndef PLX_TESTS_PARITY_IMAGE_H
#define PLX_TESTS_PARITY_IMAGE_H

#include "tests/parity/parity.h"

/* The backends' limits */
#define IMAGE_WIDTH 4100
#define IMAGE_HEIGHT 1100

enum pattern { BLACK, WHITE, NOISE, WAVES, PATTERNS };

extern uint64_t pattern_state; /* state of the random numbers */

/* A twin that holds PATTERN. Free with twin_free. */
struct twin pattern_new(struct parity *parity, int width, int height, enum plx_type type, enum pattern pattern);

/* Compare the operations of both backends on images of a size; the template search on sizes of its own. */
void image_operations(struct parity *parity, int width, int height);
void image_template(struct parity *parity);

/* Compares the errors that arguments give which a stage or an operation cannot take. */
void image_refusals(struct parity *parity);

#endif
