/* SPDX-License-Identifier: Apache-2.0 */
/* A pipeline that goes on from one whose engine is gone: what its first frame says of that. */
#include <stddef.h>

#include "cpu/cpu.h"
#include "tests/cmocka.h"
#include "tests/runner.h"

#define WIDTH 320
#define HEIGHT 240

/* Cells of each kind in the first map, and how often motion broke off. */
struct kinds {
    int count[256];
    uint32_t breaks;
};

/* Those of a pipeline that goes on from BEFORE. */
static struct kinds first_map(const struct plx_pipeline_state *before)
{
    const struct plx_limits limits = {WIDTH, HEIGHT, 64, 1};
    struct plx_pipeline_params params;
    struct plx_stages *stages;
    struct plx_scene scene;
    struct runner runner;
    struct kinds kinds = {{0}, 0};

    plx_pipeline_params_default(&params);
    params.correction = PLX_CORRECTION_OFF;
    params.match.disparities = 64;
    params.mount = (struct plx_mount){.x_m = 0.25, .z_m = 1, .roll_deg = 0.86, .pitch_deg = 5.73}; /* the demo's */
    plx_scene_demo(WIDTH, HEIGHT, 1, &scene);
    assert_int_equal(plx_cpu_create(&limits, &stages), 0);
    runner_create(stages, &params, WIDTH, HEIGHT, &scene.calibration, &runner);
    assert_int_equal(plx_pipeline_restore(runner.pipeline, before), 0);
    runner_draw(&runner, &scene, 0, 0);
    assert_int_equal(runner_run(&runner, 33000000), 0);
    const struct plx_plane *plane = &runner.frame->plane[PLX_PLANE_MAP];
    assert_int_equal(plane->element, sizeof(struct plx_cell));
    for (uint32_t y = 0; y < plane->height; y++) {
        const struct plx_cell *row = (const void *)((const char *)runner.frame + plane->offset + (size_t)y * plane->pitch);
        for (uint32_t x = 0; x < plane->width; x++)
            kinds.count[row[x].kind]++;
    }
    kinds.breaks = runner.frame->motion.breaks;
    runner_destroy(&runner);
    stages->ops->destroy(stages);
    return kinds;
}

/* Things stood where no camera looks now, and nobody knows them any longer: such cells are not merely unknown. */
static void the_map_of_a_dead_engine_is_lost(void **state)
{
    (void)state;
    static const struct plx_pipeline_state none,
        drove = {
            .motion = {.valid = 1, .source = PLX_MOTION_VISUAL, .breaks = 4, .pose = {{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 3}}}};
    const struct kinds first = first_map(&none), later = first_map(&drove);
    print_message("    %d cells free, %d occupied, %d unknown, %d lost\n", first.count[PLX_CELL_FREE],
                  first.count[PLX_CELL_OCCUPIED], first.count[PLX_CELL_UNKNOWN], first.count[PLX_CELL_LOST]);
    assert_true(first.count[PLX_CELL_UNKNOWN] > 1000 && first.count[PLX_CELL_LOST] < 100);
    assert_int_equal(later.count[PLX_CELL_UNKNOWN], 0);
    assert_true(later.count[PLX_CELL_LOST] > 1000);
    assert_true(first.breaks == 0 && later.breaks == 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_map_of_a_dead_engine_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
