/* SPDX-License-Identifier: Apache-2.0 */
/* For qsort of numbers. */
#ifndef PLX_APP_CALIBRATE_ASCENDING_H
#define PLX_APP_CALIBRATE_ASCENDING_H

static inline int plx_ascending(const void *a, const void *b)
{
    const double one = *(const double *)a, other = *(const double *)b;
    return one < other ? -1 : one > other;
}

#endif
