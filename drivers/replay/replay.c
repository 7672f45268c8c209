/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded pairs as a frame source. A thread decodes ahead. At a rate it behaves like a camera: pairs that are not read in time
 * are lost. */
#include "drivers/replay/replay.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/clock.h"
#include "drivers/files/calib_txt.h"
#include "drivers/files/pair_list.h"
#include "drivers/files/picture.h"
#include "drivers/files/recording.h"
#include "drivers/mcap/bag.h"
#include "drivers/mcap/bag_files.h"
#include "drivers/pair_queue.h"

#define ROW_ALIGNMENT 64
#define UNTIMED_RATE_HZ 10.0 /* without times.txt: KITTI's rate */

struct replay {
    struct plx_queued_source queued; /* first: a struct plx_source * of this source is a struct replay * */
    struct plx_pair_list list;
    struct plx_bag *bag; /* the pictures of LIST are in this MCAP file; NULL: in files of their own */
    enum plx_replay_timing timing;
    bool loop;
    double period_s; /* between pairs without times, and from the last pair to the first */
    enum plx_type type;
    int bits;    /* bits of a sample in the files */
    bool colour; /* left pictures have their colours */
    int rgb;     /* which path of a pair leads to them */
    size_t pitch;
    char path[];
};

static struct replay *replay_of(struct plx_source *source)
{
    return (struct replay *)source;
}

/* Whether capture times are those of the recording: at a fixed rate they are made. */
static bool has_times(const struct replay *self)
{
    return self->list.timed && self->timing != PLX_TIMING_FIXED;
}

/* The time of pair K of an endless replay, seconds after the first. */
static double due_s(const struct replay *self, uint64_t k)
{
    const struct plx_pair_list *list = &self->list;
    if (!has_times(self))
        return (double)k * self->period_s;
    const uint64_t count = (uint64_t)list->count;
    const double first_s = list->pair[0].time_s, span_s = list->pair[count - 1].time_s - first_s;
    return (double)(k / count) * (span_s + self->period_s) + list->pair[k % count].time_s - first_s;
}

static struct plx_image view(const struct replay *self, void *data)
{
    return (struct plx_image){data, self->queued.base.width, self->queued.base.height, self->pitch, self->type};
}

/* The bits that the largest sample of IMAGE, U16, needs. */
static int count_bits(const struct plx_image *image)
{
    unsigned all = 0;
    int bits = 0;
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++)
            all |= ((const uint16_t *)plx_row(image, y))[x];
    while (all >> bits)
        bits++;
    return bits;
}

/* Moves the samples of IMAGE, U16, to the high bits of their words. */
static int widen(const struct replay *self, const struct plx_image *image, int k, struct plx_error_message *message)
{
    const int bits = count_bits(image);
    if (bits > self->bits)
        return plx_fail(message, PLX_ERR_RANGE,
                        "%s: a picture of pair %d has samples of %d bits, and source.bits is %d; set it to the "
                        "bits of the camera, or 16",
                        self->path, k + 1, bits, self->bits);
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++) {
            uint16_t *sample = (uint16_t *)plx_row(image, y) + x;
            *sample = (uint16_t)(*sample << (16 - self->bits));
        }
    return 0;
}

/* Reads pair K as the files have it. */
static int read_pair(const struct replay *self, int k, const struct plx_image image[PLX_EYES],
                     struct plx_error_message *message)
{
    int result = self->bag ? plx_bag_read(self->bag, k, image, message) : 0;
    for (int eye = 0; eye < PLX_EYES && result == 0 && !self->bag; eye++)
        result = plx_picture_read_into(self->list.pair[k].path[eye], &image[eye], message);
    return result;
}

/* Reads pair K with the colours of the left picture. */
static int read_colour(const struct replay *self, int k, const struct plx_image image[PLX_EYES], struct plx_raw raw[PLX_EYES],
                       struct plx_error_message *message)
{
    const struct plx_image *grey = &image[PLX_LEFT];
    const struct plx_image rgb = {plx_row(grey, grey->height), grey->width, grey->height, PLX_RGB * grey->pitch, PLX_RGB};
    struct plx_raw *left = &raw[PLX_LEFT];

    left->bytes *= 1 + PLX_RGB;
    if (self->bag)
        return plx_bag_read_colour(self->bag, k, image, left->bytes, left, message);
    left->format = PLX_FORMAT_GREY_RGB;
    const int result = read_pair(self, k, image, message);
    return result == 0 ? plx_picture_read_into(self->list.pair[k].path[self->rgb], &rgb, message) : result;
}

static int decode(const struct replay *self, int k, void *const data[PLX_EYES], struct plx_raw ret_raw[PLX_EYES],
                  struct plx_error_message *message)
{
    const struct plx_image image[PLX_EYES] = {view(self, data[PLX_LEFT]), view(self, data[PLX_RIGHT])};
    for (int eye = 0; eye < PLX_EYES; eye++)
        ret_raw[eye] = plx_raw_of_grey(&image[eye]);
    int result = self->colour ? read_colour(self, k, image, ret_raw, message) : read_pair(self, k, image, message);
    for (int eye = 0; eye < PLX_EYES && result == 0 && self->bits < 16; eye++)
        result = widen(self, &image[eye], k, message);
    return result;
}

/* Right minus left capture time of pair K. */
static int64_t skew_ns(const struct replay *self, uint64_t k)
{
    return has_times(self) ? self->list.pair[k % (uint64_t)self->list.count].skew_ns : 0;
}

/* CAPTURE_NS: the left eye's. */
static void publish(const struct replay *self, int number, const struct plx_raw raw[PLX_EYES], uint64_t k, int64_t capture_ns)
{
    const double file_s = self->list.pair[k % (uint64_t)self->list.count].time_s;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const struct plx_capture capture = {
            .capture_ns = capture_ns + (eye == PLX_RIGHT ? skew_ns(self, k) : 0),
            .clock_offset_ns = capture_ns - (int64_t)(file_s * PLX_NS_PER_S),
            .clock = PLX_CLOCK_FILE,
            .sequence = (uint32_t)k,
        };
        plx_pair_queue_publish(self->queued.queue, number, (enum plx_eye)eye, &raw[eye], &capture);
    }
}

/* Produces pairs, in the producer thread. */
static int make(struct plx_queued_source *queued, struct plx_error_message *message)
{
    const struct replay *self = replay_of(&queued->base);
    const uint64_t count = (uint64_t)self->list.count;
    const bool real_time = self->timing != PLX_TIMING_MAXIMUM;
    const int64_t begun = plx_now_ns();
    for (uint64_t k = 0; self->loop || k < count; k++) {
        while (real_time && begun + (int64_t)(due_s(self, k + 1) * PLX_NS_PER_S) < plx_now_ns() &&
               (self->loop || k + 1 < count))
            k++; /* too late for this pair */
        void *data[PLX_EYES];
        struct plx_raw raw[PLX_EYES];
        const int64_t capture_ns = begun + (int64_t)(due_s(self, k) * PLX_NS_PER_S), skew = skew_ns(self, k);
        const int64_t due_ns = capture_ns + (skew > 0 ? skew : 0); /* a picture does not come before it was captured */
        int number = plx_pair_queue_begin_pair(self->queued.queue, data);
        if (number >= 0) {
            int result = decode(self, (int)(k % count), data, raw, message);
            if (result < 0)
                return result;
        }
        if (number == PLX_PAIR_QUEUE_STOPPED || (real_time && !plx_pair_queue_sleep_until(self->queued.queue, due_ns)))
            return PLX_ERR_LOST;
        if (number >= 0)
            publish(self, number, raw, k, capture_ns);
    }
    return plx_fail(message, PLX_ERR_END, "%s: the replay ended after %d pairs", self->path, self->list.count);
}

static void destroy(struct plx_source *source)
{
    if (!source)
        return;
    plx_queued_source_stop(source);
    plx_pair_queue_destroy(replay_of(source)->queued.queue);
    plx_pair_list_close(&replay_of(source)->list);
    plx_bag_close(replay_of(source)->bag);
    free(source);
}

static int control(struct plx_source *source, uint32_t exposure_us, float gain)
{
    (void)source;
    (void)exposure_us;
    (void)gain;
    return PLX_ERR_UNSUPPORTED;
}

static void range(struct plx_source *source, struct plx_control_range *ret_range)
{
    (void)source;
    memset(ret_range, 0, sizeof *ret_range);
}

static int calibration(struct plx_source *source, struct plx_stereo_calibration *ret_calibration,
                       struct plx_error_message *message)
{
    const struct replay *self = replay_of(source);
    if (self->bag)
        return plx_bag_calibration(self->bag, ret_calibration, message);
    const int result =
        plx_calib_txt_find(self->path, self->list.first_projection, source->width, source->height, ret_calibration, message);
    return result == PLX_ERR_UNSUPPORTED ? PLX_ERR_NOT_FOUND : result; /* raw pictures, and none for them */
}

/* The recording: who took the pictures is not in it. */
static void identify(struct plx_source *source, char *ret_text, size_t bytes)
{
    snprintf(ret_text, bytes, "%s", replay_of(source)->path);
}

static const struct plx_source_ops replay_ops = {
    .name = "replay",
    .destroy = destroy,
    PLX_QUEUED_SOURCE_OPS,
    .control = control,
    .range = range,
    .calibration = calibration,
    .identify = identify,
};

static void set_size(struct replay *self, int width, int height, enum plx_type type)
{
    self->queued.base.width = width;
    self->queued.base.height = height;
    self->type = type;
    self->pitch = ((size_t)width * type + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
}

static int compare_sizes(const char *left, const struct plx_picture_info *expected, const char *other,
                         const struct plx_picture_info *info, struct plx_error_message *message)
{
    if (info->width == expected->width && info->height == expected->height)
        return 0;
    return plx_fail(message, PLX_ERR_FORMAT, "%s: %dx%d pixels, expected %dx%d as in %s", other, info->width, info->height,
                    expected->width, expected->height, left);
}

/* Where the colours of the left pictures are: LEFT describes the first one. */
static int find_colour(struct replay *self, const struct plx_picture_info *left, struct plx_error_message *message)
{
    struct plx_picture_info colour;
    char *const *path = self->list.pair[0].path;
    self->rgb = left->colour ? (int)PLX_LEFT : (int)PLX_PAIR_COLOUR;
    if (left->colour)
        return 0;
    if (!path[PLX_PAIR_COLOUR])
        return plx_picture_is_grey(path[PLX_LEFT], message);
    const int result = plx_picture_info(path[PLX_PAIR_COLOUR], &colour, message);
    if (result < 0)
        return result;
    return colour.colour ? compare_sizes(path[PLX_LEFT], left, path[PLX_PAIR_COLOUR], &colour, message)
                         : plx_picture_is_grey(path[PLX_PAIR_COLOUR], message);
}

/* Size and type of all pictures, from the first pair. */
static int find_size(struct replay *self, struct plx_error_message *message)
{
    struct plx_picture_info info[PLX_EYES];
    char *const *path = self->list.pair[0].path;
    int result = 0;
    for (int eye = 0; eye < PLX_EYES && result == 0; eye++)
        result = plx_picture_info(path[eye], &info[eye], message);
    if (result == 0)
        result = compare_sizes(path[PLX_LEFT], &info[PLX_LEFT], path[PLX_RIGHT], &info[PLX_RIGHT], message);
    if (result == 0 && self->colour)
        result = find_colour(self, &info[PLX_LEFT], message);
    if (result < 0)
        return result;
    set_size(self, info[PLX_LEFT].width, info[PLX_LEFT].height,
             info[PLX_LEFT].type < info[PLX_RIGHT].type ? info[PLX_LEFT].type : info[PLX_RIGHT].type);
    return 0;
}

static int compare_doubles(const void *a, const void *b)
{
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* The median interval of a list with times, so that a gap in the recording does not change it. */
static int find_period(const struct plx_pair_list *list, double *ret_s, struct plx_error_message *message)
{
    const int count = list->count - 1;
    double *interval_s = malloc((size_t)count * sizeof *interval_s);
    if (!interval_s)
        return plx_fail(message, PLX_ERR_NOMEM, "no memory for the times of %d pairs", list->count);
    for (int i = 0; i < count; i++)
        interval_s[i] = list->pair[i + 1].time_s - list->pair[i].time_s;
    qsort(interval_s, (size_t)count, sizeof *interval_s, compare_doubles);
    *ret_s = interval_s[(count - 1) / 2];
    free(interval_s);
    if (*ret_s < 1.0 / PLX_SOURCE_MAX_RATE_HZ)
        return plx_fail(message, PLX_ERR_RANGE,
                        "the pairs are %g s apart by their times; expected at least %g s: are the times in seconds? Or set "
                        "source.replay_rate: fixed",
                        *ret_s, 1.0 / PLX_SOURCE_MAX_RATE_HZ);
    return 0;
}

static int find_rate(struct replay *self, double rate_hz, struct plx_error_message *message)
{
    const struct plx_pair_list *list = &self->list;
    const bool fixed = self->timing == PLX_TIMING_FIXED;
    self->period_s = 1.0 / (fixed ? rate_hz : UNTIMED_RATE_HZ);
    int result = !fixed && list->timed && list->count > 1 ? find_period(list, &self->period_s, message) : 0;
    self->queued.base.rate_hz = self->timing == PLX_TIMING_MAXIMUM ? 0.0 : 1.0 / self->period_s;
    self->queued.base.recorded_hz = 1.0 / self->period_s;
    return result;
}

/* Adds a sentence to the source's note. */
__attribute__((format(printf, 2, 3))) static void add_note(struct replay *self, const char *format, ...)
{
    char *text = self->queued.base.note.text;
    const size_t bytes = sizeof self->queued.base.note.text;
    va_list args;
    if (*text)
        strncat(text, "; ", bytes - strlen(text) - 1);
    va_start(args, format);
    vsnprintf(text + strlen(text), bytes - strlen(text), format, args);
    va_end(args);
}

/* Notes samples that use the low bits of their words only: such pictures look dark. Damage is said when the pair is played. */
static void note_bits(struct replay *self)
{
    const size_t bytes = self->pitch * (size_t)self->queued.base.height;
    uint8_t *data = malloc(2 * bytes);
    struct plx_error_message unused;
    if (!data)
        return;
    const struct plx_image image[PLX_EYES] = {view(self, data), view(self, data + bytes)};
    if (read_pair(self, 0, image, &unused) == 0) {
        const int left = count_bits(&image[PLX_LEFT]), right = count_bits(&image[PLX_RIGHT]),
                  bits = left > right ? left : right;
        if (bits > 8 && bits < 16)
            add_note(
                self,
                "%s: the first pair uses %d of 16 bits, so pictures look dark; set source.bits: %d, or the bits of a sample "
                "of the camera, or bring the samples to the high bits",
                self->path, bits, bits);
    }
    free(data);
}

/* Notes how many pairs will count as desync, and why. */
static void note_skew(struct replay *self)
{
    const int64_t max_ns = (int64_t)(self->period_s / 4 * PLX_NS_PER_S);
    int apart = 0;
    for (int k = 0; k < self->list.count; k++)
        apart += llabs(skew_ns(self, (uint64_t)k)) > max_ns;
    if (apart > 0)
        add_note(
            self,
            "%s: left and right are more than %.1f ms apart, a quarter of the period, in %d of %d pairs, which count as "
            "desync: the cameras were not synchronized; source.pair_tolerance_ms: %.0f joins them, source.replay_rate: fixed "
            "plays them without their times",
            self->path, (double)max_ns / PLX_NS_PER_MS, apart, self->list.count, ceil(2 * (double)max_ns / PLX_NS_PER_MS));
}

static int open_folder(struct replay *self, const struct plx_replay_options *options, struct plx_error_message *message)
{
    int result = plx_pair_list_open(options->path, &self->list, message);
    return result == 0 ? find_size(self, message) : result;
}

static int open_bag(struct replay *self, const struct plx_replay_options *options, struct plx_error_message *message)
{
    const struct plx_bag_options bag = {.path = options->path,
                                        .topic = {options->topic[PLX_LEFT], options->topic[PLX_RIGHT]},
                                        .unsynchronized = true,
                                        .colour = self->colour};
    int result = plx_bag_open(&bag, &self->bag, message);
    if (result < 0)
        return result;
    const struct plx_bag_info *info = plx_bag_info(self->bag);
    self->list = (struct plx_pair_list){.timed = true, .note = info->note};
    self->list.pair = calloc((size_t)info->count, sizeof *self->list.pair);
    if (!self->list.pair)
        return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", self->path);
    self->list.count = info->count;
    for (int k = 0; k < info->count; k++) {
        self->list.pair[k].time_s = (double)plx_bag_time_ns(self->bag, k) / PLX_NS_PER_S;
        self->list.pair[k].skew_ns = plx_bag_skew_ns(self->bag, k);
    }
    set_size(self, info->width, info->height, info->type);
    return 0;
}

static int open_pictures(struct replay *self, const struct plx_replay_options *options, struct plx_error_message *message)
{
    const int result =
        plx_bag_files_exist(options->path) ? open_bag(self, options, message) : open_folder(self, options, message);
    if (result == 0 && self->colour)
        set_size(self, self->queued.base.width, self->queued.base.height, PLX_U8); /* colour has 8 bits, so have both eyes */
    if (result == 0 && self->type != PLX_U16 && self->bits != 16)
        return plx_fail(message, PLX_ERR_RANGE, "%s: source.bits is %d, and the pictures have 8 bits; expected 16, the default",
                        self->path, self->bits);
    return result;
}

int plx_replay_create(struct plx_stages *stages, const struct plx_replay_options *options, struct plx_source **ret_source,
                      struct plx_error_message *message)
{
    if (options->timing == PLX_TIMING_FIXED &&
        !(options->rate_hz >= PLX_SOURCE_MIN_RATE_HZ && options->rate_hz <= PLX_SOURCE_MAX_RATE_HZ))
        return plx_fail(message, PLX_ERR_RANGE, "replay: a rate of %g Hz is not within 0.1..1000", options->rate_hz);
    const size_t length = strlen(options->path) + 1;
    struct replay *self = calloc(1, sizeof *self + length);
    if (!self)
        return plx_fail(message, PLX_ERR_NOMEM, "replay: out of memory");
    memcpy(self->path, options->path, length);
    self->queued.base.ops = &replay_ops;
    self->queued.make = make;
    self->timing = options->timing;
    self->loop = options->loop;
    self->bits = options->bits > 0 ? options->bits : 16;
    self->colour = options->colour;

    int result = open_pictures(self, options, message);
    if (result < 0)
        goto fail;
    self->queued.base.note = self->list.note;
    result = find_rate(self, options->rate_hz, message);
    if (result < 0)
        goto fail;
    if (self->type == PLX_U16 && self->bits == 16)
        note_bits(self);
    note_skew(self);
    result = plx_pair_queue_create(
        stages, self->timing == PLX_TIMING_MAXIMUM ? PLX_PAIR_QUEUE_WAIT : PLX_PAIR_QUEUE_LATEST, PLX_SOURCE_MIN_PAIRS + 2,
        self->pitch * (size_t)self->queued.base.height * (self->colour ? 1 + PLX_RGB : 1), &self->queued.queue);
    if (result < 0) {
        plx_fail(message, result, "%s: out of memory for pictures of %dx%d", self->path, self->queued.base.width,
                 self->queued.base.height);
        goto fail;
    }
    *ret_source = &self->queued.base;
    return 0;

fail:
    destroy(&self->queued.base);
    return result;
}
