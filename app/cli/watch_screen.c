/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax watch` on a terminal. Escape sequences of ECMA-48 (ISO/IEC 6429). */
#include <stdio.h>

#include "app/cli/obstacle_text.h"
#include "app/cli/watch.h"
#include "core/clock.h"
#include "core/words.h"

#define NEXT_LINE "\033[K\n" /* clear to the end of the line */
#define BAR 30               /* characters for the longest stage */
#define OBSTACLES_SHOWN 10

void plx_watch_screen_begin(void)
{
    fputs("\033[?1049h\033[?25l", stdout); /* the alternate screen, no cursor */
}

void plx_watch_screen_end(void)
{
    fputs("\033[?25h\033[?1049l", stdout);
    fflush(stdout);
}

static void draw_stages(const struct plx_meter *meter)
{
    double longest = 0;
    for (int i = 0; i < PLX_STAGE_COUNT; i++)
        if (plx_meter_stage_ms(meter, i) > longest)
            longest = plx_meter_stage_ms(meter, i);
    for (int i = 0; i < PLX_STAGE_COUNT; i++) {
        double ms = plx_meter_stage_ms(meter, i);
        int length = longest > 0 ? (int)(BAR * ms / longest + 0.5) : 0;
        printf("  %-10s %8.2f ms  %.*s" NEXT_LINE, plx_stage_word(i), ms, length, "##############################");
    }
}

static void draw_obstacles(const struct plx_frame *frame)
{
    const struct plx_obstacle *sorted[PLX_MAX_OBSTACLES];
    int count = plx_obstacles_by_distance(frame, sorted);
    printf("%d obstacle%s%s" NEXT_LINE, count, count == 1 ? "" : "s", count > OBSTACLES_SHOWN ? ", the nearest:" : "");
    for (int i = 0; i < count && i < OBSTACLES_SHOWN; i++) {
        char text[PLX_OBSTACLE_TEXT];
        plx_obstacle_text(sorted[i], true, text, sizeof text);
        printf("  %s" NEXT_LINE, text);
    }
}

void plx_watch_screen(const struct plx_watch *watch)
{
    char faults[512];
    plx_health_sentence(watch->health, faults, sizeof faults);
    printf("\033[HParallax  %s  %s" NEXT_LINE NEXT_LINE, plx_state_word((uint32_t)watch->state), faults);
    if (watch->recent.frames) {
        printf("%.1f pairs/s, latency %.1f ms" NEXT_LINE, plx_meter_rate_hz(&watch->recent),
               plx_meter_latency_ms(&watch->recent));
        draw_stages(&watch->recent);
        fputs(NEXT_LINE, stdout);
        draw_obstacles(&watch->frame);
    } else {
        fputs("no frames" NEXT_LINE, stdout);
    }
    fputs(NEXT_LINE "Ctrl-C ends" NEXT_LINE "\033[J", stdout);
    fflush(stdout);
}
