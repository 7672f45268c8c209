/* SPDX-License-Identifier: Apache-2.0 */
/* How far rows are off, from matches that are made up: where an offset lies, and the map that many of them make. */
#include <math.h>

#include "core/checks/alignment.h"
#include "tests/cmocka.h"
#include "tests/scratch.h"

#define WIDTH 320
#define HEIGHT 240

static uint8_t made[PLX_EYES][HEIGHT * WIDTH];

/* A match of the tall strip is an offset at its place in the right image, in pixels from that one's centre. */
static void an_offset_lies_where_the_match_is_in_the_right_image(void **state)
{
    (void)state;
    const struct plx_image left = {made[PLX_LEFT], WIDTH, HEIGHT, WIDTH, PLX_U8},
                           right = {made[PLX_RIGHT], WIDTH, HEIGHT, WIDTH, PLX_U8};
    struct plx_alignment alignment;
    struct plx_alignment_info info;
    struct plx_image patch, strip;
    uint64_t random = scratch_seed();

    for (int i = 0; i < HEIGHT * WIDTH; i++)
        made[PLX_LEFT][i] = (uint8_t)(1 + scratch_random(&random) % 255);
    plx_alignment_init(&alignment, WIDTH, HEIGHT, WIDTH, 0, 64);
    for (int i = 0; i < PLX_ALIGNMENT_OFFSETS; i++) {
        assert_true(plx_alignment_patch(&alignment, 0, &left, &right, &patch, &strip));
        const int strip_begin = (int)((uint8_t *)strip.data - made[PLX_RIGHT]),
                  patch_begin = (int)((uint8_t *)patch.data - made[PLX_LEFT]);
        const int across = i % (strip.width - patch.width), down = i % 40;
        const struct plx_template_match found[PLX_ALIGNMENT_MATCHES] = {{.x = across, .y = down, .score = 32768}};
        plx_alignment_update(&alignment, &left, found, &info);
        assert_int_equal(alignment.offsets, i + 1);
        const struct plx_row_offset *offset = &alignment.offset[i];
        assert_true(offset->x == strip_begin % WIDTH + across + patch.width / 2.0 - WIDTH / 2.0);
        assert_true(offset->y == patch_begin / WIDTH + patch.height / 2.0 - HEIGHT / 2.0);
        assert_true(offset->rows == strip_begin / WIDTH + down - patch_begin / WIDTH);
    }
}

/* --- the fit alone -------------------------------------------------------------------------------------------------------- */

#define OFFSETS 32
#define FITS 1000

static double uniform(uint64_t *random, double first, double last)
{
    return first + (last - first) * (double)(scratch_random(random) % 1000000) / 1e6;
}

/* A third of the offsets is wrong. */
static void the_fit_finds_what_most_offsets_say(void **state)
{
    (void)state;
    uint64_t random = scratch_seed();
    struct plx_row_offset offset[OFFSETS];
    int good = 0;

    for (int round = 0; round < FITS; round++) {
        const double rows = uniform(&random, -20, 20), per_x = uniform(&random, -0.03, 0.03),
                     per_y = uniform(&random, -0.03, 0.03);
        for (int i = 0; i < OFFSETS; i++) {
            offset[i] = (struct plx_row_offset){.x = uniform(&random, -240, 240), .y = uniform(&random, -180, 180)};
            offset[i].rows = i % 3 == 0 ? uniform(&random, -24, 24)
                                        : rows + per_x * offset[i].x + per_y * offset[i].y + uniform(&random, -0.3, 0.3);
        }
        const struct plx_row_fit fit = plx_row_fit(offset, OFFSETS, 320, 240);
        const double tolerance = fabs(per_x) * 240 + fabs(per_y) * 180 < 3 ? 2.5 : 1.5; /* small slopes are held back */
        good += fit.inliers >= OFFSETS / 2 && fabs(fit.rows - rows) < 1 && fabs(fit.per_x - per_x) * 320 < tolerance &&
                fabs(fit.per_y - per_y) * 240 < tolerance;
    }
    print_message("    %d of %d fits are right\n", good, FITS);
    assert_true(good >= FITS * 97 / 100);
}

static void the_fit_makes_no_slopes_of_little(void **state)
{
    (void)state;
    uint64_t random = scratch_seed();
    struct plx_row_offset offset[OFFSETS];

    assert_int_equal(plx_row_fit(offset, 0, 320, 240).inliers, 0);
    for (int round = 0; round < FITS; round++) {
        const int count = 1 + round % OFFSETS;
        for (int i = 0; i < count; i++)
            offset[i] = (struct plx_row_offset){uniform(&random, 150, 170), uniform(&random, -100, -80),
                                                uniform(&random, -0.35, 0.35)}; /* all in one corner */
        const struct plx_row_fit fit = plx_row_fit(offset, count, 320, 240);
        assert_int_equal(fit.inliers, count);
        for (int corner = 0; corner < 4; corner++)
            assert_true(fabs(plx_row_fit_at(&fit, corner & 1 ? 320 : -320, corner & 2 ? 240 : -240)) < 1.9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_offset_lies_where_the_match_is_in_the_right_image),
        cmocka_unit_test(the_fit_finds_what_most_offsets_say),
        cmocka_unit_test(the_fit_makes_no_slopes_of_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
