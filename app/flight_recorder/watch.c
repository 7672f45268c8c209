/* SPDX-License-Identifier: Apache-2.0 */
#include "app/flight_recorder/watch.h"

#include <stdio.h>

#include <parallax/frame.h>
#include <parallax/words.h>

/* "flag-NAME" of the lowest of FLAGS. */
static void name_flag(uint32_t flags, char ret_reason[PLX_WATCH_REASON])
{
    snprintf(ret_reason, PLX_WATCH_REASON, "flag-%s", plx_health_name(__builtin_ctz(flags)));
    for (char *letter = ret_reason; *letter; letter++)
        *letter = *letter == '_' ? '-' : *letter;
}

bool plx_watch_update(struct plx_watch *watch, const struct plx_watch_sample *now, char ret_reason[PLX_WATCH_REASON])
{
    const struct plx_watch_sample last = watch->last;
    const uint32_t risen = now->health & ~(last.there ? last.health : 0) & watch->flags;

    watch->last = *now;
    if (!now->there && !last.there)
        return false;
    if (!now->there)
        snprintf(ret_reason, PLX_WATCH_REASON, "service-gone");
    else if (now->state == PLX_STATE_FAILED && (!last.there || last.state != PLX_STATE_FAILED))
        snprintf(ret_reason, PLX_WATCH_REASON, "failed");
    else if (last.there && now->restarts > last.restarts)
        snprintf(ret_reason, PLX_WATCH_REASON, "engine-replaced");
    else if (risen)
        name_flag(risen, ret_reason);
    else
        return false;
    return true;
}
