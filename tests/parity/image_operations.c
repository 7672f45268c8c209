/* SPDX-License-Identifier: Apache-2.0 */
/* The image operations of both backends. */
#include <stdio.h>
#include <string.h>

#include "tests/affine.h"
#include "tests/parity/image.h"

static void test_pixels(struct parity *parity, int width, int height)
{
    const struct plx_image_ops *cpu = &parity->cpu->ops->image, *gpu = &parity->gpu->ops->image;

    for (int variant = 0; variant < PATTERNS * PATTERNS; variant++) {
        struct twin a = pattern_new(parity, width, height, PLX_U8, (enum pattern)(variant % PATTERNS));
        struct twin b = pattern_new(parity, width, height, PLX_U8, (enum pattern)(variant / PATTERNS));
        struct twin dst = twin_new(parity->gpu, width, height, PLX_U8), sum = twin_new(parity->gpu, 1, 1, PLX_U64);

        for (int op = PLX_OP_ABSDIFF; op <= PLX_OP_XOR; op++) {
            char what[32];
            snprintf(what, sizeof what, "binary operation %d", op);
            parity_done(parity, cpu->binary(parity->cpu, (enum plx_binary_op)op, &a.want, &b.want, &dst.want),
                        gpu->binary(parity->gpu, (enum plx_binary_op)op, &a.got, &b.got, &dst.got), what);
            parity_compare(parity, &dst, what);
        }
        parity_done(parity, cpu->invert(parity->cpu, &a.want, &dst.want), gpu->invert(parity->gpu, &a.got, &dst.got), "invert");
        parity_compare(parity, &dst, "invert");
        const int threshold = 17 * variant - 1;
        parity_done(parity, cpu->threshold(parity->cpu, &a.want, threshold, &dst.want),
                    gpu->threshold(parity->gpu, &a.got, threshold, &dst.got), "threshold");
        parity_compare(parity, &dst, "threshold");
        parity_done(parity, cpu->sum(parity->cpu, &a.want, sum.want.data), gpu->sum(parity->gpu, &a.got, sum.got.data), "sum");
        parity_compare(parity, &sum, "sum");
        twin_free(parity->gpu, &a);
        twin_free(parity->gpu, &b);
        twin_free(parity->gpu, &dst);
        twin_free(parity->gpu, &sum);
    }
}

static void test_morphology(struct parity *parity, int width, int height)
{
    static const int windows[][2] = {{1, 1}, {3, 3}, {5, 1}, {1, 7}, {31, 3}, {3, 31}, {31, 31}};

    for (int i = 0; i < PARITY_COUNT(windows) * 4; i++) {
        const int *window = windows[i / 4];
        struct twin src = pattern_new(parity, width, height, PLX_U8, i % 2 ? NOISE : WAVES);
        struct twin dst = twin_new(parity->gpu, width, height, PLX_U8);
        const enum plx_morphology op = (enum plx_morphology)(i % 4);
        char what[64];

        snprintf(what, sizeof what, "morphology %d, %d x %d", i % 4, window[0], window[1]);
        parity_done(parity, parity->cpu->ops->image.morphology(parity->cpu, op, &src.want, window[0], window[1], &dst.want),
                    parity->gpu->ops->image.morphology(parity->gpu, op, &src.got, window[0], window[1], &dst.got), what);
        parity_compare(parity, &dst, what);
        twin_free(parity->gpu, &src);
        twin_free(parity->gpu, &dst);
    }
}

static void test_affine(struct parity *parity, int width, int height)
{
    for (int i = 0; i < PARITY_COUNT(affine_matrices); i++) {
        struct twin src = pattern_new(parity, height + 3, width < IMAGE_HEIGHT ? width : IMAGE_HEIGHT, PLX_U8, NOISE);
        struct twin dst = twin_new(parity->gpu, width, height, PLX_U8);

        parity_done(parity, parity->cpu->ops->image.affine(parity->cpu, &src.want, affine_matrices[i], &dst.want),
                    parity->gpu->ops->image.affine(parity->gpu, &src.got, affine_matrices[i], &dst.got), "affine");
        parity_compare(parity, &dst, "affine");
        twin_free(parity->gpu, &src);
        twin_free(parity->gpu, &dst);
    }
}

void image_operations(struct parity *parity, int width, int height)
{
    test_pixels(parity, width, height);
    test_morphology(parity, width, height);
    test_affine(parity, width, height);
}

void image_template(struct parity *parity)
{
    static const int cases[][4] = {{1, 1, 1, 1},         {7, 7, 1, 1},      {7, 7, 7, 7},    {7, 7, 3, 2},
                                   {64, 9, 9, 9},        {513, 7, 8, 5},    {37, 41, 11, 1}, {160, 32, 32, 16},
                                   {260, 260, 256, 256}, {200, 100, 33, 31}};

    for (int i = 0; i < PARITY_COUNT(cases) * PATTERNS; i++) {
        const int *size = cases[i / PATTERNS];
        struct twin image = pattern_new(parity, size[0], size[1], PLX_U8, (enum pattern)(i % PATTERNS));
        struct twin patch = pattern_new(parity, size[2], size[3], PLX_U8, NOISE), best = twin_new(parity->gpu, 3, 1, PLX_U32);
        char what[64];

        if (i % PATTERNS >= NOISE && size[0] > size[2]) { /* one that is there, darker */
            for (int y = 0; y < size[3]; y++)
                for (int x = 0; x < size[2]; x++)
                    ((uint8_t *)plx_row(&patch.want, y))[x] = ((const uint8_t *)plx_row(&image.want, y))[x + 1] / 2;
            twin_share(&patch);
        }
        snprintf(what, sizeof what, "template %d x %d in %d x %d", size[2], size[3], size[0], size[1]);
        parity_done(parity, parity->cpu->ops->image.match_template(parity->cpu, &image.want, &patch.want, best.want.data),
                    parity->gpu->ops->image.match_template(parity->gpu, &image.got, &patch.got, best.got.data), what);
        parity_compare(parity, &best, what);
        twin_free(parity->gpu, &image);
        twin_free(parity->gpu, &patch);
        twin_free(parity->gpu, &best);
    }
}
