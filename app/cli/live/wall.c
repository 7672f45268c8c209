/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax wall`: how good the disparities of a flat surface are. Page: docs/wall.md. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <parallax/error.h>

#include "app/cli/commands.h"
#include "app/cli/live/connection.h"
#include "app/cli/live/wall_print.h"
#include "app/evaluate/wall_measurement.h"
#include "app/exit.h"
#include "app/view/export.h"

static const char program[] = "parallax wall";

struct request {
    const char *socket, *region, *picture;
    struct plx_box roi;
    int frames;
    double distance_m;
    bool json;
};

/* --- measuring ------------------------------------------------------------------------------------------------------ */

/* "X,Y,WIDTH,HEIGHT", or "whole". Returns an exit code. */
static int parse_region(const char *text, struct plx_box *ret_box)
{
    struct plx_box box = {0};
    char rest;

    if (strcmp(text, "whole") != 0 && (sscanf(text, "%d,%d,%d,%d%c", &box.x, &box.y, &box.width, &box.height, &rest) != 4 ||
                                       box.x < 0 || box.y < 0 || box.width < 1 || box.height < 1))
        return plx_exit_error(program, PLX_EXIT_USAGE, "--roi: \"%s\"; expected X,Y,WIDTH,HEIGHT in pixels, or whole", text);
    *ret_box = box;
    return PLX_EXIT_OK;
}

/* Adds the frame in CONNECTION. Returns an exit code. */
static int add_frame(struct plx_connection *connection, const struct request *request, struct plx_wall_measurement *measurement)
{
    struct plx_error_message message = {""};
    const int result = plx_wall_measurement_add(measurement, connection->frame, &message);

    if (result == PLX_ERR_FORMAT)
        return plx_connection_fail(connection, result);
    if (result == PLX_ERR_RANGE)
        return plx_exit_error(program, PLX_EXIT_USAGE, "--roi: %s: %s", request->region, message.text);
    return result < 0 ? plx_exit_error(program, plx_exit_code(result), "%s", message.text) : PLX_EXIT_OK;
}

static int write_picture(const char *path, const struct plx_wall_measurement *measurement, struct plx_error_message *message)
{
    struct plx_rgb_image drawing;
    int result = plx_wall_measurement_draw(measurement, &drawing);

    if (result < 0)
        return plx_fail(message, result, "%s: %s", path, plx_strerror(result));
    result = plx_export_rgb_image(path, &drawing, message);
    plx_rgb_image_destroy(&drawing);
    return result;
}

/* --- the command ----------------------------------------------------------------------------------------------------- */

static int exit_code_of(enum plx_wall_verdict verdict)
{
    return verdict == PLX_WALL_GOOD ? PLX_EXIT_OK : verdict == PLX_WALL_CALIBRATE ? PLX_EXIT_FAILURE : PLX_EXIT_DOUBT;
}

static int finish(const struct request *request, struct plx_wall_measurement *measurement, const struct plx_frame *frame)
{
    struct plx_error_message message = {""};

    plx_wall_measurement_judge(measurement);
    if (request->picture && write_picture(request->picture, measurement, &message) < 0)
        return plx_exit_error(program, PLX_EXIT_CANNOT_WRITE, "%s", message.text);
    (request->json ? plx_wall_print_json : plx_wall_print)(&measurement->result);
    if (!request->json)
        plx_print_source_note(frame);
    return exit_code_of(measurement->result.verdict);
}

static int work(struct plx_connection *connection, void *context)
{
    const struct request *request = context;
    struct plx_wall_measurement measurement;
    int exit_code = PLX_EXIT_OK;

    plx_wall_measurement_begin(request->distance_m, &measurement);
    measurement.roi = request->roi;
    measurement.is_whole = request->region != NULL;
    for (int i = 0; i < request->frames && exit_code == PLX_EXIT_OK; i++) {
        const int next = plx_connection_next_frame(connection, PLX_FRESH_FRAME_MS);
        exit_code = next < 0 ? plx_connection_fail(connection, next) : add_frame(connection, request, &measurement);
    }
    if (exit_code == PLX_EXIT_OK)
        exit_code = finish(request, &measurement, connection->frame);
    plx_wall_measurement_end(&measurement);
    return exit_code;
}

static int join(const char *const path[PLX_MAX_WORDS], bool json)
{
    static struct plx_wall_series series; /* large */
    struct plx_error_message message = {""};

    for (series.count = 0; path[series.count]; series.count++) {
        const int result = plx_wall_read(path[series.count], &series.result[series.count], &message);
        if (result < 0)
            return plx_exit_error(program, plx_exit_code(result), "%s", message.text);
    }
    plx_wall_judge_series(&series);
    (json ? plx_wall_print_series_json : plx_wall_print_series)(&series);
    return exit_code_of(series.verdict);
}

int plx_command_wall(int argc, char **argv)
{
    struct request request = {.frames = PLX_WALL_FRAMES, .distance_m = NAN};
    const char *word[PLX_MAX_WORDS] = {NULL};
    const struct plx_option options[] = {
        PLX_SOCKET_OPTION(request.socket),
        PLX_OPTION("distance", "M", request.distance_m,
                   "shortest distance from the left camera to the wall, by tape, metres: then it prints the bias",
                   PLX_WALL_MIN_DISTANCE_M, PLX_WALL_MAX_DISTANCE_M),
        PLX_OPTION("frames", "N", request.frames, "measures this many frames (default: 30)", 1, 10000),
        PLX_OPTION("roi", "X,Y,WIDTH,HEIGHT", request.region,
                   "measures this part of the picture, pixels, or `whole` (default: what the right camera sees too)"),
        PLX_OPTION("picture", "FILE.png", request.picture,
                   "writes a picture: white on the plane, red 1 px nearer, blue 1 px farther, grey unknown"),
        PLX_OPTION("json", NULL, request.json, "prints JSON"),
        {0},
    };
    const struct plx_command_line line = {
        .program = program,
        .words = "[FILE.json]...",
        .about =
            "Stand the robot before a wall, or any flat surface with texture that fills the picture: it prints how much of it "
            "has a disparity, bias, noise in space and time, and rows, for the whole picture and its nine parts, and a "
            "verdict. "
            "With files that --json printed at different distances it joins them, and needs no service. The exit code is 0 if "
            "all is measured and good, 1 if the cameras are to be calibrated again, 4 if the surface cannot tell, or if "
            "something is not measured: bias needs --distance.",
        .option = options,
        .max_words = PLX_WALL_MAX_FILES};

    plx_parse_command_line(&line, argc, argv, word);
    if (word[0] && (request.region || request.picture || isfinite(request.distance_m)))
        return plx_exit_error(program, PLX_EXIT_USAGE, "%s: a file is joined with other files, and takes --json only", word[0]);
    if (word[0])
        return join(word, request.json);
    const int exit_code = request.region ? parse_region(request.region, &request.roi) : PLX_EXIT_OK;
    return exit_code == PLX_EXIT_OK ? plx_connection_run(program, request.socket, work, &request) : exit_code;
}
