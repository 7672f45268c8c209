/* SPDX-License-Identifier: Apache-2.0 */
#include "app/evaluate/wall_result.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <parallax/words.h>

#include "app/view/json.h"

const char *plx_wall_part_name(int part)
{
    static const char *const name[PLX_WALL_PARTS] = {"whole",  "upper left", "upper",      "upper right", "left",
                                                     "centre", "right",      "lower left", "lower",       "lower right"};
    return name[part];
}

double plx_wall_part_bias_px(const struct plx_wall_report *report, int part)
{
    return part == 0 ? report->bias_px : report->bias_px + report->part[part].offset_px;
}

double plx_wall_part_bias_percent(const struct plx_wall_report *report, int part)
{
    return 100 * (report->expected_px / (report->expected_px + plx_wall_part_bias_px(report, part)) - 1);
}

void plx_wall_verdict_word(enum plx_wall_verdict verdict, char ret_word[PLX_WALL_WORD_BYTES])
{
    snprintf(ret_word, PLX_WALL_WORD_BYTES, "%s", plx_wall_verdict_words(verdict));
    for (char *c = ret_word; (c = strchr(c, ' '));)
        *c = '_';
}

static const struct {
    unsigned missing;
    const char *word;
} figures[] = {
    {PLX_WALL_NO_BIAS, "bias"}, {PLX_WALL_NO_ROWS, "rows"}, {PLX_WALL_NO_OFFSET, "offset"}, {PLX_WALL_NO_SPLIT, "split"}};
#define FIGURES (sizeof figures / sizeof *figures)

void plx_wall_verdict_line(enum plx_wall_verdict verdict, unsigned missing, char ret_line[PLX_WALL_LINE_BYTES])
{
    const char *separator = ": good as far as measured; not measured: ";
    size_t length = (size_t)snprintf(ret_line, PLX_WALL_LINE_BYTES, "%s", plx_wall_verdict_words(verdict));

    for (size_t i = 0; i < FIGURES && verdict == PLX_WALL_UNPROVEN; i++)
        if (missing & figures[i].missing) {
            length += (size_t)snprintf(ret_line + length, PLX_WALL_LINE_BYTES - length, "%s%s", separator, figures[i].word);
            separator = ", ";
        }
}

static const char *advice_for_missing(const struct plx_wall_result *result)
{
    if (result->missing & PLX_WALL_NO_BIAS)
        return isnan(result->distance_m) ? "measure the shortest distance by tape, and give it: parallax wall --distance"
                                         : "check the distance";
    if (result->missing & PLX_WALL_NO_ROWS)
        return "let the service see the wall for some seconds, then measure again";
    return "choose a surface whose nine parts all have texture, or the part that has it: parallax wall --roi";
}

const char *plx_wall_advice(const struct plx_wall_result *result)
{
    switch (result->verdict) {
    case PLX_WALL_GOOD:
        return NULL;
    case PLX_WALL_UNPROVEN:
        return advice_for_missing(result);
    case PLX_WALL_CALIBRATE:
        if (fabs(result->rows_px) > PLX_WALL_MAX_ROWS_PX)
            return "the rows do not match; parallax calibrate --help";
        if (fabs(result->report.bias_px) > fmax(PLX_WALL_MAX_BIAS_PX, result->report.tape_px))
            return "check the distance; then measure at others, to tell px from %; parallax calibrate --help";
        return "parts lie off the plane: is the surface flat? then parallax calibrate --help";
    case PLX_WALL_DARK:
        return "make light, or allow a longer exposure, then measure again";
    case PLX_WALL_TEXTURE:
        return "choose a surface with more texture, or the part that has it: parallax wall --roi";
    case PLX_WALL_NOT_FLAT:
        return "stand before a larger flat surface, or choose the part that is flat: parallax wall --roi";
    }
    return NULL;
}

/* --- JSON ---------------------------------------------------------------------------------------------------------- */

static void add(cJSON *object, const char *name, double number, int digits)
{
    cJSON_AddItemToObject(object, name, plx_json_number(number, digits));
}

cJSON *plx_wall_missing_json(unsigned missing)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < FIGURES; i++)
        if (missing & figures[i].missing)
            cJSON_AddItemToArray(list, cJSON_CreateString(figures[i].word));
    return list;
}

bool plx_wall_missing_read(const cJSON *list, unsigned *ret_missing)
{
    const cJSON *item;
    unsigned missing = 0;

    if (!cJSON_IsArray(list))
        return false;
    cJSON_ArrayForEach (item, list) {
        size_t i = 0;
        while (i < FIGURES && !(cJSON_IsString(item) && strcmp(item->valuestring, figures[i].word) == 0))
            i++;
        if (i == FIGURES)
            return false;
        missing |= figures[i].missing;
    }
    *ret_missing = missing;
    return true;
}

static cJSON *part_json(const struct plx_wall_report *report, int p)
{
    const struct plx_wall_part *part = &report->part[p];
    cJSON *object = cJSON_CreateObject();

    cJSON_AddStringToObject(object, "name", plx_wall_part_name(p));
    add(object, "fill", part->fill, 4);
    add(object, "outliers", part->outliers, 4);
    add(object, "offset_px", part->offset_px, 4);
    add(object, "bias_px", plx_wall_part_bias_px(report, p), 4);
    add(object, "bias_percent", plx_wall_part_bias_percent(report, p), 3);
    add(object, "noise_px", part->noise_px, 4);
    add(object, "temporal_px", part->temporal_px, 4);
    add(object, "sometimes", part->sometimes, 4);
    add(object, "never", part->never, 4);
    add(object, "covered", part->covered, 4);
    return object;
}

static void add_realsense(cJSON *object, const struct plx_wall_realsense *realsense)
{
    cJSON *item = cJSON_AddObjectToObject(object, "realsense");
    add(item, "fill_percent", realsense->fill_percent, 2);
    add(item, "z_accuracy_percent", realsense->z_accuracy_percent, 3);
    add(item, "plane_rms_percent", realsense->plane_rms_percent, 3);
    add(item, "subpixel_rms_px", realsense->subpixel_rms_px, 4);
    add(item, "temporal_percent", realsense->temporal_percent, 3);
}

cJSON *plx_wall_json(const struct plx_wall_result *result)
{
    const struct plx_wall_report *report = &result->report;
    const char *advice = plx_wall_advice(result);
    const int region[] = {report->region.x, report->region.y, report->region.width, report->region.height};
    cJSON *object = cJSON_CreateObject();
    char word[PLX_WALL_WORD_BYTES];

    plx_wall_verdict_word(result->verdict, word);
    cJSON_AddStringToObject(object, "verdict", word);
    cJSON_AddItemToObject(object, "not_measured", plx_wall_missing_json(result->missing));
    cJSON_AddItemToObject(object, "advice", advice ? cJSON_CreateString(advice) : cJSON_CreateNull());
    cJSON_AddStringToObject(object, "source", plx_source_word(result->source));
    cJSON_AddNumberToObject(object, "frames", report->frames);
    cJSON_AddItemToObject(object, "roi_px", cJSON_CreateIntArray(region, 4));
    add(object, "tape_m", result->distance_m, 4);
    add(object, "distance_m", report->distance_m, 4);
    add(object, "angle_deg", report->angle_deg, 2);
    add(object, "span_px", report->span_px, 3);
    add(object, "disparity_px", report->disparity_px, 4);
    add(object, "expected_px", report->expected_px, 4);
    add(object, "tape_error_px", report->tape_px, 4);
    add(object, "rows_px", result->rows_px, 3);
    add(object, "brightness", result->light.grey, 1);
    add(object, "contrast", result->light.contrast, 1);
    cJSON *parts = cJSON_AddArrayToObject(object, "parts");
    for (int p = 0; p < PLX_WALL_PARTS; p++)
        cJSON_AddItemToArray(parts, part_json(report, p));
    add_realsense(object, &report->realsense);
    return object;
}
