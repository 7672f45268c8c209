/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fits the tables of core/pipeline/confidence.c on real pairs, and measures them on others: `bench_confidence [tables]`
 * prints, for each preset, how often a disparity is right where the plane says so (reliability), how many errors the tables
 * cover, and the ranking; with `tables` the tables themselves, as C. The fit has every second pair of KITTI and all of
 * Middlebury; the other pairs of KITTI measure it, and each pair of Middlebury a fit without it.
 *
 * The share of right disparities rises with the score of the stage: isotonic regression by pooling neighbours (Ayer, Brunk,
 * Ewing, Reid, Silverman 1955). The two sets differ, so that the table lies between them, nearer to KITTI, which has more
 * pairs.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glob.h>

#include <parallax/error.h>

#include "app/evaluate/sureness.h"
#include "cpu/cpu.h"
#include "drivers/files/picture.h"
#include "oracle/matching.h"
#include "oracle/oracle.h"
#include "oracle/test_image.h"

#define SCORES 256
#define TRUTH_ONE 256           /* steps in a pixel, in the pictures of the truth */
#define ERROR_ONE 64            /* steps of a histogram of errors in a pixel */
#define ERRORS (64 * ERROR_ONE) /* and all of them; the last holds what is larger */
#define GROUP 0.004             /* least share of the pixels that one error is estimated from */
#define MAX_PAIRS 64

enum set { KITTI, MIDDLEBURY, SETS };
static const char *const set_name[SETS] = {"KITTI", "Middlebury"};
static const double set_weight[SETS] = {0.6, 0.4};

/* Pixels of a pair, by the score of the stage. */
struct pair {
    enum set set;
    bool fitted;
    double dense[SCORES], right[SCORES], pixels;  /* with a dense disparity; within 1 px of the truth; all of the first */
    double unknown;                               /* without a statement */
    double strict[SCORES][ERRORS], strict_pixels; /* errors of the strict disparity */
};

struct tables {
    uint8_t probability[SCORES];
    double sigma_px[SCORES], bound_px[SCORES]; /* by the probability */
};

static struct pair *pairs[MAX_PAIRS];
static int pair_count;

static void must(int result, const char *what)
{
    if (result < 0) {
        fprintf(stderr, "bench_confidence: %s: %s\n", what, plx_strerror(result));
        exit(1);
    }
}

/* --- counting ------------------------------------------------------------------------------------------------------------ */

static void count_pixels(const struct plx_image plane[MATCHING_PLANES], const struct plx_image *known,
                         const struct plx_image *score, const struct plx_image *truth, struct pair *ret)
{
    for (int y = 0; y < truth->height; y++) {
        const uint16_t *want = plx_row(truth, y), *dense = plx_row(&plane[MATCHING_DENSE], y);
        const uint16_t *strict = plx_row(&plane[MATCHING_STRICT], y);
        const uint16_t *s1 = plx_row(&plane[MATCHING_S1], y), *s2 = plx_row(&plane[MATCHING_S2], y);
        const uint8_t *value = plx_row(score, y), *is_known = plx_row(known, y);
        for (int x = 0; x < truth->width; x++) {
            const double px = (double)want[x] / TRUTH_ONE;
            if (want[x] == 0)
                continue;
            if (dense[x] == PLX_DISPARITY_INVALID || is_known[x] == 0 || s2[x] <= s1[x]) {
                ret->unknown++;
                continue;
            }
            ret->pixels++;
            ret->dense[value[x]]++;
            ret->right[value[x]] += fabs(dense[x] / (double)PLX_DISPARITY_ONE - px) <= 1;
            if (strict[x] == PLX_DISPARITY_INVALID)
                continue;
            const double error = fabs(strict[x] / (double)PLX_DISPARITY_ONE - px) * ERROR_ONE;
            ret->strict[value[x]][error < ERRORS - 1 ? (int)error : ERRORS - 1]++;
            ret->strict_pixels++;
        }
    }
}

static void hide_occluded(const char *folder, const struct plx_image *truth)
{
    struct plx_image seen;
    char path[600];
    snprintf(path, sizeof path, "%.500s/nonocc.png", folder);
    if (plx_picture_read(path, PLX_U8, &seen, NULL) < 0)
        return; /* KITTI's truth has no occluded pixels */
    for (int y = 0; y < truth->height; y++)
        for (int x = 0; x < truth->width; x++)
            if (((const uint8_t *)plx_row(&seen, y))[x] != 255)
                ((uint16_t *)plx_row(truth, y))[x] = 0;
    free(seen.data);
}

static void count_pair(const char *folder, struct plx_match match, struct pair *ret)
{
    static const char *const name[] = {"left", "right", "gt"};
    struct plx_image picture[3], plane[MATCHING_PLANES];
    struct plx_stages *stages;
    char path[600];

    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%.500s/%s.png", folder, name[i]);
        must(plx_picture_read(path, i < 2 ? PLX_U8 : PLX_U16, &picture[i], NULL), path);
    }
    hide_occluded(folder, &picture[2]);
    match.disparities = strstr(folder, "aloe") ? 256 : 128;
    const int width = picture[0].width, height = picture[0].height;
    const struct plx_limits limits = {width, height, match.disparities, 0};
    must(plx_cpu_create(&limits, &stages), "CPU");
    for (int i = 0; i < MATCHING_PLANES; i++)
        plane[i] = test_image_new(width, height, matching_type(&match, (enum matching_plane)i), 0);
    must(matching_run(stages, picture, &match, plane), folder);
    const struct plx_candidates candidates = {
        .raw = plane[MATCHING_CANDIDATE_RAW], .s1 = plane[MATCHING_S1], .s2 = plane[MATCHING_S2]};
    oracle_confidence_score(&candidates, &plane[MATCHING_CHECKED], &match, &plane[MATCHING_CONFIDENCE]);
    count_pixels(plane, match.repeats ? &plane[MATCHING_DISTINCT] : &picture[0], &plane[MATCHING_CONFIDENCE], &picture[2], ret);
    stages->ops->destroy(stages);
    for (int i = 0; i < MATCHING_PLANES; i++)
        test_image_free(&plane[i]);
    for (int i = 0; i < 3; i++)
        free(picture[i].data);
}

/* The pairs that match PATTERN, FIRST and every STEP-th one for the fit. */
static void count_folders(enum set set, const char *pattern, int first, int step, const struct plx_match *match)
{
    glob_t folders;
    if (glob(pattern, 0, NULL, &folders) != 0)
        return;
    for (size_t i = 0; i < folders.gl_pathc && pair_count < MAX_PAIRS; i++) {
        struct pair *pair = calloc(1, sizeof *pair);
        must(pair ? 0 : PLX_ERR_NOMEM, pattern);
        pair->set = set;
        pair->fitted = ((int)i + first) % step == 0;
        *strrchr(folders.gl_pathv[i], '/') = '\0';
        count_pair(folders.gl_pathv[i], *match, pair);
        pairs[pair_count++] = pair;
    }
    globfree(&folders);
}

/* --- fitting ------------------------------------------------------------------------------------------------------------- */

/* The rising function of the score that differs least from RIGHT / ALL. */
static void pool(const double all[SCORES], const double right[SCORES], double ret_mean[SCORES])
{
    struct {
        double all, right;
        int end;
    } block[SCORES];
    int count = 0;

    for (int i = 0; i < SCORES; i++) {
        block[count].all = all[i];
        block[count].right = right[i];
        block[count++].end = i + 1;
        while (count > 1 && block[count - 2].right * block[count - 1].all >= block[count - 1].right * block[count - 2].all) {
            block[count - 2].all += block[count - 1].all;
            block[count - 2].right += block[count - 1].right;
            block[count - 2].end = block[count - 1].end;
            count--;
        }
    }
    for (int i = 0, k = 0; i < SCORES; i++) {
        k += i >= block[k].end;
        ret_mean[i] = block[k].all > 0 ? block[k].right / block[k].all : 0;
    }
}

/* All pairs have equal weight in their set. */
static void fit_probability(const struct pair *without, struct tables *ret)
{
    double mean[SETS][SCORES];
    for (int set = 0; set < SETS; set++) {
        double all[SCORES] = {0}, right[SCORES] = {0};
        for (int k = 0; k < pair_count; k++)
            for (int i = 0; i < SCORES && pairs[k]->set == (enum set)set && pairs[k]->fitted && pairs[k] != without; i++) {
                all[i] += pairs[k]->dense[i] / pairs[k]->pixels;
                right[i] += pairs[k]->right[i] / pairs[k]->pixels;
            }
        pool(all, right, mean[set]);
    }
    for (int i = 0; i < SCORES; i++) {
        const double p = set_weight[KITTI] * mean[KITTI][i] + set_weight[MIDDLEBURY] * mean[MIDDLEBURY][i];
        ret->probability[i] = (uint8_t)fmin(fmax(round(255 * p), 1), 255); /* 0 is no statement */
    }
}

/* Adds the errors where the probability is P to ERRORS; returns what it added. */
static double add_errors(const struct pair *without, const uint8_t probability[SCORES], int p, double errors[ERRORS])
{
    double added = 0;
    for (int k = 0; k < pair_count; k++) {
        const struct pair *pair = pairs[k];
        if (!pair->fitted || pair == without)
            continue;
        for (int i = 0; i < SCORES; i++)
            for (int e = 0; probability[i] == p && e < ERRORS; e++) {
                const double share = set_weight[pair->set] * pair->strict[i][e] / pair->strict_pixels;
                errors[e] += share;
                added += share;
            }
    }
    return added;
}

static double quantile(const double errors[ERRORS], double sum, double below)
{
    double before = 0;
    int e = 0;
    while (e < ERRORS - 1 && before + errors[e] < below * sum)
        before += errors[e++];
    return (e + (errors[e] > 0 ? (below * sum - before) / errors[e] : 0)) / ERROR_ONE;
}

/* Errors of groups of probabilities, each with enough pixels; they fall as the probability rises. */
static void fit_errors(const struct pair *without, struct tables *ret)
{
    static double errors[ERRORS];
    double group = 0, sigma = INFINITY, bound = INFINITY, all = 0;
    int first = 0;

    for (int k = 0; k < pair_count; k++)
        all += pairs[k]->fitted && pairs[k] != without ? set_weight[pairs[k]->set] : 0;
    memset(errors, 0, sizeof errors);
    for (int p = 0; p < SCORES; p++) {
        group += add_errors(without, ret->probability, p, errors);
        if (group < GROUP * all && p < SCORES - 1)
            continue;
        if (group >= GROUP * all) {
            sigma = fmin(sigma, quantile(errors, group, 0.68));
            bound = fmin(bound, quantile(errors, group, 0.95));
        }
        for (; first <= p; first++) {
            ret->sigma_px[first] = sigma;
            ret->bound_px[first] = bound;
        }
        memset(errors, 0, sizeof errors);
        group = 0;
    }
}

static void fit(const struct pair *without, struct tables *ret)
{
    fit_probability(without, ret);
    fit_errors(without, ret);
}

/* --- measuring ----------------------------------------------------------------------------------------------------------- */

#define PAIR 1e9 /* the pixels of each pair count as so many, so that pairs have equal weight */

struct measures {
    struct plx_sureness sum;
    int pairs;
};

static uint64_t part_of(double part, double whole)
{
    return (uint64_t)llround(PAIR * part / whole);
}

static void measure(const struct pair *pair, const struct tables *tables, struct measures *m)
{
    double sigma = 0, bound = 0;
    for (int i = 0; i < SCORES; i++) {
        const int p = tables->probability[i];
        m->sum.pixels[p] += part_of(pair->dense[i], pair->pixels);
        m->sum.right[p] += part_of(pair->right[i], pair->pixels);
        for (int e = 0; e < ERRORS; e++) { /* an error is anywhere in its step */
            sigma += pair->strict[i][e] * fmin(fmax(tables->sigma_px[p] * ERROR_ONE - e, 0), 1);
            bound += pair->strict[i][e] * fmin(fmax(tables->bound_px[p] * ERROR_ONE - e, 0), 1);
        }
    }
    m->sum.pixels[0] += part_of(pair->unknown, pair->pixels);
    m->sum.strict += part_of(1, 1);
    m->sum.in_sigma += part_of(sigma, pair->strict_pixels);
    m->sum.in_bound += part_of(bound, pair->strict_pixels);
    m->pairs++;
}

static void report(const char *preset, enum set set, const char *which, const struct measures *m)
{
    struct plx_sureness_figures f;
    plx_sureness_figures(&m->sum, &f);
    printf("%s, %s, %d pairs that %s\n", preset, set_name[set], m->pairs, which);
    for (int k = 0; k < PLX_SURENESS_CLASSES; k++)
        if (f.class[k].share > 0.001)
            printf("  said %5.3f  is %5.3f  (%+5.1f points)  of %5.2f %%\n", f.class[k].said, f.class[k].right,
                   100 * (f.class[k].right - f.class[k].said), 100 * f.class[k].share);
    printf("  no statement: %.2f %%; strict: %.1f %% within sigma, %.1f %% within the bound\n", 100 * f.unknown, 100 * f.sigma,
           100 * f.bound);
    printf("  area under the sparsification curve, above the best: %.4f\n", f.area - f.least_area);
}

static void measure_sets(const char *preset, const struct tables *tables)
{
    static const struct measures none;
    struct measures fitted = none, held_back = none, left_out = none;
    struct tables without;

    for (int k = 0; k < pair_count; k++) {
        if (pairs[k]->set == MIDDLEBURY) {
            fit(pairs[k], &without);
            measure(pairs[k], &without, &left_out);
        } else {
            measure(pairs[k], tables, pairs[k]->fitted ? &fitted : &held_back);
        }
    }
    report(preset, KITTI, "the tables were fitted on", &fitted);
    report(preset, KITTI, "the tables were not fitted on", &held_back);
    report(preset, MIDDLEBURY, "each measure a fit without it", &left_out);
}

static void print_tables(const struct tables *t)
{
    printf("    {.probability = {");
    for (int i = 0; i < SCORES; i++)
        printf("%s%d", i ? ", " : "", t->probability[i]);
    printf("},\n     .step = {");
    for (int i = 1; i < SCORES; i++)
        if (i == 1 || t->sigma_px[i] < t->sigma_px[i - 1] || t->bound_px[i] < t->bound_px[i - 1])
            printf("%s{%d, %ld, %ld}", i > 1 ? ", " : "", i, lround(t->sigma_px[i] * 256), lround(t->bound_px[i] * 256));
    puts("}},");
}

int main(int argc, char **argv)
{
    static struct tables tables;
    for (int preset = 0; preset < 2; preset++) {
        struct plx_match match;
        (preset ? plx_match_classic : plx_match_default)(&match);
        count_folders(KITTI, PLX_TEST_DATA "/kitti_dev/*/gt.png", 0, 2, &match);
        count_folders(KITTI, PLX_TEST_DATA "/stereo/kitti*/gt.png", 1, 2, &match);
        count_folders(MIDDLEBURY, PLX_TEST_DATA "/stereo/[!k]*/gt.png", 0, 1, &match);
        if (pair_count == 0) {
            puts("no real pairs in " PLX_TEST_DATA);
            return 1;
        }
        fit(NULL, &tables);
        measure_sets(preset ? "classic" : "default", &tables);
        if (argc > 1 && strcmp(argv[1], "tables") == 0)
            print_tables(&tables);
        while (pair_count > 0)
            free(pairs[--pair_count]);
    }
    return 0;
}
