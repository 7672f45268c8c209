/* SPDX-License-Identifier: Apache-2.0 */
/* What a row needs before its costs and paths: census words cut into bytes, partners in backward order, P2 of every step. */
#include "cpu/simd/local.h"

void PLX_KERNEL(split)(const void *words, int width, bool wide, int planes, uint8_t *const *ret_planes)
{
    const uint32_t *narrow_words = words;
    const uint64_t *wide_words = words;

    for (int k = 0; k < planes; k++) {
        uint8_t *plane = ret_planes[k];
        if (wide) {
            for (int x = 0; x < width; x++)
                plane[x] = (uint8_t)(wide_words[x] >> 8 * k);
        } else {
            for (int x = 0; x < width; x++)
                plane[x] = (uint8_t)(narrow_words[x] >> 8 * k);
        }
    }
}

void PLX_KERNEL(reverse)(const uint8_t *src, int count, uint8_t *ret_bytes)
{
    for (int i = 0; i < count; i++)
        ret_bytes[i] = src[count - 1 - i];
}

/*
 * The float quotient, correctly rounded, is cut down to the same integer as the exact one: it is at most 120, and an exact one
 * that is no integer is at least 1 / 65790 away from the next.
 */
void PLX_KERNEL(penalty)(const struct plx_match *match, const uint8_t *a, const uint8_t *b, int count, uint8_t *ret_p2)
{
    const int least = match->p2_min, scale = match->p2_scale;
    const float product = (float)(match->p2 * scale);

    if (scale == 0) {
        memset(ret_p2, match->p2, (size_t)count);
        return;
    }
    for (int i = 0; i < count; i++) {
        const int step = a[i] < b[i] ? b[i] - a[i] : a[i] - b[i], p2 = (int)(product / (float)(scale + step));
        ret_p2[i] = (uint8_t)(p2 > least ? p2 : least);
    }
}
