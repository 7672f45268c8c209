/* SPDX-License-Identifier: Apache-2.0 */
#include "app/cli/live/wall_print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "app/cli/live/connection.h"
#include "app/view/json.h"

#define CELL_BYTES 400 /* any double */

/* --- text ---------------------------------------------------------------------------------------------------------- */

/* NUMBER right-aligned in WIDTH columns, "-" if it is not known. */
static void print_cell(int width, int digits, double number, const char *unit)
{
    char text[CELL_BYTES] = "-";
    if (isfinite(number))
        snprintf(text, sizeof text, "%.*f%s", digits, number, unit);
    printf("%*s", width, text);
}

/* NAME, a blank, the number and its unit, or "unknown". */
static void print_figure(const char *name, int digits, double number, const char *unit)
{
    if (isfinite(number))
        printf("%s %.*f %s", name, digits, number, unit);
    else
        printf("%s unknown", name);
}

static void print_part(const struct plx_wall_report *report, int p)
{
    const struct plx_wall_part *part = &report->part[p];

    printf("%-12s", plx_wall_part_name(p));
    print_cell(7, 1, 100 * part->fill, " %");
    print_cell(10, 1, 100 * part->outliers, " %");
    print_cell(9, 2, part->offset_px, "");
    print_cell(9, 2, plx_wall_part_bias_px(report, p), "");
    print_cell(9, 2, plx_wall_part_bias_percent(report, p), "");
    print_cell(9, 3, part->noise_px, "");
    print_cell(9, 3, part->temporal_px, "");
    print_cell(10, 1, 100 * part->sometimes, " %");
    print_cell(9, 1, 100 * part->covered, " %");
    putchar('\n');
}

static void print_bias_note(const struct plx_wall_result *result)
{
    const struct plx_wall_report *report = &result->report;

    if (isnan(result->distance_m))
        puts("bias         not measured: give --distance, by tape");
    else if (isfinite(report->tape_px))
        printf("bias         %.2f px instead of %.2f px; 5 mm of the tape are %.2f px\n", report->disparity_px,
               report->expected_px, report->tape_px);
    if (report->span_px < 1)
        puts(
            "note: the wall faces the cameras, and disparities are drawn towards whole pixels: turn the robot by some degrees");
}

void plx_wall_print(const struct plx_wall_result *result)
{
    const struct plx_wall_report *report = &result->report;
    const struct plx_box *region = &report->region;
    const struct plx_wall_realsense *other = &report->realsense;
    const char *advice = plx_wall_advice(result);
    char verdict[PLX_WALL_LINE_BYTES];

    if (isfinite(report->disparity_px))
        printf("wall         %.2f m away, turned by %.1f deg, %.2f px of disparity; ", report->distance_m, report->angle_deg,
               report->disparity_px);
    else
        fputs("wall         no plane; ", stdout);
    printf("%d frames, x %d y %d, %d x %d\n", report->frames, region->x, region->y, region->width, region->height);
    puts("               fill  outliers   offset     bias   bias %    noise  in time  sometimes    sigma");
    for (int p = 0; p < PLX_WALL_PARTS; p++)
        print_part(report, p);
    print_bias_note(result);
    if (isfinite(result->rows_px))
        printf("rows         %.2f px apart (median)\n", result->rows_px);
    else
        puts("rows         not measured");
    print_figure("RealSense    fill", 1, other->fill_percent, "%");
    print_figure(", Z accuracy", 2, other->z_accuracy_percent, "%");
    print_figure(",\n             plane fit RMS", 2, other->plane_rms_percent, "%");
    print_figure(", subpixel RMS", 3, other->subpixel_rms_px, "px");
    print_figure(", temporal noise", 2, other->temporal_percent, "%");
    plx_wall_verdict_line(result->verdict, result->missing, verdict);
    printf("\nverdict      %s\n", verdict);
    if (advice)
        printf("             -> %s\n", advice);
}

/* --- JSON ---------------------------------------------------------------------------------------------------------- */

static void add(cJSON *object, const char *name, double number, int digits)
{
    cJSON_AddItemToObject(object, name, plx_json_number(number, digits));
}

void plx_wall_print_json(const struct plx_wall_result *result)
{
    plx_json_print(plx_wall_json(result));
}

/* --- several distances --------------------------------------------------------------------------------------------- */

/* The worst measurement decides; if all can be judged, the split of the bias does. What one lacks, all together lack. */
void plx_wall_judge_series(struct plx_wall_series *series)
{
    double measured[PLX_WALL_MAX_FILES], expected[PLX_WALL_MAX_FILES];

    series->verdict = PLX_WALL_GOOD;
    series->missing = 0;
    series->offset_px = series->scale = NAN;
    for (int i = 0; i < series->count; i++) {
        measured[i] = series->result[i].report.disparity_px;
        expected[i] = series->result[i].report.expected_px;
        if (series->result[i].verdict > series->verdict)
            series->verdict = series->result[i].verdict;
        series->missing |= series->result[i].missing;
    }
    if (!plx_wall_split(series->count, measured, expected, &series->offset_px, &series->scale))
        series->missing |= PLX_WALL_NO_SPLIT;
    if (series->verdict > PLX_WALL_UNPROVEN)
        return;
    if (fabs(series->offset_px) > PLX_WALL_MAX_BIAS_PX || fabs(series->scale) > PLX_WALL_MAX_SCALE)
        series->verdict = PLX_WALL_CALIBRATE;
    else if (series->missing)
        series->verdict = PLX_WALL_UNPROVEN;
}

void plx_wall_print_series(const struct plx_wall_series *series)
{
    char verdict[PLX_WALL_LINE_BYTES];

    puts("  distance     fill    noise  in time     bias   bias %  verdict");
    for (int i = 0; i < series->count; i++) {
        const struct plx_wall_result *result = &series->result[i];
        const struct plx_wall_part *whole = &result->report.part[0];
        printf("%8.3f m", result->distance_m);
        print_cell(9, 1, 100 * whole->fill, " %");
        print_cell(9, 3, whole->noise_px, "");
        print_cell(9, 3, whole->temporal_px, "");
        print_cell(9, 2, result->report.bias_px, "");
        print_cell(9, 2, result->report.bias_percent, "");
        printf("  %s\n", plx_wall_verdict_words(result->verdict));
    }
    if (isfinite(series->offset_px))
        printf("everywhere   %+.2f px: the calibration (angle between the cameras, principal points)\n"
               "in share     %+.2f %% of the disparity: baseline or focal length\n",
               series->offset_px, 100 * series->scale);
    else
        puts("bias         cannot be split: measure at two distances or more whose disparities differ by some pixels");
    plx_wall_verdict_line(series->verdict, series->missing, verdict);
    printf("verdict      %s\n", verdict);
}

void plx_wall_print_series_json(const struct plx_wall_series *series)
{
    cJSON *object = cJSON_CreateObject();
    char word[PLX_WALL_WORD_BYTES];

    plx_wall_verdict_word(series->verdict, word);
    cJSON_AddStringToObject(object, "verdict", word);
    cJSON_AddItemToObject(object, "not_measured", plx_wall_missing_json(series->missing));
    add(object, "offset_px", series->offset_px, 4);
    add(object, "scale_percent", 100 * series->scale, 3);
    cJSON *list = cJSON_AddArrayToObject(object, "distances");
    for (int i = 0; i < series->count; i++) {
        const struct plx_wall_result *result = &series->result[i];
        cJSON *item = cJSON_CreateObject();
        plx_wall_verdict_word(result->verdict, word);
        cJSON_AddStringToObject(item, "verdict", word);
        add(item, "tape_m", result->distance_m, 4);
        add(item, "fill", result->report.part[0].fill, 4);
        add(item, "noise_px", result->report.part[0].noise_px, 4);
        add(item, "temporal_px", result->report.part[0].temporal_px, 4);
        add(item, "bias_px", result->report.bias_px, 4);
        add(item, "bias_percent", result->report.bias_percent, 3);
        cJSON_AddItemToArray(list, item);
    }
    plx_json_print(object);
}
