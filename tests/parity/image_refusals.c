/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of the image stages and operations that both backends must refuse, with the same error. */
#include <parallax/error.h>

#include "core/base/image.h"
#include "core/pipeline/stages.h"
#include "tests/parity/image.h"

#define REFUSED(call, ...)                                                                                                     \
    parity_refused(parity, cpu->ops->call(cpu, __VA_ARGS__), gpu->ops->call(gpu, __VA_ARGS__), #call " " #__VA_ARGS__)

/* Nothing is read or written, so both may have the same images. */
void image_refusals(struct parity *parity)
{
    struct plx_stages *cpu = parity->cpu, *gpu = parity->gpu;
    struct plx_image a = test_image_new(300, 300, PLX_U8, 0), b = test_image_new(299, 300, PLX_U8, 0);
    struct plx_image deep = test_image_new(300, 300, PLX_U16, 0), bins = test_image_new(256, 65, PLX_U32, 0);
    struct plx_image wide = test_image_new(IMAGE_WIDTH + 1, 2, PLX_U8, 0),
                     deep_wide = test_image_new(IMAGE_WIDTH + 1, 2, PLX_U16, 0);
    struct plx_image sums = test_image_new(64, 1, PLX_U64, 0), steps = test_image_new(19, 2, PLX_U32, 0),
                     one_step = test_image_new(1, 2, PLX_U32, 0);
    struct plx_remap_entry entry[1] = {{0, 0, 0, 0}};
    const struct plx_remap map = {entry, 300, 300}, small_map = {entry, 300, 299}, no_map = {NULL, 300, 300};
    const struct plx_raw raw = {.data = a.data, .bytes = 90000, .width = 300, .height = 300, .pitch = 300, .eye_width = 300};
    struct plx_raw other = raw;
    const struct plx_temporal good = {16, 64}, no_weight = {16, 0}, heavy = {16, 257}, backward = {-1, 64};
    struct plx_filter filter, wrong;
    struct plx_template_match best;
    const int32_t matrix[6] = {0};
    uint32_t masked;
    uint64_t sum;

    plx_filter_make(true, 5, 5, &filter);
    REFUSED(convert, &raw, &b);
    REFUSED(convert, &raw, &bins);
    REFUSED(convert, NULL, &a);
    other.bytes--;
    REFUSED(convert, &other, &a);
    other = (struct plx_raw){.data = wide.data,
                             .bytes = wide.pitch * 2,
                             .width = IMAGE_WIDTH + 1,
                             .height = 2,
                             .pitch = wide.pitch,
                             .eye_width = IMAGE_WIDTH + 1};
    REFUSED(convert, &other, &wide);
    other.format = PLX_FORMAT_COUNT;
    REFUSED(convert, &other, &wide);
    REFUSED(checksum, &raw, &bins);
    REFUSED(checksum, &other, &sums);
    other.format = PLX_FORMAT_GREY;
    REFUSED(checksum, &other, &sums);
    REFUSED(checksum, NULL, &sums);
    REFUSED(sharpness, &a, &bins);
    REFUSED(sharpness, &deep, &steps);
    REFUSED(sharpness, &wide, &one_step);
    REFUSED(histogram, &a, 255, &bins);
    REFUSED(histogram, &a, 0, &bins);
    REFUSED(histogram, &a, 128, &bins);
    REFUSED(histogram, &deep, 256, &bins);
    REFUSED(histogram, &wide, 256, &bins);
    REFUSED(rectify, &a, &map, &deep, &masked);
    REFUSED(rectify, &a, &map, &b, &masked);
    REFUSED(rectify, &a, &small_map, &a, &masked);
    REFUSED(rectify, &a, &no_map, &a, &masked);
    REFUSED(rectify, &a, NULL, &a, &masked);
    REFUSED(rectify, &a, &map, &a, NULL);
    REFUSED(rectify, &wide, &map, &a, &masked);
    REFUSED(filter, &a, &filter, &b);
    REFUSED(filter, &deep, &filter, &a);
    REFUSED(filter, &a, NULL, &a);
    REFUSED(filter, &wide, &filter, &wide);
    wrong = filter;
    wrong.size_x = 4;
    REFUSED(filter, &a, &wrong, &a);
    wrong = filter;
    wrong.weight_y[2]++;
    REFUSED(filter, &a, &wrong, &a);
    REFUSED(temporal, &deep, &no_weight, &deep, &deep);
    REFUSED(temporal, &deep, &heavy, &deep, &deep);
    REFUSED(temporal, &deep, &backward, &deep, &deep);
    REFUSED(temporal, &deep, NULL, &deep, &deep);
    REFUSED(temporal, &a, &good, &deep, &deep);
    REFUSED(temporal, &deep, &good, &deep_wide, &deep);
    REFUSED(temporal, &deep_wide, &good, &deep_wide, &deep_wide);
    REFUSED(image.binary, PLX_OP_ADD, &a, &b, &a);
    REFUSED(image.binary, (enum plx_binary_op)8, &a, &a, &a);
    REFUSED(image.binary, PLX_OP_ADD, &wide, &wide, &wide);
    REFUSED(image.invert, &deep, &a);
    REFUSED(image.threshold, &b, 3, &a);
    REFUSED(image.morphology, PLX_OPEN, &a, 2, 3, &a);
    REFUSED(image.morphology, PLX_OPEN, &a, 3, 33, &a);
    REFUSED(image.morphology, (enum plx_morphology)4, &a, 3, 3, &a);
    REFUSED(image.morphology, PLX_OPEN, &wide, 3, 3, &wide);
    REFUSED(image.affine, &a, NULL, &a);
    REFUSED(image.affine, &deep, matrix, &a);
    REFUSED(image.affine, &wide, matrix, &a);
    REFUSED(image.sum, &deep, &sum);
    REFUSED(image.sum, &a, NULL);
    REFUSED(image.sum, &wide, &sum);
    REFUSED(image.match_template, &b, &a, &best);
    REFUSED(image.match_template, &a, &a, &best);
    REFUSED(image.match_template, &a, &a, NULL);

    struct plx_image *images[] = {&a, &b, &deep, &bins, &wide, &deep_wide, &sums, &steps, &one_step};
    for (int i = 0; i < PARITY_COUNT(images); i++)
        test_image_free(images[i]);
}
