/* SPDX-License-Identifier: Apache-2.0 */
#include "app/cli/calibrate/state.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include <parallax/error.h>

#include "app/view/calibrating.h"
#include "app/view/json.h"
#include "config/replace.h"

static const char *const eye_word[PLX_EYES] = {"left", "right"};

static cJSON *point_json(const double corner[2])
{
    cJSON *item = cJSON_CreateArray();
    for (int i = 0; i < 2; i++)
        cJSON_AddItemToArray(item, plx_json_number(corner[i], 1));
    return item;
}

static cJSON *corners_json(const struct plx_board *board, const double (*corner)[2])
{
    cJSON *item = cJSON_CreateArray();
    for (int k = 0; k < plx_board_corners(board); k++)
        if (plx_board_is_found(corner[k]))
            cJSON_AddItemToArray(item, point_json(corner[k]));
    return item;
}

/* The corners that lie farthest to the four corners of the picture. */
static cJSON *outline_json(const struct plx_board *board, const double (*corner)[2])
{
    static const int way[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    cJSON *item = cJSON_CreateArray();
    for (int w = 0; w < 4; w++) {
        int best = -1;
        double most = -INFINITY;
        for (int k = 0; k < plx_board_corners(board); k++) {
            const double far = way[w][0] * corner[k][0] + way[w][1] * corner[k][1]; /* NAN where it was not found */
            if (far > most) {
                most = far;
                best = k;
            }
        }
        if (best >= 0)
            cJSON_AddItemToArray(item, point_json(corner[best]));
    }
    return item;
}

static cJSON *eye_json(const struct plx_guide *guide, int eye)
{
    const struct plx_boards *boards = &guide->boards;
    cJSON *item = cJSON_CreateObject(), *parts = cJSON_CreateArray(), *kept = cJSON_CreateArray();
    for (int row = 0; row < PLX_GUIDE_ROWS; row++)
        cJSON_AddItemToArray(parts, cJSON_CreateIntArray(guide->part[eye][row], PLX_GUIDE_COLUMNS));
    for (int p = 0; p < boards->count; p++)
        cJSON_AddItemToArray(kept, outline_json(&boards->board, boards->pair[p].corner[eye]));
    cJSON_AddItemToObject(item, "parts", parts);
    cJSON_AddItemToObject(item, "kept", kept);
    cJSON_AddItemToObject(item, "corners",
                          boards->seen[eye] ? corners_json(&boards->board, (const double(*)[2])boards->corner[eye])
                                            : cJSON_CreateArray());
    cJSON_AddItemToObject(item, "edge_px", plx_json_number(guide->edge_px[eye], 2));
    return item;
}

static cJSON *state_json(const struct plx_calibrating *state)
{
    const struct plx_guide *guide = state->guide;
    cJSON *item = cJSON_CreateObject(), *tilts = cJSON_AddObjectToObject(item, "tilts");
    for (int tilt = 0; tilt < PLX_TILTS; tilt++)
        cJSON_AddItemToObject(tilts, plx_guide_tilt_word((enum plx_guide_tilt)tilt), plx_json_number(guide->tilted[tilt], 0));
    cJSON_AddItemToObject(item, "width", plx_json_number(guide->boards.options.width, 0));
    cJSON_AddItemToObject(item, "height", plx_json_number(guide->boards.options.height, 0));
    for (int eye = 0; eye < PLX_EYES; eye++)
        cJSON_AddItemToObject(item, eye_word[eye], eye_json(guide, eye));
    cJSON_AddStringToObject(item, "state", plx_guide_state_word(guide->state));
    cJSON_AddStringToObject(item, "words", state->words);
    cJSON_AddStringToObject(item, "tilt", plx_guide_tilt_word(guide->tilt));
    cJSON_AddItemToObject(item, "speed", isfinite(guide->speed) ? plx_json_number(guide->speed, 4) : cJSON_CreateNull());
    cJSON_AddItemToObject(item, "looked", plx_json_number(state->looked, 0));
    cJSON_AddItemToObject(item, "pairs", plx_json_number(guide->boards.count, 0));
    cJSON_AddItemToObject(item, "expected_pairs", plx_json_number(PLX_GUIDE_PAIRS, 0));
    cJSON_AddItemToObject(item, "verdict", state->verdict ? cJSON_CreateString(state->verdict) : cJSON_CreateNull());
    return item;
}

int plx_calibrating_write(const struct plx_calibrating *state, const char *socket)
{
    const struct stat like = {.st_mode = 0644, .st_uid = geteuid(), .st_gid = getegid()};
    char path[PATH_MAX];
    struct plx_replacement replacement;
    plx_calibrating_path(socket, path);
    int result = plx_replacement_begin(path, &replacement, NULL);
    if (result < 0)
        return result;
    cJSON *item = state_json(state);
    char *text = cJSON_PrintUnformatted(item);
    cJSON_Delete(item);
    const bool is_whole = text && fputs(text, replacement.file) >= 0;
    cJSON_free(text);
    if (is_whole)
        return plx_replacement_finish(&replacement, &like, NULL);
    plx_replacement_cancel(&replacement);
    return PLX_ERR_IO;
}

void plx_calibrating_remove(const char *socket)
{
    char path[PATH_MAX];
    plx_calibrating_path(socket, path);
    unlink(path);
}
