/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax snapshot`: writes one frame of the service as files. */
#include <limits.h>
#include <stdio.h>

#include <parallax/error.h>

#include "app/cli/commands.h"
#include "app/cli/export.h"
#include "app/cli/frame_text.h"
#include "app/cli/live/connection.h"
#include "app/exit.h"
#include "drivers/files/png.h"

#define FRAME_MS 3000

struct snapshot {
    const struct plx_frame *frame;
    struct plx_view view;
    struct plx_image left, right,
        disparity; /* data NULL where it is not published: the right one, and disparity of a raw frame */
};

static int write_left(const char *path, const struct snapshot *snapshot, struct plx_error_message *message)
{
    return plx_png_write(path, &snapshot->left, message);
}

static int write_right(const char *path, const struct snapshot *snapshot, struct plx_error_message *message)
{
    return plx_png_write(path, &snapshot->right, message);
}

static int write_kitti(const char *path, const struct snapshot *snapshot, struct plx_error_message *message)
{
    return plx_export_kitti(path, &snapshot->disparity, snapshot->frame->min_disparity, message);
}

static int write_pfm(const char *path, const struct snapshot *snapshot, struct plx_error_message *message)
{
    return plx_export_pfm(path, &snapshot->disparity, snapshot->frame->min_disparity, message);
}

static int write_ply(const char *path, const struct snapshot *snapshot, struct plx_error_message *message)
{
    return plx_export_ply(path, &snapshot->view, message);
}

static void draw_disparity(struct plx_rgb_image *drawing, const struct snapshot *snapshot)
{
    plx_draw_disparity(drawing, &snapshot->disparity);
}

static void draw_obstacles(struct plx_rgb_image *drawing, const struct snapshot *snapshot)
{
    plx_draw_grey(drawing, &snapshot->left);
    plx_draw_obstacles(drawing, snapshot->frame);
}

static int write_canvas(const char *path, const struct snapshot *snapshot,
                        void (*draw)(struct plx_rgb_image *drawing, const struct snapshot *snapshot),
                        struct plx_error_message *message)
{
    struct plx_rgb_image drawing;
    int result = plx_rgb_image_create(snapshot->left.width, snapshot->left.height, &drawing);
    if (result < 0)
        return plx_fail(message, result, "%s: %s", path, plx_strerror(result));
    draw(&drawing, snapshot);
    result = plx_export_rgb_image(path, &drawing, message);
    plx_rgb_image_destroy(&drawing);
    return result;
}

/* WRITE writes the file, or DRAW draws its picture. RAW: its content for a raw frame; NULL: a raw frame has no such file. */
static const struct {
    const char *name, *what, *raw;
    int (*write)(const char *path, const struct snapshot *snapshot, struct plx_error_message *message);
    void (*draw)(struct plx_rgb_image *drawing, const struct snapshot *snapshot);
} file[] = {
    {"left.png", "the rectified left picture", "the left picture as captured", write_left, NULL},
    {"right.png", "the rectified right picture", "the right picture as captured", write_right, NULL},
    {"disparity.png", "disparity in colour: red is near, blue is far, black is unknown", NULL, NULL, draw_disparity},
    {"disparity16.png", "disparity x 256, 0 = unknown (16-bit PNG as in KITTI)", NULL, write_kitti, NULL},
    {"disparity.pfm", "disparity in pixels (floating point)", NULL, write_pfm, NULL},
    {"points.ply", "the point cloud, metres", NULL, write_ply, NULL},
    {"obstacles.png", "the obstacles and their distances on the left picture", NULL, NULL, draw_obstacles},
};

static int write_files(const char *directory, const struct snapshot *snapshot, struct plx_error_message *message)
{
    const bool raw = plx_frame_is_raw(snapshot->frame);
    int result = plx_make_directories(directory, message);
    for (size_t i = 0; i < sizeof file / sizeof *file && result == 0; i++) {
        char path[PATH_MAX];
        const char *what = raw ? file[i].raw : file[i].what;
        if (!what || (file[i].write == write_right && !snapshot->right.data))
            continue;
        snprintf(path, sizeof path, "%s/%s", directory, file[i].name);
        result = file[i].write ? file[i].write(path, snapshot, message) : write_canvas(path, snapshot, file[i].draw, message);
        if (result == 0)
            printf("%s: %s\n", path, what);
    }
    if (result == 0 && raw)
        puts("not calibrated: no disparity");
    return result;
}

static int take(struct plx_connection *connection, const char *directory)
{
    int result = plx_connection_next_frame(connection, FRAME_MS);
    if (result < 0)
        return plx_connection_fail(connection, result);
    struct snapshot snapshot = {
        .frame = connection->frame,
        .view = plx_export_view(connection->frame),
        .left = plx_connection_plane(connection, PLX_PLANE_LEFT),
        .right = plx_connection_plane(connection, PLX_PLANE_RIGHT),
        .disparity = plx_connection_plane(connection, PLX_PLANE_DISPARITY),
    };
    const struct plx_image *second = plx_frame_is_raw(snapshot.frame) ? &snapshot.right : &snapshot.disparity;
    if (!snapshot.left.data || !second->data || !plx_same_size(&snapshot.left, second))
        return plx_connection_fail(connection, PLX_ERR_FORMAT);
    struct plx_error_message message = {""};
    result = write_files(directory, &snapshot, &message);
    if (result < 0)
        return plx_exit_error(connection->command, PLX_EXIT_CANNOT_WRITE, "%s", message.text);
    plx_print_source_note(connection->frame);
    return PLX_EXIT_OK;
}

int plx_command_snapshot(int argc, char **argv)
{
    const char *socket = NULL, *output = ".";
    const struct plx_option options[] = {
        PLX_SOCKET_OPTION(socket),
        PLX_OPTION("output", "DIR", output, .help = "writes into this directory (default: the current one)"),
        {0},
    };
    const struct plx_command_line line = {
        .program = "parallax snapshot",
        .about =
            "Writes the newest frame into DIR: left.png, disparity.png (colour), disparity16.png, disparity.pfm, points.ply, "
            "obstacles.png, and right.png if the service publishes it (publish.right). Without a calibration it writes only "
            "left.png and right.png, as captured.",
        .option = options};
    struct plx_connection connection;

    plx_parse_command_line(&line, argc, argv, NULL);
    int exit_code = plx_connection_open(line.program, socket, &connection);
    if (exit_code != PLX_EXIT_OK)
        return exit_code;
    exit_code = take(&connection, output);
    plx_connection_close(&connection);
    return exit_code;
}
