/* SPDX-License-Identifier: Apache-2.0 */
/* Surfaces that face the camera are published where they are, textured and weak, with pictures of unlike brightness. */
#include <math.h>

#include "tests/cmocka.h"
#include "tests/facing_scene.h"

#define MOST_PX 0.1
#define LOCKED_PX 0.2 /* without the step */

/* The worst bias of boxes and walls at distances between 2 and 20 m, where there are any pixels of them. */
static double worst_bias(const struct facing_look *look, bool facing)
{
    static const double distances_m[] = {2.2, 3.1, 4.3, 5.6, 7.4, 10.5, 14.2, 19.1};
    struct facing_scene *scene = facing_scene_create();
    struct plx_match match;
    double worst = 0;
    int seen = 0;

    plx_match_default(&match);
    match.disparities = FACING_DISPARITIES;
    match.facing = facing;
    for (int i = 0; i < (int)(sizeof distances_m / sizeof distances_m[0]); i++)
        for (int wall = 0; wall < 2; wall++) {
            struct facing_bias bias[FACING_SURFACES][FACING_OUTPUTS];
            facing_scene_render(scene, wall, distances_m[i], look, i + 1);
            facing_scene_measure(scene, &match, bias);
            for (int output = 0; output < FACING_OUTPUTS; output++) {
                const struct facing_bias *here = &bias[wall ? FACING_WALL : FACING_BOX][output];
                seen += here->count > 0;
                worst = fmax(worst, fabs(here->px));
            }
        }
    facing_scene_destroy(scene);
    assert_int_equal(seen, 8 * 5); /* a wall has no stixels */
    return worst;
}

static void facing_surfaces_are_where_they_are(void **state)
{
    static const struct facing_look looks[] = {{1, 1.5, 1}, {0.15, 1.5, 1}, {0.08, 0.7, 1}, {0.3, 1.5, 1.04}};

    (void)state;
    for (int i = 0; i < (int)(sizeof looks / sizeof looks[0]); i++) {
        const double worst = worst_bias(&looks[i], true);
        if (worst > MOST_PX)
            fail_msg("contrast %.2f, noise %.1f, gain %.2f: bias %.3f px", looks[i].contrast, looks[i].noise, looks[i].gain,
                     worst);
    }
    assert_true(worst_bias(&looks[0], false) > LOCKED_PX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(facing_surfaces_are_where_they_are)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
