/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax wall`: how good the disparities of a flat surface are. Page: docs/wall.md. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <parallax/error.h>

#include "app/cli/commands.h"
#include "app/cli/live/connection.h"
#include "app/cli/live/wall_print.h"
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

/* The newest measurement: by corners, else by patches. NAN: neither. */
static double rows_of(const struct plx_frame *frame)
{
    if (frame->drift.matches > 0)
        return fabs((double)frame->drift.epipolar_error_px);
    return frame->alignment.patches > 0 ? fabs((double)frame->alignment.epipolar_error_px) : (double)NAN;
}

/* By the first frame, which is in CONNECTION. Returns an exit code. */
static int begin(struct plx_connection *connection, const struct request *request, struct plx_box *ret_region,
                 struct plx_wall **ret_wall)
{
    const struct plx_frame *frame = connection->frame;
    const struct plx_image disparity = plx_connection_plane(connection, PLX_PLANE_DISPARITY);
    struct plx_box region = request->roi;

    if (plx_frame_is_raw(frame))
        return plx_exit_error(program, PLX_EXIT_CONFIG,
                              "the service has no calibration, so there is no disparity; name one with "
                              "the key calibration");
    if (!plx_image_ok(&disparity, PLX_U16))
        return plx_connection_fail(connection, PLX_ERR_FORMAT);
    if (!request->region)
        region = plx_wall_default_region(&disparity, &frame->calibration, frame->min_disparity);
    else if (region.width == 0)
        region = (struct plx_box){.width = disparity.width, .height = disparity.height};
    const int result = plx_wall_create(disparity.width, disparity.height, &region, &frame->calibration, frame->min_disparity,
                                       request->distance_m, ret_wall);
    if (result == PLX_ERR_RANGE)
        return plx_exit_error(program, PLX_EXIT_USAGE, "--roi: %s is not inside the picture of %d x %d pixels", request->region,
                              disparity.width, disparity.height);
    *ret_region = region;
    return result < 0 ? plx_connection_fail(connection, result) : PLX_EXIT_OK;
}

/* Adds the frame in CONNECTION. Returns an exit code. */
static int add_frame(struct plx_connection *connection, struct plx_wall *wall, const struct plx_box *region,
                     struct plx_wall_result *result)
{
    const struct plx_image disparity = plx_connection_plane(connection, PLX_PLANE_DISPARITY);
    const struct plx_image left = plx_connection_plane(connection, PLX_PLANE_LEFT);
    const struct plx_image confidence = plx_connection_plane(connection, PLX_PLANE_CONFIDENCE);

    if (plx_frame_is_raw(connection->frame) || !plx_image_ok(&left, PLX_U8) || !plx_same_size(&left, &disparity) ||
        plx_wall_add(wall, &disparity, confidence.data ? &confidence : NULL, &connection->frame->errors) < 0)
        return plx_exit_error(program, PLX_EXIT_UNAVAILABLE, "the pictures changed meanwhile; try again");
    result->source = connection->frame->source;
    result->light = plx_wall_light(&left, region);
    const double rows_px = rows_of(connection->frame);
    if (isfinite(rows_px))
        result->rows_px = rows_px;
    return PLX_EXIT_OK;
}

/* --- the picture ---------------------------------------------------------------------------------------------------- */

/* White on the plane, red 1 px nearer, blue 1 px farther, grey where nothing is known. */
static struct plx_rgb colour_of(double residual)
{
    const double share = fmin(fabs(residual) / PLX_WALL_OUTLIER_PX, 1);
    const uint8_t pale = (uint8_t)lround(255 * (1 - share));

    if (isnan(residual))
        return (struct plx_rgb){128, 128, 128};
    return residual > 0 ? (struct plx_rgb){255, pale, pale} : (struct plx_rgb){pale, pale, 255};
}

static int write_picture(const char *path, const struct plx_wall *wall, int width, int height, const struct plx_box *region,
                         struct plx_error_message *message)
{
    struct plx_rgb_image drawing;
    int result = plx_rgb_image_create(width, height, &drawing);

    if (result < 0)
        return plx_fail(message, result, "%s: %s", path, plx_strerror(result));
    for (int y = region->y; y < region->y + region->height; y++)
        for (int x = region->x; x < region->x + region->width; x++)
            drawing.pixel[(size_t)y * (size_t)width + (size_t)x] = colour_of(plx_wall_residual(wall, x, y));
    for (int i = 0; i < 9; i++) {
        const int x0 = region->width * (i % 3) / 3, x1 = region->width * (i % 3 + 1) / 3;
        const int y0 = region->height * (i / 3) / 3, y1 = region->height * (i / 3 + 1) / 3;
        plx_draw_box(&drawing, region->x + x0, region->y + y0, x1 - x0, y1 - y0, 1, (struct plx_rgb){0, 0, 0});
    }
    result = plx_export_rgb_image(path, &drawing, message);
    plx_rgb_image_destroy(&drawing);
    return result;
}

/* --- the command ----------------------------------------------------------------------------------------------------- */

static int exit_code_of(enum plx_wall_verdict verdict)
{
    return verdict == PLX_WALL_GOOD ? PLX_EXIT_OK : verdict == PLX_WALL_CALIBRATE ? PLX_EXIT_FAILURE : PLX_EXIT_DOUBT;
}

static int finish(struct plx_connection *connection, const struct request *request, const struct plx_wall *wall,
                  const struct plx_box *region, struct plx_wall_result *result)
{
    const struct plx_frame *frame = connection->frame;
    struct plx_error_message message = {""};

    plx_wall_report(wall, &result->report);
    result->verdict = plx_wall_judge(&result->report, &result->light, result->rows_px);
    if (request->picture && write_picture(request->picture, wall, (int)frame->width, (int)frame->height, region, &message) < 0)
        return plx_exit_error(program, PLX_EXIT_CANNOT_WRITE, "%s", message.text);
    (request->json ? plx_wall_print_json : plx_wall_print)(result);
    if (!request->json)
        plx_print_source_note(frame);
    return exit_code_of(result->verdict);
}

static int work(struct plx_connection *connection, void *context)
{
    const struct request *request = context;
    struct plx_wall_result result = {.distance_m = request->distance_m, .rows_px = NAN};
    struct plx_wall *wall = NULL;
    struct plx_box region = {0};
    int exit_code = PLX_EXIT_OK;

    for (int i = 0; i < request->frames && exit_code == PLX_EXIT_OK; i++) {
        const int next = plx_connection_next_frame(connection, PLX_FRESH_FRAME_MS);
        if (next < 0)
            exit_code = plx_connection_fail(connection, next);
        if (exit_code == PLX_EXIT_OK && !wall)
            exit_code = begin(connection, request, &region, &wall);
        if (exit_code == PLX_EXIT_OK)
            exit_code = add_frame(connection, wall, &region, &result);
    }
    if (exit_code == PLX_EXIT_OK)
        exit_code = finish(connection, request, wall, &region, &result);
    plx_wall_destroy(wall);
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
    struct request request = {.frames = 30, .distance_m = NAN};
    const char *word[PLX_MAX_WORDS] = {NULL};
    const struct plx_option options[] = {
        PLX_SOCKET_OPTION(request.socket),
        PLX_OPTION("distance", "M", request.distance_m,
                   "shortest distance from the left camera to the wall, by tape, metres: then it prints the bias", 0.05, 1000),
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
            "all is good, 1 if the cameras are to be calibrated again, 4 if the surface cannot tell.",
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
