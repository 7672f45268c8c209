/* SPDX-License-Identifier: Apache-2.0 */
/* Test matrices of the operation affine, for the unit test and the parity test. */
#ifndef PLX_TESTS_AFFINE_H
#define PLX_TESTS_AFFINE_H

#include <stdint.h>

static const int32_t affine_matrices[][6] = {
    {65536, 0, 0, 0, 65536, 0},                                 /* identity */
    {65536, 0, 32768, 0, 65536, -32768},                        /* half a pixel */
    {46341, -46341, 3 << 16, 46341, 46341, -(2 << 16)},         /* 45 degrees */
    {-65536, 0, 6 << 16, 0, 30000, 12345},                      /* mirrored and stretched */
    {INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, INT32_MAX, 0}, /* far outside */
};

#endif
