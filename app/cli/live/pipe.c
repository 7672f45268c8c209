/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax pipe`: writes pictures of the service as a Y4M stream, for ffmpeg and what else reads video. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/cli/commands.h"
#include "app/cli/live/connection.h"
#include "app/exit.h"
#include "app/service_config.h"
#include "app/view/export.h"
#include "app/view/frame_text.h"
#include "app/view/y4m.h"
#include "core/base/clock.h"

#define WAIT_MS 500 /* then looks whether the reader is still there */

/* DERIVE makes the 16-bit pixels; NULL: the plane itself. */
static const struct picture {
    const char *name;
    enum plx_plane_id plane;
    void (*derive)(const struct plx_view *view, uint16_t *ret_pixels);
    enum plx_y4m_kind kind;
} pictures[] = {
    {"left", PLX_PLANE_LEFT, NULL, PLX_Y4M_GREY8},
    {"right", PLX_PLANE_RIGHT, NULL, PLX_Y4M_GREY8},
    {"colour", PLX_PLANE_COLOUR, NULL, PLX_Y4M_COLOUR},
    {"disparity", PLX_PLANE_DISPARITY, plx_y4m_disparity, PLX_Y4M_GREY16},
    {"depth", PLX_PLANE_DISPARITY, plx_y4m_depth, PLX_Y4M_GREY16},
};

struct stream {
    const struct picture *picture;
    const char *socket; /* as the option gave it */
    int limit, frames;  /* limit 0: none */
    struct plx_image plane;
    int width, height; /* pixels of a picture in the stream */
    uint16_t *pixels;  /* one picture */
    size_t bytes;      /* size of one picture */
};

/* Returns an exit code, or -1 if a signal or the reader ends the stream. */
static int write_bytes(const struct plx_connection *connection, const void *data, size_t bytes)
{
    const uint8_t *at = data;

    while (bytes > 0) {
        const ssize_t written = write(STDOUT_FILENO, at, bytes);
        if (written < 0 && (errno == EPIPE || plx_stopped()))
            return -1;
        if (written < 0 && errno != EINTR)
            return plx_exit_error(connection->command, PLX_EXIT_IO, "cannot write the output: %s", strerror(errno));
        at += written > 0 ? written : 0;
        bytes -= written > 0 ? (size_t)written : 0;
    }
    return PLX_EXIT_OK;
}

/* Waits for the next frame, also while the service is away; only the first must come at once. Returns as
 * write_bytes. */
static int wait_for_frame(struct plx_connection *connection, bool first)
{
    int result;

    do {
        result = plx_connection_next_frame(connection, first ? PLX_FRESH_FRAME_MS : WAIT_MS);
        if (plx_stopped() || plx_exit_reader_is_gone())
            return -1;
    } while (!first && (result == PLX_ERR_TIMEOUT || result == PLX_ERR_LOST));
    return result < 0 ? plx_connection_fail(connection, result) : PLX_EXIT_OK;
}

static const enum plx_type type_of[] = {[PLX_Y4M_GREY8] = PLX_U8, [PLX_Y4M_GREY16] = PLX_U16, [PLX_Y4M_COLOUR] = PLX_RGB};

/* Finds the picture in the last copy. Returns an exit code. */
static int find_picture(const struct plx_connection *connection, struct stream *stream)
{
    const char *command = connection->command;

    if (stream->picture->kind != PLX_Y4M_GREY8 && plx_frame_is_raw(connection->frame))
        return plx_exit_error(command, PLX_EXIT_CONFIG,
                              "the service is not calibrated, so it has no %s; name a calibration by the key calibration",
                              stream->picture->name);
    stream->plane = plx_connection_plane(connection, stream->picture->plane);
    if (!stream->plane.data && stream->picture->plane == PLX_PLANE_RIGHT)
        return plx_exit_error(command, PLX_EXIT_CONFIG,
                              "the service does not publish the right picture; set publish.right: true in its configuration "
                              "and reload it, or start it with --set publish.right=true");
    if (!stream->plane.data && stream->picture->plane == PLX_PLANE_COLOUR)
        return plx_exit_error(
            command, PLX_EXIT_CONFIG,
            "the service does not publish colour; set colour.enabled: true in its configuration and reload it, "
            "or start it with --set colour.enabled=true");
    if (!stream->plane.data || stream->plane.type != type_of[stream->picture->kind])
        return plx_connection_fail(connection, PLX_ERR_FORMAT);
    if (stream->pixels && (stream->plane.width != stream->width || stream->plane.height != stream->height))
        return plx_exit_error(command, PLX_EXIT_UNAVAILABLE,
                              "the service changed the size of its pictures from %dx%d to %dx%d, and a stream has one size; "
                              "start a new one",
                              stream->width, stream->height, stream->plane.width, stream->plane.height);
    return PLX_EXIT_OK;
}

/* The configured rate. A replay has the rate of its capture times, which the next frame tells. */
static int find_rate(struct plx_connection *connection, const char *socket, double *ret_rate_hz)
{
    static struct plx_config config; /* large */
    const uint64_t epoch = connection->frame->epoch, sequence = connection->frame->sequence;
    const int64_t capture_ns = connection->frame->capture[PLX_LEFT].capture_ns;

    if (plx_service_config_ask(socket, &config) &&
        (config.source.type != PLX_SOURCE_REPLAY || config.source.replay_rate == PLX_REPLAY_FIXED)) {
        *ret_rate_hz = config.source.rate_hz;
        return PLX_EXIT_OK;
    }
    const int exit_code = wait_for_frame(connection, true);
    if (exit_code != PLX_EXIT_OK)
        return exit_code;
    const struct plx_frame *next = connection->frame;
    const double span_s = (double)(next->capture[PLX_LEFT].capture_ns - capture_ns) / PLX_NS_PER_S;
    const bool known = next->epoch == epoch && next->sequence > sequence && span_s > 0;
    *ret_rate_hz = known ? (double)(next->sequence - sequence) / span_s : 0;
    return PLX_EXIT_OK;
}

/* Writes the header. Returns an exit code, or -1 as write_bytes. */
static int begin(struct plx_connection *connection, struct stream *stream)
{
    char header[PLX_Y4M_HEADER_BYTES];
    double rate_hz;
    int exit_code = wait_for_frame(connection, true);
    if (exit_code == PLX_EXIT_OK)
        exit_code = find_picture(connection, stream);
    if (exit_code == PLX_EXIT_OK)
        exit_code = find_rate(connection, stream->socket, &rate_hz);
    if (exit_code == PLX_EXIT_OK)
        exit_code = find_picture(connection, stream);
    if (exit_code != PLX_EXIT_OK)
        return exit_code;
    stream->width = stream->plane.width;
    stream->height = stream->plane.height;
    stream->bytes = (size_t)stream->width * (size_t)stream->height * type_of[stream->picture->kind];
    stream->pixels = malloc(stream->bytes);
    if (!stream->pixels)
        return plx_connection_fail(connection, PLX_ERR_NOMEM);
    plx_y4m_header(stream->width, stream->height, stream->picture->kind, rate_hz, header);
    return write_bytes(connection, header, strlen(header));
}

static int write_picture(const struct plx_connection *connection, const struct stream *stream)
{
    const struct plx_view view = plx_export_view(connection->frame);

    if (stream->picture->derive)
        stream->picture->derive(&view, stream->pixels);
    else if (stream->picture->kind == PLX_Y4M_COLOUR)
        plx_y4m_colour(&stream->plane, (uint8_t *)stream->pixels);
    else
        for (int y = 0; y < stream->height; y++)
            memcpy((uint8_t *)stream->pixels + (size_t)y * (size_t)stream->width, plx_row(&stream->plane, y),
                   (size_t)stream->width);
    const int exit_code = write_bytes(connection, PLX_Y4M_FRAME, strlen(PLX_Y4M_FRAME));
    return exit_code == PLX_EXIT_OK ? write_bytes(connection, stream->pixels, stream->bytes) : exit_code;
}

static int write_stream(struct plx_connection *connection, void *context)
{
    struct stream *stream = context;

    plx_stop_on_signals();
    plx_exit_allow_closed_pipe();
    int exit_code = begin(connection, stream);
    while (exit_code == PLX_EXIT_OK) {
        exit_code = write_picture(connection, stream);
        if (exit_code == PLX_EXIT_OK && ++stream->frames == stream->limit)
            break;
        if (exit_code == PLX_EXIT_OK)
            exit_code = wait_for_frame(connection, false);
        if (exit_code == PLX_EXIT_OK)
            exit_code = find_picture(connection, stream);
    }
    return exit_code < 0 ? PLX_EXIT_OK : exit_code;
}

static const struct picture *picture_of(const char *name)
{
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++)
        if (strcmp(name, pictures[i].name) == 0)
            return &pictures[i];
    return NULL;
}

int plx_command_pipe(int argc, char **argv)
{
    struct stream stream = {.limit = 0};
    const struct plx_option options[] = {
        PLX_SOCKET_OPTION(stream.socket),
        PLX_OPTION("frames", "N", stream.limit, "ends after N frames (default: when the reader ends, or at Ctrl-C)", .min = 1,
                   .max = 1000000000),
        {0},
    };
    const struct plx_command_line line = {
        .program = "parallax pipe",
        .words = "PICTURE",
        .about =
            "Writes PICTURE (left, right, colour, disparity or depth) of each frame to standard output as Y4M video, which "
            "ffmpeg reads: "
            "left and right in 8-bit grey; disparity (pixels x 256) and depth (millimetres) in 16-bit grey, 0 = unknown. The "
            "right picture needs publish.right, colour colour.enabled. If the service stops, `pipe` waits until it is back.",
        .option = options,
        .min_words = 1,
        .max_words = 1};
    const char *word[PLX_MAX_WORDS];

    plx_parse_command_line(&line, argc, argv, word);
    stream.picture = picture_of(word[0]);
    if (!stream.picture)
        return plx_exit_error(line.program, PLX_EXIT_USAGE,
                              "unknown picture %s; expected left, right, colour, disparity or depth", word[0]);
    if (isatty(STDOUT_FILENO))
        return plx_exit_error(
            line.program, PLX_EXIT_USAGE,
            "standard output is a terminal; write into a file or a pipe, as in parallax pipe %s | ffplay -i -", word[0]);
    const int exit_code = plx_connection_run(line.program, stream.socket, write_stream, &stream);
    free(stream.pixels);
    return exit_code;
}
