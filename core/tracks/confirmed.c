/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tracks/confirmed.h"

bool plx_confirmed_shows(const struct plx_confirmed *before, const struct plx_obstacle *obstacle)
{
    if (obstacle->status != PLX_TRACK_LOST)
        return obstacle->status == PLX_TRACK_TRACKED;
    for (uint32_t i = 0; i < before->count; i++)
        if (before->track[i] == obstacle->track)
            return true;
    return false;
}

void plx_confirmed_keep(struct plx_confirmed *confirmed, const struct plx_obstacle *obstacle, uint32_t count)
{
    confirmed->count = 0;
    for (uint32_t i = 0; i < count && i < PLX_MAX_OBSTACLES; i++)
        if (obstacle[i].status == PLX_TRACK_TRACKED)
            confirmed->track[confirmed->count++] = obstacle[i].track;
}
