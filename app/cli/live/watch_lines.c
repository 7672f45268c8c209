/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax watch` as plain lines. */
#include <math.h>
#include <stdio.h>

#include <parallax/client.h>

#include "app/cli/live/watch.h"
#include "app/cli/obstacle_text.h"
#include "app/cli/raw.h"
#include "core/clock.h"
#include "core/words.h"

/* An obstacle is printed again when its distance has changed by so much since it last was. */
#define CHANGE_M 0.25f
#define CHANGE_SHARE 0.1f

static double elapsed_s(const struct plx_watch *watch)
{
    return (double)(plx_now_ns() - watch->started_ns) / PLX_NS_PER_S;
}

void plx_watch_line(const struct plx_watch *watch)
{
    const struct plx_obstacle *sorted[PLX_MAX_OBSTACLES];
    char faults[PLX_WATCH_FAULTS];
    plx_watch_faults(watch, faults);
    printf("%6.1f s  %-10s ", elapsed_s(watch), plx_state_word((uint32_t)watch->state));
    if (watch->recent.frames && plx_is_fresh(&watch->frame)) {
        plx_frame_stats_print_rate(&watch->recent, 5);
        fputs("  ", stdout);
        plx_frame_stats_print_latency(&watch->recent, 5);
        if (plx_frame_is_raw(&watch->frame))
            fputs("  no obstacles looked for  ", stdout);
        else
            printf("  %d obstacles  ", plx_obstacles_by_distance(&watch->frame, sorted));
    } else {
        plx_watch_print_age(watch);
        fputs("  ", stdout);
    }
    puts(faults);
    fflush(stdout);
}

static struct plx_printed_track *find_seen(struct plx_watch *watch, uint32_t track)
{
    for (int i = 0; i < watch->seen_count; i++)
        if (watch->seen[i].track == track)
            return &watch->seen[i];
    return NULL;
}

static bool is_listed(const struct plx_frame *frame, uint32_t track)
{
    for (uint32_t i = 0; i < frame->obstacle_count; i++)
        if (frame->obstacle[i].track == track)
            return true;
    return false;
}

/* A lost track is listed for some frames more, and may be found again. */
static void print_gone(struct plx_watch *watch)
{
    int kept = 0;
    for (int i = 0; i < watch->seen_count; i++) {
        if (is_listed(&watch->frame, watch->seen[i].track))
            watch->seen[kept++] = watch->seen[i];
        else
            printf("%6.1f s    - #%-4u gone\n", elapsed_s(watch), watch->seen[i].track);
    }
    watch->seen_count = kept;
}

void plx_watch_changes(struct plx_watch *watch)
{
    const struct plx_obstacle *sorted[PLX_MAX_OBSTACLES];
    int count = plx_obstacles_by_distance(&watch->frame, sorted);
    print_gone(watch);
    for (int i = 0; i < count; i++) {
        struct plx_printed_track *seen = find_seen(watch, sorted[i]->track);
        if (!seen && sorted[i]->status != PLX_TRACK_TRACKED)
            continue; /* it may be noise; the tracker confirms it in a few frames */
        float limit = seen ? fmaxf(CHANGE_M, CHANGE_SHARE * seen->nearest_m) : 0;
        if (seen && fabsf(sorted[i]->nearest_m - seen->nearest_m) < limit)
            continue;
        char text[PLX_OBSTACLE_TEXT];
        plx_obstacle_text(sorted[i], true, text, sizeof text);
        printf("%6.1f s    %c %s\n", elapsed_s(watch), seen ? ' ' : '+', text);
        if (!seen)
            seen = &watch->seen[watch->seen_count++];
        *seen = (struct plx_printed_track){sorted[i]->track, sorted[i]->nearest_m};
    }
    fflush(stdout);
}

void plx_watch_summary(const struct plx_watch *watch)
{
    const struct plx_frame_stats *stats = &watch->total;
    printf("%.1f s: %llu frames, ", elapsed_s(watch), (unsigned long long)stats->frames);
    plx_frame_stats_print_rates(stats);
    fputs("\nstages, ms:", stdout);
    plx_frame_stats_print_stage_times(stats, watch->on_gpu);
}
