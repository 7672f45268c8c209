/* SPDX-License-Identifier: Apache-2.0 */
/* The obstacle stages: ground, mask, label, regions and speckle, on noise of every density and on shapes that hurt. */
#include <stdio.h>
#include <stdlib.h>

#include <parallax/frame.h>

#include "core/ground/obstacles.h"
#include "tests/parity/parity.h"

static const int sizes[][2] = {{1, 1},   {2, 1},  {1, 2},   {2, 2},   {7, 7},    {31, 33},   {33, 31},  {32, 16},
                               {64, 64}, {65, 9}, {1, 513}, {513, 1}, {513, 33}, {200, 150}, {513, 97}, {1241, 377}};

enum pattern {
    NOISE_10,
    NOISE_30,
    NOISE_50,
    NOISE_70,
    NOISE_90,
    FULL,
    EMPTY,
    CHECKERBOARD,
    COMB,
    SPIRAL,
    BOXES,
    WILD,
    PATTERNS
};
static const char *const names[PATTERNS] = {"noise 10%", "noise 30%",    "noise 50%", "noise 70%", "noise 90%", "full",
                                            "empty",     "checkerboard", "comb",      "spiral",    "boxes",     "wild"};

static uint64_t state;

/* True on the arm of a spiral one pixel wide, with gaps of one pixel, in a square of SIDE pixels. */
static bool on_spiral(int x, int y, int side)
{
    const int ring = x < side - 1 - y ? (x < y ? x : y) : (side - 1 - x < side - 1 - y ? side - 1 - x : side - 1 - y);
    return ring % 2 == 0 ? !(x == ring && y == ring + 1) : x == ring && y == ring + 1;
}

static bool is_set(enum pattern pattern, int x, int y, int width, int height)
{
    static const uint32_t percent[] = {10, 30, 50, 70, 90};

    switch (pattern) {
    case FULL:
    case WILD:
        return true;
    case EMPTY:
        return false;
    case CHECKERBOARD:
        return (x + y) % 2 == 0;
    case COMB: /* teeth that meet in the last row only */
        return x % 2 == 0 || y == height - 1;
    case SPIRAL:
        return on_spiral(x, y, width < height ? width : height);
    case BOXES:
        return x % 40 < 25 && y % 30 < 5 + x / 40 % 20;
    default:
        return random_below(&state, 100) < percent[pattern];
    }
}

static uint16_t depth(enum pattern pattern, int x, int y)
{
    if (pattern == WILD)
        return (uint16_t)random_next(&state);
    if (random_below(&state, 40) == 0)
        return PLX_DISPARITY_INVALID;
    return (uint16_t)(200 + (pattern == BOXES ? x / 40 * 40 + y / 30 * 300 : y) + (int)random_below(&state, 6));
}

static void paint(enum pattern pattern, struct twin *mask, struct twin *disparity)
{
    const int width = mask->want.width, height = mask->want.height;
    for (int y = 0; y < height; y++) {
        uint8_t *mask_row = plx_row(&mask->want, y);
        uint16_t *row = plx_row(&disparity->want, y);
        for (int x = 0; x < width; x++) {
            mask_row[x] = (uint8_t)(is_set(pattern, x, y, width, height) ? 1 + random_below(&state, 255) : 0);
            row[x] = depth(pattern, x, y);
        }
    }
    twin_share(mask);
    twin_share(disparity);
}

/* Images that differ by less than the refinement takes for outliers, mostly. */
static void paint_alike(struct twin *left, struct twin *right)
{
    for (int y = 0; y < left->want.height; y++) {
        uint8_t *l = plx_row(&left->want, y), *r = plx_row(&right->want, y);
        for (int x = 0; x < left->want.width; x++) {
            l[x] = (uint8_t)(random_below(&state, 60) + 4 * ((uint32_t)x % 40));
            r[x] = (uint8_t)(l[x] ^ random_below(&state, 32));
        }
    }
    twin_share(left);
    twin_share(right);
}

/* Inputs and outputs of the stages for one picture. */
struct scene {
    struct twin mask, disparity, left, right, labels, published, clean;
    struct twin count, regions; /* one row each */
    char what[128];
};

static struct scene scene_new(struct parity *parity, int width, int height)
{
    return (struct scene){.mask = twin_new(parity->gpu, width, height, PLX_U8),
                          .disparity = twin_new(parity->gpu, width, height, PLX_U16),
                          .left = twin_new(parity->gpu, width, height, PLX_U8),
                          .right = twin_new(parity->gpu, width, height, PLX_U8),
                          .labels = twin_new(parity->gpu, width, height, PLX_U32),
                          .published = twin_new(parity->gpu, width, height, PLX_U16),
                          .clean = twin_new(parity->gpu, width, height, PLX_U16),
                          .count = twin_new(parity->gpu, 1, 1, PLX_U32),
                          .regions = twin_new(parity->gpu, PLX_MAX_OBSTACLES * (int)sizeof(struct plx_region) / 8, 1, PLX_U64)};
}

static void scene_free(struct parity *parity, struct scene *s)
{
    struct twin *all[] = {&s->mask,      &s->disparity, &s->left,  &s->right,  &s->labels,
                          &s->published, &s->clean,     &s->count, &s->regions};
    for (int i = 0; i < PARITY_COUNT(all); i++)
        twin_free(parity->gpu, all[i]);
}

static void test_label(struct parity *parity, struct scene *s, int max_step, int min_area, int min_disparity)
{
    const struct plx_label_params params = {max_step, min_area};
    const struct plx_region_input cpu = {&s->labels.want, &s->disparity.want, &s->left.want, &s->right.want, min_disparity};
    const struct plx_region_input gpu = {&s->labels.got, &s->disparity.got, &s->left.got, &s->right.got, min_disparity};

    parity_done(
        parity,
        parity->cpu->ops->label(parity->cpu, &s->mask.want, &s->disparity.want, &params, &s->labels.want, s->count.want.data),
        parity->gpu->ops->label(parity->gpu, &s->mask.got, &s->disparity.got, &params, &s->labels.got, s->count.got.data),
        s->what);
    parity_done(
        parity, parity->cpu->ops->regions(parity->cpu, &cpu, s->count.want.data, s->regions.want.data, &s->published.want),
        parity->gpu->ops->regions(parity->gpu, &gpu, s->count.got.data, s->regions.got.data, &s->published.got), s->what);
    parity_compare(parity, &s->count, s->what);
    parity_compare(parity, &s->labels, s->what);
    parity_compare(parity, &s->published, s->what);
    parity_compare(parity, &s->regions, s->what);
}

static void test_speckle(struct parity *parity, struct scene *s, int max_step, int max_size)
{
    const struct plx_speckle speckle = {max_size, max_step};
    parity_done(parity, parity->cpu->ops->speckle(parity->cpu, &s->disparity.want, &speckle, &s->clean.want),
                parity->gpu->ops->speckle(parity->gpu, &s->disparity.got, &speckle, &s->clean.got), s->what);
    parity_compare(parity, &s->clean, s->what);
}

static void test_components(struct parity *parity, int width, int height)
{
    static const struct {
        int step, area, min_disparity;
    } variants[] = {{0, 0, 0}, {1, 2, -7}, {8, 30, 5}, {70000, 1, 0}};
    struct scene s = scene_new(parity, width, height);

    for (enum pattern pattern = 0; pattern < PATTERNS; pattern++) {
        paint(pattern, &s.mask, &s.disparity);
        paint_alike(&s.left, &s.right);
        for (int i = 0; i < PARITY_COUNT(variants); i++) {
            snprintf(s.what, sizeof s.what, "components of %s, step %d, area %d", names[pattern], variants[i].step,
                     variants[i].area);
            test_label(parity, &s, variants[i].step, variants[i].area, variants[i].min_disparity);
            test_speckle(parity, &s, variants[i].step, variants[i].area);
        }
    }
    scene_free(parity, &s);
}

/* A road that rolls by ROLL 1/16 px a column, with boxes on it; of KIND 0. Others: noise, a wall, nothing valid. */
static void paint_road(struct twin *disparity, int kind)
{
    const int width = disparity->want.width, height = disparity->want.height;
    for (int y = 0; y < height; y++) {
        uint16_t *row = plx_row(&disparity->want, y);
        for (int x = 0; x < width; x++) {
            const int road = (y - height / 3) * 2 + (x - width / 2) / 16 + (int)random_below(&state, 7) - 3;
            const int box = x % 100 < 20 && y > height / 4 && y < height * 3 / 4 ? 300 + x / 4 : 0;
            int value = kind == 0   ? (box > road ? box : road)
                        : kind == 1 ? (int)random_below(&state, 0x10000)
                        : kind == 2 ? 320
                                    : (int)PLX_DISPARITY_INVALID;
            row[x] = (uint16_t)(value < 0 || random_below(&state, 12) == 0 ? (int)PLX_DISPARITY_INVALID : value);
        }
    }
    twin_share(disparity);
}

/* What earlier frames say: nothing; a plane to hold; that, and limits that fit the road; limits and a tilt that do not. */
enum { NO_PRIOR, HELD_PLANE, FITTING_PRIOR, OTHER_PRIOR, PRIORS };

static void set_prior(struct twin *prior, int kind, int height)
{
    static const struct plx_ground_prior limits[PRIORS] = {
        [FITTING_PRIOR] = {{0}, 1000, 600000, 400000, 2000000}, [OTHER_PRIOR] = {{0}, 1, 9000, 2000000, 3000000}};
    struct plx_ground_prior *want = prior->want.data;
    *want = limits[kind];
    if (kind != NO_PRIOR)
        want->held = (struct plx_ground){
            4096, 131072, -131072 / 3 * height + (kind == OTHER_PRIOR) * 90000000, 960000, PLX_GROUND_HELD, 0, 0};
    twin_share(prior);
}

static struct plx_ground_params road_params(int variant, int width, int height)
{
    return (struct plx_ground_params){.enabled = variant / 8 < 2,
                                      .disparities = variant / 8 ? 128 : 64,
                                      .min_disparity = variant / 4 % 2 ? -3 : 0,
                                      .tolerance = variant % 3 * 8 + 4,
                                      .horizon_min = -height / 2,
                                      .horizon_max = height * 3 / 4,
                                      .calibration = {width * 0.8, width * 0.8, width * 0.5, height / 3.0, width * 0.5, 0.12}};
}

static void test_ground(struct parity *parity, int width, int height)
{
    struct twin disparity = twin_new(parity->gpu, width, height, PLX_U16), mask = twin_new(parity->gpu, width, height, PLX_U8);
    struct twin ground = twin_new(parity->gpu, (int)sizeof(struct plx_ground) / 8, 1, PLX_U64);
    struct twin prior = twin_new(parity->gpu, (int)sizeof(struct plx_ground_prior) / 8, 1, PLX_U64);
    char what[64];

    for (int i = 0; i < 4 * 2 * 3 * PRIORS; i++) {
        const int variant = i / PRIORS;
        const struct plx_ground_params params = road_params(variant, width, height);
        const struct plx_mask_params range = {900,
                                              20,
                                              plx_disparity_at_infinity(&params.calibration, params.min_disparity),
                                              params.min_disparity,
                                              60000,
                                              2500000,
                                              width * 4 / 5,
                                              variant % 2 == 0};
        paint_road(&disparity, variant % 4);
        set_prior(&prior, i % PRIORS, height);
        snprintf(what, sizeof what, "ground of kind %d, variant %d, prior %d", variant % 4, variant, i % PRIORS);
        parity_done(parity, parity->cpu->ops->ground(parity->cpu, &disparity.want, &params, prior.want.data, ground.want.data),
                    parity->gpu->ops->ground(parity->gpu, &disparity.got, &params, prior.got.data, ground.got.data), what);
        parity_done(parity, parity->cpu->ops->mask(parity->cpu, &disparity.want, ground.want.data, &range, &mask.want),
                    parity->gpu->ops->mask(parity->gpu, &disparity.got, ground.got.data, &range, &mask.got), what);
        parity_compare(parity, &ground, what);
        parity_compare(parity, &mask, what);
        if (i == 0 && width == 1241 && !((const struct plx_ground *)ground.want.data)->valid) {
            printf("FAILED: the road of the test is no ground\n");
            parity->failures++;
        }
    }
    twin_free(parity->gpu, &disparity);
    twin_free(parity->gpu, &mask);
    twin_free(parity->gpu, &ground);
    twin_free(parity->gpu, &prior);
}

static void test_size(struct parity *parity, int width, int height)
{
    test_ground(parity, width, height);
    test_components(parity, width, height);
}

/* More components than label ranks in shared memory, most of them of 512 pixels or more: stripes, and noise below. */
static int test_many_large(void)
{
    const struct plx_limits limits = {.width = 4300, .height = 620, .disparities = 64};
    struct parity parity;

    parity_open(&limits, &parity);
    struct scene s = scene_new(&parity, limits.width, limits.height);
    for (int y = 0; y < limits.height; y++) {
        uint8_t *mask = plx_row(&s.mask.want, y);
        uint16_t *disparity = plx_row(&s.disparity.want, y);
        for (int x = 0; x < limits.width; x++) {
            const bool stripe = x % 2 == 0 && y < 520 + x % 80;
            const bool small = y > 604 && random_below(&state, 10) < 3;
            mask[x] = stripe || small;
            disparity[x] = 300;
        }
    }
    twin_share(&s.mask);
    twin_share(&s.disparity);
    paint_alike(&s.left, &s.right);
    snprintf(s.what, sizeof s.what, "many large components");
    test_label(&parity, &s, 8, 1, 0);
    scene_free(&parity, &s);
    return parity_close(&parity);
}

/* test_gpu_obstacles [width height]: that size only, for checkers that slow everything down. */
int main(int argc, char **argv)
{
    const struct plx_limits limits = {.width = 1300, .height = 600, .disparities = 128};
    struct parity parity;

    parity_open(&limits, &parity);
    state = test_seed();
    if (argc == 3)
        test_size(&parity, atoi(argv[1]), atoi(argv[2]));
    for (int i = 0; argc != 3 && i < PARITY_COUNT(sizes); i++)
        test_size(&parity, sizes[i][0], sizes[i][1]);
    int failed = parity_close(&parity);
    if (argc != 3)
        failed |= test_many_large();
    return failed;
}
