/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax calibrate --live`: takes pairs from the running service, and tells who holds the board what is missing. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/calibrate/guide.h"
#include "app/cli/calibrate/request.h"
#include "app/cli/calibrate/state.h"
#include "app/cli/live/connection.h"
#include "app/cli/live/watch_screen.h"
#include "app/exit.h"
#include "app/view/frame_text.h"
#include "core/base/clock.h"

#define SCREEN_NS (PLX_NS_PER_S / 5)
#define MAX_PAIRS 60 /* then it ends, whatever the verdict is */
#define AGAIN 4      /* pairs from one look at the verdict to the next */
#define NEXT_LINE "\033[K\n"

struct live {
    struct plx_guide guide;
    bool screen;                  /* a terminal; else lines */
    char words[PLX_GUIDE_ADVICE]; /* what the person is told */
    char said[PLX_GUIDE_ADVICE];  /* in the last line */
    char verdict[512];            /* judgement of the pairs so far, or "" */
    int judged;                   /* pairs when the verdict was made */
    int said_pairs, looked;
    int64_t shown_ns;
    bool is_page_failure_shown;
};

static void print_parts(const struct plx_guide *guide)
{
    fputs("        left picture   right picture" NEXT_LINE, stdout);
    for (int row = 0; row < PLX_GUIDE_ROWS; row++) {
        fputs("        ", stdout);
        for (int eye = 0; eye < PLX_EYES; eye++) {
            for (int column = 0; column < PLX_GUIDE_COLUMNS; column++)
                printf("%s ", guide->part[eye][row][column] > 0 ? "##" : "..");
            fputs(eye == PLX_LEFT ? "   " : NEXT_LINE, stdout);
        }
    }
}

static void draw_screen(const struct live *live)
{
    const struct plx_guide *guide = &live->guide;
    printf("\033[HCalibration  %d pairs of %d or more" NEXT_LINE NEXT_LINE, guide->boards.count, PLX_GUIDE_PAIRS);
    print_parts(guide);
    fputs(NEXT_LINE "tilted  ", stdout);
    for (int tilt = 0; tilt < PLX_TILTS; tilt++)
        printf("%s nearer %d of %d  ", plx_guide_tilt_word((enum plx_guide_tilt)tilt), guide->tilted[tilt], PLX_GUIDE_TILTED);
    fputs(NEXT_LINE "edges  ", stdout);
    for (int eye = 0; eye < PLX_EYES; eye++)
        if (guide->edge_px[eye] > 0)
            printf(" %s %.1f px wide", eye == PLX_LEFT ? "left" : "right", guide->edge_px[eye]);
        else
            printf(" %s unknown", eye == PLX_LEFT ? "left" : "right");
    fputs(NEXT_LINE, stdout);
    if (isfinite(guide->speed))
        printf("speed   %.1f %% of the picture's width a second" NEXT_LINE, 100 * guide->speed);
    else
        printf("speed   unknown" NEXT_LINE);
    printf(NEXT_LINE "\033[1m%s\033[0m" NEXT_LINE, live->words);
    if (*live->verdict)
        printf("so far  %s" NEXT_LINE, live->verdict);
    fputs(NEXT_LINE "Ctrl-C ends, and calibrates with the pairs so far\033[J", stdout);
    fflush(stdout);
}

/* For those who read the output later, and for --json: on standard error. */
static void print_line(struct live *live)
{
    if (live->guide.boards.count == live->said_pairs && strcmp(live->words, live->said) == 0)
        return;
    fprintf(stderr, "%2d pairs  %s\n", live->guide.boards.count, live->words);
    live->said_pairs = live->guide.boards.count;
    memcpy(live->said, live->words, sizeof live->said);
}

static void show(struct live *live, const char *socket)
{
    const int64_t now_ns = plx_now_ns();
    const struct plx_calibrating state = {&live->guide, live->words, live->looked, *live->verdict ? live->verdict : NULL};
    if (now_ns - live->shown_ns < SCREEN_NS && live->guide.state != PLX_GUIDE_KEPT)
        return;
    live->shown_ns = now_ns;
    if (live->screen)
        draw_screen(live);
    else
        print_line(live);
    if (plx_calibrating_write(&state, socket) < 0 && !live->is_page_failure_shown) {
        live->is_page_failure_shown = true;
        if (!live->screen)
            fprintf(stderr, "note: the page cannot show this: no file can be made beside %s; run the command as root\n",
                    socket);
    }
}

/* Judges the pairs once all parts and tilts were seen. True if they are good, or many. */
static bool is_done(struct live *live)
{
    const struct plx_boards *boards = &live->guide.boards;
    struct plx_error_message message;
    struct plx_outcome outcome;
    if (!plx_guide_is_complete(&live->guide) || (live->judged > 0 && boards->count < live->judged + AGAIN))
        return false;
    live->judged = boards->count;
    const int result = plx_outcome_find(boards, &outcome, &message);
    snprintf(live->verdict, sizeof live->verdict, "%s", result == 0 ? plx_outcome_verdict(&outcome) : message.text);
    return (result == 0 && plx_outcome_is_good(&outcome)) || boards->count >= MAX_PAIRS;
}

/* Returns an exit code. */
static int check_frame(const struct plx_connection *connection, const struct plx_image image[PLX_EYES])
{
    if (!plx_frame_is_raw(connection->frame))
        return plx_exit_error(connection->command, PLX_EXIT_CONFIG,
                              "the service is calibrated, so its pictures are rectified; set calibration: none in its "
                              "configuration and reload it (--install puts the new calibration there)");
    if (!image[PLX_LEFT].data || !image[PLX_RIGHT].data || image[PLX_LEFT].type != PLX_U8 || image[PLX_RIGHT].type != PLX_U8)
        return plx_connection_fail(connection, PLX_ERR_FORMAT);
    return PLX_EXIT_OK;
}

/* Judges the next pair. Returns an exit code; a service that is gone may come back. */
static int judge_next_pair(struct plx_connection *connection, struct live *live)
{
    struct plx_error_message message;
    const int result = plx_connection_next_frame(connection, live->looked > 0 ? 500 : PLX_FRESH_FRAME_MS);
    if (plx_stopped())
        return PLX_EXIT_OK;
    if (result < 0 && (live->looked == 0 || (result != PLX_ERR_TIMEOUT && result != PLX_ERR_LOST)))
        return plx_connection_fail(connection, result);
    if (result < 0) {
        snprintf(live->words, sizeof live->words, "no fresh picture: waiting for the service");
        return PLX_EXIT_OK;
    }
    const struct plx_image image[PLX_EYES] = {plx_connection_plane(connection, PLX_PLANE_LEFT),
                                              plx_connection_plane(connection, PLX_PLANE_RIGHT)};
    const int exit_code = check_frame(connection, image);
    if (exit_code != PLX_EXIT_OK)
        return exit_code;
    live->looked++;
    if (plx_guide_judge(&live->guide, image, connection->frame->capture[PLX_LEFT].capture_ns, &message) < 0)
        return plx_exit_error(connection->command, PLX_EXIT_UNAVAILABLE, "%s", message.text);
    plx_guide_advice(&live->guide, live->words);
    return PLX_EXIT_OK;
}

static int take_pairs(struct plx_connection *connection, void *context)
{
    struct live *live = context;
    int exit_code = PLX_EXIT_OK;
    plx_stop_on_signals();
    if (live->screen)
        plx_watch_screen_begin();
    while (exit_code == PLX_EXIT_OK && !plx_stopped() && !is_done(live)) {
        exit_code = judge_next_pair(connection, live);
        if (exit_code == PLX_EXIT_OK)
            show(live, connection->socket);
    }
    if (live->screen)
        plx_watch_screen_end();
    plx_calibrating_remove(connection->socket);
    return exit_code;
}

static int fail_too_few(const struct plx_guide *guide)
{
    char seen[PLX_SIGHTING_TEXT];
    plx_boards_sighting_text(&guide->boards, &guide->sighting, seen);
    const bool says = *seen && guide->boards.count == 0;
    return plx_exit_error(PLX_CALIBRATE, PLX_EXIT_DATA, "%d pairs were taken; expected %d, and better %d%s%s",
                          guide->boards.count, PLX_RIG_MIN_PAIRS, PLX_GUIDE_PAIRS, says ? "; " : "", says ? seen : "");
}

int plx_calibrate_live(const struct plx_calibrate_request *request)
{
    struct live live = {.screen = isatty(STDOUT_FILENO) && !request->json, .said_pairs = -1};
    const struct plx_boards *boards = &live.guide.boards;
    const int result = plx_guide_open(&live.guide, &request->board, request->model);
    if (result < 0)
        return plx_exit_error(PLX_CALIBRATE, plx_exit_code(result), "%s", plx_strerror(result));
    int exit_code = plx_connection_run(PLX_CALIBRATE, request->socket, take_pairs, &live);
    if (exit_code == PLX_EXIT_OK && boards->count < PLX_RIG_MIN_PAIRS)
        exit_code = fail_too_few(&live.guide);
    else if (exit_code == PLX_EXIT_OK)
        exit_code = plx_calibrate_finish(request, boards, NULL, live.looked, "");
    plx_guide_close(&live.guide);
    return exit_code;
}
