/* SPDX-License-Identifier: Apache-2.0 */
/* The published enumerations in words; libparallax has this file too. */
#include "core/base/words.h"

#include <stdio.h>

#include <parallax/frame.h>

#define COUNT(list) (sizeof(list) / sizeof *(list))

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
    static const char *const word[] = {"unknown", "narrow", "medium", "large", "low", "wide"};
    return word_at(word, COUNT(word), size_class);
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

static const struct {
    const char *name, *words;
} blind_reason[] = {
    {"not_calibrated", "not calibrated"},
    {"obstacles_off", "switched off"},
    {"no_ground", "no ground was found"},
    {"no_picture", "a camera sees nothing"},
};

const char *plx_blind_name(int bit)
{
    return bit >= 0 && bit < (int)COUNT(blind_reason) ? blind_reason[bit].name : "unknown";
}

const char *plx_blind_words(int bit)
{
    return bit >= 0 && bit < (int)COUNT(blind_reason) ? blind_reason[bit].words : "unknown reason";
}

/* The words of all set BITS, separated by ", ". */
static void sentence(uint32_t bits, const char *(*words)(int bit), char *ret_text, size_t size)
{
    size_t used = 0;
    snprintf(ret_text, size, "%s", "");
    for (int bit = 0; bit < 32 && used < size; bit++)
        if (bits >> bit & 1u)
            used += (size_t)snprintf(ret_text + used, size - used, "%s%s", used > 0 ? ", " : "", words(bit));
}

void plx_health_sentence(uint32_t health, char *ret_text, size_t size)
{
    sentence(health, plx_health_words, ret_text, size);
    if (!health)
        snprintf(ret_text, size, "no faults");
}

void plx_blind_sentence(uint32_t blind, char *ret_text, size_t size)
{
    sentence(blind, plx_blind_words, ret_text, size);
}
