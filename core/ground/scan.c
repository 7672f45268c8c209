/* SPDX-License-Identifier: Apache-2.0 */
#include "core/ground/scan.h"

#include "core/ground/stixels.h"

#define LEAST_GAP 5  /* columns, 20 px */
#define LEAST_DROP 8 /* columns, 32 px */

void plx_scan_close(struct plx_scan *scan, int count)
{
    for (int begin = 0, end; begin < count; begin = end + 1) {
        end = begin;
        while (end < count && scan[end].free != PLX_SCAN_NOTHING_FREE)
            end++;
        for (int x = begin; x < end && end - begin < LEAST_GAP; x++) {
            scan[x].free = PLX_SCAN_NOTHING_FREE;
            scan[x].known = 0; /* also no drop */
        }
    }
}

void plx_scan_confirm_drops(struct plx_scan *scan, int count)
{
    for (int begin = 0, end; begin < count; begin = end + 1) {
        end = begin;
        while (end < count && scan[end].known >> PLX_SCAN_DROP_SHIFT > 0)
            end++;
        for (int x = begin; x < end; x++) {
            const uint16_t drop = scan[x].known >> PLX_SCAN_DROP_SHIFT;
            scan[x].known &= PLX_SCAN_KNOWN;
            if (end - begin < LEAST_DROP || drop < scan[x].nearest || scan[x].free == PLX_SCAN_NOTHING_FREE)
                continue;
            scan[x].free = drop > scan[x].free ? drop : scan[x].free;
            scan[x].known |= PLX_SCAN_DROP;
        }
    }
}
