/* SPDX-License-Identifier: Apache-2.0 */
/* The stages stixels and free_ground: the cases of unit/test_columns and unit/test_free_ground, tall images, and a large
 * noisy street. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/column_cases.h"
#include "tests/parity/parity.h"

static uint64_t seed;

static void test_free_ground(struct parity *parity, const struct column_case *c, const struct twin *disparity,
                             const struct twin *ground, struct twin *scan, const char *what)
{
    const struct plx_calibration_info lens = column_lens(&seed, &c->ground);
    char where[96];

    snprintf(where, sizeof where, "free ground of %s", what);
    parity_done(
        parity, parity->cpu->ops->free_ground(parity->cpu, &disparity->want, ground->want.data, &c->params, &lens, &scan->want),
        parity->gpu->ops->free_ground(parity->gpu, &disparity->got, ground->got.data, &c->params, &lens, &scan->got), where);
    parity_compare(parity, scan, where);
}

static void test_case(struct parity *parity, const struct column_case *c, const char *what)
{
    const int columns = plx_columns_of(c->width);
    struct twin disparity = twin_new(parity->gpu, c->width, c->height, PLX_U16);
    struct twin ground = twin_new(parity->gpu, (int)sizeof c->ground / 8, 1, PLX_U64);
    struct twin scan = twin_new(parity->gpu, columns, 1, PLX_U64);
    struct twin stixels = twin_new(parity->gpu, PLX_COLUMN_STIXELS, columns, PLX_U128);

    column_draw(&seed, c->content, &c->params, &c->ground, &disparity.want);
    twin_share(&disparity);
    *(struct plx_ground *)ground.want.data = c->ground;
    twin_share(&ground);
    parity_done(
        parity,
        parity->cpu->ops->stixels(parity->cpu, &disparity.want, ground.want.data, &c->params, &scan.want, &stixels.want),
        parity->gpu->ops->stixels(parity->gpu, &disparity.got, ground.got.data, &c->params, &scan.got, &stixels.got), what);
    parity_compare(parity, &scan, what);
    parity_compare(parity, &stixels, what);
    test_free_ground(parity, c, &disparity, &ground, &scan, what);
    column_scan(&seed, &scan.want);
    twin_share(&scan);
    test_free_ground(parity, c, &disparity, &ground, &scan, what);
    twin_free(parity->gpu, &disparity);
    twin_free(parity->gpu, &ground);
    twin_free(parity->gpu, &scan);
    twin_free(parity->gpu, &stixels);
}

/* A noisy street of this size, with all numbers of disparities. */
static void test_street(struct parity *parity, int width, int height)
{
    for (int disparities = 64; disparities <= 256; disparities *= 2) {
        struct column_case c = {width, height, BUMPY, column_params(&seed), {0}};
        char what[64];
        c.params.mask.infinity = 0;
        c.params.disparities = disparities;
        c.ground = column_ground(&seed, &c.params, c.height);
        snprintf(what, sizeof what, "street of %d x %d, %d disparities", width, height, disparities);
        test_case(parity, &c, what);
    }
}

/* Four of its columns need more shared memory than a block has. */
static int test_tall(void)
{
    const struct plx_limits limits = {.width = 64, .height = 8191, .disparities = 256};
    struct parity parity;

    parity_open(&limits, &parity);
    test_street(&parity, limits.width, limits.height);
    return parity_close(&parity);
}

/* test_gpu_columns [cases]: so many of the small ones only, for checkers that slow everything down. */
int main(int argc, char **argv)
{
    const struct plx_limits limits = {.width = 1920, .height = 1080, .disparities = 256};
    const int cases = argc == 2 ? atoi(argv[1]) : COLUMN_CASES;
    struct parity parity;

    parity_open(&limits, &parity);
    seed = test_seed();
    for (int i = 0; i < cases; i++) {
        const struct column_case c = column_case(&seed, i);
        char what[64];
        snprintf(what, sizeof what, "columns, case %d, %d x %d, content %d", i, c.width, c.height, (int)c.content);
        test_case(&parity, &c, what);
    }
    if (argc != 2) {
        test_street(&parity, 1241, 375);
        test_street(&parity, limits.width, limits.height);
    }
    int failed = parity_close(&parity);
    if (argc != 2)
        failed |= test_tall();
    return failed;
}
