/* SPDX-License-Identifier: Apache-2.0 */
/* The screen of `parallax watch`, drawn with escape sequences of ECMA-48 (ISO/IEC 6429). */
#include "app/cli/live/watch_screen.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <parallax/client.h>

#include "app/view/frame_text.h"
#include "app/view/verdict.h"
#include "core/base/text.h"

#define NEXT_LINE "\033[K\n" /* clear to the end of the line */
#define BAR 30               /* characters for the longest stage */
#define OTHER_LINES (PLX_STAGE_COUNT + 11)
#define LINES_WITHOUT_TERMINAL 24

void plx_watch_screen_begin(void)
{
    fputs("\033[?1049h\033[?25l\033[?7l", stdout); /* the alternate screen, no cursor, long lines cut */
}

void plx_watch_screen_end(void)
{
    fputs("\033[?7h\033[?25h\033[?1049l", stdout);
    fflush(stdout);
}

static void draw_stages(const struct plx_frame_stats *stats)
{
    double longest_ms = 0;
    for (int i = 0; i < PLX_STAGE_COUNT; i++)
        if (plx_frame_stats_stage_ms(stats, i) > longest_ms)
            longest_ms = plx_frame_stats_stage_ms(stats, i);
    for (int i = 0; i < PLX_STAGE_COUNT; i++) {
        const double ms = plx_frame_stats_stage_ms(stats, i);
        const int length = longest_ms > 0 ? (int)(BAR * ms / longest_ms + 0.5) : 0;
        printf("  %-10s %8.2f ms  %.*s" NEXT_LINE, plx_stage_word(i), ms, length, "##############################");
    }
}

/* Number of obstacles that fit on the terminal. */
static int room_for_obstacles(void)
{
    struct winsize size;
    int lines = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : LINES_WITHOUT_TERMINAL;
    return lines > OTHER_LINES ? lines - OTHER_LINES : 0;
}

/* With zones only: without, it is always stop. */
static void draw_verdict(const struct plx_status *status)
{
    char text[PLX_VERDICT_TEXT];
    if (status->frame.zone[0].points == 0)
        return;
    plx_verdict_text(&status->verdict, text, sizeof text);
    printf("verdict     %s" NEXT_LINE, text);
}

static void draw_world(const struct plx_status *status, const struct plx_confirmed *before)
{
    const struct plx_frame *frame = &status->frame;
    char motion[PLX_MOTION_TEXT], free_ahead[PLX_FREE_TEXT], drop[PLX_DROP_TEXT];
    const int room = room_for_obstacles();
    const struct plx_obstacle *sorted[PLX_MAX_OBSTACLES];
    char blind[PLX_BLIND_SENTENCE];
    plx_blind_sentence(frame->blind, blind, sizeof blind);
    if (plx_frame_is_raw(frame)) {
        printf("obstacles unknown: %s" NEXT_LINE, blind);
        return;
    }
    draw_verdict(status);
    plx_motion_text(&frame->motion, motion, sizeof motion);
    printf("motion      %s" NEXT_LINE, motion);
    if (plx_has_scan(frame)) {
        plx_free_text(status->free_m, free_ahead, sizeof free_ahead);
        printf("free ahead  %s" NEXT_LINE, free_ahead);
        plx_drop_text(&status->drop, drop, sizeof drop);
        printf("drop        %s" NEXT_LINE, drop);
    }
    if (frame->blind) {
        printf("obstacles unknown: %s" NEXT_LINE, blind);
        return;
    }
    int count = plx_obstacles_confirmed(frame, before, sorted);
    printf("%d obstacle%s%s" NEXT_LINE, count, count == 1 ? "" : "s", count > room ? ", the nearest:" : "");
    plx_obstacles_print(sorted, count < room ? count : room, true, "  ", NEXT_LINE);
}

void plx_watch_screen(const struct plx_status *status, const struct plx_confirmed *before)
{
    char faults[PLX_FAULTS_TEXT];
    plx_status_faults(status, faults);
    printf("\033[HParallax  %s  %s" NEXT_LINE NEXT_LINE, plx_state_word(status->state), faults);
    if (status->stats.frames && plx_is_fresh(&status->frame)) {
        plx_frame_stats_print_rates(&status->stats);
        fputs(NEXT_LINE, stdout);
        draw_stages(&status->stats);
        fputs(NEXT_LINE, stdout);
        draw_world(status, before);
    } else {
        plx_status_print_age(status);
        fputs(NEXT_LINE, stdout);
    }
    fputs(NEXT_LINE "Ctrl-C ends\033[J", stdout);
    fflush(stdout);
}
