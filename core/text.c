/* SPDX-License-Identifier: Apache-2.0 */
#include "core/text.h"

#include <stdarg.h>
#include <stdio.h>

#include <parallax/error.h>
#include <parallax/frame.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

int(plx_fail)(struct plx_error_message *message, int error, const char *format, ...)
{
    if (message) {
        va_list args;
        va_start(args, format);
        vsnprintf(message->text, sizeof message->text, format, args);
        va_end(args);
    }
    return error;
}

/* --- enumerations -------------------------------------------------------------------------------------------------- */

static const char *word_at(const char *const *word, size_t count, size_t index)
{
    return index < count && word[index] ? word[index] : "unknown";
}

const char *plx_state_word(uint32_t state)
{
    static const char *const word[] = {
        [PLX_STATE_STARTING] = "starting",     [PLX_STATE_RUNNING] = "running", [PLX_STATE_DEGRADED] = "degraded",
        [PLX_STATE_RECOVERING] = "recovering", [PLX_STATE_FAILED] = "failed",   [PLX_STATE_STOPPED] = "stopped",
    };
    return word_at(word, COUNT(word), state);
}

const char *plx_stage_word(int stage)
{
    static const char *const word[] = {
        [PLX_STAGE_CONVERT] = "convert",     [PLX_STAGE_HISTOGRAM] = "histogram", [PLX_STAGE_RECTIFY] = "rectify",
        [PLX_STAGE_PREFILTER] = "prefilter", [PLX_STAGE_CENSUS] = "census",       [PLX_STAGE_SGM] = "sgm",
        [PLX_STAGE_CHECK] = "check",         [PLX_STAGE_REFINE] = "refine",       [PLX_STAGE_GROUND] = "ground",
        [PLX_STAGE_COLUMNS] = "columns",     [PLX_STAGE_OBSTACLES] = "obstacles", [PLX_STAGE_MOTION] = "motion",
        [PLX_STAGE_TRACKS] = "tracks",
    };
    return word_at(word, COUNT(word), (size_t)stage);
}

const char *plx_clock_word(uint32_t clock)
{
    static const char *const word[] = {
        [PLX_CLOCK_MONOTONIC] = "monotonic",
        [PLX_CLOCK_REALTIME] = "realtime",
        [PLX_CLOCK_DEVICE] = "device",
        [PLX_CLOCK_FILE] = "file",
    };
    return word_at(word, COUNT(word), clock);
}

const char *plx_source_word(uint32_t source)
{
    static const char *const word[] = {
        [PLX_SOURCE_SYNTHETIC] = "synthetic",
        [PLX_SOURCE_REPLAY] = "replay",
        [PLX_SOURCE_V4L2] = "v4l2",
    };
    return word_at(word, COUNT(word), source);
}

const char *plx_size_word(uint32_t size_class)
{
    static const char *const word[] = {"unknown", "pole", "person", "vehicle", "low", "wall"};

    return size_class < sizeof word / sizeof word[0] ? word[size_class] : "unknown";
}

const char *plx_track_word(uint32_t status)
{
    static const char *const word[] = {
        [PLX_TRACK_NEW] = "new",
        [PLX_TRACK_TRACKED] = "tracked",
        [PLX_TRACK_LOST] = "lost",
    };
    return word_at(word, COUNT(word), status);
}

const char *plx_source_note(uint32_t source)
{
    static const char *const note[] = {
        [PLX_SOURCE_SYNTHETIC] = "simulated pictures",
        [PLX_SOURCE_REPLAY] = "recorded pictures",
        [PLX_SOURCE_V4L2] = "",
    };
    return source < COUNT(note) ? note[source] : "pictures of an unknown source";
}

static const struct {
    const char *word, *words;
} memories[] = {
    [PLX_MEMORY_NONE] = {"none", "no camera"},
    [PLX_MEMORY_USERPTR] = {"userptr", "written by the camera itself (USERPTR)"},
    [PLX_MEMORY_DMABUF] = {"dmabuf", "written by the camera itself (DMABUF)"},
    [PLX_MEMORY_MMAP] = {"mmap", "one copy (MMAP)"},
};

const char *plx_memory_word(uint32_t memory)
{
    return memory < COUNT(memories) ? memories[memory].word : "unknown";
}

const char *plx_memory_words(uint32_t memory)
{
    return memory < COUNT(memories) ? memories[memory].words : "unknown";
}

static const struct {
    const char *name, *words;
} health_flag[PLX_HEALTH_FLAGS] = {
    {"camera_lost_left", "left camera lost"},
    {"camera_lost_right", "right camera lost"},
    {"no_frames", "no fresh frames"},
    {"dropped", "camera frames missing"},
    {"desync", "left and right not taken at the same time"},
    {"timestamp", "wild timestamps"},
    {"frozen", "picture frozen"},
    {"dark", "too dark or covered"},
    {"overexposed", "overexposed"},
    {"brightness_mismatch", "left and right differ in brightness"},
    {"misaligned", "rows no longer aligned (calibration drift)"},
    {"late", "frames late"},
    {"overload", "overloaded, pairs skipped"},
    {"gpu_fallback", "GPU lost, running on the CPU"},
    {"ground_lost", "ground not found"},
    {"buffer_error", "damaged camera buffer"},
    {"not_calibrated", "not calibrated, raw pictures only"},
    {"memory_pressure", "the machine is short of memory"},
    {"hot", "too hot, or clocks throttled"},
};

const char *plx_health_name(int bit)
{
    return bit >= 0 && bit < PLX_HEALTH_FLAGS ? health_flag[bit].name : "unknown";
}

const char *plx_health_words(int bit)
{
    return bit >= 0 && bit < PLX_HEALTH_FLAGS ? health_flag[bit].words : "unknown fault";
}

void plx_health_sentence(uint32_t health, char *ret_text, size_t size)
{
    snprintf(ret_text, size, "%s", health ? "" : "no faults");
    size_t used = 0;
    for (int bit = 0; bit < 32 && used < size; bit++)
        if (health >> bit & 1u)
            used += (size_t)snprintf(ret_text + used, size - used, "%s%s", used > 0 ? ", " : "", plx_health_words(bit));
}

/* --- text from outside ---------------------------------------------------------------------------------------------- */

int plx_utf8_decode(const char *text, uint32_t *ret_point)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *at = (const unsigned char *)text;
    const int length = at[0] < 0x80 ? 1 : at[0] >> 5 == 6 ? 2 : at[0] >> 4 == 14 ? 3 : at[0] >> 3 == 30 ? 4 : 0;
    uint32_t point = length > 1 ? at[0] & (0x7FU >> length) : at[0];

    for (int i = 1; i < length; i++) {
        if (at[i] >> 6 != 2) /* the end of the text too */
            return 0;
        point = point << 6 | (at[i] & 0x3FU);
    }
    if (length > 1 && (point < least[length] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)))
        return 0;
    *ret_point = point;
    return length;
}

bool plx_is_control(uint32_t point)
{
    return point < 0x20 || (point >= 0x7F && point < 0xA0) || point == 0x2028 || point == 0x2029;
}

bool plx_clean_text(char *text)
{
    bool replaced = false;
    char *to = text;

    for (const char *from = text; *from != '\0';) {
        uint32_t point = 0;
        const int length = plx_utf8_decode(from, &point);
        const bool good = length > 0 && !plx_is_control(point);
        for (int i = 0; good && i < length; i++)
            *to++ = from[i];
        if (!good)
            *to++ = '?';
        replaced |= !good;
        from += length > 0 ? length : 1;
    }
    *to = '\0';
    return replaced;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Three rows of the table of distances at a time. */
int plx_edit_distance(const char *a, const char *b, size_t b_length)
{
    int row[3][PLX_EDIT_DISTANCE_LETTERS + 1];
    int *before = row[0], *last = row[1], *now = row[2];
    size_t a_length = strnlen(a, PLX_EDIT_DISTANCE_LETTERS);
    for (size_t j = 0; j <= b_length; j++)
        last[j] = (int)j;
    for (size_t i = 1; i <= a_length; i++) {
        now[0] = (int)i;
        for (size_t j = 1; j <= b_length; j++) {
            int change = last[j - 1] + (a[i - 1] != b[j - 1]);
            now[j] = least(change, 1 + least(last[j], now[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], before[j - 2] + 1);
        }
        int *oldest = before;
        before = last;
        last = now;
        now = oldest;
    }
    return last[b_length];
}
