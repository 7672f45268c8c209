/* SPDX-License-Identifier: Apache-2.0 */
/* The accuracy table: all pairs of a directory that have ground truth, with both presets. */
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include <parallax/error.h>

#include "app/cli/offline/run.h"
#include "app/exit.h"
#include "app/view/json.h"
#include "config/schema.h"

enum { CLASSIC, DEFAULT_STRICT, DEFAULT_DENSE, VARIANTS };

static const struct variant {
    const char *name;
    enum plx_match_preset preset;
    enum plx_plane_id plane;
} variant[VARIANTS] = {
    {"classic", PLX_MATCH_PRESET_CLASSIC, PLX_PLANE_DISPARITY},
    {"default, strict", PLX_MATCH_PRESET_DEFAULT, PLX_PLANE_DISPARITY},
    {"default, dense", PLX_MATCH_PRESET_DEFAULT, PLX_PLANE_DENSE},
};

struct row {
    const struct plx_pair *pair;
    struct plx_error_rates rates[VARIANTS];
    struct plx_sureness sureness; /* `default` */
};

/* Measured over whole benchmarks, not on these pairs. */
static const char peers[] =
    "\nFor comparison, means over whole benchmarks, D = 64 or 128 (density, bad>1 of valid, bad>3 or invalid; %):\n"
    "                                  Middlebury, 10 pairs, non-occluded    KITTI 2012, 194 pairs\n"
    "libSGM 3.1, 8 paths (= classic)     95.5    6.2    7.0                    91.1   14.7   11.9\n"
    "rSGM 5x5 / 9x7 weighted             97.7    4.8    3.7                    93.8   15.7    9.7\n"
    "OpenCV SGBM HH, padded              97.5    4.6    4.6                    87.2   14.1   16.6\n"
    "default, strict                     98.8    3.9    2.5                    96.3   10.5    6.7\n"
    "default, dense                     100.0      -    1.8                   100.0      -    4.7";

static struct plx_pipeline_params params_of(const struct plx_run *run, enum plx_match_preset preset)
{
    struct plx_pipeline_params params = run->config.pipeline;
    plx_match_preset_apply(&params.match, preset);
    params.refine = params.dense = true;
    params.confidence = preset == PLX_MATCH_PRESET_DEFAULT;
    params.stixels = false;
    return params;
}

struct table {
    struct row *row;
    int count;
};

/* Adds a row if the pair has ground truth. */
static int measure(struct plx_run *run, const struct plx_pair *pair, const struct plx_pair_images *images, void *context)
{
    struct table *table = context;
    struct row *row = &table->row[table->count];
    struct plx_error_message message = {""};
    struct plx_pair_result done = {.evaluated = false};
    if (!images->truth.data)
        return PLX_EXIT_OK;
    for (int i = 0; i < VARIANTS; i++) {
        if (i == 0 || variant[i].preset != variant[i - 1].preset) {
            const struct plx_pipeline_params params = params_of(run, variant[i].preset);
            int result = plx_run_prepare(run, images->left.width, images->left.height, &params, &message);
            if (result < 0)
                return plx_run_fail(result, true, &message);
            result = plx_run_images(run, images, 0, &done, &message);
            if (result < 0)
                return plx_run_fail(result, false, &message);
        }
        const struct plx_image disparity = plx_pipeline_plane(done.frame, variant[i].plane);
        struct plx_accuracy accuracy;
        int result = plx_pair_evaluate(run, done.frame, &disparity, images, &accuracy, &message);
        if (result < 0)
            return plx_run_fail(result, false, &message);
        plx_accuracy_rates(&accuracy, &row->rates[i]);
        if (i == DEFAULT_DENSE)
            plx_pair_sureness(run, done.frame, images, &row->sureness);
    }
    row->pair = pair;
    table->count++;
    return PLX_EXIT_OK;
}

static void print_line(const char *name, int v, const struct plx_error_rates *rates)
{
    printf("%-20s %-16s", name, variant[v].name);
    plx_report_rates(rates);
    putchar('\n');
}

static bool is_kitti(const struct row *row)
{
    return strncasecmp(row->pair->name, "kitti", 5) == 0;
}

/* What the KITTI pairs, or the others, say of their errors. */
static void print_sureness(const struct row *row, int count, bool kitti)
{
    struct plx_sureness sum = {.strict = 0};
    char what[64];
    int members = 0;
    for (int i = 0; i < count; i++)
        if (is_kitti(&row[i]) == kitti) {
            plx_sureness_join(&row[i].sureness, &sum);
            members++;
        }
    snprintf(what, sizeof what, "default, %d pair%s%s", members, members == 1 ? "" : "s", kitti ? " of KITTI" : "");
    if (members > 0)
        plx_report_sureness(what, &sum);
}

/* The means of the KITTI pairs, or of the others, if there are several. */
static void print_means(const struct row *row, int count, bool kitti, struct plx_error_rates *rates)
{
    for (int v = 0; v < VARIANTS; v++) {
        int members = 0;
        for (int i = 0; i < count; i++)
            if (is_kitti(&row[i]) == kitti)
                rates[members++] = row[i].rates[v];
        if (members < 2)
            return;
        char name[32];
        struct plx_error_rates mean;
        plx_rates_mean(rates, members, &mean);
        snprintf(name, sizeof name, "mean of %d%s", members, kitti ? " KITTI" : "");
        print_line(name, v, &mean);
    }
}

static void print_table(const struct plx_match *match, const struct row *row, int count, struct plx_error_rates *scratch)
{
    printf("D = %d, %d paths\n", match->disparities, match->paths);
    printf("%-20s %-16s", "pair", "parameters");
    plx_report_rates_head();
    putchar('\n');
    for (int i = 0; i < count; i++)
        for (int v = 0; v < VARIANTS; v++)
            print_line(row[i].pair->name, v, &row[i].rates[v]);
    print_means(row, count, false, scratch);
    print_means(row, count, true, scratch);
    print_sureness(row, count, false);
    print_sureness(row, count, true);
    puts(peers);
}

static void print_json(const struct row *row, int count)
{
    cJSON *list = cJSON_CreateArray();
    for (int i = 0; i < count; i++)
        for (int v = 0; v < VARIANTS; v++) {
            cJSON *item = plx_report_rates_json(&row[i].rates[v]);
            cJSON_AddStringToObject(item, "name", row[i].pair->name);
            cJSON_AddStringToObject(item, "parameters", variant[v].name);
            cJSON_AddItemToArray(list, item);
        }
    plx_json_print(list);
}

int plx_run_accuracy_table(struct plx_run *run)
{
    const size_t most = (size_t)run->pairs.count;
    struct table table = {.row = calloc(most, sizeof *table.row)};
    struct plx_error_rates *scratch = calloc(most, sizeof *scratch);
    int exit_code;
    if (table.row && scratch)
        exit_code = plx_run_each_pair(run, measure, &table);
    else
        exit_code = plx_exit_error("parallax run", PLX_EXIT_OS, "%s", plx_strerror(PLX_ERR_NOMEM));
    if (exit_code == PLX_EXIT_OK && table.count == 0)
        exit_code = plx_exit_error("parallax run", PLX_EXIT_NO_INPUT, "--gt %s: there is no such file for any pair",
                                   run->options.ground_truth);
    else if (exit_code == PLX_EXIT_OK && run->options.json)
        print_json(table.row, table.count);
    else if (exit_code == PLX_EXIT_OK)
        print_table(&run->config.pipeline.match, table.row, table.count, scratch);
    free(table.row);
    free(scratch);
    return exit_code;
}
