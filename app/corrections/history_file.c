/* SPDX-License-Identifier: Apache-2.0 */
/* The history as a JSON file. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/corrections/history.h"

#define MOST_BYTES (1 << 20)

/* The numbers of an entry, in the units of the file. */
static const struct number {
    const char *name;
    size_t offset;
} numbers[] = {
    {"pitch_rad", offsetof(struct plx_correction_entry, correction.pitch_rad)},
    {"roll_rad", offsetof(struct plx_correction_entry, correction.roll_rad)},
    {"bend_rad", offsetof(struct plx_correction_entry, correction.bend_rad)},
    {"scale", offsetof(struct plx_correction_entry, correction.scale)},
    {"columns_px", offsetof(struct plx_correction_entry, correction.columns)},
    {"pitch_deviation_rad", offsetof(struct plx_correction_entry, drift.pitch_deviation_rad)},
    {"roll_deviation_rad", offsetof(struct plx_correction_entry, drift.roll_deviation_rad)},
    {"bend_deviation_rad", offsetof(struct plx_correction_entry, drift.bend_deviation_rad)},
    {"scale_deviation", offsetof(struct plx_correction_entry, drift.scale_deviation)},
    {"columns_deviation_px", offsetof(struct plx_correction_entry, drift.offset_deviation)},
    {"rows_before_px", offsetof(struct plx_correction_entry, drift.rows)},
    {"rows_after_px", offsetof(struct plx_correction_entry, drift.rows_left)},
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
            "  \"focal_baseline_px_m\": %.17g,\n  \"in_force\": %u,\n  \"proposed\": %u,\n  \"last\": %u,\n  \"hold\": %s,\n"
            "  \"corrections\": [",
            history->focal_baseline, history->number, history->proposed, history->last, history->hold ? "true" : "false");
    for (int i = 0; i < history->count; i++) {
        fputs(i > 0 ? ",\n" : "\n", file);
        write_entry(file, &history->entry[i]);
    }
    fputs("\n  ]\n}\n", file);
}

/* The directory that PATH lies in. */
static void directory_of(const char *path, char ret[PLX_CORRECTIONS_PATH])
{
    char copy[PLX_CORRECTIONS_PATH];
    snprintf(copy, sizeof copy, "%s", path);
    snprintf(ret, PLX_CORRECTIONS_PATH, "%s", dirname(copy));
}

int plx_corrections_write(const char *path, const struct plx_correction_history *history, struct plx_error_message *message)
{
    char temporary[PLX_CORRECTIONS_PATH], directory[PLX_CORRECTIONS_PATH];
    struct stat owner;

    directory_of(path, directory);
    snprintf(temporary, sizeof temporary, "%s.new", path);
    FILE *file = fopen(temporary, "we");
    if (!file)
        return plx_fail(message, PLX_ERR_IO, "%s: %s", temporary, strerror(errno));
    write_history(file, history);
    bool works = fflush(file) == 0 && fchmod(fileno(file), 0644) == 0 && fsync(fileno(file)) == 0;
    if (works && geteuid() == 0 && stat(directory, &owner) == 0)
        works = fchown(fileno(file), owner.st_uid, owner.st_gid) == 0;
    works = fclose(file) == 0 && works;
    if (works && rename(temporary, path) == 0)
        return 0;
    const int failure = errno;
    unlink(temporary);
    return plx_fail(message, PLX_ERR_IO, "%s: %s", path, strerror(failure));
}

int plx_corrections_lock(const char *path, int *ret_lock, struct plx_error_message *message)
{
    char name[PLX_CORRECTIONS_PATH], directory[PLX_CORRECTIONS_PATH];
    struct stat owner;

    directory_of(path, directory);
    snprintf(name, sizeof name, "%s.lock", path);
    const int lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (lock < 0)
        return plx_fail(message, errno == EACCES ? PLX_ERR_PERMISSION : PLX_ERR_IO, "%s: %s", name, strerror(errno));
    if (geteuid() == 0 && stat(directory, &owner) == 0 && fchown(lock, owner.st_uid, owner.st_gid) < 0) {
        close(lock);
        return plx_fail(message, PLX_ERR_IO, "%s: %s", name, strerror(errno));
    }
    while (flock(lock, LOCK_EX) < 0)
        if (errno != EINTR) {
            close(lock);
            return plx_fail(message, PLX_ERR_IO, "%s: %s", name, strerror(errno));
        }
    *ret_lock = lock;
    return 0;
}

/* The whole file as text, to be freed. */
static int read_text(const char *path, char **ret_text, struct plx_error_message *message)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return plx_fail(message, errno == ENOENT ? PLX_ERR_NOT_FOUND : PLX_ERR_IO, "%s: %s", path, strerror(errno));
    char *text = malloc(MOST_BYTES + 1);
    const size_t bytes = text ? fread(text, 1, MOST_BYTES + 1, file) : 0;
    const bool failed = !text || ferror(file) || bytes > MOST_BYTES;
    fclose(file);
    if (failed) {
        free(text);
        return plx_fail(message, PLX_ERR_FORMAT, "%s: cannot be read, or has more than %d bytes", path, MOST_BYTES);
    }
    text[bytes] = '\0';
    *ret_text = text;
    return 0;
}

/* FORMAT at the byte AT of TEXT. */
static int refuse(const char *path, const char *text, const char *at, struct plx_error_message *message)
{
    int line = 1, column = 1;
    for (const char *c = text; c < at && *c; c++) {
        line += *c == '\n';
        column = *c == '\n' ? 1 : column + 1;
    }
    return plx_fail(message, PLX_ERR_FORMAT,
                    "%s:%d:%d: is no history of corrections; remove the file, and corrections are learned anew", path, line,
                    column);
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
        const float value = cJSON_IsNumber(item) ? (float)item->valuedouble : NAN;
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
    ret->hold = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "hold"));
    cJSON_ArrayForEach (item, list) {
        if (ret->count == PLX_CORRECTIONS_KEPT || !get_entry(item, &ret->entry[ret->count]) ||
            ret->entry[ret->count].number > ret->last)
            return false;
        ret->count++;
    }
    return (ret->number == 0 || plx_corrections_find(ret, ret->number)) &&
           (ret->proposed == 0 || plx_corrections_find(ret, ret->proposed));
}

int plx_corrections_read(const char *path, struct plx_correction_history *ret_history, struct plx_error_message *message)
{
    static _Thread_local struct plx_correction_history history;
    const char *end = NULL;
    char *text = NULL;

    int result = read_text(path, &text, message);
    if (result < 0)
        return result;
    cJSON *json = cJSON_ParseWithOpts(text, &end, 1);
    if (!json || !get_history(json, &history))
        result = refuse(path, text, json ? text : end, message);
    else
        *ret_history = history;
    cJSON_Delete(json);
    free(text);
    return result;
}
