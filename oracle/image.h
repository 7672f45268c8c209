/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The image stages, pixel by pixel as docs/stages.md describes them, slow and without code of cpu/. Arguments
 * are as in core/pipeline/stages.h and core/base/image.h and are not checked.
 */
#ifndef PLX_ORACLE_IMAGE_H
#define PLX_ORACLE_IMAGE_H

#include "core/pipeline/stages.h"

void oracle_convert(const struct plx_raw *raw, const struct plx_image *grey);
void oracle_colour(const struct plx_raw *raw, const struct plx_development *development, const struct plx_image *ret_rgb);
void oracle_colour_sums(const struct plx_raw *raw, const struct plx_development *development, const struct plx_image *ret_sums);
void oracle_checksum(const struct plx_raw *raw, const struct plx_image *ret_sums);
void oracle_sharpness(const struct plx_image *grey, const struct plx_image *ret_steps);
void oracle_histogram(const struct plx_image *grey, int bins, const struct plx_image *ret_bins);
void oracle_rectify(const struct plx_image *src, const struct plx_remap *map, const struct plx_image *dst,
                    uint32_t *ret_masked);
void oracle_filter(const struct plx_image *src, const struct plx_filter *filter, const struct plx_image *dst);
void oracle_temporal(const struct plx_image *src, const struct plx_temporal *temporal, const struct plx_image *history,
                     const struct plx_image *dst);

void oracle_binary(enum plx_binary_op op, const struct plx_image *a, const struct plx_image *b, const struct plx_image *dst);
void oracle_invert(const struct plx_image *src, const struct plx_image *dst);
void oracle_threshold(const struct plx_image *src, int threshold, const struct plx_image *dst);
uint64_t oracle_sum(const struct plx_image *src);
void oracle_morphology(enum plx_morphology op, const struct plx_image *src, int width, int height, const struct plx_image *dst);
void oracle_affine(const struct plx_image *src, const int32_t matrix[6], const struct plx_image *dst);
void oracle_match_template(const struct plx_image *image, const struct plx_image *patch, struct plx_template_match *ret_best);

#endif
