/* SPDX-License-Identifier: Apache-2.0 */
/* What the matching stages make of a pair, from census to confidence: for benches of either processor. */
#ifndef PLX_TESTS_BENCH_MATCH_IMAGES_H
#define PLX_TESTS_BENCH_MATCH_IMAGES_H

#include "core/stages.h"

struct match_images {
    struct plx_features features[PLX_EYES];
    struct plx_candidates candidates;
    struct plx_image median_left, median_right, strict, thin, checked, filled_disparity, filled, dense, confidence;
};

/* Calls VISIT with each image and the type that it has. */
static inline void match_images_visit(struct match_images *images, void (*visit)(void *of, struct plx_image *, enum plx_type),
                                      void *of)
{
    const struct {
        struct plx_image *image;
        enum plx_type type;
    } all[] = {
        {&images->features[PLX_LEFT].census, PLX_U32},
        {&images->features[PLX_LEFT].gradient, PLX_U8},
        {&images->features[PLX_RIGHT].census, PLX_U32},
        {&images->features[PLX_RIGHT].gradient, PLX_U8},
        {&images->candidates.left, PLX_U16},
        {&images->candidates.right, PLX_U16},
        {&images->candidates.raw, PLX_U16},
        {&images->candidates.s1, PLX_U16},
        {&images->candidates.s2, PLX_U16},
        {&images->median_left, PLX_U16},
        {&images->median_right, PLX_U16},
        {&images->strict, PLX_U16},
        {&images->thin, PLX_U16},
        {&images->checked, PLX_U16},
        {&images->filled_disparity, PLX_U16},
        {&images->filled, PLX_U8},
        {&images->dense, PLX_U16},
        {&images->confidence, PLX_U8},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        visit(of, all[i].image, all[i].type);
}

#endif
