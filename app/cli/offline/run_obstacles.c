/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax run DIR --truth lidar`: obstacles and ground against LiDAR. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <parallax/error.h>

#include "app/cli/offline/run.h"
#include "app/evaluate/locate_measures.h"
#include "app/evaluate/map_measures.h"
#include "app/evaluate/obstacle_measures.h"
#include "app/exit.h"
#include "app/view/json.h"

struct measured {
    struct plx_obstacle_counts sum;
    struct plx_map_counts map;
    struct plx_locate_boxes boxes;
    struct plx_locate_figures locate;
    struct plx_ground_error *ground; /* error of each pair */
    int count;
};

static int measure(struct plx_run *run, const struct plx_pair *pair, const struct plx_pair_images *images, void *context)
{
    struct measured *measured = context;
    struct plx_error_message message = {""};
    struct plx_pair_result done;
    struct plx_lidar_truth truth;
    (void)pair;
    if (!images->truth.data)
        return PLX_EXIT_OK;
    int result = plx_run_prepare(run, images->left.width, images->left.height, &run->config.pipeline, &message);
    if (result == 0 && !run->calibrated)
        result = plx_fail(&message, PLX_ERR_NOT_FOUND, "%s: --truth lidar needs a calibration; expected a calib.txt beside it",
                          pair->left);
    if (result < 0)
        return plx_run_fail(result, true, &message);
    result = plx_run_images(run, images, 0, &done, &message);
    if (result < 0)
        return plx_run_fail(result, false, &message);
    result = plx_run_check_truth(done.frame, images, &message);
    if (result < 0)
        return plx_run_fail(result, false, &message);
    result = plx_lidar_truth_read(&images->truth, run->options.truth_scale, &done.frame->calibration, &truth);
    if (result == 0) {
        result = plx_obstacle_measures_add(done.frame, &truth, &measured->sum, &measured->ground[measured->count++]);
        if (result == 0)
            result = plx_map_measures_add(done.frame, &truth, &measured->map);
        if (result == 0)
            result = plx_locate_measures_add(done.frame, &truth, &measured->boxes);
        free(truth.point);
    }
    return result < 0 ? plx_exit_error("parallax run", PLX_EXIT_OS, "%s", plx_strerror(result)) : PLX_EXIT_OK;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum field { HEIGHT, PITCH, AT_10_M };

/* The error that PART of the frames with ground stay within. NAN without any. */
static double quantile(const struct measured *measured, enum field field, double part)
{
    double *value = malloc(((size_t)measured->count + 1) * sizeof *value);
    int count = 0;
    for (int i = 0; value && i < measured->count; i++) {
        const struct plx_ground_error *ground = &measured->ground[i];
        const double error = field == HEIGHT ? ground->height_m : field == PITCH ? ground->pitch_rad : ground->at_10_m;
        if (!isnan(error))
            value[count++] = error;
    }
    if (value)
        qsort(value, (size_t)count, sizeof *value, ascending);
    const double result = count > 0 ? value[(int)(part * (count - 1) + 0.5)] : NAN;
    free(value);
    return result;
}

struct figure {
    const char *name, *unit, *text; /* name: of JSON */
    double value;
};

enum { FIGURES = 54 };

static int list_locate_figures(const struct measured *m, struct figure *ret)
{
    static const char *const name[PLX_LOCATE_WAYS][4] = {
        {"locate_centre_5", "locate_centre_10", "locate_centre_p95", "locate_known_centre_5"},
        {"locate_median_5", "locate_median_10", "locate_median_p95", "locate_known_median_5"},
        {"locate_5", "locate_10", "locate_p95", "locate_known_5"}};
    static const char *const text[PLX_LOCATE_WAYS][4] = {
        {"centre of a box: within 5 %", "centre: within 10 %", "centre: error, p95", "centre: 5 %, where located"},
        {"median of a box: within 5 %", "median: within 10 %", "median: error, p95", "median: 5 %, where located"},
        {"locate: within 5 %", "locate: within 10 %", "locate: error, p95", "locate: 5 %, where located"}};
    const struct plx_locate_figures *f = &m->locate;
    int n = 0;
    ret[n++] = (struct figure){"locate_boxes", "", "boxes around LiDAR clusters", m->boxes.count};
    for (int way = 0; way < PLX_LOCATE_WAYS; way++) {
        const double value[4] = {f->within_5[way], f->within_10[way], f->p95[way], f->known_within_5[way]};
        for (int i = 0; i < 4; i++)
            ret[n++] = (struct figure){name[way][i], "%", text[way][i], value[i]};
    }
    ret[n++] = (struct figure){"locate_known", "%", "locate: boxes located", f->known};
    ret[n++] = (struct figure){"locate_sigma", "%", "locate: within 1 sigma", f->sigma_covers};
    return n;
}

static int list_figures(const struct measured *m, struct figure *ret)
{
    static const char *const name[PLX_CLAIMS][6] = {
        {"labels_recall", "labels_false_ground", "labels_clear_claimed", "labels_scan_right", "labels_scan_missed",
         "labels_scan_phantom"},
        {"list_recall", "list_false_ground", "list_clear_claimed", "list_scan_right", "list_scan_missed", "list_scan_phantom"},
        {"stixels_recall", "stixels_false_ground", "stixels_clear_claimed", "scan_right", "scan_missed", "scan_phantom"},
        {NULL, NULL, NULL, "outline_right", "outline_missed", "outline_phantom"}};
    static const char *const text[PLX_CLAIMS][6] = {
        {"labels: obstacle pixels found", "labels: ground pixels claimed", "labels: clear ground claimed",
         "labels: bearings right", "labels: bearings missed", "labels: bearings phantom"},
        {"list: obstacle pixels found", "list: ground pixels claimed", "list: clear ground claimed", "list: bearings right",
         "list: bearings missed", "list: bearings phantom"},
        {"stixels: obstacle pixels found", "stixels: ground pixels claimed", "stixels: clear ground claimed",
         "scan: bearings right", "scan: bearings missed", "scan: bearings phantom"},
        {NULL, NULL, NULL, "outlines: bearings right", "outlines: bearings missed", "outlines: bearings phantom"}};
    const struct plx_obstacle_counts *sum = &m->sum;
    const double degrees = 180 / M_PI;
    int n = 0;
    ret[n++] = (struct figure){"frames_scored", "", "frames scored", sum->scored};
    ret[n++] = (struct figure){"ground_found", "", "ground found", sum->ground_found};
    ret[n++] = (struct figure){"ground_height_median", "m", "camera height, error, median", quantile(m, HEIGHT, 0.5)};
    ret[n++] = (struct figure){"ground_height_p95", "m", "camera height, error, p95", quantile(m, HEIGHT, 0.95)};
    ret[n++] = (struct figure){"ground_pitch_median", "deg", "pitch, error, median", quantile(m, PITCH, 0.5) * degrees};
    ret[n++] = (struct figure){"ground_pitch_p95", "deg", "pitch, error, p95", quantile(m, PITCH, 0.95) * degrees};
    ret[n++] = (struct figure){"ground_at_10_m_median", "m", "ground at 10 m, error, median", quantile(m, AT_10_M, 0.5)};
    ret[n++] = (struct figure){"ground_at_10_m_p95", "m", "ground at 10 m, error, p95", quantile(m, AT_10_M, 0.95)};
    for (int c = 0; c < PLX_CLAIMS; c++) {
        const uint64_t bearings = sum->claim[c].bearings;
        const double value[6] = {plx_percent(sum->claim[c].recalled, sum->obstacle_pixels),
                                 plx_percent(sum->claim[c].false_ground, sum->ground_pixels),
                                 plx_percent(sum->claim[c].false_clear, sum->clear_pixels),
                                 plx_percent(sum->claim[c].correct, bearings),
                                 plx_percent(sum->claim[c].missed, bearings),
                                 plx_percent(sum->claim[c].phantom, bearings)};
        for (int i = name[c][0] ? 0 : 3; i < 6; i++)
            ret[n++] = (struct figure){name[c][i], "%", text[c][i], value[i]};
    }
    ret[n++] =
        (struct figure){"scan_free_covered", "%", "scan: clear ground free", plx_percent(sum->free_pixels, sum->before_pixels)};
    ret[n++] =
        (struct figure){"scan_free_beyond", "%", "scan: free behind a thing", plx_percent(sum->free_beyond, sum->blocked)};
    ret[n++] = (struct figure){"things_found", "%", "things found", plx_percent((uint64_t)sum->found, (uint64_t)sum->things)};
    ret[n++] = (struct figure){"records_joined", "%", "records that join things",
                               plx_percent((uint64_t)sum->joined, (uint64_t)sum->records)};
    ret[n++] = (struct figure){"records_joined_large", "%", "the same, 5 % of the record each",
                               plx_percent((uint64_t)sum->joined_large, (uint64_t)sum->records)};
    ret[n++] = (struct figure){"records_joined_fitting", "%", "the same, where labels fit",
                               plx_percent((uint64_t)sum->joined_fitting, (uint64_t)sum->records)};
    ret[n++] = (struct figure){"map_ghosts", "%", "map: clear cells not free", plx_percent(m->map.ghosts, m->map.clear)};
    ret[n++] = (struct figure){"map_missing", "%", "map: obstacle points missing", plx_percent(m->map.missing, m->map.points)};
    ret[n++] = (struct figure){"map_lacking", "%", "map: things missing", plx_percent(m->map.lacking, m->map.things)};
    ret[n++] = (struct figure){"map_lacking_free", "%", "map: things said to be free",
                               plx_percent(m->map.lacking_free, m->map.things)};
    return n + list_locate_figures(m, ret + n);
}

static void print(const struct measured *measured, bool json)
{
    struct figure figure[FIGURES];
    const int count = list_figures(measured, figure);
    cJSON *object = json ? cJSON_CreateObject() : NULL;
    for (int i = 0; i < count; i++)
        if (json)
            cJSON_AddItemToObject(object, figure[i].name, plx_json_number(figure[i].value, 4));
        else
            printf("%-32s %8.*f %s\n", figure[i].text,
                   figure[i].unit[0] == '\0'  ? 0
                   : figure[i].unit[0] == '%' ? 1
                                              : 3,
                   figure[i].value, figure[i].unit);
    if (json)
        plx_json_print(object);
}

int plx_run_lidar_table(struct plx_run *run)
{
    run->options.ground_truth = run->options.ground_truth ? run->options.ground_truth : "gt.png";
    const struct plx_pipeline_params *params = &run->config.pipeline;
    if (!params->obstacles || !params->stixels || !params->refine || !params->dense)
        return plx_exit_error("parallax run", PLX_EXIT_USAGE,
                              "--truth lidar needs obstacles, columns and dense disparity; leave out --no-refine, and --set of "
                              "obstacles.enabled, stixels.enabled, refine.enabled and refine.dense");
    struct measured measured = {.ground = calloc((size_t)run->pairs.count, sizeof *measured.ground)};
    if (!measured.ground)
        return plx_exit_error("parallax run", PLX_EXIT_OS, "%s", plx_strerror(PLX_ERR_NOMEM));
    int exit_code = plx_run_each_pair(run, measure, &measured);
    if (exit_code == PLX_EXIT_OK && measured.count == 0)
        exit_code =
            plx_exit_error("parallax run", PLX_EXIT_NO_INPUT, "--truth lidar: no pair has a %s", run->options.ground_truth);
    if (exit_code == PLX_EXIT_OK && plx_locate_measures_figures(&measured.boxes, &measured.locate) < 0)
        exit_code = plx_exit_error("parallax run", PLX_EXIT_OS, "%s", plx_strerror(PLX_ERR_NOMEM));
    if (exit_code == PLX_EXIT_OK)
        print(&measured, run->options.json);
    free(measured.boxes.box);
    free(measured.ground);
    return exit_code;
}
