/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax calibration`: the corrections of the calibration, by the file that the service keeps. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include <parallax/error.h>

#include "app/cli/commands.h"
#include "app/cli/live/connection.h"
#include "app/corrections/history.h"
#include "app/exit.h"
#include "app/service_config.h"
#include "app/view/json.h"
#include "core/base/clock.h"
#include "core/base/units.h"

#define PROGRAM "parallax calibration"
#define SHOW_NS (3 * PLX_NS_PER_S)    /* for what is written and taken by the next frames */
#define FOLLOW_NS (20 * PLX_NS_PER_S) /* the service looks at the file every 32 frames at the latest */

enum action { SHOW, HISTORY, ACCEPT, UNDO, ACTIONS };

static const char *const actions[ACTIONS] = {"show", "history", "accept", "undo"};

#define DISTANCES 4

static const double distances[DISTANCES] = {1, 2, 5, 10}; /* m */

static void format_time(int64_t time_s, char text[32])
{
    const time_t seconds = time_s;
    struct tm date;
    if (!gmtime_r(&seconds, &date) || strftime(text, 32, "%Y-%m-%d %H:%M:%S UTC", &date) == 0)
        snprintf(text, 32, "unknown time");
}

/* What a correction by PX, with its deviation, in the WHERE of the picture does to distances. */
static void print_disparities(const struct plx_correction_history *history, const char *where, double px, double deviation)
{
    printf("    disparities in the %s %+.2f +- %.2f px: distances", where, px, deviation);
    for (size_t i = 0; i < DISTANCES; i++)
        printf(" %+.1f %% at %g m%s", plx_corrections_distance_percent(history, px, distances[i]), distances[i],
               i + 1 < DISTANCES ? "," : "\n");
}

static void print_numbers(const struct plx_correction_history *history, const struct plx_correction_entry *entry)
{
    const struct plx_correction *c = &entry->correction;
    const struct plx_drift_info *d = &entry->drift;

    printf("    pitch %.3f +- %.3f, roll %.3f +- %.3f, bend %.3f +- %.3f deg, scale %.4f +- %.4f\n",
           (double)c->pitch_rad * PLX_DEGREES_PER_RAD, (double)d->pitch_deviation_rad * PLX_DEGREES_PER_RAD,
           (double)c->roll_rad * PLX_DEGREES_PER_RAD, (double)d->roll_deviation_rad * PLX_DEGREES_PER_RAD,
           (double)c->bend_rad * PLX_DEGREES_PER_RAD, (double)d->bend_deviation_rad * PLX_DEGREES_PER_RAD, (double)c->scale,
           (double)d->scale_deviation);
    printf("    rows %.2f -> %.2f px by %u matches\n", (double)d->epipolar_error_px, (double)d->residual_px, d->matches);
    if (c->disparity_offset_px != 0 || c->curve_px != 0) {
        print_disparities(history, "middle", (double)c->disparity_offset_px, (double)d->disparity_offset_deviation_px);
        if (history->side > 0)
            print_disparities(history, "sides", (double)c->disparity_offset_px + history->side * (double)c->curve_px,
                              (double)d->side_deviation_px);
    }
}

static void print_entry(const struct plx_correction_history *history, const struct plx_correction_entry *entry)
{
    char when[32];

    format_time(entry->time_s, when);
    printf("%4u  %s  %s%s\n", entry->number, when, entry->proposed ? "proposed" : "applied",
           entry->number == history->number     ? ", in force"
           : entry->number == history->proposed ? ", waits: `parallax calibration accept`"
                                                : "");
    print_numbers(history, entry);
}

static void print_history(const struct plx_correction_history *history, bool all)
{
    if (*history->base == '\0')
        puts("nothing has been corrected or proposed yet");
    else
        printf("calibration %s, cameras %s\n", history->base, *history->cameras ? history->cameras : "unknown");
    if (history->number == 0)
        puts("no correction is in force: the calibration is as in its file");
    for (int i = 0; i < history->count; i++) {
        const uint32_t number = history->entry[i].number;
        if (all || number == history->number || number == history->proposed)
            print_entry(history, &history->entry[i]);
    }
    if (history->hold)
        puts("after an undo nothing is corrected by itself: `parallax calibration accept` lets it go on");
}

static cJSON *percent_json(const struct plx_correction_history *history, double px)
{
    cJSON *list = cJSON_CreateArray();

    for (size_t i = 0; i < DISTANCES; i++)
        cJSON_AddItemToArray(list, plx_json_number(plx_corrections_distance_percent(history, px, distances[i]), 2));
    return list;
}

static cJSON *entry_json(const struct plx_correction_history *history, const struct plx_correction_entry *entry)
{
    const struct plx_drift_info *d = &entry->drift;
    const struct plx_correction deviation = {
        d->pitch_deviation_rad,           d->roll_deviation_rad, d->bend_deviation_rad, d->scale_deviation,
        d->disparity_offset_deviation_px, d->curve_deviation_px};
    const double middle = (double)entry->correction.disparity_offset_px,
                 sides = middle + history->side * (double)entry->correction.curve_px;
    cJSON *item = cJSON_CreateObject();

    cJSON_AddItemToObject(item, "number", plx_json_number(entry->number, 0));
    cJSON_AddItemToObject(item, "before", plx_json_number(entry->before, 0));
    cJSON_AddBoolToObject(item, "proposed", entry->proposed);
    cJSON_AddItemToObject(item, "time_s", plx_json_number((double)entry->time_s, 0));
    cJSON_AddItemToObject(item, "correction", plx_json_correction(&entry->correction));
    cJSON_AddItemToObject(item, "deviation", plx_json_correction(&deviation));
    cJSON_AddItemToObject(item, "matches", plx_json_number(entry->drift.matches, 0));
    cJSON_AddItemToObject(item, "epipolar_error_before_px", plx_json_number((double)entry->drift.epipolar_error_px, 3));
    cJSON_AddItemToObject(item, "epipolar_error_after_px", plx_json_number((double)entry->drift.residual_px, 3));
    cJSON_AddItemToObject(item, "distance_percent", percent_json(history, middle));
    cJSON_AddItemToObject(item, "side_distance_percent", history->side > 0 ? percent_json(history, sides) : cJSON_CreateNull());
    return item;
}

static void print_json(const struct plx_correction_history *history)
{
    cJSON *item = cJSON_CreateObject(), *list = cJSON_CreateArray();

    cJSON_AddStringToObject(item, "calibration", history->base);
    cJSON_AddStringToObject(item, "cameras", history->cameras);
    cJSON_AddItemToObject(item, "in_force", plx_json_number(history->number, 0));
    cJSON_AddItemToObject(item, "proposed", plx_json_number(history->proposed, 0));
    cJSON_AddBoolToObject(item, "hold", history->hold);
    for (int i = 0; i < history->count; i++)
        cJSON_AddItemToArray(list, entry_json(history, &history->entry[i]));
    cJSON_AddItemToObject(item, "corrections", list);
    char *text = cJSON_Print(item);
    puts(text ? text : "{}");
    cJSON_free(text);
    cJSON_Delete(item);
}

/* --- files ------------------------------------------------------------------------------------------------------------ */

struct subject {
    const char *path;                    /* file of the history */
    const char *socket;                  /* the service that keeps it; NULL: the file alone is meant, or no service runs */
    char stand_in[PLX_CORRECTIONS_PATH]; /* the service uses it while it cannot write to PATH; "": no service runs */
};

/* Reads the file that the service uses. */
static int read_history(const struct subject *subject, struct plx_correction_history *ret_history,
                        struct plx_error_message *message)
{
    const int result = *subject->stand_in ? plx_corrections_read(subject->stand_in, ret_history, message) : PLX_ERR_NOT_FOUND;
    return result == PLX_ERR_NOT_FOUND ? plx_corrections_read(subject->path, ret_history, message) : result;
}

/* Changes what the service uses under the lock of the file at PATH, and writes it there. */
static int change_at(const struct subject *subject, const char *path, enum action action, bool all,
                     struct plx_correction_history *history, struct plx_error_message *message)
{
    int lock;
    int result = plx_corrections_lock(path, &lock, message);
    if (result < 0)
        return result;
    result = read_history(subject, history, message);
    if (result == 0)
        result = action == UNDO ? plx_corrections_undo(history, all, message) : plx_corrections_accept(history, message);
    if (result == 0)
        result = plx_corrections_write(path, history, message);
    close(lock);
    return result;
}

/* Where the history cannot be written, the change goes beside the socket, where the service looks first. */
static int change(const struct subject *subject, enum action action, bool all, struct plx_correction_history *history,
                  struct plx_error_message *message)
{
    if (read_history(subject, history, message) == PLX_ERR_NOT_FOUND)
        return plx_fail(message, PLX_ERR_NOT_FOUND, "%s: nothing has been corrected or proposed yet", subject->path);
    const bool has_stand_in = *subject->stand_in && access(subject->stand_in, F_OK) == 0;
    const char *first = has_stand_in ? subject->stand_in : subject->path;
    int result = change_at(subject, first, action, all, history, message);
    if (*subject->stand_in && !has_stand_in && (result == PLX_ERR_IO || result == PLX_ERR_PERMISSION))
        result = change_at(subject, subject->stand_in, action, all, history, message);
    return result;
}

/* --- the service ------------------------------------------------------------------------------------------------------ */

struct follow {
    uint32_t expected; /* the correction in force by the file */
    bool changed;      /* by this command: the service takes its time */
    bool known;
    uint32_t number; /* the correction in force by the newest frame */
};

static int ask_frames(struct plx_connection *connection, void *context)
{
    static struct plx_frame frame; /* large */
    struct follow *follow = context;
    const int64_t until_ns = plx_now_ns() + (follow->changed ? FOLLOW_NS : SHOW_NS);

    do {
        if (plx_connection_next_header(connection, PLX_FRESH_FRAME_MS, &frame) < 0)
            continue; /* it may restart its engine */
        follow->known = true;
        follow->number = frame.correction.number;
    } while (plx_now_ns() < until_ns && (!follow->known || follow->number != follow->expected));
    return PLX_EXIT_OK;
}

/* Compares the file with what the service does. Returns an exit code. */
static int check_service(const struct subject *subject, const struct plx_correction_history *history, bool changed)
{
    struct follow follow = {.expected = history->number, .changed = changed};

    if (!subject->socket)
        return PLX_EXIT_OK;
    const int exit_code = plx_connection_run(PROGRAM, subject->socket, ask_frames, &follow);
    if (exit_code != PLX_EXIT_OK || !follow.known || follow.number == follow.expected)
        return exit_code;
    return plx_exit_error(PROGRAM, PLX_EXIT_UNAVAILABLE,
                          "the service at %s has correction %u in force, not %u (0: none) as the file says; it follows within "
                          "32 frames if it can read the file: see its log, and ask again",
                          subject->socket, follow.number, follow.expected);
}

/* calibration_history of the running service, else of the configuration file. */
static void find_subject(const char *socket_path, struct subject *ret_subject)
{
    static struct plx_config config; /* large */
    struct plx_error_message message;

    *ret_subject = (struct subject){0};
    if (plx_service_config_ask(socket_path, &config)) {
        ret_subject->socket = plx_socket_path(socket_path);
        plx_corrections_stand_in(config.publish.socket, ret_subject->stand_in);
    } else if (plx_config_load(PLX_DEFAULT_CONFIG, &config, &message) < 0) {
        plx_config_default(&config);
    }
    ret_subject->path = *config.calibration_history ? config.calibration_history : ret_subject->stand_in;
}

static int find_action(const char *word)
{
    int action = 0;
    while (action < ACTIONS && word && strcmp(word, actions[action]) != 0)
        action++;
    return word ? action : SHOW;
}

int plx_command_calibration(int argc, char **argv)
{
    const char *path = NULL, *socket_path = NULL;
    bool all = false, json = false;
    const struct plx_option options[] = {
        PLX_SOCKET_OPTION(socket_path),
        PLX_OPTION("file", "FILE", path, "the history (default: calibration_history of the service)"),
        PLX_OPTION("all", NULL, all, "undo: back to the calibration's file"),
        PLX_OPTION("json", NULL, json, "prints JSON"),
        {0},
    };
    const struct plx_command_line line = {
        .program = PROGRAM,
        .words = "[show|history|accept|undo]",
        .about =
            "Shows which correction of the calibration is in force or proposed, and why. `accept` puts the proposal in force; "
            "`undo` goes back by one, and nothing is corrected by itself until `accept`. The command waits "
            "until a running service does so. The calibration's own file never changes.",
        .option = options,
        .max_words = 1};
    static struct plx_correction_history history;
    static struct subject subject;
    const char *word[PLX_MAX_WORDS];
    struct plx_error_message message;

    plx_parse_command_line(&line, argc, argv, word);
    const int action = find_action(word[0]);
    if (action == ACTIONS)
        return plx_exit_error(PROGRAM, PLX_EXIT_USAGE, "%s is no action; expected show, history, accept or undo", word[0]);
    if (path)
        subject = (struct subject){.path = path};
    else
        find_subject(socket_path, &subject);
    if (*subject.path == '\0')
        return plx_exit_error(PROGRAM, PLX_EXIT_NO_INPUT,
                              "no service runs, and its calibration_history is empty: no correction outlasted it");
    const bool changes = action >= ACCEPT;
    const int result =
        changes ? change(&subject, (enum action)action, all, &history, &message) : read_history(&subject, &history, &message);
    const bool is_new = result == PLX_ERR_NOT_FOUND && !changes; /* the history stays empty */
    if (result < 0 && !is_new)
        return plx_exit_error(PROGRAM, plx_exit_code(result), "%s", message.text);
    if (json)
        print_json(&history);
    else
        print_history(&history, action == HISTORY);
    return check_service(&subject, &history, changes);
}
