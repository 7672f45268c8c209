/* SPDX-License-Identifier: Apache-2.0 */
/* The history as a JSON file. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/corrections/history.h"
#include "config/file.h"
#include "config/replace.h"
#include "core/base/checksum.h"
#include "core/base/clock.h"

#define MAX_BYTES (1 << 20)
#define LOCK_LOOK_NS (10 * PLX_NS_PER_MS)
#define LOCK_WAIT_NS (5 * PLX_NS_PER_S)
#define CHECKSUM "\"checksum\""
#define CHECKSUM_TEXT 17 /* bytes */

/* The numbers of an entry, in the units of the file. */
static const struct number {
    const char *name;
    size_t offset;
    bool is_new; /* older files lack it: 0 */
} numbers[] = {
    {"pitch_rad", offsetof(struct plx_correction_entry, correction.pitch_rad), false},
    {"roll_rad", offsetof(struct plx_correction_entry, correction.roll_rad), false},
    {"bend_rad", offsetof(struct plx_correction_entry, correction.bend_rad), false},
    {"scale", offsetof(struct plx_correction_entry, correction.scale), false},
    {"columns_px", offsetof(struct plx_correction_entry, correction.disparity_offset_px), false},
    {"pitch_deviation_rad", offsetof(struct plx_correction_entry, drift.pitch_deviation_rad), false},
    {"roll_deviation_rad", offsetof(struct plx_correction_entry, drift.roll_deviation_rad), false},
    {"bend_deviation_rad", offsetof(struct plx_correction_entry, drift.bend_deviation_rad), false},
    {"scale_deviation", offsetof(struct plx_correction_entry, drift.scale_deviation), false},
    {"columns_deviation_px", offsetof(struct plx_correction_entry, drift.disparity_offset_deviation_px), false},
    {"curve_px", offsetof(struct plx_correction_entry, correction.curve_px), true},
    {"curve_deviation_px", offsetof(struct plx_correction_entry, drift.curve_deviation_px), true},
    {"side_deviation_px", offsetof(struct plx_correction_entry, drift.side_deviation_px), true},
    {"rows_before_px", offsetof(struct plx_correction_entry, drift.epipolar_error_px), false},
    {"rows_after_px", offsetof(struct plx_correction_entry, drift.residual_px), false},
};

enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

/* Nine digits give each float back. */
static void write_entry(FILE *file, const struct plx_correction_entry *entry)
{
    fprintf(file, "    {\"number\": %u, \"before\": %u, \"proposed\": %s, \"time_s\": %lld, \"matches\": %u", entry->number,
            entry->before, entry->proposed ? "true" : "false", (long long)entry->time_s, entry->drift.matches);
    for (int i = 0; i < NUMBERS; i++) {
        float value;
        memcpy(&value, (const char *)entry + numbers[i].offset, sizeof value);
        fprintf(file, ", \"%s\": %.9g", numbers[i].name, (double)value);
    }
    fputs("}", file);
}

static void write_text(FILE *file, const char *name, const char *text)
{
    cJSON *string = cJSON_CreateString(text);
    char *quoted = string ? cJSON_PrintUnformatted(string) : NULL;
    fprintf(file, "  \"%s\": %s,\n", name, quoted ? quoted : "\"\"");
    cJSON_free(quoted);
    cJSON_Delete(string);
}

static void write_history(FILE *file, const struct plx_correction_history *history)
{
    fputs("{\n", file);
    write_text(file, "calibration", history->base);
    write_text(file, "cameras", history->cameras);
    fprintf(file,
            "  \"focal_baseline_px_m\": %.17g,\n  \"side_x2\": %.9g,\n  \"in_force\": %u,\n  \"proposed\": %u,\n  \"last\": "
            "%u,\n  \"hold\": %s,\n"
            "  \"off\": %s,\n  \"corrections\": [",
            history->focal_baseline, history->side, history->number, history->proposed, history->last,
            history->hold ? "true" : "false", history->off ? "true" : "false");
    for (int i = 0; i < history->count; i++) {
        fputs(i > 0 ? ",\n" : "\n", file);
        write_entry(file, &history->entry[i]);
    }
    fputs("\n  ],\n  ", file);
}

/* The history as text, to be freed. The checksum is that of all bytes before its name. */
static char *make_text(const struct plx_correction_history *history)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *memory = open_memstream(&text, &bytes);
    if (!memory)
        return NULL;
    write_history(memory, history);
    const bool works = fflush(memory) == 0;
    fprintf(memory, CHECKSUM ": \"%016" PRIx64 "\"\n}\n", works ? plx_fnv1a(PLX_FNV1A_BEGIN, text, bytes) : 0);
    if (fclose(memory) == 0 && works)
        return text;
    free(text);
    return NULL;
}

int plx_corrections_write(const char *path, const struct plx_correction_history *history, struct plx_error_message *message)
{
    struct plx_replacement replacement;
    struct stat like;

    int result = plx_replacement_begin(path, &replacement, message);
    if (result < 0)
        return result;
    char *text = make_text(history);
    if (!text)
        result = plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", path);
    else if (fstat(replacement.directory, &like) < 0 || fputs(text, replacement.file) < 0)
        result = plx_fail(message, PLX_ERR_IO, "%s: %s", path, strerror(errno));
    free(text);
    if (result < 0) {
        plx_replacement_cancel(&replacement);
        return result;
    }
    like.st_mode = 0644;
    return plx_replacement_finish(&replacement, &like, message);
}

/* Opens the lock file of DIRECTORY without following a link. Read-only is enough to lock it, whoever made it. */
static int open_lock(int directory, const char *name)
{
    struct stat about;
    const int made = openat(directory, name, O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (made >= 0) {
        if (fchmod(made, 0644) == 0 && fstat(directory, &about) == 0 && geteuid() == 0 &&
            fchown(made, about.st_uid, about.st_gid) < 0) {
            close(made);
            return -1;
        }
        return made;
    }
    if (errno != EEXIST)
        return -1;
    const int lock = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (lock >= 0 && (fstat(lock, &about) < 0 || !S_ISREG(about.st_mode))) {
        close(lock);
        errno = EINVAL;
        return -1;
    }
    return lock;
}

static int wait_for(int lock, const char *path, struct plx_error_message *message)
{
    const struct timespec pause = {.tv_nsec = LOCK_LOOK_NS};

    for (int64_t waited_ns = 0; flock(lock, LOCK_EX | LOCK_NB) < 0; waited_ns += LOCK_LOOK_NS) {
        if (errno != EWOULDBLOCK)
            return plx_fail(message, PLX_ERR_IO, "%s.lock: %s", path, strerror(errno));
        if (waited_ns >= LOCK_WAIT_NS)
            return plx_fail(message, PLX_ERR_BUSY, "%s.lock: another program has held it for 5 s; `fuser -v` says which", path);
        nanosleep(&pause, NULL);
    }
    return 0;
}

int plx_corrections_lock(const char *path, int *ret_lock, struct plx_error_message *message)
{
    char copy[PLX_CORRECTIONS_PATH], parent[PLX_CORRECTIONS_PATH], name[NAME_MAX + 1];

    snprintf(copy, sizeof copy, "%s", path);
    snprintf(parent, sizeof parent, "%s", path);
    snprintf(name, sizeof name, "%.200s.lock", basename(copy));
    const int directory = open(dirname(parent), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int lock = directory >= 0 ? open_lock(directory, name) : -1;
    int result = 0;
    if (lock < 0)
        result = plx_fail(message, plx_error_of_errno(errno), "%s.lock: cannot be opened as a regular file: %s", path,
                          strerror(errno));
    if (result == 0)
        result = wait_for(lock, path, message);
    if (directory >= 0)
        close(directory);
    if (result < 0 && lock >= 0)
        close(lock);
    if (result == 0)
        *ret_lock = lock;
    return result;
}

void plx_corrections_stand_in(const char *socket, char ret_path[PLX_CORRECTIONS_PATH])
{
    snprintf(ret_path, PLX_CORRECTIONS_PATH, "%s.corrections", socket);
}

void plx_corrections_remove_stand_in(const char *socket)
{
    char path[PLX_CORRECTIONS_PATH];
    plx_corrections_stand_in(socket, path);
    unlink(path);
}

/* FORMAT at the byte AT of TEXT. */
static int refuse(const char *path, const char *text, const char *at, const char *why, struct plx_error_message *message)
{
    int line = 1, column = 1;
    for (const char *c = text; c < at && *c; c++) {
        line += *c == '\n';
        column = *c == '\n' ? 1 : column + 1;
    }
    return plx_fail(message, PLX_ERR_FORMAT,
                    "%s:%d:%d: %s; nothing of the file is used, and corrections are only proposed: move the file away to let "
                    "them go on",
                    path, line, column, why);
}

/* A whole number from 0 to UINT32_MAX, or finite; false if it is none. */
static bool get_count(const cJSON *object, const char *name, uint32_t *ret)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0 && item->valuedouble <= UINT32_MAX))
        return false;
    *ret = (uint32_t)item->valuedouble;
    return true;
}

static bool get_text(const cJSON *object, const char *name, char *ret, size_t bytes)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text && (size_t)snprintf(ret, bytes, "%s", text) < bytes;
}

static bool get_entry(const cJSON *object, struct plx_correction_entry *ret)
{
    const cJSON *time_s = cJSON_GetObjectItemCaseSensitive(object, "time_s");

    memset(ret, 0, sizeof *ret);
    if (!get_count(object, "number", &ret->number) || !get_count(object, "before", &ret->before) ||
        !get_count(object, "matches", &ret->drift.matches) || !cJSON_IsNumber(time_s) || !(fabs(time_s->valuedouble) < 1e15))
        return false;
    ret->time_s = (int64_t)time_s->valuedouble;
    ret->proposed = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(object, "proposed"));
    for (int i = 0; i < NUMBERS; i++) {
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, numbers[i].name);
        const float absent = !item && numbers[i].is_new ? 0 : NAN;
        const float value = cJSON_IsNumber(item) ? (float)item->valuedouble : absent;
        if (!(fabsf(value) <= 1000))
            return false;
        memcpy((char *)ret + numbers[i].offset, &value, sizeof value);
    }
    return true;
}

static bool get_history(const cJSON *json, struct plx_correction_history *ret)
{
    const cJSON *focal = cJSON_GetObjectItemCaseSensitive(json, "focal_baseline_px_m"),
                *list = cJSON_GetObjectItemCaseSensitive(json, "corrections"), *item;

    memset(ret, 0, sizeof *ret);
    if (!get_text(json, "calibration", ret->base, sizeof ret->base) ||
        !get_text(json, "cameras", ret->cameras, sizeof ret->cameras) || !get_count(json, "in_force", &ret->number) ||
        !get_count(json, "proposed", &ret->proposed) || !get_count(json, "last", &ret->last) || !cJSON_IsNumber(focal) ||
        !(focal->valuedouble > 0 && focal->valuedouble < 1e9) || !cJSON_IsArray(list))
        return false;
    ret->focal_baseline = focal->valuedouble;
    const cJSON *side = cJSON_GetObjectItemCaseSensitive(json, "side_x2");
    ret->side = cJSON_IsNumber(side) && side->valuedouble > 0 && side->valuedouble < 100 ? side->valuedouble : 0;
    ret->hold = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "hold"));
    ret->off = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "off")); /* older files lack it */
    cJSON_ArrayForEach (item, list) {
        if (ret->count == PLX_CORRECTIONS_KEPT || !get_entry(item, &ret->entry[ret->count]) ||
            ret->entry[ret->count].number > ret->last)
            return false;
        ret->count++;
    }
    return (ret->number == 0 || plx_corrections_find(ret, ret->number)) &&
           (ret->proposed == 0 || plx_corrections_find(ret, ret->proposed));
}

/* Where the checksum's name begins; NULL if it is missing or wrong. */
static const char *find_checksum(const char *text, const cJSON *json)
{
    const char *value = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, "checksum")), *at = NULL;
    char expected[CHECKSUM_TEXT];

    for (const char *next = strstr(text, CHECKSUM); next; next = strstr(next + 1, CHECKSUM))
        at = next;
    if (!at || !value)
        return NULL;
    snprintf(expected, sizeof expected, "%016" PRIx64, plx_fnv1a(PLX_FNV1A_BEGIN, text, (size_t)(at - text)));
    return strcmp(value, expected) == 0 ? at : NULL;
}

/* The first entry with a correction that no estimate makes, as text; NULL if there is none. */
static const char *find_implausible(const char *text, const struct plx_correction_history *history)
{
    const char *at = text;
    for (int i = 0; i < history->count; i++) {
        const char *next = strstr(at, "{\"number\"");
        at = next ? next + 1 : at;
        if (!plx_correction_is_plausible(&history->entry[i].correction))
            return next ? next : text;
    }
    return NULL;
}

int plx_corrections_read(const char *path, struct plx_correction_history *ret_history, struct plx_error_message *message)
{
    static _Thread_local struct plx_correction_history history;
    const char *end = NULL, *implausible;
    char *text = NULL;
    size_t bytes;

    int result = plx_file_read(path, MAX_BYTES, &text, &bytes, message);
    if (result < 0)
        return result;
    cJSON *json = cJSON_ParseWithOpts(text, &end, 1);
    if (!json || !cJSON_IsObject(json))
        result = refuse(path, text, json ? text : end, "is no history of corrections", message);
    else if (!find_checksum(text, json))
        result = refuse(path, text, text, "the checksum is wrong or missing, so the file was damaged or edited", message);
    else if (!get_history(json, &history))
        result = refuse(path, text, text, "is no history of corrections that this version reads", message);
    else if ((implausible = find_implausible(text, &history)))
        result = refuse(path, text, implausible,
                        "has a correction larger than any drift; expected 2 degrees, 1 % and 4 px at most", message);
    else
        *ret_history = history;
    cJSON_Delete(json);
    free(text);
    return result;
}
