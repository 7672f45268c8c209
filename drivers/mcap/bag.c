/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/mcap/bag.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/clock.h"
#include "drivers/mcap/message.h"

#define TOPIC_BYTES 256
#define SEEN_TOPICS 8

/* A picture in the file: its stamp, and how many of its topic come before it. */
struct picture {
    int64_t stamp_ns;
    int number;
};

struct eye {
    char topic[TOPIC_BYTES], info_topic[TOPIC_BYTES];
    struct picture *picture; /* [count] */
    int count, capacity;
    int width, height; /* of the first picture */
    enum plx_type type;
    bool has_info;
    struct ros_camera_info info; /* the first one; its distortion is in COEFFICIENT */
    char model[32];
    double coefficient[16];
};

struct plx_bag {
    char *path;
    struct eye eye[PLX_EYES];
    int (*pair)[PLX_EYES]; /* [info.count] indices of pictures */
    struct plx_bag_info info;
    struct plx_mcap_reader *reader; /* behind the first position[eye] pictures of each eye */
    int position[PLX_EYES];
    char seen[SEEN_TOPICS][TOPIC_BYTES]; /* topics with pictures, for an error */
    int seen_count;
};

/* --- finding the pairs -------------------------------------------------------------------------------------------- */

static int out_of_memory(const struct plx_bag *bag, struct plx_error_message *message)
{
    return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", bag->path);
}

static int add_picture(struct plx_bag *bag, struct eye *eye, const struct plx_mcap_message *got,
                       struct plx_error_message *message)
{
    struct ros_image image;
    enum plx_type type;
    int result = plx_image_decode(got, bag->path, &image, &type, message);
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
    }
    eye->picture[eye->count] = (struct picture){image.header.stamp.sec * PLX_NS_PER_S + image.header.stamp.nanosec, eye->count};
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
}

static void note_topic(struct plx_bag *bag, const struct plx_mcap_message *got)
{
    const char *topic = got->channel->topic;
    for (int i = 0; i < bag->seen_count; i++)
        if (strncmp(bag->seen[i], topic, TOPIC_BYTES - 1) == 0)
            return;
    if (bag->seen_count < SEEN_TOPICS && plx_message_is(got, &ros_image_type))
        snprintf(bag->seen[bag->seen_count++], TOPIC_BYTES, "%s", topic);
}

static int add_message(struct plx_bag *bag, const struct plx_mcap_message *got, struct plx_error_message *message)
{
    note_topic(bag, got);
    for (int i = 0; i < PLX_EYES; i++) {
        struct eye *eye = &bag->eye[i];
        if (strcmp(got->channel->topic, eye->topic) == 0)
            return add_picture(bag, eye, got, message);
        if (strcmp(got->channel->topic, eye->info_topic) == 0 && !eye->has_info)
            add_info(eye, got);
    }
    return 0;
}

/* Reads the file from its begin to its end. A damaged part is left out, and noted. */
static int scan(struct plx_bag *bag, struct plx_error_message *message)
{
    struct plx_mcap_reader *reader;
    struct plx_mcap_message got;
    struct plx_error_message damage;
    int result = plx_mcap_reader_create(bag->path, PLX_MCAP_FILE_ORDER, &reader, message);
    if (result < 0)
        return result;
    while ((result = plx_mcap_next(reader, &got, &damage)) != PLX_ERR_END) {
        if (result == 0)
            result = add_message(bag, &got, message);
        else if (result == PLX_ERR_NOMEM || result == PLX_ERR_IO)
            *message = damage;
        else if (bag->info.note.text[0] == '\0')
            bag->info.note = damage;
        if (result < 0 && result != PLX_ERR_FORMAT && result != PLX_ERR_RANGE && result != PLX_ERR_UNSUPPORTED)
            break;
        if (result < 0 && message->text[0] != '\0')
            break; /* of the picture, not of the file */
    }
    if (result == PLX_ERR_END && plx_mcap_is_cut(reader) && bag->info.note.text[0] == '\0')
        plx_fail(&bag->info.note, 0, "%s: was cut off; its whole chunks are used", bag->path);
    plx_mcap_reader_destroy(reader);
    return result == PLX_ERR_END ? 0 : result;
}

static int by_stamp(const void *a, const void *b)
{
    const struct picture *one = a, *other = b;
    if (one->stamp_ns != other->stamp_ns)
        return one->stamp_ns < other->stamp_ns ? -1 : 1;
    return one->number - other->number;
}

static int by_value(const void *a, const void *b)
{
    const int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
    return one < other ? -1 : one > other;
}

/* Largest difference of the stamps of a pair: a quarter of the median time between two left pictures. */
static int find_tolerance(const struct plx_bag *bag, int64_t *ret_ns, struct plx_error_message *message)
{
    const struct eye *left = &bag->eye[PLX_LEFT];
    const int gaps = left->count - 1;
    *ret_ns = 0;
    if (gaps < 1)
        return 0;
    int64_t *gap = malloc((size_t)gaps * sizeof *gap);
    if (!gap)
        return out_of_memory(bag, message);
    for (int i = 0; i < gaps; i++)
        gap[i] = left->picture[i + 1].stamp_ns - left->picture[i].stamp_ns;
    qsort(gap, (size_t)gaps, sizeof *gap, by_value);
    *ret_ns = gap[gaps / 2] / 4;
    free(gap);
    return 0;
}

static int64_t distance(const struct picture *a, const struct picture *b)
{
    return llabs(a->stamp_ns - b->stamp_ns);
}

/* Joins pictures of both eyes, in the order of their stamps. */
static int join(struct plx_bag *bag, struct plx_error_message *message)
{
    const struct eye *left = &bag->eye[PLX_LEFT], *right = &bag->eye[PLX_RIGHT];
    int64_t tolerance_ns;
    for (int i = 0; i < PLX_EYES; i++)
        qsort(bag->eye[i].picture, (size_t)bag->eye[i].count, sizeof *bag->eye[i].picture, by_stamp);
    int result = find_tolerance(bag, &tolerance_ns, message);
    if (result < 0)
        return result;
    bag->pair = malloc((size_t)left->count * sizeof *bag->pair);
    if (!bag->pair)
        return out_of_memory(bag, message);
    for (int l = 0, r = 0; l < left->count && r < right->count;) {
        const struct picture *one = &left->picture[l], *other = &right->picture[r];
        const bool later_is_nearer = r + 1 < right->count && distance(one, other + 1) < distance(one, other);
        if (!later_is_nearer && distance(one, other) <= tolerance_ns) {
            bag->pair[bag->info.count][PLX_LEFT] = l++;
            bag->pair[bag->info.count++][PLX_RIGHT] = r++;
        } else if (later_is_nearer || other->stamp_ns < one->stamp_ns) {
            r++;
        } else {
            l++;
        }
    }
    const int alone = left->count + right->count - 2 * bag->info.count;
    if (alone > 0 && bag->info.note.text[0] == '\0')
        plx_fail(&bag->info.note, 0, "%s: %d pictures have no partner within %.1f ms and are left out", bag->path, alone,
                 (double)tolerance_ns / (double)PLX_NS_PER_MS);
    return 0;
}

/* --- what they are ------------------------------------------------------------------------------------------------ */

static int no_pictures(const struct plx_bag *bag, const struct eye *eye, struct plx_error_message *message)
{
    char list[300] = "";
    size_t used = 0;
    for (int i = 0; i < bag->seen_count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", bag->seen[i]);
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
    return 0;
}

/* Rectified pictures have a topic like image_rect, as image_proc names them. */
static int find_calibration(struct plx_bag *bag, struct plx_error_message *message)
{
    const char *name = strrchr(bag->eye[PLX_LEFT].topic, '/');
    const struct ros_camera_info info[PLX_EYES] = {bag->eye[PLX_LEFT].info, bag->eye[PLX_RIGHT].info};
    struct plx_error_message why;
    if (!bag->eye[PLX_LEFT].has_info || !bag->eye[PLX_RIGHT].has_info)
        return 0;
    if ((int)info[PLX_LEFT].width != bag->info.width || (int)info[PLX_LEFT].height != bag->info.height)
        return plx_fail(message, PLX_ERR_RANGE, "%s: %s is for %u x %u pixels, the pictures have %d x %d; name a calibration",
                        bag->path, bag->eye[PLX_LEFT].info_topic, info[PLX_LEFT].width, info[PLX_LEFT].height, bag->info.width,
                        bag->info.height);
    const bool rectified = name && strstr(name, "rect");
    int result = plx_info_calibration(info, rectified, &bag->info.calibration, &why);
    bag->info.calibrated = result == 0;
    return result < 0 ? plx_fail(message, result, "%s: %s", bag->path, why.text) : 0;
}

/* --- opening ------------------------------------------------------------------------------------------------------ */

bool plx_bag_is_one(const char *path)
{
    uint8_t start[PLX_MCAP_MAGIC_BYTES];
    FILE *file = fopen(path, "rb");
    const bool yes = file && fread(start, sizeof start, 1, file) == 1 && memcmp(start, PLX_MCAP_MAGIC, sizeof start) == 0;
    if (file)
        fclose(file);
    return yes;
}

/* camera_info lies beside the pictures, as image_transport looks for it. */
static void name_topics(struct eye *eye, const char *topic)
{
    const char *slash = strrchr(topic, '/');
    snprintf(eye->topic, sizeof eye->topic, "%s", topic);
    snprintf(eye->info_topic, sizeof eye->info_topic, "%.*scamera_info", slash ? (int)(slash - topic + 1) : 0, topic);
}

static void forget(struct plx_bag *bag)
{
    for (int i = 0; i < PLX_EYES; i++) {
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
        result = scan(bag, message);
        if (*options->topic[PLX_LEFT])
            break;
    }
    return result;
}

int plx_bag_open(const struct plx_bag_options *options, struct plx_bag **ret_bag, struct plx_error_message *message)
{
    struct plx_bag *bag = calloc(1, sizeof *bag);
    message->text[0] = '\0';
    if (bag)
        bag->path = strdup(options->path);
    int result = bag && bag->path ? 0 : plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", options->path);
    if (result == 0)
        result = find_pictures(bag, options, message);
    if (result == 0 && bag->eye[PLX_LEFT].count > 0 && bag->eye[PLX_RIGHT].count > 0)
        result = join(bag, message);
    if (result == 0)
        result = find_info(bag, message);
    if (result == 0)
        result = find_calibration(bag, message);
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
    free(bag->pair);
    free(bag->path);
    free(bag);
}

const struct plx_bag_info *plx_bag_info(const struct plx_bag *bag)
{
    return &bag->info;
}

int64_t plx_bag_stamp_ns(const struct plx_bag *bag, int k)
{
    return bag->eye[PLX_LEFT].picture[bag->pair[k][PLX_LEFT]].stamp_ns;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

static int rewind_reader(struct plx_bag *bag, struct plx_error_message *message)
{
    plx_mcap_reader_destroy(bag->reader);
    bag->reader = NULL;
    memset(bag->position, 0, sizeof bag->position);
    return plx_mcap_reader_create(bag->path, PLX_MCAP_FILE_ORDER, &bag->reader, message);
}

static int decode(const struct plx_bag *bag, const struct plx_mcap_message *got, const struct plx_image *image,
                  struct plx_error_message *message)
{
    struct ros_image picture;
    enum plx_type type;
    int result = plx_image_decode(got, bag->path, &picture, &type, message);
    if (result < 0)
        return result;
    if ((int)picture.width != image->width || (int)picture.height != image->height || type < image->type)
        return plx_fail(message, PLX_ERR_FORMAT, "%s: a picture of %s has %u x %u pixels of %d bits; expected %d x %d of %d",
                        bag->path, got->channel->topic, picture.width, picture.height, 8 * (int)type, image->width,
                        image->height, 8 * (int)image->type);
    plx_image_copy(&picture, image);
    return 0;
}

/* Which eye's picture a message is; PLX_EYES: none. */
static int eye_of(const struct plx_bag *bag, const struct plx_mcap_message *got)
{
    int eye = 0;
    while (eye < PLX_EYES && strcmp(got->channel->topic, bag->eye[eye].topic) != 0)
        eye++;
    return eye;
}

int plx_bag_read(struct plx_bag *bag, int k, const struct plx_image image[PLX_EYES], struct plx_error_message *message)
{
    int wanted[PLX_EYES], missing = PLX_EYES, result = 0;
    bool behind = !bag->reader;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        wanted[eye] = bag->eye[eye].picture[bag->pair[k][eye]].number;
        behind = behind || wanted[eye] < bag->position[eye];
    }
    if (behind)
        result = rewind_reader(bag, message);
    while (result == 0 && missing > 0) {
        struct plx_mcap_message got;
        struct plx_error_message damage;
        const int next = plx_mcap_next(bag->reader, &got, &damage);
        if (next == PLX_ERR_END || next == PLX_ERR_NOMEM || next == PLX_ERR_IO)
            result = plx_fail(message, next == PLX_ERR_END ? PLX_ERR_FORMAT : next, "%s: changed while it was read", bag->path);
        const int eye = next == 0 ? eye_of(bag, &got) : PLX_EYES;
        if (eye < PLX_EYES && bag->position[eye]++ == wanted[eye]) {
            result = decode(bag, &got, &image[eye], message);
            missing--;
        }
    }
    return result;
}
