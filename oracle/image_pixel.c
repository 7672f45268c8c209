/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/image.h"

#include <stdlib.h>

static int combine(enum plx_binary_op op, int a, int b)
{
    switch (op) {
    case PLX_OP_ABSDIFF:
        return abs(a - b);
    case PLX_OP_ADD:
        return a + b;
    case PLX_OP_SUB:
        return a - b;
    case PLX_OP_MIN:
        return a < b ? a : b;
    case PLX_OP_MAX:
        return a > b ? a : b;
    case PLX_OP_AND:
        return a & b;
    case PLX_OP_OR:
        return a | b;
    case PLX_OP_XOR:
        return a ^ b;
    }
    return -1;
}

void oracle_binary(enum plx_binary_op op, const struct plx_image *a, const struct plx_image *b, const struct plx_image *dst)
{
    for (int y = 0; y < dst->height; y++)
        for (int x = 0; x < dst->width; x++) {
            int value = combine(op, ((const uint8_t *)plx_row(a, y))[x], ((const uint8_t *)plx_row(b, y))[x]);
            ((uint8_t *)plx_row(dst, y))[x] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
        }
}

void oracle_invert(const struct plx_image *src, const struct plx_image *dst)
{
    for (int y = 0; y < dst->height; y++)
        for (int x = 0; x < dst->width; x++)
            ((uint8_t *)plx_row(dst, y))[x] = (uint8_t)(255 - ((const uint8_t *)plx_row(src, y))[x]);
}

void oracle_threshold(const struct plx_image *src, int threshold, const struct plx_image *dst)
{
    for (int y = 0; y < dst->height; y++)
        for (int x = 0; x < dst->width; x++)
            ((uint8_t *)plx_row(dst, y))[x] = ((const uint8_t *)plx_row(src, y))[x] > threshold ? 255 : 0;
}

uint64_t oracle_sum(const struct plx_image *src)
{
    uint64_t sum = 0;
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++)
            sum += ((const uint8_t *)plx_row(src, y))[x];
    return sum;
}

void oracle_temporal(const struct plx_image *src, const struct plx_temporal *temporal, const struct plx_image *history,
                     const struct plx_image *dst)
{
    for (int y = 0; y < src->height; y++)
        for (int x = 0; x < src->width; x++) {
            unsigned now = ((const uint16_t *)plx_row(src, y))[x], out = now;
            uint16_t *old = (uint16_t *)plx_row(history, y) + x;
            if (temporal->max_step > 0 && now != PLX_DISPARITY_INVALID && *old != PLX_DISPARITY_INVALID &&
                abs((int)now - (int)*old) <= temporal->max_step)
                out = (now * (unsigned)temporal->weight + *old * (256u - (unsigned)temporal->weight) + 128) / 256;
            *old = (uint16_t)out;
            ((uint16_t *)plx_row(dst, y))[x] = (uint16_t)out;
        }
}
