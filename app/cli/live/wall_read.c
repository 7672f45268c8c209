/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what `parallax wall --json` printed. */
#include <math.h>
#include <string.h>

#include <parallax/error.h>

#include "app/cli/live/wall_print.h"
#include "app/view/json.h"
#include "drivers/files/file.h"

#define MAX_BYTES 65536

/* NAN if there is no such number. */
static double number_of(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
}

/* Whether WORD is WORDS with '_' for each blank. */
static bool is_word_of(const char *word, const char *words)
{
    for (; *word && *words; word++, words++)
        if (*word != (*words == ' ' ? '_' : *words))
            return false;
    return *word == *words;
}

static bool read_verdict(const cJSON *object, enum plx_wall_verdict *ret_verdict)
{
    const char *word = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, "verdict"));

    for (int v = PLX_WALL_GOOD; word && v <= PLX_WALL_NOT_FLAT; v++)
        if (is_word_of(word, plx_wall_verdict_words((enum plx_wall_verdict)v))) {
            *ret_verdict = (enum plx_wall_verdict)v;
            return true;
        }
    return false;
}

static int take(const cJSON *object, const char *path, struct plx_wall_result *ret_result, struct plx_error_message *message)
{
    const cJSON *whole = cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(object, "parts"), 0);
    struct plx_wall_result result = {.distance_m = number_of(object, "tape_m")};

    result.report.disparity_px = number_of(object, "disparity_px");
    result.report.expected_px = number_of(object, "expected_px");
    result.report.bias_px = number_of(whole, "bias_px");
    result.report.bias_percent = number_of(whole, "bias_percent");
    result.report.part[0].fill = number_of(whole, "fill");
    result.report.part[0].noise_px = number_of(whole, "noise_px");
    result.report.part[0].temporal_px = number_of(whole, "temporal_px");
    if (!read_verdict(object, &result.verdict) || !whole ||
        !plx_wall_missing_read(cJSON_GetObjectItemCaseSensitive(object, "not_measured"), &result.missing))
        return plx_fail(message, PLX_ERR_FORMAT, "%s: expected what parallax wall --distance M --json prints", path);
    if (!isfinite(result.report.disparity_px) || !isfinite(result.report.expected_px) || !isfinite(result.distance_m))
        return plx_fail(message, PLX_ERR_FORMAT, "%s: it has no bias; measure again, with --distance and before a flat surface",
                        path);
    *ret_result = result;
    return 0;
}

int plx_wall_read(const char *path, struct plx_wall_result *ret_result, struct plx_error_message *message)
{
    static char text[MAX_BYTES];
    FILE *file;
    int result = plx_file_open(path, &file, message);

    if (result < 0)
        return result;
    const size_t bytes = fread(text, 1, sizeof text - 1, file);
    result = ferror(file) ? plx_file_fail(path, message) : 0;
    fclose(file);
    if (result < 0)
        return result;
    text[bytes] = '\0';
    cJSON *object = cJSON_Parse(text);
    result = take(object, path, ret_result, message);
    cJSON_Delete(object);
    return result;
}
