/* SPDX-License-Identifier: Apache-2.0 */
#include "app/corrections/history.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/checksum.h"
#include "core/drift/offset.h"
#include "core/geometry/stereo.h"

void plx_corrections_begin(const struct plx_stereo_calibration *calibration, const char *cameras,
                           struct plx_correction_history *ret_history)
{
    const int size[2] = {calibration->rectified_width, calibration->rectified_height};
    struct plx_calibration_info info;
    uint64_t hash = PLX_FNV1A_BEGIN;

    for (int eye = 0; eye < PLX_EYES; eye++) {
        const struct plx_camera *camera = &calibration->camera[eye];
        const double number[] = {camera->width, camera->height, camera->fx,           camera->fy,
                                 camera->cx,    camera->cy,     (double)camera->model};
        hash = plx_fnv1a(hash, number, sizeof number);
        hash = plx_fnv1a(hash, camera->k, sizeof camera->k);
        hash = plx_fnv1a(hash, calibration->rectification[eye], sizeof calibration->rectification[eye]);
        hash = plx_fnv1a(hash, calibration->projection[eye], sizeof calibration->projection[eye]);
    }
    hash = plx_fnv1a(hash, size, sizeof size);
    memset(ret_history, 0, sizeof *ret_history);
    snprintf(ret_history->base, sizeof ret_history->base, "%016" PRIx64, hash);
    snprintf(ret_history->cameras, sizeof ret_history->cameras, "%s", cameras);
    plx_calibration_info(calibration, &info);
    ret_history->focal_baseline = plx_focal_baseline(&info);
    ret_history->side = plx_side_square(&info, calibration->rectified_width);
}

bool plx_corrections_match(const struct plx_correction_history *a, const struct plx_correction_history *b)
{
    return strcmp(a->base, b->base) == 0 && *a->cameras != '\0' && strcmp(a->cameras, b->cameras) == 0;
}

const struct plx_correction_entry *plx_corrections_find(const struct plx_correction_history *history, uint32_t number)
{
    for (int i = 0; i < history->count && number > 0; i++)
        if (history->entry[i].number == number)
            return &history->entry[i];
    return NULL;
}

/* Makes room for one more: the oldest entry goes that is neither in force nor before it nor proposed. */
static void make_room(struct plx_correction_history *history)
{
    const struct plx_correction_entry *in_force = plx_corrections_find(history, history->number);
    int oldest = 0;

    if (history->count < PLX_CORRECTIONS_KEPT)
        return;
    for (const struct plx_correction_entry *e = history->entry;
         e->number == history->number || e->number == history->proposed || (in_force && e->number == in_force->before); e++)
        oldest++;
    history->count--;
    memmove(&history->entry[oldest], &history->entry[oldest + 1], (size_t)(history->count - oldest) * sizeof *history->entry);
}

uint32_t plx_corrections_add(struct plx_correction_history *history, const struct plx_correction_evidence *evidence,
                             int64_t time_s)
{
    make_room(history);
    history->last++;
    history->entry[history->count++] = (struct plx_correction_entry){
        .number = history->last,
        .before = history->number,
        .proposed = !evidence->applied,
        .time_s = time_s,
        .correction = evidence->after,
        .drift = evidence->drift,
    };
    if (evidence->applied)
        history->number = history->last;
    history->proposed = evidence->applied ? 0 : history->last;
    history->off = history->off || evidence->gave_up;
    return history->last;
}

int plx_corrections_accept(struct plx_correction_history *history, struct plx_error_message *message)
{
    if (history->proposed == 0 && !history->hold && !history->off)
        return plx_fail(message, PLX_ERR_NOT_FOUND,
                        "no correction is proposed; `parallax calibration show` says what is known");
    if (history->proposed != 0)
        history->number = history->proposed;
    history->proposed = 0;
    history->hold = history->off = false;
    return 0;
}

int plx_corrections_undo(struct plx_correction_history *history, bool all, struct plx_error_message *message)
{
    const struct plx_correction_entry *entry = plx_corrections_find(history, history->number);

    if (history->number == 0)
        return plx_fail(message, PLX_ERR_NOT_FOUND, "no correction is in force: the calibration is as in its file");
    const uint32_t before = all || !entry ? 0 : entry->before;
    history->number = plx_corrections_find(history, before) ? before : 0;
    history->proposed = 0;
    history->hold = true;
    history->off = false;
    return 0;
}

double plx_corrections_distance_percent(const struct plx_correction_history *history, double px, double distance_m)
{
    const double disparity = history->focal_baseline / distance_m;
    return 100 * (disparity / (disparity + px) - 1);
}
