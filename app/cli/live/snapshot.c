/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax snapshot`: writes one frame of the service as files. */
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include <parallax/error.h>

#include "app/cli/commands.h"
#include "app/cli/live/connection.h"
#include "app/cli/live/snapshot_last.h"
#include "app/exit.h"
#include "app/flight_recorder/request.h"
#include "app/view/export.h"
#include "app/view/frame_text.h"
#include "drivers/files/picture.h"

struct snapshot {
    struct plx_view view;
    struct plx_image left, right, disparity; /* data NULL if it is not published: the right one, and disparity of a raw frame */
    struct plx_image colour;                 /* likewise; RGB */
    struct plx_image scan, stixels;          /* likewise where columns are off */
    struct plx_depth_range range;            /* distances that the colours of disparity.png cover */
};

static void draw_disparity(struct plx_rgb_image *drawing, const struct snapshot *snapshot)
{
    plx_draw_disparity(drawing, snapshot->view.frame, &snapshot->disparity, &snapshot->range);
}

static void draw_colour(struct plx_rgb_image *drawing, const struct snapshot *snapshot)
{
    plx_draw_image(drawing, &snapshot->colour);
}

static void draw_obstacles(struct plx_rgb_image *drawing, const struct snapshot *snapshot)
{
    plx_draw_image(drawing, snapshot->colour.data ? &snapshot->colour : &snapshot->left);
    plx_draw_obstacles(drawing, snapshot->view.frame);
}

static void draw_columns(struct plx_rgb_image *drawing, const struct snapshot *snapshot)
{
    plx_draw_image(drawing, snapshot->colour.data ? &snapshot->colour : &snapshot->left);
    plx_draw_columns(drawing, snapshot->view.frame, &snapshot->scan, &snapshot->stixels);
}

/* EXPORT or DRAW makes the file; if both are NULL, the file is the grey picture PLANE. RAW describes the content for a raw
 * frame; NULL: a raw frame has no such file. */
static const struct file {
    const char *name, *content, *raw;
    enum plx_plane_id plane;
    plx_export *export;
    void (*draw)(struct plx_rgb_image *drawing, const struct snapshot *snapshot);
} files[] = {
    {"left.png", "the rectified left picture", "the left picture as captured", PLX_PLANE_LEFT, NULL, NULL},
    {"right.png", "the rectified right picture", "the right picture as captured", PLX_PLANE_RIGHT, NULL, NULL},
    {"colour.png", "the left picture in colour", NULL, PLX_PLANE_COLOUR, NULL, draw_colour},
    {"disparity.png", "disparity in colour: red is near, blue is far, black is unknown", NULL, 0, NULL, draw_disparity},
    {"disparity16.png", "disparity x 256, 0 = unknown (16-bit PNG as in KITTI)", NULL, 0, plx_export_kitti, NULL},
    {"disparity.pfm", "disparity in pixels (floating point)", NULL, 0, plx_export_pfm, NULL},
    {"points.ply", "the point cloud, metres", NULL, 0, plx_export_ply, NULL},
    {"obstacles.png", "the obstacles and their distances on the left picture", NULL, 0, NULL, draw_obstacles},
    {"columns.png", "what stands in each column, coloured by distance, and free ground in green", NULL, PLX_PLANE_STIXELS, NULL,
     draw_columns},
};

static int write_file(const char *path, const struct file *file, const struct snapshot *snapshot,
                      struct plx_error_message *message)
{
    if (file->export)
        return file->export(path, &snapshot->view, message);
    if (!file->draw)
        return plx_png_write(path, file->plane == PLX_PLANE_LEFT ? &snapshot->left : &snapshot->right, message);
    struct plx_rgb_image drawing;
    int result = plx_rgb_image_create(snapshot->left.width, snapshot->left.height, &drawing);
    if (result < 0)
        return plx_fail(message, result, "%s: %s", path, plx_strerror(result));
    file->draw(&drawing, snapshot);
    result = plx_export_rgb_image(path, &drawing, message);
    plx_rgb_image_destroy(&drawing);
    return result;
}

static int write_files(const char *directory, const struct snapshot *snapshot, struct plx_error_message *message)
{
    const bool raw = plx_frame_is_raw(snapshot->view.frame);
    int result = plx_make_directories(directory, message);
    for (size_t i = 0; i < sizeof files / sizeof *files && result == 0; i++) {
        char path[PATH_MAX];
        const char *content = raw ? files[i].raw : files[i].content;
        if (!content || (files[i].plane == PLX_PLANE_RIGHT && !snapshot->right.data) ||
            (files[i].plane == PLX_PLANE_COLOUR && !snapshot->colour.data) ||
            (files[i].plane == PLX_PLANE_STIXELS && !snapshot->stixels.data))
            continue;
        snprintf(path, sizeof path, "%s/%s", directory, files[i].name);
        result = write_file(path, &files[i], snapshot, message);
        if (result == 0)
            printf("%s: %s\n", path, content);
    }
    if (result == 0 && raw)
        puts("not calibrated: no disparity");
    return result;
}

struct options {
    const char *directory;
    struct plx_depth_range range;
};

/* NEAR,FAR in metres. Returns an exit code. */
static int parse_range(const char *text, struct plx_depth_range *ret_range)
{
    struct plx_depth_range range;
    char rest;
    if (sscanf(text, "%lf,%lf%c", &range.near_m, &range.far_m, &rest) != 2 || !(range.near_m > 0) ||
        !(range.far_m > range.near_m) || !isfinite(range.far_m))
        return plx_exit_error("parallax snapshot", PLX_EXIT_USAGE,
                              "--range: \"%s\"; expected NEAR,FAR in metres, such as 0.5,10", text);
    *ret_range = range;
    return PLX_EXIT_OK;
}

static int write_snapshot(struct plx_connection *connection, void *context)
{
    const struct options *options = context;
    int result = plx_connection_next_frame(connection, PLX_FRESH_FRAME_MS);
    if (result < 0)
        return plx_connection_fail(connection, result);
    struct snapshot snapshot = {
        .view = plx_export_view(connection->frame),
        .left = plx_connection_plane(connection, PLX_PLANE_LEFT),
        .right = plx_connection_plane(connection, PLX_PLANE_RIGHT),
        .colour = plx_connection_plane(connection, PLX_PLANE_COLOUR),
        .disparity = plx_connection_plane(connection, PLX_PLANE_DISPARITY),
        .scan = plx_connection_plane(connection, PLX_PLANE_SCAN),
        .stixels = plx_connection_plane(connection, PLX_PLANE_STIXELS),
        .range = options->range,
    };
    const struct plx_image *second = plx_frame_is_raw(connection->frame) ? &snapshot.right : &snapshot.disparity;
    if (!snapshot.left.data || !second->data || !plx_same_size(&snapshot.left, second) ||
        (snapshot.colour.data && !plx_same_size(&snapshot.left, &snapshot.colour)))
        return plx_connection_fail(connection, PLX_ERR_FORMAT);
    struct plx_error_message message = {""};
    result = write_files(options->directory, &snapshot, &message);
    if (result < 0)
        return plx_exit_error(connection->command, PLX_EXIT_CANNOT_WRITE, "%s", message.text);
    plx_print_source_note(connection->frame);
    return PLX_EXIT_OK;
}

int plx_command_snapshot(int argc, char **argv)
{
    const char *socket = NULL, *range = NULL, *word[PLX_MAX_WORDS] = {NULL};
    struct options chosen = {.directory = "."};
    double last = 0;
    const struct plx_option options[] = {
        PLX_SOCKET_OPTION(socket),
        PLX_OPTION("output", "DIR", chosen.directory, "writes into this directory (default: the current one)"),
        PLX_OPTION(
            "range", "NEAR,FAR", range,
            "distances between which the colours of disparity.png change, metres (default: from infinity to the nearest 1 %)"),
        PLX_OPTION("last", "S", last, "asks the flight recorder for its pairs of the last S seconds, as an MCAP file", 0.1,
                   PLX_RECORDER_MAX_SECONDS),
        {0},
    };
    const struct plx_command_line line = {
        .program = "parallax snapshot",
        .words = "[FILE.mcap]",
        .about =
            "Writes the newest frame into DIR: left.png, disparity.png (colour), disparity16.png, disparity.pfm, points.ply, "
            "obstacles.png, columns.png, and right.png and colour.png if the service publishes them (publish.right, "
            "colour.enabled). Without a calibration it "
            "writes only "
            "left.png and right.png, as captured. With --last it prints the file of the flight recorder, or copies it to "
            "FILE.mcap, which must be new.",
        .option = options,
        .max_words = 1};

    plx_parse_command_line(&line, argc, argv, word);
    if (last > 0)
        return plx_snapshot_last(line.program, socket, last, word[0]);
    if (word[0])
        return plx_exit_error(line.program, PLX_EXIT_USAGE, "%s: a file needs --last", word[0]);
    const int exit_code = range ? parse_range(range, &chosen.range) : PLX_EXIT_OK;
    return exit_code == PLX_EXIT_OK ? plx_connection_run(line.program, socket, write_snapshot, &chosen) : exit_code;
}
