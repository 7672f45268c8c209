/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax record`: writes pairs of the service, rectified or as captured, into a KITTI-style directory for replay, or frames
 * into an MCAP file. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/bag_writer/bag_writer.h"
#include "app/cli/commands.h"
#include "app/cli/live/connection.h"
#include "app/cli/progress.h"
#include "app/exit.h"
#include "app/view/export.h"
#include "app/view/frame_text.h"
#include "bridge/topics.h"
#include "core/base/clock.h"
#include "core/geometry/stereo.h"
#include "drivers/files/calib_txt.h"
#include "drivers/files/file.h"
#include "drivers/files/picture.h"
#include "drivers/files/recording.h"

enum { COLOUR = PLX_EYES, PICTURES }; /* pictures of a pair; the third where the service has colour */

static const char *const folder[PICTURES] = {"image_0", "image_1", ("image_0" PLX_LAYOUT_COLOUR)};
static const enum plx_plane_id plane_of[PICTURES] = {PLX_PLANE_LEFT, PLX_PLANE_RIGHT, PLX_PLANE_COLOUR};

struct recording {
    const char *path;           /* the directory or file */
    uint32_t topics;            /* topics of an MCAP file: plx_bag_topics */
    struct plx_bag_writer *bag; /* NULL: into a directory */
    bool raw;                   /* record pairs as captured; else rectified ones */
    int limit;                  /* pairs; 0: no limit */
    double seconds;             /* 0: no limit */
    FILE *times;
    uint64_t pairs, missed;
    int64_t first_ns; /* capture time of the first pair */
    struct plx_diagnostics diagnostics;
    int64_t diagnosed_ns;               /* publication time of the frame that they were recorded with */
    uint64_t diagnosed_pairs;           /* then */
    uint64_t epoch, last_sequence;      /* last pair */
    struct plx_image picture[PICTURES]; /* last copy */
};

/* Projections of the rectified cameras as KITTI's odometry sequences have them. */
static void print_projections(FILE *file, const struct plx_calibration_info *info)
{
    fprintf(file, "P0: %.17g 0 %.17g 0 0 %.17g %.17g 0 0 0 1 0\n", info->fx, info->cx, info->fy, info->cy);
    fprintf(file, "P1: %.17g 0 %.17g %.17g 0 %.17g %.17g 0 0 0 1 0\n", info->fx, info->cx_right, -plx_focal_baseline(info),
            info->fy, info->cy);
}

/* The same pictures give the same frames: they are not corrected again. */
static void print_rectified(FILE *file, const struct plx_frame *frame)
{
    char corrected[PLX_CORRECTED_TEXT];
    print_projections(file, &frame->calibration);
    plx_corrected_text(&frame->correction, corrected);
    fprintf(file, PLX_KITTI_CORRECTED " %s\n", corrected);
}

/* calib.txt says whether the pictures are rectified. */
static int write_calibration(const struct recording *recording, const struct plx_frame *frame,
                             struct plx_error_message *message)
{
    FILE *file;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/calib.txt", recording->path);
    int result = plx_file_create(path, &file, message);
    if (result < 0)
        return result;
    if (recording->raw)
        fputs(PLX_KITTI_RAW "\n# pictures as captured (parallax record --raw): name their calibration by the key calibration\n",
              file);
    else
        print_rectified(file, frame);
    return plx_file_commit(path, file, 0, message);
}

static bool is_mcap(const char *path)
{
    const char *ending = strrchr(path, '.');
    return ending && strcmp(ending, ".mcap") == 0;
}

static int count_pictures(const struct recording *recording)
{
    return recording->picture[COLOUR].data ? PICTURES : PLX_EYES;
}

/* Creates the directory with everything but pictures and times. */
static int begin_directory(struct recording *recording, const struct plx_frame *frame, struct plx_error_message *message)
{
    char path[PATH_MAX];
    int result = plx_make_directories(recording->path, message);
    for (int i = 0; i < count_pictures(recording) && result == 0; i++) {
        snprintf(path, sizeof path, "%s/%s", recording->path, folder[i]);
        if (mkdir(path, 0777) < 0)
            result = errno == EEXIST ? plx_fail(message, PLX_ERR_IO, "%s: exists already; record into a new directory", path)
                                     : plx_file_fail(path, message);
    }
    if (result == 0)
        result = write_calibration(recording, frame, message);
    snprintf(path, sizeof path, "%s/times.txt", recording->path);
    if (result == 0)
        result = plx_file_create(path, &recording->times, message);
    return result;
}

static int begin(struct recording *recording, const struct plx_frame *frame, struct plx_error_message *message)
{
    recording->first_ns = frame->capture[PLX_LEFT].capture_ns;
    recording->epoch = frame->epoch;
    recording->last_sequence = frame->sequence - 1;
    return is_mcap(recording->path)
               ? plx_bag_writer_create(recording->path, recording->topics, PLX_BAG_COMPRESSED, frame, &recording->bag, message)
               : begin_directory(recording, frame, message);
}

static void name_picture(char path[PATH_MAX], const struct recording *recording, int i, const char *ending)
{
    snprintf(path, PATH_MAX, "%s/%s/%06llu.png%s", recording->path, folder[i], (unsigned long long)recording->pairs, ending);
}

static int write_png(const char *path, const struct plx_image *image, struct plx_error_message *message)
{
    if (image->type != PLX_RGB)
        return plx_png_write(path, image, message);
    const struct plx_image bytes = {image->data, PLX_RGB * image->width, image->height, image->pitch, PLX_U8};
    return plx_png_write_rgb(path, &bytes, message);
}

/* Writes all pictures of a pair or none. They get their names when they are complete, the eyes' last, so that a kill leaves no
 * partial picture and no pair without its colours. */
static int write_pictures(const struct recording *recording, struct plx_error_message *message)
{
    char part[PICTURES][PATH_MAX], path[PATH_MAX];
    const int count = count_pictures(recording);
    int result = 0;
    for (int i = 0; i < count; i++)
        name_picture(part[i], recording, i, ".part");
    for (int i = 0; i < count && result == 0; i++)
        result = write_png(part[i], &recording->picture[i], message);
    for (int i = count - 1; i >= 0 && result == 0; i--) {
        name_picture(path, recording, i, "");
        if (rename(part[i], path) < 0)
            result = plx_file_fail(path, message);
    }
    for (int i = 0; i < count && result < 0; i++)
        unlink(part[i]);
    return result;
}

static int write_to_directory(struct recording *recording, const struct plx_frame *frame, struct plx_error_message *message)
{
    int result = write_pictures(recording, message);
    if (result < 0)
        return result;
    fprintf(recording->times, "%.9f\n", (double)(frame->capture[PLX_LEFT].capture_ns - recording->first_ns) / PLX_NS_PER_S);
    if (fflush(recording->times) != 0)
        return plx_fail(message, PLX_ERR_IO, "%s/times.txt: cannot write; is the disk full?", recording->path);
    return 0;
}

/* What is said about the service, once a second, as parallax-ros says it. NULL: not now. */
static struct plx_diagnostics *diagnose(struct plx_connection *connection, struct recording *recording)
{
    const struct plx_frame *frame = connection->frame;
    struct plx_diagnostics *d = &recording->diagnostics;
    const int64_t since_ns = frame->published_ns - recording->diagnosed_ns;
    if (recording->pairs > 0 && since_ns < PLX_NS_PER_S)
        return NULL;
    plx_diagnostics_read(connection->client, d);
    d->frames_per_s = (double)(recording->pairs - recording->diagnosed_pairs) * PLX_NS_PER_S / (double)since_ns;
    d->age_ms = (double)plx_age_ns(frame) / PLX_NS_PER_MS;
    recording->diagnosed_ns = frame->published_ns;
    recording->diagnosed_pairs = recording->pairs;
    return d;
}

static int write_pair(struct plx_connection *connection, struct recording *recording, struct plx_error_message *message)
{
    const struct plx_frame *frame = connection->frame;
    const int result = recording->bag ? plx_bag_writer_add(recording->bag, frame, diagnose(connection, recording), message)
                                      : write_to_directory(recording, frame, message);
    if (result < 0)
        return result;
    recording->pairs++;
    if (frame->epoch == recording->epoch)
        recording->missed += frame->sequence - recording->last_sequence - 1;
    recording->epoch = frame->epoch;
    recording->last_sequence = frame->sequence;
    return 0;
}

/* The pairs must be raw if and only if --raw is given. Returns an exit code. */
static int check_kind(const struct plx_connection *connection, const struct recording *recording)
{
    if (plx_frame_is_raw(connection->frame) == recording->raw)
        return PLX_EXIT_OK;
    if (recording->pairs)
        return plx_exit_error(connection->command, PLX_EXIT_UNAVAILABLE,
                              "the service was %s during the recording; the pairs before that are complete",
                              recording->raw ? "calibrated" : "switched to raw pictures");
    if (recording->raw)
        return plx_exit_error(
            connection->command, PLX_EXIT_CONFIG,
            "the service is calibrated, so its pictures are rectified; for --raw set calibration: none in its "
            "configuration and reload it, or start it with --set calibration=none");
    return plx_exit_error(connection->command, PLX_EXIT_CONFIG,
                          "the service is not calibrated, so its pictures are not rectified; record with --raw, or name a "
                          "calibration by the key calibration");
}

/* The pictures must be of one size, which is that of LEFT and COLOUR before, if there was a pair. Returns an exit code. */
static int check_pictures(const struct plx_connection *connection, struct recording *recording, const struct plx_image *before)
{
    const struct plx_image *left = &recording->picture[PLX_LEFT], *right = &recording->picture[PLX_RIGHT],
                           *colour = &recording->picture[COLOUR];
    if (is_mcap(recording->path) && !(recording->topics >> PLX_TOPIC_RIGHT & 1)) /* the left picture is the only one needed */
        recording->picture[PLX_RIGHT] = *left;
    if (!right->data)
        return plx_exit_error(connection->command, PLX_EXIT_CONFIG,
                              "the service does not publish the right picture; set publish.right: true in its configuration "
                              "and reload it, or start it with --set publish.right=true");
    if (!left->data || !plx_same_size(left, right) || (colour->data && !plx_same_size(left, colour)))
        return plx_connection_fail(connection, PLX_ERR_FORMAT);
    if (before[PLX_LEFT].data && !plx_same_size(left, &before[PLX_LEFT]))
        return plx_exit_error(connection->command, PLX_EXIT_UNAVAILABLE,
                              "the service changed the size of its pictures; the pairs before that are complete");
    if (before[PLX_LEFT].data && !colour->data != !before[COLOUR].data)
        return plx_exit_error(connection->command, PLX_EXIT_UNAVAILABLE,
                              "the service switched colour %s; the pairs before that are complete",
                              colour->data ? "on" : "off");
    return PLX_EXIT_OK;
}

/* Copies the next pair into recording->picture. Returns an exit code. */
static int copy_pair(struct plx_connection *connection, struct recording *recording)
{
    int result = plx_connection_next_frame(connection, PLX_FRESH_FRAME_MS);
    if (result < 0)
        return plx_stopped() ? PLX_EXIT_UNAVAILABLE : plx_connection_fail(connection, result);
    const int exit_code = check_kind(connection, recording);
    if (exit_code != PLX_EXIT_OK)
        return exit_code;
    struct plx_image before[PICTURES];
    memcpy(before, recording->picture, sizeof before);
    for (int i = 0; i < PICTURES; i++)
        recording->picture[i] = plx_connection_plane(connection, plane_of[i]);
    return check_pictures(connection, recording, before);
}

static int record(struct plx_connection *connection, void *context)
{
    struct recording *recording = context;
    struct plx_error_message message = {""};
    struct plx_progress progress;
    plx_stop_on_signals();
    int exit_code = copy_pair(connection, recording);
    if (exit_code != PLX_EXIT_OK)
        return exit_code;
    int result = begin(recording, connection->frame, &message);
    const int64_t end_ns = recording->seconds > 0 ? plx_now_ns() + (int64_t)(recording->seconds * PLX_NS_PER_S) : INT64_MAX;
    plx_progress_begin(&progress);
    while (result == 0 && exit_code == PLX_EXIT_OK) {
        result = write_pair(connection, recording, &message);
        plx_progress_step(&progress, recording->pairs, (uint64_t)recording->limit);
        if (plx_stopped() || recording->pairs == (uint64_t)recording->limit || plx_now_ns() >= end_ns)
            break;
        exit_code = copy_pair(connection, recording);
    }
    if (plx_stopped()) /* a signal may have ended a wait */
        exit_code = PLX_EXIT_OK;
    plx_progress_end(&progress);
    struct plx_error_message end = {""};
    if (recording->bag && plx_bag_writer_finish(recording->bag, &end) < 0 && result == 0) {
        result = PLX_ERR_IO;
        message = end;
    }
    if (result < 0)
        exit_code = plx_exit_error(connection->command, PLX_EXIT_CANNOT_WRITE, "%s", message.text);
    if (recording->pairs) {
        printf("%s: %llu pairs, %llu missed\n", recording->path, (unsigned long long)recording->pairs,
               (unsigned long long)recording->missed);
        plx_print_source_note(connection->frame);
    }
    return exit_code;
}

int plx_command_record(int argc, char **argv)
{
    const char *socket = NULL, *topics = NULL;
    struct recording recording = {.path = NULL};
    const struct plx_option options[] = {
        PLX_SOCKET_OPTION(socket),
        PLX_OPTION("pairs", "N", recording.limit, "ends after N pairs (default: at Ctrl-C)", .min = 1, .max = 1000000),
        PLX_OPTION("seconds", "S", recording.seconds, "ends after S seconds", .min = 0.1, .max = 100000),
        PLX_OPTION("topics", "LIST", topics,
                   "for FILE.mcap: some of " PLX_TOPIC_WORDS " (default: " PLX_BAG_DEFAULT_TOPICS ")"),
        PLX_OPTION("raw", NULL, recording.raw, "records pictures as captured, from a service without a calibration"),
        {0},
    };
    const struct plx_command_line line = {
        .program = "parallax record",
        .words = "DIR|FILE.mcap",
        .about =
            "Writes the rectified pairs of the service into the new directory DIR: image_0/, image_1/, times.txt and calib.txt "
            "as in KITTI, and image_0_color/ if the service has colour. parallaxd replays DIR (--set source.type=replay --set "
            "source.path=DIR), and `parallax run` reads it. "
            "The service must publish the right picture (publish.right). With --raw the pairs are not rectified, and calib.txt "
            "says so; a replay of them needs a calibration, or stays raw. Into FILE.mcap it writes ROS 2 messages instead, for "
            "Foxglove, Lichtblick, `ros2 bag` and rosbags.",
        .option = options,
        .min_words = 1,
        .max_words = 1};
    const char *word[PLX_MAX_WORDS];

    plx_parse_command_line(&line, argc, argv, word);
    recording.path = word[0];
    if (topics && !is_mcap(recording.path))
        return plx_exit_error(line.program, PLX_EXIT_USAGE, "--topics is for an MCAP file: name it %s.mcap", recording.path);
    struct plx_error_message message;
    if (plx_bag_topics(topics, &recording.topics, &message) < 0)
        return plx_exit_error(line.program, PLX_EXIT_USAGE, "%s", message.text);
    const int exit_code = plx_connection_run(line.program, socket, record, &recording);
    if (recording.times)
        fclose(recording.times);
    return exit_code;
}
