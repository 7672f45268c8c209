/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/image.h"

void oracle_histogram(const struct plx_image *grey, int bins, const struct plx_image *ret_bins)
{
    for (int row = 0; row < PLX_HISTOGRAM_EYE_ROWS; row++)
        for (int bin = 0; bin < bins; bin++)
            ((uint32_t *)plx_row(ret_bins, row))[bin] = 0;
    for (int y = 0; y < grey->height; y++)
        for (int x = 0; x < grey->width; x++) {
            int bin = ((const uint8_t *)plx_row(grey, y))[x] * bins / 256;
            int zone = y * PLX_HISTOGRAM_TILES / grey->height * PLX_HISTOGRAM_TILES + x * PLX_HISTOGRAM_TILES / grey->width;
            ((uint32_t *)plx_row(ret_bins, 0))[bin]++;
            ((uint32_t *)plx_row(ret_bins, 1 + zone))[bin]++;
        }
}
