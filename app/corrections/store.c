/* SPDX-License-Identifier: Apache-2.0 */
#include "app/corrections/store.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/corrections/residuals.h"
#include "app/log.h"

void plx_corrections_open(struct plx_corrections *corrections, const char *path,
                          const struct plx_stereo_calibration *calibration, const char *cameras)
{
    memset(corrections, 0, sizeof *corrections);
    corrections->path = path;
    plx_corrections_begin(calibration, cameras, &corrections->history);
}

/* False: the configuration names no file. */
static bool is_kept(const struct plx_corrections *corrections)
{
    return *corrections->path != '\0';
}

/* Leaves a line for the log; while one waits, others are dropped. */
static void say(struct plx_corrections *corrections, int level, const char *text)
{
    if (atomic_load_explicit(&corrections->has_note, memory_order_acquire))
        return;
    corrections->level = level;
    plx_say(&corrections->note, "%s", text);
    atomic_store_explicit(&corrections->has_note, true, memory_order_release);
}

void plx_corrections_log(struct plx_corrections *corrections)
{
    if (!atomic_load_explicit(&corrections->has_note, memory_order_acquire))
        return;
    plx_log(corrections->level, "%s", corrections->note.text);
    atomic_store_explicit(&corrections->has_note, false, memory_order_release);
}

/* Takes over the file, if it is of these cameras. */
static void read_file(struct plx_corrections *corrections)
{
    static _Thread_local struct plx_correction_history found;
    struct plx_error_message message;

    const int result = plx_corrections_read(corrections->path, &found, &message);
    if (result < 0) {
        corrections->is_other = result != PLX_ERR_NOT_FOUND;
        if (corrections->is_other)
            say(corrections, LOG_WARNING, message.text);
        return;
    }
    corrections->is_other = !plx_corrections_match(&found, &corrections->history);
    if (!corrections->is_other) {
        corrections->history = found;
        return;
    }
    plx_say(&message, "%s is of another calibration or other cameras: the calibration is used as in its file",
            corrections->path);
    say(corrections, LOG_NOTICE, message.text);
}

static bool wanted(void *context, uint32_t *number, struct plx_correction *ret_correction, bool *ret_hold)
{
    struct plx_corrections *corrections = context;
    struct plx_correction_history *history = &corrections->history;
    struct stat now;

    const bool exists = stat(corrections->path, &now) == 0;
    if (exists && (now.st_mtim.tv_sec != corrections->changed.tv_sec || now.st_mtim.tv_nsec != corrections->changed.tv_nsec)) {
        corrections->changed = now.st_mtim;
        read_file(corrections);
    }
    *ret_hold = history->hold;
    if (history->number == *number)
        return false;
    const struct plx_correction_entry *entry = plx_corrections_find(history, history->number);
    *number = history->number;
    *ret_correction = entry ? entry->correction : (struct plx_correction){0};
    return true;
}

/* Before an entry is added, under the lock: takes over what a command has changed, or moves a file of others out of the way. */
static void refresh(struct plx_corrections *corrections)
{
    char old[PLX_CORRECTIONS_PATH];

    if (!corrections->is_other) {
        read_file(corrections);
        return;
    }
    snprintf(old, sizeof old, "%s.old", corrections->path); /* nothing is lost */
    rename(corrections->path, old);
    corrections->is_other = false;
}

/* Adds EVIDENCE to the history, and to its file. After an error it is in the history all the same. */
static int add(struct plx_corrections *corrections, const struct plx_correction_evidence *evidence,
               struct plx_error_message *message)
{
    struct stat now;
    int lock = -1;

    int result = is_kept(corrections) ? plx_corrections_lock(corrections->path, &lock, message) : 0;
    if (lock >= 0)
        refresh(corrections);
    plx_corrections_add(&corrections->history, evidence, (int64_t)time(NULL));
    if (lock < 0)
        return result;
    result = plx_corrections_write(corrections->path, &corrections->history, message);
    if (result == 0 && stat(corrections->path, &now) == 0)
        corrections->changed = now.st_mtim;
    close(lock);
    return result;
}

/* One line that says what changed and why. */
static void describe(struct plx_corrections *corrections, const struct plx_correction_evidence *evidence, const char *path)
{
    const struct plx_drift_info *drift = &evidence->drift;
    struct plx_error_message line;
    const double columns = (double)evidence->after.columns - (double)evidence->before.columns;

    plx_say(&line, "calibration: correction %u is %s: rows %.2f -> %.2f px by %u matches, disparities %+.2f px%s%s",
            corrections->history.last,
            evidence->applied ? "in force (`parallax calibration undo` takes it back)"
                              : "proposed (`parallax calibration accept` puts it in force)",
            (double)drift->rows, (double)drift->rows_left, drift->matches, columns, *path ? "; picture: " : "", path);
    say(corrections, LOG_NOTICE, line.text);
}

static uint32_t keep(void *context, const struct plx_correction_evidence *evidence)
{
    struct plx_corrections *corrections = context;
    struct plx_error_message message = {""}, line;
    char picture[PLX_CORRECTIONS_PATH] = "";

    const int result = add(corrections, evidence, &message);
    if (result == 0 && is_kept(corrections)) {
        snprintf(picture, sizeof picture, "%s.%u.svg", corrections->path, corrections->history.last);
        if (plx_residuals_write(picture, evidence, &message) < 0)
            *picture = '\0';
    }
    if (result == 0) {
        describe(corrections, evidence, picture);
    } else if (!corrections->complained) {
        corrections->complained = true; /* it is in force all the same, and learned anew after a restart */
        plx_say(&line, "a correction of the calibration is lost with the next restart: %s; see calibration_history",
                message.text);
        say(corrections, LOG_WARNING, line.text);
    }
    return corrections->history.last;
}

struct plx_correction_store plx_corrections_store(struct plx_corrections *corrections)
{
    return (struct plx_correction_store){.context = corrections, .wanted = wanted, .keep = keep};
}
