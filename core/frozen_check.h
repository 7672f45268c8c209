/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frozen pictures: a live camera is never without noise, so a tile of raw bytes that comes back unchanged was not taken again.
 * The tiles are the histogram's zones; one that is dark or blown out throughout is not judged, for there noise is clipped away.
 */
#ifndef PLX_CORE_FROZEN_CHECK_H
#define PLX_CORE_FROZEN_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

#include "core/image.h"

#define PLX_FROZEN_CHECK_TILES (PLX_ZONES * PLX_ZONES)
#define PLX_FROZEN_CHECK_REPEATS                                                                                               \
    5 /* a part of the picture is frozen when it came back so often; the whole at the first time                               \
       */

/* One eye's memory; zeroed = no picture yet. */
struct plx_frozen_check {
    bool known;
    uint64_t sum[PLX_FROZEN_CHECK_TILES]; /* of the picture before */
    uint8_t repeats[PLX_FROZEN_CHECK_TILES];
};

/* Looks at the next picture of one eye. RAW is a checked buffer that the CPU reads; BINS its histogram, U32 [1 + 64][256]. True
 * while picture or part of it is frozen. Reads at most 16 rows of each tile. */
bool plx_frozen_check_update(struct plx_frozen_check *check, const struct plx_raw *raw, const struct plx_image *bins);

#endif
