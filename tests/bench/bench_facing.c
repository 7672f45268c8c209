/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the step of facing surfaces (match.facing) leaves of the bias towards whole disparities (pixel locking), and what it
 * does to real pairs.
 *
 *   bench_facing scenes   bias of boxes, poles and walls at 24 distances of 2 to 20 m, textured and weak; the worst distance
 *   bench_facing pairs    real pairs: bad pixels, and pixels within 0.5 and 0.25 px of the truth
 *   bench_facing          both
 *
 * Tsukuba's truth has whole disparities only, so that its pixels within 0.25 px reward locking.
 */
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "cpu/cpu.h"
#include "drivers/files/picture.h"
#include "oracle/matching.h"
#include "oracle/test_image.h"
#include "tests/facing_scene.h"

enum method { OFF, ON, METHODS };
static const char *const method_name[METHODS] = {"off", "on"};

static void must(int result, const char *what)
{
    if (result < 0) {
        fprintf(stderr, "bench_facing: %s: %s\n", what, plx_strerror(result));
        exit(1);
    }
}

static int at(const struct plx_image *image, int x, int y)
{
    x = x < 0 ? 0 : x < image->width ? x : image->width - 1;
    y = y < 0 ? 0 : y < image->height ? y : image->height - 1;
    return image->type == PLX_U8 ? ((const uint8_t *)plx_row(image, y))[x] : ((const uint16_t *)plx_row(image, y))[x];
}

/* --- real pairs ---------------------------------------------------------------------------------------------------------- */

enum share { BAD_1, BAD_3, WITHIN_HALF, WITHIN_QUARTER, VALID, SHARES };

static void add_shares(const struct plx_image *disparity, const struct plx_image *truth, double sum[SHARES])
{
    double count[SHARES] = {0}, known = 0;
    for (int y = 0; y < truth->height; y++)
        for (int x = 0; x < truth->width; x++) {
            const int want = at(truth, x, y), v = at(disparity, x, y);
            known += want > 0;
            if (want == 0 || v == PLX_DISPARITY_INVALID)
                continue;
            const double error = fabs(v / (double)PLX_DISPARITY_ONE - want / 256.0);
            count[BAD_1] += error > 1;
            count[BAD_3] += error > 3;
            count[WITHIN_HALF] += error <= 0.5;
            count[WITHIN_QUARTER] += error <= 0.25;
            count[VALID]++;
        }
    for (int i = 0; i < SHARES; i++)
        sum[i] += 100 * count[i] / (i == VALID ? known : count[VALID]);
}

/* IMAGE: left and right picture, truth. */
static void match_pair(const struct plx_image *image, int disparities, bool facing, double strict[SHARES], double dense[SHARES])
{
    const int width = image[0].width, height = image[0].height;
    const struct plx_limits limits = {width, height, disparities, 0};
    struct plx_image plane[MATCHING_PLANES];
    struct plx_stages *stages;
    struct plx_match match;

    plx_match_default(&match);
    match.disparities = disparities;
    match.facing = facing;
    must(plx_cpu_create(&limits, &stages), "CPU");
    for (int i = 0; i < MATCHING_PLANES; i++)
        plane[i] = test_image_new(width, height, matching_type(&match, (enum matching_plane)i), 0);
    must(matching_run(stages, image, &match, plane), "matching");
    add_shares(&plane[MATCHING_STRICT], &image[2], strict);
    add_shares(&plane[MATCHING_DENSE], &image[2], dense);
    for (int i = 0; i < MATCHING_PLANES; i++)
        test_image_free(&plane[i]);
    stages->ops->destroy(stages);
}

/* Every STEP-th of the folders that match PATTERN, from FIRST on. */
static void measure_pairs(const char *name, const char *pattern, int first, int step)
{
    double strict[METHODS][SHARES] = {{0}}, dense[METHODS][SHARES] = {{0}};
    int pairs = 0;
    glob_t found;
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = (size_t)first; i < found.gl_pathc; i += (size_t)step, pairs++) {
        static const char *const file[] = {"left.png", "right.png", "gt.png", "nonocc.png"};
        struct plx_image image[4] = {{0}};
        for (int k = 0; k < 4; k++) {
            char path[700];
            snprintf(path, sizeof path, "%.*s%s", (int)(strlen(found.gl_pathv[i]) - strlen("gt.png")), found.gl_pathv[i],
                     file[k]);
            const int result = plx_picture_read(path, k == 2 ? PLX_U16 : PLX_U8, &image[k], NULL);
            must(k == 3 ? 0 : result, path); /* KITTI's truth has no occluded pixels */
        }
        for (int y = 0; image[3].data && y < image[3].height; y++)
            for (int x = 0; x < image[3].width; x++)
                if (at(&image[3], x, y) != 255)
                    ((uint16_t *)plx_row(&image[2], y))[x] = 0;
        for (int method = 0; method < METHODS; method++)
            match_pair(image, strstr(found.gl_pathv[i], "aloe") ? 256 : 128, method == ON, strict[method], dense[method]);
        for (int k = 0; k < 4; k++)
            free(image[k].data);
    }
    globfree(&found);
    for (int method = 0; method < METHODS; method++)
        for (int plane = 0; plane < 2; plane++) {
            const double *s = plane ? dense[method] : strict[method];
            printf("%-11s %-3s %-6s bad>1 %6.3f  bad>3 %6.3f  within 0.5 %6.2f  0.25 %6.2f  valid %6.2f %%\n", name,
                   method_name[method], plane ? "dense" : "strict", s[BAD_1] / pairs, s[BAD_3] / pairs, s[WITHIN_HALF] / pairs,
                   s[WITHIN_QUARTER] / pairs, s[VALID] / pairs);
        }
}

/* --- scenes -------------------------------------------------------------------------------------------------------------- */

#define DISTANCES 24

static const struct facing_look looks[] = {{1, 1.5, 1}, {0.3, 1.5, 1}, {0.15, 1.5, 1}, {0.08, 0.7, 1}, {0.3, 1.5, 1.04}};

typedef struct facing_bias all_biases[DISTANCES][METHODS][FACING_SURFACES][FACING_OUTPUTS];

/* Measures a wall, else a box and a pole. */
static void measure_look(struct facing_scene *scene, const struct facing_look *look, bool wall, all_biases ret_bias)
{
    struct plx_match match;

    plx_match_default(&match);
    match.disparities = FACING_DISPARITIES;
    for (int number = 0; number < DISTANCES; number++) {
        facing_scene_render(scene, wall, 2 * pow(10, (number + 0.5) / DISTANCES), look, number + 1);
        for (int method = 0; method < METHODS; method++) {
            match.facing = method == ON;
            facing_scene_measure(scene, &match, ret_bias[number][method]);
        }
    }
}

static void print_bias(const struct facing_look *look, int surface, int output, int method, all_biases bias)
{
    double worst = 0, squares = 0;
    int seen = 0;

    for (int number = 0; number < DISTANCES; number++) {
        const struct facing_bias *here = &bias[number][method][surface][output];
        worst = fmax(worst, fabs(here->px));
        squares += here->px * here->px;
        seen += here->count > 0;
    }
    if (seen > 0)
        printf("contrast %.2f noise %.1f gain %.2f  %-4s %-7s %-3s seen at %2d  bias: worst %.3f  rms %.3f px\n",
               look->contrast, look->noise, look->gain, facing_surface_name[surface], facing_output_name[output],
               method_name[method], seen, worst, sqrt(squares / seen));
}

static void measure_scenes(void)
{
    static all_biases bias;
    struct facing_scene *scene = facing_scene_create();

    for (size_t i = 0; i < sizeof looks / sizeof looks[0]; i++)
        for (int wall = 0; wall < 2; wall++) {
            measure_look(scene, &looks[i], wall, bias);
            for (int surface = wall ? FACING_WALL : FACING_BOX; surface < (wall ? FACING_SURFACES : FACING_WALL); surface++)
                for (int output = 0; output < FACING_OUTPUTS; output++)
                    for (int method = 0; method < METHODS; method++)
                        print_bias(&looks[i], surface, output, method, bias);
        }
    facing_scene_destroy(scene);
}

int main(int argc, char **argv)
{
    const bool all = argc < 2;
    if (all || strcmp(argv[1], "scenes") == 0)
        measure_scenes();
    if (all || strcmp(argv[1], "pairs") == 0) {
        measure_pairs("KITTI even", PLX_TEST_DATA "/kitti_dev/*/gt.png", 0, 2);
        measure_pairs("KITTI odd", PLX_TEST_DATA "/kitti_dev/*/gt.png", 1, 2);
        measure_pairs("Middlebury", PLX_TEST_DATA "/stereo/[amt]*/gt.png", 0, 1);
    }
    return 0;
}
