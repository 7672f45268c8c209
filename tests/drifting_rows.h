/* SPDX-License-Identifier: Apache-2.0 */
/* A learner and its frames, ten a second: matches drawn at random, of rows that are off by what the test says, less what is
 * corrected. */
#ifndef PLX_TESTS_DRIFTING_ROWS_H
#define PLX_TESTS_DRIFTING_ROWS_H

#include <string.h>

#include "core/base/checksum.h"
#include "core/base/clock.h"
#include "core/drift/learner.h"
#include "core/drift/matches.h"
#include "oracle/test_image.h"

#define DRIFTING_FOCAL 530.0
#define DRIFTING_NOISE_PX 0.1
#define DRIFTING_PERIOD_NS (100 * PLX_NS_PER_MS)

struct drifting_rows {
    struct plx_learner *learner;
    struct plx_stereo_calibration calibration;
    uint64_t random;
    int64_t now_ns;
    uint64_t map_hash; /* hash of the newest map; 0: none yet */
};

static inline uint64_t drifting_hash(const struct plx_remap *map)
{
    return plx_fnv1a(PLX_FNV1A_BEGIN, map->entry, (size_t)map->width * (size_t)map->height * sizeof *map->entry);
}

static inline int drifting_create(uint64_t seed, struct drifting_rows *ret)
{
    const struct plx_calibration_info info = {DRIFTING_FOCAL, DRIFTING_FOCAL, 319.5, 239.5, 319.5, 0.1};

    memset(ret, 0, sizeof *ret);
    ret->random = seed;
    plx_calibration_pinhole(640, 480, &info, &ret->calibration);
    return plx_learner_create(PLX_CORRECTION_ROWS, &ret->calibration, &ret->learner);
}

/* One frame, in which the right camera is pitched by PITCH_RAD. */
static inline void drifting_frame(struct drifting_rows *rows, double pitch_rad)
{
    struct plx_row_match match[PLX_PLACES_FIRST];
    const struct plx_remap *map;
    uint32_t place;

    if (plx_learner_take(rows->learner, &map))
        rows->map_hash = drifting_hash(map);
    const double left_rad = pitch_rad - (double)plx_learner_correction(rows->learner)->applied.pitch_rad;
    const int places = plx_learner_places(rows->learner, rows->now_ns, &place);
    for (int i = 0; i < places; i++) {
        const double x = 1.2 * random_below(&rows->random, 1001) / 1000 - 0.6,
                     y = 0.9 * random_below(&rows->random, 1001) / 1000 - 0.45;
        const double off = DRIFTING_FOCAL * left_rad * (1 + y * y) + DRIFTING_NOISE_PX * random_normal(&rows->random);
        match[i] = (struct plx_row_match){.x = (float)x, .y = (float)y, .rows = (float)off, .odd = i % 2 == 0, .z_m = 3};
    }
    plx_learner_add(rows->learner, match, places, NULL);
    rows->now_ns += DRIFTING_PERIOD_NS;
}

/* Frames for SECONDS. */
static inline void drifting_look(struct drifting_rows *rows, double seconds, double pitch_rad)
{
    for (const int64_t until_ns = rows->now_ns + (int64_t)(seconds * 1e9); rows->now_ns < until_ns;)
        drifting_frame(rows, pitch_rad);
}

#endif
