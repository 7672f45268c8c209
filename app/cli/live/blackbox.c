/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax blackbox`: the black box as text, and its pictures. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <parallax/client.h>
#include <parallax/shm.h>

#include "app/blackbox/box.h"
#include "app/blackbox/read.h"
#include "app/cli/commands.h"
#include "app/cli/live/connection.h"
#include "app/exit.h"
#include "app/service_config.h"
#include "app/view/export.h"
#include "app/view/frame_text.h"
#include "config/config.h"
#include "core/base/text.h"
#include "core/checks/health_table.h"
#include "drivers/files/picture.h"

#define LEVELS 8

/* The text at DATA as one line without control characters, in static memory until the next call. */
static const char *line_of(const unsigned char *data, size_t bytes)
{
    static char text[1200];

    snprintf(text, sizeof text, "%.*s", (int)(bytes < sizeof text ? bytes : sizeof text - 1), (const char *)data);
    plx_clean_text(text);
    return text;
}

/* --- one record ------------------------------------------------------------------------------------------------------ */

static void print_frame(const struct plx_box_entry *entry)
{
    static struct plx_frame frame; /* large */
    char faults[512], speed[PLX_MOTION_TEXT];

    memcpy(&frame, entry->data, PLX_BOX_FRAME_BYTES);
    plx_health_sentence(frame.health, faults, sizeof faults);
    plx_speed_text(&frame.motion, speed, sizeof speed);
    printf("%" PRIu64 ", %s, %s, %u obstacles, %s%scaptured %.1f ms before, skew %.1f ms;", frame.sequence,
           plx_state_word(frame.state), faults, frame.obstacle_count, speed, *speed ? ", " : "",
           ((double)frame.published_ns - (double)frame.capture[PLX_LEFT].capture_ns) / 1e6, (double)frame.skew_ns / 1e6);
    for (int stage = 0; stage < PLX_STAGE_COUNT; stage++)
        printf(" %s %u", plx_stage_word(stage), frame.stage_us[stage]);
    puts(" us");
}

static void print_state(const struct plx_box_entry *entry)
{
    struct plx_box_state state;
    char faults[512];

    memcpy(&state, entry->data, sizeof state);
    plx_health_sentence(state.health, faults, sizeof faults);
    const char *reason = line_of(entry->data + sizeof state, entry->record.bytes - sizeof state);
    printf("%s, %s%s%s\n", plx_state_word(state.state), faults, *reason ? "; " : "", reason);
}

static void print_log(const struct plx_box_entry *entry)
{
    static const char *const words[LEVELS] = {"emergency", "alert", "critical", "error", "warning", "notice", "info", "debug"};
    int32_t level;

    memcpy(&level, entry->data, sizeof level);
    printf("%s: %s\n", level >= 0 && level < LEVELS ? words[level] : "unknown level",
           line_of(entry->data + sizeof level, entry->record.bytes - sizeof level));
}

/* The steps of all threads that are not idle. */
static void print_heartbeats(const struct plx_box_entry *entry)
{
    struct plx_box_beat beat;
    const char *comma = "";

    for (size_t thread = 0; thread < PLX_THREAD_COUNT && (thread + 1) * sizeof beat <= entry->record.bytes; thread++) {
        memcpy(&beat, entry->data + thread * sizeof beat, sizeof beat);
        if (beat.what == PLX_HEARTBEAT_IDLE)
            continue;
        printf("%s%s: %s for %u ms", comma, plx_budget_thread((int)thread),
               beat.what < PLX_WATCHED_COUNT ? plx_budget_name((int)beat.what) : "unknown", beat.since_ms);
        comma = ", ";
    }
    puts("");
}

/* The picture in ENTRY, *ret_sequence its frame; data NULL if there is none. */
static struct plx_image picture_of(const struct plx_box_entry *entry, uint64_t *ret_sequence)
{
    struct plx_box_picture picture;

    if (entry->record.kind != PLX_BOX_PICTURE || entry->record.bytes < sizeof picture)
        return (struct plx_image){0};
    memcpy(&picture, entry->data, sizeof picture);
    if (picture.width < 1 || picture.width > PLX_BOX_PICTURE_SIDE || picture.height < 1 ||
        picture.height > PLX_BOX_PICTURE_SIDE || entry->record.bytes - sizeof picture < picture.width * picture.height)
        return (struct plx_image){0};
    *ret_sequence = picture.sequence;
    return (struct plx_image){.data = (void *)(uintptr_t)(entry->data + sizeof picture), /* the caller only reads it */
                              .width = (int)picture.width,
                              .height = (int)picture.height,
                              .pitch = (int)picture.width,
                              .type = PLX_U8};
}

static void print_picture(const struct plx_box_entry *entry)
{
    uint64_t sequence = 0;
    const struct plx_image image = picture_of(entry, &sequence);

    if (image.data)
        printf("of frame %" PRIu64 ", %d x %d\n", sequence, image.width, image.height);
    else
        puts("damaged");
}

static void print_unknown(const struct plx_box_entry *entry)
{
    (void)entry;
    puts("record of another version of parallaxd");
}

/* By enum plx_box_kind; a record with fewer than min_bytes is damaged. */
static const struct kind {
    const char *word;
    size_t min_bytes;
    void (*print)(const struct plx_box_entry *entry);
} kinds[] = {
    {"unknown", 0, print_unknown},
    [PLX_BOX_FRAME] = {"frame", PLX_BOX_FRAME_BYTES, print_frame},
    [PLX_BOX_PICTURE] = {"picture", 0, print_picture},
    [PLX_BOX_STATE] = {"state", sizeof(struct plx_box_state), print_state},
    [PLX_BOX_LOG] = {"log", sizeof(int32_t), print_log},
    [PLX_BOX_HEARTBEATS] = {"threads", 0, print_heartbeats},
};

static void print_entry(const struct plx_box_content *content, const struct plx_box_entry *entry, int64_t last_ns)
{
    const struct plx_box_record *record = &entry->record;
    const struct kind *kind = &kinds[record->kind < sizeof kinds / sizeof *kinds ? record->kind : 0];

    printf("%9.3f s  %-10s", ((double)record->time_ns - (double)last_ns) / 1e9, kind->word);
    if (record->kind == PLX_BOX_FRAME && content->header.abi_version != PLX_ABI_VERSION)
        puts("of another version of parallaxd");
    else if (record->bytes < kind->min_bytes)
        puts("damaged");
    else
        kind->print(entry);
}

void plx_blackbox_directory(const char *socket_path, const char *config_path, char ret_directory[PLX_DIRECTORY_BYTES])
{
    static struct plx_config config; /* large */
    struct plx_error_message message;

    if (!plx_service_config_ask(socket_path, &config) && plx_config_load(config_path, &config, &message) < 0)
        plx_config_default(&config);
    snprintf(ret_directory, PLX_DIRECTORY_BYTES, "%s", config.blackbox.directory);
}

/* --- the command ------------------------------------------------------------------------------------------------------ */

static void print_all(const struct plx_box_content *content)
{
    const struct plx_box_header *header = &content->header;
    const int64_t last_ns = content->count > 0 ? content->entry[content->count - 1].record.time_ns : header->monotonic_ns;
    const double last_s = ((double)header->begun_ns - (double)header->monotonic_ns + (double)last_ns) / 1e9;
    const time_t seconds = last_s > 0 && last_s < 1e11 ? (time_t)last_s : 0; /* the file may hold any bytes */
    struct tm date = {0};
    char text[64] = "unknown";

    if (gmtime_r(&seconds, &date))
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &date);
    printf("black box of parallaxd %s, process %d; %d records, the last at %s; %s\n", header->program, (int)header->pid,
           content->count, text, header->ended ? "ended normally" : "still running, or ended abnormally");
    for (int i = 0; i < content->count; i++)
        print_entry(content, &content->entry[i], last_ns);
}

static int write_pictures(const struct plx_box_content *content, const char *directory)
{
    struct plx_error_message message;
    char path[4200];

    int result = plx_make_directories(directory, &message);
    for (int i = 0; i < content->count && result == 0; i++) {
        uint64_t sequence = 0;
        const struct plx_image image = picture_of(&content->entry[i], &sequence);
        snprintf(path, sizeof path, "%s/frame-%08" PRIu64 ".png", directory, sequence);
        if (image.data)
            result = plx_png_write(path, &image, &message);
    }
    return result < 0 ? plx_exit_error("parallax blackbox", PLX_EXIT_CANNOT_WRITE, "%s", message.text) : PLX_EXIT_OK;
}

int plx_command_blackbox(int argc, char **argv)
{
    const char *pictures = NULL, *socket_path = NULL;
    const struct plx_option options[] = {
        PLX_SOCKET_OPTION(socket_path),
        PLX_OPTION("pictures", "DIR", pictures, "also writes the pictures of the black box into DIR, as PNG"),
        {0},
    };
    const struct plx_command_line line = {
        .program = "parallax blackbox",
        .words = "[FILE]",
        .about =
            "Prints a black box of the service: frames, stage times, threads, states and log lines, each with its seconds "
            "before the last record. The default of FILE is " PLX_BOX_LIVE " in the service's blackbox.directory, which the "
            "service is writing. The copies beside it are named after the time and the event.",
        .option = options,
        .max_words = 1};
    const char *word[PLX_MAX_WORDS];
    struct plx_box_content content;
    struct plx_error_message message;
    char directory[PLX_DIRECTORY_BYTES], path[PLX_DIRECTORY_BYTES + 16];

    plx_parse_command_line(&line, argc, argv, word);
    plx_blackbox_directory(socket_path, PLX_DEFAULT_CONFIG, directory);
    snprintf(path, sizeof path, "%s/" PLX_BOX_LIVE, directory);
    if (!word[0] && directory[0] == '\0')
        return plx_exit_error("parallax blackbox", PLX_EXIT_NO_INPUT,
                              "the service keeps no black box: its blackbox.directory is empty; name a FILE");
    int result = plx_box_read(word[0] ? word[0] : path, &content, &message);
    if (result < 0)
        return plx_exit_error("parallax blackbox", plx_exit_code(result), "%s", message.text);
    print_all(&content);
    const int exit_code = pictures ? write_pictures(&content, pictures) : PLX_EXIT_OK;
    plx_box_free(&content);
    return exit_code;
}
