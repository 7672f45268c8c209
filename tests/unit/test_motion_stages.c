/* SPDX-License-Identifier: Apache-2.0 */
/* The stages pyramid, corners and flow of the CPU beside the plain scalar oracle: every instruction set, odd sizes, padded
 * rows, black, white, noise, and smooth texture that moves. */
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>
#include <parallax/frame.h>

#include "core/motion/corners.h"
#include "cpu/cpu.h"
#include "cpu/internal.h"
#include "oracle/motion.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"
#include "tests/motion_patterns.h"

#define POINTS 24

static const int sizes[][2] = {{1, 1},   {2, 7},   {7, 2},    {21, 22},  {22, 40},   {33, 31},
                               {65, 64}, {130, 9}, {513, 40}, {40, 513}, {131, 147}, {320, 200}};
#define SIZES (sizeof sizes / sizeof *sizes)

static struct plx_stages *all[PLX_ISA_COUNT]; /* a backend of each instruction set, NULL where this machine has it not */
static struct plx_stages *stages;             /* with the best, and two threads */

static int set_up(void **state)
{
    struct plx_limits limits = {513, 513, 64, 1};
    (void)state;
    for (int isa = 0; isa < PLX_ISA_COUNT; isa++)
        if (plx_isa_kernels((enum plx_isa)isa) && plx_cpu_create_isa(&limits, (enum plx_isa)isa, &all[isa]) < 0)
            return -1;
    limits.threads = 2;
    return plx_cpu_create(&limits, &stages);
}

static int tear_down(void **state)
{
    (void)state;
    for (int isa = 0; isa < PLX_ISA_COUNT; isa++)
        if (all[isa])
            all[isa]->ops->destroy(all[isa]);
    stages->ops->destroy(stages);
    return 0;
}

static void expect_corners(struct plx_stages *backend, const struct plx_image *left, const struct plx_image *want)
{
    struct plx_image got = test_image_new(want->width, want->height, PLX_U128, 2);
    assert_int_equal(backend->ops->corners(backend, left, &got), 0);
    assert_true(test_image_equal(want, &got));
    assert_true(test_image_padding_intact(left) && test_image_padding_intact(&got));
    test_image_free(&got);
}

static void corners_are_the_oracles(void **unused)
{
    (void)unused;
    uint64_t state = test_seed();
    for (size_t i = 0; i < SIZES * MOTION_PATTERNS; i++) {
        const int width = sizes[i / MOTION_PATTERNS][0], height = sizes[i / MOTION_PATTERNS][1];
        const int columns = plx_corner_cells(width), rows = plx_corner_cells(height);
        struct plx_image left = test_image_new(width, height, PLX_U8, 5), want = test_image_new(columns, rows, PLX_U128, 2);
        motion_pattern_draw(&left, (enum motion_pattern)(i % MOTION_PATTERNS), 0, 0, &state);
        oracle_corners(&left, &want);
        expect_corners(stages, &left, &want);
        for (int isa = 0; isa < PLX_ISA_COUNT; isa++)
            if (all[isa])
                expect_corners(all[isa], &left, &want);
        test_image_free(&left);
        test_image_free(&want);
    }
}

/* Surfaces with edges, holes, and small steps that are none. */
static void draw_disparity(const struct plx_image *disparity, uint64_t *state)
{
    for (int y = 0; y < disparity->height; y++)
        for (int x = 0; x < disparity->width; x++)
            ((uint16_t *)plx_row(disparity, y))[x] = random_below(state, 200) == 0
                                                         ? PLX_DISPARITY_INVALID
                                                         : (uint16_t)(400 + x / 40 * 90 + y + (int)random_below(state, 14));
}

static void disparities_are_the_oracles(void **unused)
{
    (void)unused;
    struct plx_flow_job *job = calloc(1, sizeof *job);
    uint64_t state = test_seed();
    int smooth = 0, edges = 0;
    assert_non_null(job);
    for (size_t i = 0; i < SIZES; i++) {
        const int width = sizes[i][0], height = sizes[i][1];
        struct plx_image left = test_image_new(width, height, PLX_U8, 5), disparity = test_image_new(width, height, PLX_U16, 3);
        struct plx_image want = test_image_new(plx_corner_cells(width), plx_corner_cells(height), PLX_U128, 2),
                         got = test_image_new(plx_corner_cells(width), plx_corner_cells(height), PLX_U128, 2);
        struct plx_flow_found found[POINTS] = {{.is_found = 1}};
        motion_pattern_draw(&left, MOTION_TEXTURE, 0, 0, &state);
        draw_disparity(&disparity, &state);
        oracle_corners(&left, &want);
        oracle_corners(&left, &got);
        oracle_corner_disparities(&disparity, &want);
        job->count = POINTS;
        for (int p = 0; p < POINTS; p++) {
            found[p].at[0] = (double)random_below(&state, (uint32_t)width * 16) / 16 - 1;
            found[p].at[1] = (double)random_below(&state, (uint32_t)height * 16) / 16 - 1;
        }
        assert_int_equal(stages->ops->corner_disparities(stages, &disparity, job, &got, found), 0);
        assert_true(test_image_equal(&want, &got) && test_image_padding_intact(&got));
        for (int p = 0; p < POINTS; p++)
            assert_true(found[p].disparity == oracle_disparity(&disparity, found[p].at[0], found[p].at[1]));
        for (int c = 0; c < got.width * got.height; c++) {
            const struct plx_corner_cell *cell = (const struct plx_corner_cell *)plx_row(&got, c / got.width) + c % got.width;
            smooth += cell->strength > 0 && cell->disparity > 0;
            edges += cell->strength > 0 && cell->disparity < 0;
        }
        test_image_free(&left);
        test_image_free(&disparity);
        test_image_free(&want);
        test_image_free(&got);
    }
    assert_true(smooth > 20 && edges > 20); /* else nothing was compared */
    free(job);
}

/* Compares PYRAMID with the oracle's of IMAGE. */
static void check_pyramid(const struct plx_pyramid *pyramid, const struct plx_image *image)
{
    for (int n = 0; n < pyramid->levels; n++)
        for (int y = 0; y < pyramid->level[n].height; y++)
            for (int x = 0; x < pyramid->level[n].width; x++)
                assert_int_equal(((const uint8_t *)plx_row(&pyramid->level[n], y))[x], oracle_pyramid(image, n, x, y));
}

/* Points all over the image and beyond, expected near or far from where they are. */
static void draw_job(struct plx_flow_job *job, int width, int height, uint64_t *state)
{
    job->levels = 1 + random_below(state, 4); /* the oracle needs long for five */
    job->count = POINTS;
    for (int i = 0; i < POINTS; i++)
        for (int k = 0; k < 2; k++) {
            const int size = k == 0 ? width : height;
            job->point[i].from[k] =
                (double)random_below(state, (uint32_t)size * 16) / 16 + (random_below(state, 8) == 0 ? -9 : 0);
            job->point[i].to[k] = job->point[i].from[k] + (double)random_below(state, 160) / 16 - 5;
        }
    job->point[0].to[0] = 1e300;
    job->point[1].from[1] = -1e300;
}

static void find_by_oracle(const struct plx_image image[2], const struct plx_flow_job *job,
                           struct plx_flow_found ret_found[POINTS])
{
    for (int p = 0; p < POINTS; p++) {
        const struct plx_flow_point *point = &job->point[p];
        ret_found[p] = (struct plx_flow_found){.at = {point->to[0], point->to[1]}};
        ret_found[p].is_found = oracle_flow(&image[0], &image[1], (int)job->levels, point->from, ret_found[p].at);
    }
}

static void expect_found(struct plx_stages *backend, const struct plx_pyramid *pyramids, const struct plx_flow_job *job,
                         const struct plx_flow_found *want)
{
    struct plx_flow_found found[POINTS];
    assert_int_equal(backend->ops->flow(backend, pyramids, job, found), 0);
    for (int p = 0; p < POINTS; p++) {
        assert_int_equal(found[p].is_found, want[p].is_found);
        assert_true(found[p].at[0] == want[p].at[0] && found[p].at[1] == want[p].at[1]);
    }
}

static void flow_is_the_oracles(void **unused)
{
    (void)unused;
    struct plx_flow_job *job = calloc(1, sizeof *job);
    struct plx_flow_found want[POINTS];
    uint64_t state = test_seed();
    int known = 0;
    assert_non_null(job);
    for (size_t i = 0; i < SIZES * MOTION_PATTERNS; i++) {
        const int width = sizes[i / MOTION_PATTERNS][0], height = sizes[i / MOTION_PATTERNS][1];
        struct plx_image image[2];
        struct plx_pyramid pyramids[2];
        for (int k = 0; k < 2; k++)
            plx_pyramid_lay_out(calloc(1, plx_pyramid_bytes(width, height)), width, height, &pyramids[k]);
        for (int k = 0; k < 2; k++) {
            image[k] = test_image_new(width, height, PLX_U8, 3);
            motion_pattern_draw(&image[k], (enum motion_pattern)(i % MOTION_PATTERNS), 2.3 * k, -1.4 * k, &state);
            job->now = (uint32_t)k;
            assert_int_equal(stages->ops->pyramid(stages, &image[k], job, pyramids), 0);
        }
        check_pyramid(&pyramids[0], &image[0]);
        check_pyramid(&pyramids[1], &image[1]);
        draw_job(job, width, height, &state);
        find_by_oracle(image, job, want);
        expect_found(stages, pyramids, job, want);
        for (int isa = 0; isa < PLX_ISA_COUNT; isa++)
            if (all[isa])
                expect_found(all[isa], pyramids, job, want);
        for (int p = 0; p < POINTS; p++)
            known += want[p].is_found != 0;
        for (int k = 0; k < 2; k++) {
            free(pyramids[k].level[0].data);
            test_image_free(&image[k]);
        }
    }
    assert_true(known > 20); /* else nothing was compared */
    free(job);
}

static void wrong_arguments(void **unused)
{
    (void)unused;
    struct plx_image left = test_image_new(64, 40, PLX_U8, 0), deep = test_image_new(64, 40, PLX_U16, 0),
                     cells = test_image_new(5, 3, PLX_U128, 0), large = test_image_new(514, 40, PLX_U8, 0),
                     its_cells = test_image_new(plx_corner_cells(514), 3, PLX_U128, 0);
    struct plx_flow_job *job = calloc(1, sizeof *job);
    struct plx_pyramid pyramids[2];
    uint8_t memory[2][64 * 40 * 2];

    assert_non_null(job);
    plx_pyramid_lay_out(memory[0], 64, 40, &pyramids[0]);
    plx_pyramid_lay_out(memory[1], 64, 39, &pyramids[1]);
    assert_int_equal(stages->ops->corners(stages, &left, &cells), 0);
    assert_int_equal(stages->ops->corners(stages, &deep, &cells), PLX_ERR_ARG);
    assert_int_equal(stages->ops->corners(stages, &left, &its_cells), PLX_ERR_ARG);
    assert_int_equal(stages->ops->corners(stages, &large, &its_cells), PLX_ERR_RANGE);
    assert_int_equal(stages->ops->pyramid(stages, &left, job, pyramids), PLX_ERR_ARG);
    assert_int_equal(stages->ops->flow(stages, pyramids, job, NULL), PLX_ERR_ARG);
    assert_int_equal(stages->ops->corner_disparities(stages, &left, job, &cells, NULL), PLX_ERR_ARG);
    assert_int_equal(stages->ops->corner_disparities(stages, &deep, job, &its_cells, NULL), PLX_ERR_ARG);
    free(job);
    test_image_free(&left);
    test_image_free(&deep);
    test_image_free(&cells);
    test_image_free(&large);
    test_image_free(&its_cells);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(corners_are_the_oracles),
        cmocka_unit_test(disparities_are_the_oracles),
        cmocka_unit_test(flow_is_the_oracles),
        cmocka_unit_test(wrong_arguments),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
