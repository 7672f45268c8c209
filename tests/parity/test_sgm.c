/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stage sgm, all five of its outputs, by each way to launch it: every size of image with other parameters drawn at random, over
 * all of their range; then each number of disparities, paths and each census at its limits, on noise and on structure.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/gpu.h"
#include "tests/parity/parity.h"

static const int sizes[][2] = {{1, 1},    {2, 1},    {1, 2},    {2, 2},    {7, 1},   {1, 7},    {7, 7},     {31, 33},
                               {33, 31},  {3, 90},   {90, 3},   {64, 64},  {129, 8}, {8, 129},  {513, 2},   {2, 513},
                               {513, 33}, {33, 513}, {128, 20}, {127, 21}, {256, 9}, {257, 40}, {200, 150}, {1241, 377}};

#define POISON 0xA5 /* what twin_new fills with */

static uint64_t state;

enum scene { NOISE, STEPS, BLACK, WHITE, SHIFTED, SCENES };

/* A pair: of unrelated noise; of coarse steps with many ties; without contrast; or the same texture, shifted. */
static void fill_pair(enum scene scene, struct plx_image *left, struct plx_image *right)
{
    for (int y = 0; y < left->height; y++) {
        uint8_t *l = plx_row(left, y), *r = plx_row(right, y);
        const int shift = (int)random_below(&state, 60);
        for (int x = 0; x < left->width; x++) {
            switch (scene) {
            case NOISE:
                l[x] = (uint8_t)random_next(&state);
                r[x] = (uint8_t)random_next(&state);
                break;
            case STEPS:
                l[x] = (uint8_t)(x / 9 * 40 + y / 7 * 24);
                r[x] = (uint8_t)((x + 12) / 9 * 40 + y / 7 * 24);
                break;
            case BLACK:
                l[x] = r[x] = 0;
                break;
            case WHITE:
                l[x] = r[x] = 255;
                break;
            default:
                r[x] = (uint8_t)((x * 7919 + y * 104729) % 251);
                l[x] = (uint8_t)(((x - shift) * 7919 + y * 104729) % 251 + (int)random_below(&state, 4));
            }
        }
    }
}

struct outputs {
    struct twin left, right, raw, s1, s2;
};

static struct plx_candidates candidates(const struct outputs *o, bool gpu)
{
    if (gpu)
        return (struct plx_candidates){o->left.got, o->right.got, o->raw.got, o->s1.got, o->s2.got};
    return (struct plx_candidates){o->left.want, o->right.want, o->raw.want, o->s1.want, o->s2.want};
}

static void compare(struct parity *parity, const struct plx_match *match, enum scene scene, int width, int height)
{
    const enum plx_type word = match->census == PLX_CENSUS_FULL_9X7 ? PLX_U64 : PLX_U32;
    struct twin grey[2], census[2], gradient[2];
    struct outputs out;
    struct twin *const outputs[] = {&out.left, &out.right, &out.raw, &out.s1, &out.s2};
    static const char *const names[] = {"left", "right", "raw", "s1", "s2"};
    struct plx_features cpu[2], gpu[2];
    char what[320], which[400];

    snprintf(
        what, sizeof what,
        "sgm D %d, minimum %d, paths %d, smooth %d, census %d (zero border %d), gradients %d/%d, P1 %d/%d, P2 %d..%d scale %d, "
        "uniqueness %d, subpixel %d, scene %d",
        match->disparities, match->min_disparity, match->paths, match->smooth, match->census, match->census_zero_border,
        match->gradient_cap, match->gradient_cap_y, match->p1_straight, match->p1_diagonal, match->p2_min, match->p2,
        match->p2_scale, match->uniqueness, match->subpixel, scene);
    for (int eye = 0; eye < 2; eye++) {
        grey[eye] = twin_new(parity->gpu, width, height, PLX_U8);
        census[eye] = twin_new(parity->gpu, width, height, word);
        gradient[eye] = twin_new(parity->gpu, width, height, PLX_U16);
        cpu[eye] = (struct plx_features){census[eye].want, gradient[eye].want};
        gpu[eye] = (struct plx_features){census[eye].got, gradient[eye].got};
    }
    for (int i = 0; i < PARITY_COUNT(outputs); i++)
        *outputs[i] = twin_new(parity->gpu, width, height, PLX_U16);
    fill_pair(scene, &grey[0].want, &grey[1].want);
    for (int eye = 0; eye < 2; eye++) {
        twin_share(&grey[eye]);
        parity_done(parity, parity->cpu->ops->census(parity->cpu, &grey[eye].want, match, &cpu[eye]),
                    parity->gpu->ops->census(parity->gpu, &grey[eye].got, match, &gpu[eye]), what);
    }
    const struct plx_candidates expected = candidates(&out, false), got = candidates(&out, true);
    const int result = parity->cpu->ops->sgm(parity->cpu, &cpu[0], &cpu[1], &grey[0].want, match, &expected);
    for (int schedule = -1; schedule < PLX_GPU_SCHEDULES; schedule++) { /* each way to launch it */
        plx_gpu_set_schedule(parity->gpu, schedule);
        for (int i = 0; i < PARITY_COUNT(outputs); i++)
            memset(outputs[i]->got.data, POISON, outputs[i]->got.pitch * (size_t)height);
        parity_done(parity, result, parity->gpu->ops->sgm(parity->gpu, &gpu[0], &gpu[1], &grey[0].got, match, &got), what);
        for (int i = 0; i < PARITY_COUNT(outputs); i++) {
            snprintf(which, sizeof which, "%s, launch %s: %s", names[i],
                     schedule < 0 ? "by itself" : plx_gpu_schedule_name(schedule), what);
            parity_compare(parity, outputs[i], which);
        }
    }
    for (int i = 0; i < PARITY_COUNT(outputs); i++)
        twin_free(parity->gpu, outputs[i]);
    for (int eye = 0; eye < 2; eye++) {
        twin_free(parity->gpu, &grey[eye]);
        twin_free(parity->gpu, &census[eye]);
        twin_free(parity->gpu, &gradient[eye]);
    }
}

/* LOW .. HIGH, the ends more often than the rest. */
static int draw(int low, int high)
{
    const uint32_t die = random_below(&state, 6);
    return die == 0 ? low : die == 1 ? high : low + (int)random_below(&state, (uint32_t)(high - low + 1));
}

static struct plx_match random_match(void)
{
    struct plx_match match;

    (random_below(&state, 2) == 0 ? plx_match_default : plx_match_classic)(&match);
    match.disparities = 64 << random_below(&state, 3);
    match.min_disparity = random_below(&state, 8) == 0 ? draw(-256, 256) : draw(-16, 64);
    match.paths = random_below(&state, 2) == 0 ? 4 : 8;
    match.smooth = random_below(&state, 2);
    match.census = (enum plx_census_kind)random_below(&state, 4);
    match.census_zero_border = random_below(&state, 2);
    match.gradient_cap = random_below(&state, 2) == 0 ? 0 : draw(1, 32);
    match.gradient_cap_y = draw(0, 16);
    match.p2 = draw(0, 120);
    match.p2_min = draw(0, match.p2);
    match.p2_scale = random_below(&state, 2) == 0 ? 0 : draw(0, 300);
    match.p1_straight = draw(0, match.p2_min);
    match.p1_diagonal = draw(0, match.p2_min);
    match.uniqueness = draw(0, 1000);
    match.subpixel = (enum plx_subpixel)random_below(&state, 3);
    return match;
}

static void test_random(struct parity *parity, int rounds)
{
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < PARITY_COUNT(sizes); i++) {
            const struct plx_match match = random_match();
            const bool large = sizes[i][0] > 1000;
            if (!large || round % 8 == 0)
                compare(parity, &match, (enum scene)random_below(&state, SCENES), sizes[i][0], sizes[i][1]);
        }
    }
}

/* The largest sums there are, and both presets, at every D and number of paths. */
static void test_limits(struct parity *parity)
{
    for (int variant = 0; variant < 3 * 2 * 3; variant++) {
        struct plx_match match;
        (variant / 6 == 1 ? plx_match_classic : plx_match_default)(&match);
        match.disparities = 64 << variant % 3;
        match.paths = variant / 3 % 2 ? 4 : 8;
        if (variant / 6 == 2) {
            match.census = PLX_CENSUS_FULL_9X7;
            match.gradient_cap = 32;
            match.gradient_cap_y = 16;
            match.p1_straight = match.p1_diagonal = match.p2 = match.p2_min = 120;
            match.p2_scale = 0;
        }
        for (enum scene scene = NOISE; scene < SCENES; scene++)
            compare(parity, &match, scene, 300, 70);
    }
}

/* Lines so long that sums have to be reduced on the way. */
static int test_long_lines(int width, int height)
{
    const struct plx_limits limits = {.width = width, .height = height, .disparities = 64};
    struct plx_match match;
    struct parity parity;

    parity_open(&limits, &parity);
    plx_match_default(&match);
    match.disparities = 64;
    match.census = PLX_CENSUS_FULL_9X7;
    match.gradient_cap = 32;
    for (int variant = 0; variant < 2; variant++, match.p2_scale = 0)
        compare(&parity, &match, NOISE, width, height);
    return parity_close(&parity);
}

/* test_gpu_sgm [rounds of random parameters] */
int main(int argc, char **argv)
{
    const struct plx_limits limits = {.width = 1300, .height = 600, .disparities = 256};
    const int rounds = argc > 1 ? atoi(argv[1]) : 20;
    struct parity parity;

    parity_open(&limits, &parity);
    state = test_seed();
    test_random(&parity, rounds);
    test_limits(&parity);
    int failed = parity_close(&parity);
    failed |= test_long_lines(8192, 3);
    failed |= test_long_lines(3, 8192);
    return failed;
}
