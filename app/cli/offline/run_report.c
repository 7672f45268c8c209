/* SPDX-License-Identifier: Apache-2.0 */
/* The results of `parallax run`: lines, JSON and files. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "app/cli/offline/run.h"
#include "app/exit.h"
#include "app/view/export.h"
#include "app/view/frame_text.h"
#include "app/view/json.h"
#include "drivers/files/picture.h"

/* --- lines and JSON --------------------------------------------------------------------------------------------------- */

void plx_report_rates_head(void)
{
    printf(" %10s %8s %8s %8s %17s", "density", "bad>1", "bad>2", "bad>3", "bad>3 or invalid");
}

void plx_report_rates(const struct plx_error_rates *rates)
{
    printf("   %6.2f %%", rates->density);
    for (int i = 0; i < PLX_BAD_LIMITS; i++)
        printf("  %5.2f %%", rates->bad[i]);
    printf("  %14.2f %%", rates->bad_or_invalid);
}

cJSON *plx_report_rates_json(const struct plx_error_rates *rates)
{
    static const char *const name[PLX_BAD_LIMITS] = {"bad1_percent", "bad2_percent", "bad3_percent"};
    cJSON *item = cJSON_CreateObject();
    cJSON_AddItemToObject(item, "density_percent", plx_json_number(rates->density, 4));
    for (int i = 0; i < PLX_BAD_LIMITS; i++)
        cJSON_AddItemToObject(item, name[i], plx_json_number(rates->bad[i], 4));
    cJSON_AddItemToObject(item, "bad3_or_invalid_percent", plx_json_number(rates->bad_or_invalid, 4));
    return item;
}

void plx_report_sureness(const char *what, const struct plx_sureness *sureness)
{
    struct plx_sureness_figures figures;
    plx_sureness_figures(sureness, &figures);
    printf("\nHow sure, and how right: %s\n%28s %18s %10s\n", what, "within 1 px: said", "is", "of pixels");
    for (int k = 0; k < PLX_SURENESS_CLASSES; k++)
        if (figures.class[k].share > 0)
            printf("%26.1f %% %16.1f %% %8.2f %%\n", 100 * figures.class[k].said, 100 * figures.class[k].right,
                   100 * figures.class[k].share);
    printf("no statement                %.2f %% of pixels\n", 100 * figures.unknown);
    if (figures.sigma >= 0) /* else not known with these settings */
        printf("errors within sigma         %.1f %% (68 is right); within the bound %.1f %% (95)\n", 100 * figures.sigma,
               100 * figures.bound);
    printf("least sure pixels left out ");
    for (int i = 0; i < PLX_SURENESS_CURVE; i++)
        printf(" %8.0f %%", 100 * plx_sureness_left_out[i]);
    printf("\nwrong of those left        ");
    for (int i = 0; i < PLX_SURENESS_CURVE; i++)
        printf(" %8.2f %%", 100 * figures.wrong[i]);
    printf("\narea under that curve       %.4f, at best %.4f\n", figures.area, figures.least_area);
}

cJSON *plx_report_sureness_json(const struct plx_sureness *sureness)
{
    struct plx_sureness_figures figures;
    cJSON *item = cJSON_CreateObject(), *classes = cJSON_AddArrayToObject(item, "classes");
    plx_sureness_figures(sureness, &figures);
    for (int k = 0; k < PLX_SURENESS_CLASSES; k++) {
        cJSON *class = cJSON_CreateObject();
        cJSON_AddItemToObject(class, "said_percent", plx_json_number(100 * figures.class[k].said, 4));
        cJSON_AddItemToObject(class, "right_percent", plx_json_number(100 * figures.class[k].right, 4));
        cJSON_AddItemToObject(class, "share_percent", plx_json_number(100 * figures.class[k].share, 4));
        cJSON_AddItemToArray(classes, class);
    }
    cJSON_AddItemToObject(item, "unknown_percent", plx_json_number(100 * figures.unknown, 4));
    cJSON_AddItemToObject(item, "sigma_covers_percent", plx_json_number(100 * figures.sigma, 4));
    cJSON_AddItemToObject(item, "bound_covers_percent", plx_json_number(100 * figures.bound, 4));
    cJSON *wrong = cJSON_AddArrayToObject(item, "wrong_percent");
    for (int i = 0; i < PLX_SURENESS_CURVE; i++)
        cJSON_AddItemToArray(wrong, plx_json_number(100 * figures.wrong[i], 4));
    cJSON_AddItemToObject(item, "sparsification_area", plx_json_number(figures.area, 6));
    cJSON_AddItemToObject(item, "sparsification_least_area", plx_json_number(figures.least_area, 6));
    return item;
}

static double valid_percent(struct plx_frame *frame)
{
    struct plx_image disparity = plx_pipeline_plane(frame, PLX_PLANE_DISPARITY);
    uint64_t valid = 0;
    for (int y = 0; y < disparity.height; y++) {
        const uint16_t *row = plx_row(&disparity, y);
        for (int x = 0; x < disparity.width; x++)
            valid += row[x] != PLX_DISPARITY_INVALID;
    }
    return 100.0 * (double)valid / ((double)disparity.width * disparity.height);
}

void plx_report_head(bool evaluated)
{
    printf("%-20s %10s %5s %9s %8s", "pair", "size", "D", "time", "valid");
    if (evaluated)
        plx_report_rates_head();
    putchar('\n');
}

void plx_report_pair(const struct plx_run *run, const struct plx_pair *pair, const struct plx_pair_result *result)
{
    struct plx_frame *frame = result->frame;
    char size[24];
    snprintf(size, sizeof size, "%ux%u", frame->width, frame->height);
    printf("%-20s %10s %5u %6.0f ms %6.2f %%", pair->name, size, frame->disparities, result->seconds * 1e3,
           valid_percent(frame));
    if (result->evaluated) {
        struct plx_error_rates rates;
        plx_accuracy_rates(&result->accuracy, &rates);
        plx_report_rates(&rates);
    }
    putchar('\n');

    const struct plx_obstacle *sorted[PLX_MAX_OBSTACLES];
    int count = run->options.obstacles ? plx_obstacles_by_distance(frame, sorted) : 0;
    plx_obstacles_print(sorted, count, run->calibrated, "    ", "\n");
}

void plx_report_mean(const struct plx_error_rates *rates, int count)
{
    struct plx_error_rates mean;
    plx_rates_mean(rates, count, &mean);
    printf("mean of %-5d %42s", count, "");
    plx_report_rates(&mean);
    putchar('\n');
}

cJSON *plx_report_json(const struct plx_run *run, const struct plx_pair *pair, const struct plx_pair_result *result)
{
    struct plx_frame *frame = result->frame;
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "name", pair->name);
    cJSON_AddNumberToObject(item, "width", frame->width);
    cJSON_AddNumberToObject(item, "height", frame->height);
    cJSON_AddNumberToObject(item, "disparities", frame->disparities);
    cJSON_AddItemToObject(item, "time_ms", plx_json_number(result->seconds * 1e3, 3));
    cJSON_AddItemToObject(item, "valid_percent", plx_json_number(valid_percent(frame), 4));
    cJSON_AddItemToObject(item, "stage_us", plx_json_stages(frame->stage_us));
    if (result->evaluated) {
        struct plx_error_rates rates;
        plx_accuracy_rates(&result->accuracy, &rates);
        cJSON_AddItemToObject(item, "accuracy", plx_report_rates_json(&rates));
    }
    if (result->is_sure)
        cJSON_AddItemToObject(item, "confidence", plx_report_sureness_json(&result->sureness));
    if (run->calibrated && run->pairs.sequence)
        cJSON_AddItemToObject(item, "motion", plx_json_motion(&frame->motion));
    if (run->options.obstacles)
        cJSON_AddItemToObject(item, "obstacles", plx_json_obstacles(frame, run->calibrated));
    return item;
}

/* --- files: the ending of the name of --output gives the kind --------------------------------------------------------- */

static const struct kind {
    const char *ending;
    bool raw, metric; /* has a raw form; needs a calibration */
    plx_export *export;
} kinds[] = {
    {".png", true, false, plx_export_kitti},
    {".pfm", false, false, plx_export_pfm},
    {".ply", false, true, plx_export_ply},
};

static const struct kind *kind_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcasecmp(dot, kinds[i].ending) == 0)
            return &kinds[i];
    return NULL;
}

int plx_run_output_check(const struct plx_run_options *options, bool single)
{
    const struct kind *kind = options->output ? kind_of(options->output) : NULL;
    if (options->raw && !options->output)
        return plx_exit_error("parallax run", PLX_EXIT_USAGE, "--raw needs a file to write; add --output FILE");
    if (!options->output)
        return PLX_EXIT_OK;
    if (single && !kind)
        return plx_exit_error("parallax run", PLX_EXIT_USAGE,
                              "--output %s: unknown kind of file; expected a name that ends in .png (disparity, 16 bits), .pfm "
                              "(disparity, floats) or .ply (points in metres)",
                              options->output);
    if (single && options->raw && !kind->raw)
        return plx_exit_error("parallax run", PLX_EXIT_USAGE, "--output %s: only a .png has --raw values", options->output);
    if (!single && kind)
        return plx_exit_error(
            "parallax run", PLX_EXIT_USAGE,
            "--output %s: for DIR it is a directory, where each pair gets NAME.png; for another kind of file name "
            "two pictures, LEFT RIGHT",
            options->output);
    return PLX_EXIT_OK;
}

int plx_run_output_prepare(const struct plx_run *run)
{
    const char *output = run->options.output;
    const struct kind *kind = output && run->single ? kind_of(output) : NULL;
    if (kind && kind->metric && !run->calibrated)
        return plx_exit_error("parallax run", PLX_EXIT_CONFIG,
                              "--output %s: points in metres need a calibration; name it with --calibration", output);
    return PLX_EXIT_OK;
}

int plx_run_output(const struct plx_run *run, const struct plx_pair *pair, struct plx_frame *frame,
                   struct plx_error_message *message)
{
    const struct kind *kind = run->single ? kind_of(run->options.output) : &kinds[0];
    const struct plx_image disparity = plx_pipeline_plane(frame, PLX_PLANE_DISPARITY);
    const struct plx_view view = plx_export_view(frame);
    char path[PATH_MAX];

    if (run->single)
        snprintf(path, sizeof path, "%s", run->options.output);
    else
        snprintf(path, sizeof path, "%s/%s.png", run->options.output, pair->name);
    if (run->options.raw)
        return plx_png_write(path, &disparity, message);
    if (!kind) /* plx_run_output_check has refused it */
        return plx_fail(message, PLX_ERR_ARG, "%s: unknown kind of file", path);
    return kind->export(path, &view, message);
}
