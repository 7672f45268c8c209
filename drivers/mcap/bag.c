/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/mcap/bag.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include <parallax/error.h>

#include "core/base/clock.h"
#include "drivers/mcap/bag_files.h"
#include "drivers/mcap/camera_info.h"
#include "drivers/mcap/compressed.h"
#include "drivers/mcap/message.h"
#include "drivers/mcap/topic_names.h"
#include "formats/mcap/buffer.h"

#define TOPIC_BYTES 256
#define SEEN_TOPICS 8
#define SHORTEST_PERIOD_NS (PLX_NS_PER_S / 1000) /* shortest that replay can play */
#define UNTIMED_PERIOD_NS (PLX_NS_PER_S / 10)
#define LATEST_NS (UINT64_C(1) << 62)         /* the year 2116: differences of times fit */
#define CLOCKS_APART_NS (3600 * PLX_NS_PER_S) /* more than any recorder is late */

enum { COLOUR = PLX_EYES, STREAMS }; /* what a pair has: a picture of each eye, and the colours of a grey left one */

/* A picture in the bag: its times, and how many of its topic come before it. */
struct picture {
    int64_t time_ns; /* one of the other two, see choose_times */
    int64_t stamp_ns, log_ns;
    int number;
};

/* The pictures of an eye, or the colours. */
struct eye {
    char topic[TOPIC_BYTES], info_topic[TOPIC_BYTES];
    struct picture *picture; /* [count] */
    int count, capacity;
    int width, height; /* size of the first picture */
    enum plx_type type;
    bool has_colour;             /* the first picture */
    bool has_info, is_corrected; /* CORRECTED: by the service that recorded it */
    struct ros_camera_info info; /* the first one that is not empty, else the first; its distortion is in COEFFICIENT */
    char model[32];
    double coefficient[16];
};

struct plx_bag {
    char *path;
    struct plx_bag_files files;
    struct eye eye[STREAMS];
    int (*pair)[STREAMS];        /* [info.count] indices of pictures */
    bool unsynchronized, colour; /* as in the options */
    bool joins_colour;           /* the left pictures are grey, and have their colours on the topic of COLOUR */
    bool by_stamp;               /* times are stamps, see choose_times */
    struct plx_bag_info info;
    struct plx_mcap_reader *reader; /* stands in file FILE, behind the first position[eye] pictures of each eye */
    int file, position[STREAMS];
    struct plx_compressed *compressed; /* for JPEG and PNG; NULL until there is one */
    ZSTD_DCtx *zstd;                   /* for messages that are compressed one by one; NULL until there is one */
    struct plx_mcap_buffer plain;
    char seen[SEEN_TOPICS][TOPIC_BYTES]; /* topics with pictures, for an error */
    int seen_count;
};

/* --- finding the pairs -------------------------------------------------------------------------------------------- */

static int out_of_memory(const struct plx_bag *bag, struct plx_error_message *message)
{
    return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", bag->path);
}

/* The picture of GOT, which is valid until the next one; if not WHOLE perhaps without its pixels. */
static int decode_message(struct plx_bag *bag, const struct plx_mcap_message *got, bool whole, struct ros_image *ret_image,
                          enum plx_type *ret_type, struct plx_error_message *message)
{
    if (!plx_message_is(got, &ros_compressed_image_type))
        return plx_image_decode(got, bag->path, ret_image, ret_type, message);
    if (!bag->compressed && plx_compressed_create(&bag->compressed) < 0)
        return out_of_memory(bag, message);
    return plx_compressed_decode(bag->compressed, got, bag->path, whole, ret_image, ret_type, message);
}

static int add_picture(struct plx_bag *bag, struct eye *eye, const struct plx_mcap_message *got,
                       struct plx_error_message *message)
{
    struct ros_image image;
    enum plx_type type;
    int result = decode_message(bag, got, false, &image, &type, message);
    if (result < 0)
        return result;
    if (eye->count == eye->capacity) {
        const int capacity = eye->capacity > 0 ? 2 * eye->capacity : 256;
        struct picture *grown = realloc(eye->picture, (size_t)capacity * sizeof *grown);
        if (!grown)
            return out_of_memory(bag, message);
        eye->picture = grown;
        eye->capacity = capacity;
    }
    if (eye->count == 0) {
        eye->width = (int)image.width;
        eye->height = (int)image.height;
        eye->type = type;
        eye->has_colour = plx_image_has_colour(&image);
    }
    eye->picture[eye->count] = (struct picture){.stamp_ns = image.header.stamp.sec * PLX_NS_PER_S + image.header.stamp.nanosec,
                                                .log_ns = got->header.log_ns < LATEST_NS ? (int64_t)got->header.log_ns : 0,
                                                .number = eye->count};
    eye->count++;
    return 0;
}

static void add_info(struct eye *eye, const struct plx_mcap_message *got)
{
    struct plx_cdr_arena arena = {.memory = (uint8_t *)eye->coefficient, .capacity = sizeof eye->coefficient};
    if (!plx_message_is(got, &ros_camera_info_type) ||
        plx_cdr_decode(&ros_camera_info_type, got->data, got->bytes, &arena, &eye->info) < 0)
        return; /* a picture without a calibration is raw, and the service says so */
    snprintf(eye->model, sizeof eye->model, "%s", eye->info.distortion_model);
    eye->info.distortion_model = eye->model;
    eye->has_info = true;
    eye->is_corrected = plx_mcap_channel_has(got->channel, PLX_CORRECTED);
}

/* Unpacks a message that rosbag2 compressed by itself (compression_mode message), in place of its content. */
static int unpack(struct plx_bag *bag, struct plx_mcap_message *got, struct plx_error_message *message)
{
    static const uint8_t magic[] = {0x28, 0xb5, 0x2f, 0xfd}; /* no header of CDR */
    if (got->bytes < sizeof magic || memcmp(got->data, magic, sizeof magic) != 0)
        return 0;
    const unsigned long long bytes = ZSTD_getFrameContentSize(got->data, got->bytes);
    if (bytes > PLX_MCAP_MAX_BYTES) /* also: it does not say */
        return plx_fail(message, PLX_ERR_RANGE, "%s: a message of %s is compressed and states no size up to %u bytes",
                        bag->path, got->channel->topic, PLX_MCAP_MAX_BYTES);
    bag->plain.used = 0;
    if ((!bag->zstd && !(bag->zstd = ZSTD_createDCtx())) || plx_mcap_reserve(&bag->plain, bytes + 1) < 0)
        return out_of_memory(bag, message);
    if (ZSTD_decompressDCtx(bag->zstd, bag->plain.data, bytes, got->data, got->bytes) != bytes)
        return plx_fail(message, PLX_ERR_FORMAT, "%s: a message of %s cannot be unpacked", bag->path, got->channel->topic);
    got->data = bag->plain.data;
    got->bytes = bytes;
    return 0;
}

static void note_topic(struct plx_bag *bag, const struct plx_mcap_message *got)
{
    const char *topic = got->channel->topic;
    for (int i = 0; i < bag->seen_count; i++)
        if (strncmp(bag->seen[i], topic, TOPIC_BYTES - 1) == 0)
            return;
    const bool is_picture = plx_message_is(got, &ros_image_type) || plx_message_is(got, &ros_compressed_image_type);
    if (bag->seen_count < SEEN_TOPICS && is_picture)
        snprintf(bag->seen[bag->seen_count++], TOPIC_BYTES, "%s", topic);
}

static int add_message(struct plx_bag *bag, struct plx_mcap_message *got, struct plx_error_message *message)
{
    note_topic(bag, got);
    for (int i = 0; i < STREAMS; i++) {
        struct eye *eye = &bag->eye[i];
        const bool is_picture = strcmp(got->channel->topic, eye->topic) == 0;
        const bool is_info = strcmp(got->channel->topic, eye->info_topic) == 0 &&
                             !(eye->has_info && !plx_info_is_empty(&eye->info, plx_topic_is_rectified(eye->topic)));
        if (is_picture) {
            const int result = unpack(bag, got, message);
            return result < 0 ? result : add_picture(bag, eye, got, message);
        }
        if (is_info && unpack(bag, got, NULL) == 0) /* it is judged when it is asked for */
            add_info(eye, got);
    }
    return 0;
}

/* Notes are read as one sentence. */
static void add_note(struct plx_bag *bag, const char *note)
{
    char *text = bag->info.note.text;
    const size_t used = strlen(text);
    if (!strstr(text, note))
        snprintf(text + used, sizeof bag->info.note.text - used, "%s%s", used > 0 ? "; " : "", note);
}

/* Reads a file from its begin to its end. A damaged part is left out, and noted. */
static int scan_file(struct plx_bag *bag, const char *path, struct plx_error_message *message)
{
    struct plx_mcap_reader *reader;
    struct plx_mcap_message got;
    struct plx_error_message damage;
    int result = plx_mcap_reader_create(path, PLX_MCAP_FILE_ORDER, &reader, message);
    if (result < 0)
        return result;
    while ((result = plx_mcap_next(reader, &got, &damage)) != PLX_ERR_END) {
        if (result == 0 && (result = add_message(bag, &got, message)) < 0)
            break;
        if (result == PLX_ERR_NOMEM || result == PLX_ERR_IO) {
            *message = damage;
            break;
        }
        if (result < 0 && bag->info.note.text[0] == '\0')
            bag->info.note = damage;
    }
    if (result == PLX_ERR_END && plx_mcap_is_cut(reader) && bag->info.note.text[0] == '\0')
        plx_say(&bag->info.note, "%s: was cut off; its whole chunks are used", path);
    plx_mcap_reader_destroy(reader);
    return result == PLX_ERR_END ? 0 : result;
}

static int scan(struct plx_bag *bag, struct plx_error_message *message)
{
    int result = 0;
    for (int i = 0; i < bag->files.count && result == 0; i++)
        result = scan_file(bag, bag->files.path[i], message);
    return result;
}

/* --- their times -------------------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
    return one < other ? -1 : one > other;
}

enum clock { BY_STAMP, BY_LOG, BY_TIME };

static int64_t time_by(const struct picture *picture, enum clock clock)
{
    return clock == BY_STAMP ? picture->stamp_ns : clock == BY_LOG ? picture->log_ns : picture->time_ns;
}

/* The median step of an eye's times, in their order, and their span. 0 and 0 for less than two pictures. */
static int find_step(const struct plx_bag *bag, const struct eye *eye, enum clock clock, int64_t *ret_step_ns,
                     int64_t *ret_span_ns, struct plx_error_message *message)
{
    const int steps = eye->count - 1;
    *ret_step_ns = *ret_span_ns = 0;
    if (steps < 1)
        return 0;
    int64_t *time = malloc((size_t)eye->count * sizeof *time);
    if (!time)
        return out_of_memory(bag, message);
    for (int i = 0; i < eye->count; i++)
        time[i] = time_by(&eye->picture[i], clock);
    qsort(time, (size_t)eye->count, sizeof *time, by_value);
    *ret_span_ns = time[steps] - time[0];
    for (int i = 0; i < steps; i++)
        time[i] = time[i + 1] - time[i];
    qsort(time, (size_t)steps, sizeof *time, by_value);
    *ret_step_ns = time[steps / 2];
    free(time);
    return 0;
}

/* The stamps, if they advance as time does; else when the pictures were recorded; else their order. */
static int choose_times(struct plx_bag *bag, struct plx_error_message *message)
{
    struct plx_error_message note = {""};
    bool stamps_advance = true, logs_advance = true, apart = false;
    int64_t step_ns = 0;
    for (int i = 0; i < PLX_EYES; i++) {
        const struct eye *eye = &bag->eye[i];
        int64_t stamp_step_ns, stamp_span_ns, log_step_ns, log_span_ns;
        int result = find_step(bag, eye, BY_STAMP, &stamp_step_ns, &stamp_span_ns, message);
        if (result >= 0)
            result = find_step(bag, eye, BY_LOG, &log_step_ns, &log_span_ns, message);
        if (result < 0)
            return result;
        stamps_advance = stamps_advance && (eye->count < 2 || stamp_step_ns >= SHORTEST_PERIOD_NS);
        logs_advance = logs_advance && (eye->count < 2 || log_step_ns >= SHORTEST_PERIOD_NS);
        apart = apart || llabs(stamp_span_ns - log_span_ns) > CLOCKS_APART_NS;
        step_ns = stamp_step_ns;
    }
    const bool use_stamps = stamps_advance && !(apart && logs_advance), use_logs = !use_stamps && logs_advance;
    bag->by_stamp = use_stamps;
    for (int i = 0; i < PLX_EYES; i++)
        for (int k = 0; k < bag->eye[i].count; k++) {
            struct picture *picture = &bag->eye[i].picture[k];
            picture->time_ns = use_stamps ? picture->stamp_ns : use_logs ? picture->log_ns : k * UNTIMED_PERIOD_NS;
        }
    if (!use_stamps)
        plx_say(&note, "%s: the stamps of its pictures do not advance as time does (%g ms from one to the next): %s", bag->path,
                (double)step_ns / (double)PLX_NS_PER_MS,
                use_logs ? "the times of recording are used"
                         : "nor do the times of recording; 10 pairs a second in their order, or source.replay_rate: fixed");
    add_note(bag, note.text);
    return 0;
}

/* --- the pairs ---------------------------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const struct picture *one = a, *other = b;
    if (one->time_ns != other->time_ns)
        return one->time_ns < other->time_ns ? -1 : 1;
    return one->number - other->number;
}

static int64_t distance(const struct picture *a, const struct picture *b)
{
    return llabs(a->time_ns - b->time_ns);
}

/* Whether the next pair may be LEFT: it is later than the last one. */
static bool is_later(const struct plx_bag *bag, const struct picture *left)
{
    return bag->info.count == 0 || left->time_ns > plx_bag_time_ns(bag, bag->info.count - 1);
}

/* Joins pictures of both eyes whose times differ by up to a quarter of the period, or half of it, in the order of their times.
 */
static int join(struct plx_bag *bag, struct plx_error_message *message)
{
    const struct eye *left = &bag->eye[PLX_LEFT], *right = &bag->eye[PLX_RIGHT];
    int64_t step_ns, span_ns;
    for (int i = 0; i < PLX_EYES; i++)
        qsort(bag->eye[i].picture, (size_t)bag->eye[i].count, sizeof *bag->eye[i].picture, by_time);
    const int result = find_step(bag, left, BY_TIME, &step_ns, &span_ns, message);
    if (result < 0)
        return result;
    const int64_t tolerance_ns = step_ns / (bag->unsynchronized && bag->by_stamp ? 2 : 4);
    bag->pair = malloc((size_t)left->count * sizeof *bag->pair);
    if (!bag->pair)
        return out_of_memory(bag, message);
    for (int l = 0, r = 0; l < left->count && r < right->count;) {
        const struct picture *one = &left->picture[l], *other = &right->picture[r];
        const bool later_is_nearer = r + 1 < right->count && distance(one, other + 1) < distance(one, other);
        const bool may_pair = is_later(bag, one);
        if (may_pair && !later_is_nearer && distance(one, other) <= tolerance_ns) {
            bag->pair[bag->info.count][PLX_LEFT] = l++;
            bag->pair[bag->info.count++][PLX_RIGHT] = r++;
        } else if (may_pair && (later_is_nearer || other->time_ns < one->time_ns)) {
            r++;
        } else {
            l++;
        }
    }
    const int alone = left->count + right->count - 2 * bag->info.count;
    struct plx_error_message note = {""};
    if (alone > 0)
        plx_say(&note, "%s: %d pictures have no partner within %.1f ms and are left out", bag->path, alone,
                (double)tolerance_ns / (double)PLX_NS_PER_MS);
    add_note(bag, note.text);
    return 0;
}

/* --- their colours ------------------------------------------------------------------------------------------------ */

static int by_stamp(const void *a, const void *b)
{
    const struct picture *one = a, *other = b;
    return one->stamp_ns < other->stamp_ns ? -1 : one->stamp_ns > other->stamp_ns;
}

static int no_colour(const struct plx_bag *bag, int k, struct plx_error_message *message)
{
    const struct picture *left = &bag->eye[PLX_LEFT].picture[bag->pair[k][PLX_LEFT]];
    return plx_fail(message, PLX_ERR_NOT_FOUND, "%s: no picture of %s has the stamp of pair %d, %lld.%09lld", bag->path,
                    bag->eye[COLOUR].topic, k + 1, (long long)(left->stamp_ns / PLX_NS_PER_S),
                    (long long)(left->stamp_ns % PLX_NS_PER_S));
}

/* Gives each pair the colours with the stamp of its left picture. */
static int join_colour(struct plx_bag *bag, struct plx_error_message *message)
{
    const struct eye *left = &bag->eye[PLX_LEFT], *colour = &bag->eye[COLOUR];
    struct plx_error_message note = {""};
    qsort(colour->picture, (size_t)colour->count, sizeof *colour->picture, by_stamp);
    for (int k = 0; k < bag->info.count; k++) {
        const struct picture *wanted = &left->picture[bag->pair[k][PLX_LEFT]];
        const struct picture *found =
            bsearch(wanted, colour->picture, (size_t)colour->count, sizeof *colour->picture, by_stamp);
        if (found) {
            bag->pair[k][COLOUR] = (int)(found - colour->picture);
        } else if (k > 0 && k + 1 == bag->info.count) {
            bag->info.count--;
            plx_say(&note, "%s: the last pair has no picture of %s and is left out: the recording was cut off there", bag->path,
                    colour->topic);
        } else {
            return no_colour(bag, k, message);
        }
    }
    add_note(bag, note.text);
    return 0;
}

/* Finds where the colours of the left pictures are. */
static int find_colour(struct plx_bag *bag, struct plx_error_message *message)
{
    const struct eye *left = &bag->eye[PLX_LEFT], *colour = &bag->eye[COLOUR];
    if (!bag->colour || left->has_colour)
        return 0;
    if (colour->count == 0)
        return plx_fail(message, PLX_ERR_UNSUPPORTED,
                        "%s: pictures of %s are grey, there are none of %s, and colour is wanted; set colour.enabled to false, "
                        "or record with colour",
                        bag->path, left->topic, colour->topic);
    if (!bag->by_stamp)
        return plx_fail(message, PLX_ERR_UNSUPPORTED,
                        "%s: pictures of %s belong to those of %s by their stamps, which do not advance; set colour.enabled to "
                        "false",
                        bag->path, colour->topic, left->topic);
    if (colour->width != left->width || colour->height != left->height)
        return plx_fail(message, PLX_ERR_FORMAT, "%s: %s has %d x %d pixels, %s %d x %d; expected the same", bag->path,
                        left->topic, left->width, left->height, colour->topic, colour->width, colour->height);
    bag->joins_colour = true;
    return join_colour(bag, message);
}

/* --- what they are ------------------------------------------------------------------------------------------------ */

static int no_pictures(const struct plx_bag *bag, const struct eye *eye, struct plx_error_message *message)
{
    char list[300] = "";
    size_t used = 0;
    for (int i = 0; i < bag->seen_count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", bag->seen[i]);
    if (!*list && bag->info.note.text[0] != '\0') /* nothing of the file could be used, and this is why */
        return plx_fail(message, PLX_ERR_FORMAT, "%s; there is no picture in them", bag->info.note.text);
    return plx_fail(message, PLX_ERR_NOT_FOUND, "%s: no pictures of %s; %s%s (source.left_topic, source.right_topic)",
                    bag->path, eye->topic, *list ? "there are " : "the file has no sensor_msgs/msg/Image", list);
}

static int find_info(struct plx_bag *bag, struct plx_error_message *message)
{
    const struct eye *left = &bag->eye[PLX_LEFT], *right = &bag->eye[PLX_RIGHT];
    struct plx_bag_info *info = &bag->info;
    for (int i = 0; i < PLX_EYES; i++)
        if (bag->eye[i].count == 0)
            return no_pictures(bag, &bag->eye[i], message);
    if (info->count == 0)
        return plx_fail(message, PLX_ERR_NOT_FOUND, "%s: no picture of %s has about the same stamp as one of %s", bag->path,
                        left->topic, right->topic);
    if (left->width != right->width || left->height != right->height)
        return plx_fail(message, PLX_ERR_FORMAT, "%s: %s has %d x %d pixels, %s %d x %d; expected the same", bag->path,
                        left->topic, left->width, left->height, right->topic, right->width, right->height);
    info->width = left->width;
    info->height = left->height;
    info->type = left->type < right->type ? left->type : right->type;
    return find_colour(bag, message);
}

int plx_bag_calibration(const struct plx_bag *bag, struct plx_stereo_calibration *ret_calibration,
                        struct plx_error_message *message)
{
    const struct eye *left = &bag->eye[PLX_LEFT], *right = &bag->eye[PLX_RIGHT];
    const struct ros_camera_info info[PLX_EYES] = {left->info, right->info};
    struct plx_error_message why;
    if (left->has_info != right->has_info)
        return plx_fail(message, PLX_ERR_NOT_FOUND, "%s: camera_info of one eye only: there is %s, but no %s", bag->path,
                        left->has_info ? left->info_topic : right->info_topic,
                        left->has_info ? right->info_topic : left->info_topic);
    if (!left->has_info)
        return plx_fail(message, PLX_ERR_NOT_FOUND, "%s: no sensor_msgs/msg/CameraInfo on %s and %s", bag->path,
                        left->info_topic, right->info_topic);
    const int result = plx_info_calibration(info, bag->info.width, bag->info.height, plx_topic_is_rectified(left->topic),
                                            ret_calibration, &why);
    if (result < 0)
        return plx_fail(message, result, "%s: %s; or name a calibration", bag->path, why.text);
    ret_calibration->corrected = left->is_corrected && right->is_corrected;
    return 0;
}

/* --- opening ------------------------------------------------------------------------------------------------------ */

/* camera_info lies beside the pictures, as image_transport looks for it. */
static void name_topics(struct eye *eye, const char *topic)
{
    snprintf(eye->topic, sizeof eye->topic, "%s", topic);
    plx_topic_beside(topic, "camera_info", "", eye->info_topic, sizeof eye->info_topic);
}

/* The colours lie beside the left picture, as image_proc names them. */
static void name_colour(struct plx_bag *bag)
{
    const char *topic = bag->eye[PLX_LEFT].topic;
    struct eye *colour = &bag->eye[COLOUR];
    if (bag->colour)
        plx_topic_beside(topic, plx_topic_is_rectified(topic) ? "image_rect_color" : "image_color", plx_topic_transport(topic),
                         colour->topic, sizeof colour->topic);
}

static void forget(struct plx_bag *bag)
{
    for (int i = 0; i < STREAMS; i++) {
        free(bag->eye[i].picture);
        memset(&bag->eye[i], 0, sizeof bag->eye[i]);
    }
}

/* Looks for the named topics, or for those of `parallax record`: rectified, then raw. */
static int find_pictures(struct plx_bag *bag, const struct plx_bag_options *options, struct plx_error_message *message)
{
    static const char *const own[][PLX_EYES] = {{"/parallax/left/image_rect", "/parallax/right/image_rect"},
                                                {"/parallax/left/image_raw", "/parallax/right/image_raw"}};
    int result = 0;
    for (int k = 0; k < 2 && result == 0 && bag->eye[PLX_LEFT].count == 0; k++) {
        forget(bag);
        for (int i = 0; i < PLX_EYES; i++)
            name_topics(&bag->eye[i], *options->topic[i] ? options->topic[i] : own[k][i]);
        name_colour(bag);
        result = scan(bag, message);
        if (*options->topic[PLX_LEFT])
            break;
    }
    return result;
}

int plx_bag_open(const struct plx_bag_options *options, struct plx_bag **ret_bag, struct plx_error_message *message)
{
    struct plx_bag *bag = calloc(1, sizeof *bag);
    if (bag) {
        bag->path = strdup(options->path);
        bag->unsynchronized = options->unsynchronized;
        bag->colour = options->colour;
    }
    int result = bag && bag->path ? 0 : plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", options->path);
    if (result == 0)
        result = plx_bag_files_find(options->path, &bag->files, message);
    if (result == 0)
        result = find_pictures(bag, options, message);
    if (result == 0 && bag->eye[PLX_LEFT].count > 0 && bag->eye[PLX_RIGHT].count > 0) {
        result = choose_times(bag, message);
        if (result == 0)
            result = join(bag, message);
    }
    if (result == 0)
        result = find_info(bag, message);
    if (result < 0)
        plx_bag_close(bag);
    else
        *ret_bag = bag;
    return result;
}

void plx_bag_close(struct plx_bag *bag)
{
    if (!bag)
        return;
    forget(bag);
    plx_mcap_reader_destroy(bag->reader);
    plx_compressed_destroy(bag->compressed);
    ZSTD_freeDCtx(bag->zstd);
    free(bag->plain.data);
    plx_bag_files_free(&bag->files);
    free(bag->pair);
    free(bag->path);
    free(bag);
}

const struct plx_bag_info *plx_bag_info(const struct plx_bag *bag)
{
    return &bag->info;
}

int64_t plx_bag_time_ns(const struct plx_bag *bag, int k)
{
    return bag->eye[PLX_LEFT].picture[bag->pair[k][PLX_LEFT]].time_ns;
}

int64_t plx_bag_skew_ns(const struct plx_bag *bag, int k)
{
    return bag->by_stamp ? bag->eye[PLX_RIGHT].picture[bag->pair[k][PLX_RIGHT]].time_ns - plx_bag_time_ns(bag, k) : 0;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static int open_file(struct plx_bag *bag, int file, struct plx_error_message *message)
{
    plx_mcap_reader_destroy(bag->reader);
    bag->reader = NULL;
    bag->file = file;
    return plx_mcap_reader_create(bag->files.path[file], PLX_MCAP_FILE_ORDER, &bag->reader, message);
}

static int rewind_reader(struct plx_bag *bag, struct plx_error_message *message)
{
    memset(bag->position, 0, sizeof bag->position);
    return open_file(bag, 0, message);
}

/* The next message of all files. FORMAT also behind the last: there are fewer than when they were opened. */
static int next_message(struct plx_bag *bag, struct plx_mcap_message *ret_message, struct plx_error_message *message)
{
    for (;;) {
        struct plx_error_message damage;
        int result = plx_mcap_next(bag->reader, ret_message, &damage);
        if (result == PLX_ERR_END && bag->file + 1 < bag->files.count)
            result = open_file(bag, bag->file + 1, message);
        else if (result == PLX_ERR_END || result == PLX_ERR_NOMEM || result == PLX_ERR_IO)
            return plx_fail(message, result == PLX_ERR_END ? PLX_ERR_FORMAT : result, "%s: changed while it was read",
                            bag->files.path[bag->file]);
        else if (result == 0)
            return 0;
        else
            result = 0; /* a damaged part, as before */
        if (result < 0)
            return result;
    }
}

/* Where the left picture goes with its colours. */
struct coloured {
    const struct plx_image *grey; /* and CAPACITY bytes are there */
    size_t capacity;
    struct plx_raw *ret_raw;
};

static int decode_raw(const struct plx_bag *bag, const char *topic, const struct ros_image *picture,
                      const struct coloured *left, struct plx_error_message *message)
{
    if (!plx_image_has_colour(picture))
        return plx_fail(message, PLX_ERR_FORMAT, "%s: a picture of %s is grey (%s); expected colour as in the first", bag->path,
                        topic, picture->encoding);
    const int result = plx_image_copy_raw(picture, left->grey->data, left->capacity, left->ret_raw);
    return result < 0 ? plx_fail(message, result, "%s: a picture of %s has more bytes than the first", bag->path, topic) : 0;
}

/* The colours of the topic COLOUR, behind the grey picture. */
static int decode_rgb(const struct plx_bag *bag, const char *topic, const struct ros_image *picture,
                      const struct coloured *left, struct plx_error_message *message)
{
    const struct plx_image *grey = left->grey;
    const struct plx_image rgb = {plx_row(grey, grey->height), grey->width, grey->height, PLX_RGB * grey->pitch, PLX_RGB};
    if (plx_image_copy_rgb(picture, &rgb) < 0)
        return plx_fail(message, PLX_ERR_UNSUPPORTED, "%s: %s has the encoding \"%.32s\"; expected rgb8, bgr8, rgba8 or bgra8",
                        bag->path, topic, picture->encoding);
    *left->ret_raw = plx_raw_of_grey(grey);
    left->ret_raw->format = PLX_FORMAT_GREY_RGB;
    left->ret_raw->bytes *= 1 + PLX_RGB;
    return 0;
}

/* A picture of STREAM to IMAGE, or if LEFT is not NULL there. */
static int decode(struct plx_bag *bag, const struct plx_mcap_message *got, int stream, const struct plx_image *image,
                  const struct coloured *left, struct plx_error_message *message)
{
    struct ros_image picture;
    enum plx_type type;
    const char *topic = got->channel->topic;
    int result = decode_message(bag, got, true, &picture, &type, message);
    if (result < 0)
        return result;
    if ((int)picture.width != image->width || (int)picture.height != image->height || type < image->type)
        return plx_fail(message, PLX_ERR_FORMAT, "%s: a picture of %s has %u x %u pixels of %d bits; expected %d x %d of %d",
                        bag->path, topic, picture.width, picture.height, 8 * (int)type, image->width, image->height,
                        8 * (int)image->type);
    if (stream == COLOUR)
        return decode_rgb(bag, topic, &picture, left, message);
    if (stream == PLX_LEFT && left && !bag->joins_colour)
        return decode_raw(bag, topic, &picture, left, message);
    plx_image_copy(&picture, image);
    return 0;
}

/* Which picture a message is; STREAMS: none. */
static int stream_of(const struct plx_bag *bag, const struct plx_mcap_message *got)
{
    int stream = 0;
    while (stream < STREAMS && strcmp(got->channel->topic, bag->eye[stream].topic) != 0)
        stream++;
    return stream;
}

static int read_pair(struct plx_bag *bag, int k, const struct plx_image image[PLX_EYES], const struct coloured *left,
                     struct plx_error_message *message)
{
    const int streams = left && bag->joins_colour ? STREAMS : PLX_EYES;
    int wanted[STREAMS] = {-1, -1, -1}, missing = streams, result = 0;
    bool behind = !bag->reader;
    for (int i = 0; i < streams; i++) {
        wanted[i] = bag->eye[i].picture[bag->pair[k][i]].number;
        behind = behind || wanted[i] < bag->position[i];
    }
    if (behind)
        result = rewind_reader(bag, message);
    while (result == 0 && missing > 0) {
        struct plx_mcap_message got;
        result = next_message(bag, &got, message);
        const int i = result == 0 ? stream_of(bag, &got) : STREAMS;
        if (i < STREAMS && bag->position[i]++ == wanted[i]) {
            result = unpack(bag, &got, message);
            if (result == 0)
                result = decode(bag, &got, i, &image[i == PLX_RIGHT ? PLX_RIGHT : PLX_LEFT], left, message);
            missing--;
        }
    }
    return result;
}

int plx_bag_read(struct plx_bag *bag, int k, const struct plx_image image[PLX_EYES], struct plx_error_message *message)
{
    return read_pair(bag, k, image, NULL, message);
}

int plx_bag_read_colour(struct plx_bag *bag, int k, const struct plx_image image[PLX_EYES], size_t capacity,
                        struct plx_raw *ret_left, struct plx_error_message *message)
{
    const struct coloured left = {&image[PLX_LEFT], capacity, ret_left};
    return read_pair(bag, k, image, &left, message);
}
