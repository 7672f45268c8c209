/* SPDX-License-Identifier: Apache-2.0 */
#include "core/ground/scan.h"

#define LEAST_GAP 5 /* columns, 20 px */

void plx_scan_close(struct plx_scan *scan, int count)
{
    for (int begin = 0, end; begin < count; begin = end + 1) {
        end = begin;
        while (end < count && scan[end].free != PLX_SCAN_NOTHING_FREE)
            end++;
        for (int x = begin; x < end && end - begin < LEAST_GAP; x++) {
            scan[x].free = PLX_SCAN_NOTHING_FREE;
            scan[x].known = 0;
        }
    }
}
