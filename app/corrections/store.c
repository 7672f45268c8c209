/* SPDX-License-Identifier: Apache-2.0 */
#include "app/corrections/store.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/corrections/residuals.h"
#include "app/log.h"
#include "config/replace.h"

void plx_corrections_open(struct plx_corrections *corrections, const char *path, const char *socket,
                          const struct plx_stereo_calibration *calibration)
{
    memset(corrections, 0, sizeof *corrections);
    corrections->path = path;
    if (socket)
        plx_corrections_stand_in(socket, corrections->stand_in);
    if (*path == '\0')
        corrections->path = corrections->stand_in;
    plx_corrections_begin(calibration, "", &corrections->history);
}

void plx_corrections_name_cameras(struct plx_corrections *corrections, const char *cameras)
{
    struct plx_correction_history *history = &corrections->history;

    snprintf(history->cameras, sizeof history->cameras, "%s", cameras);
    if (*cameras)
        return;
    corrections->path = "";
    *corrections->stand_in = '\0';
    history->hold = true;
}

/* False: there is no place for the history, or nobody knows whose it would be. */
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

/* The file from now on: the one beside the socket once it exists, by this process or by a command. */
static void choose_path(struct plx_corrections *corrections)
{
    if (*corrections->stand_in == '\0' || corrections->path == corrections->stand_in || access(corrections->stand_in, F_OK) < 0)
        return;
    corrections->path = corrections->stand_in;
    corrections->changed = (struct timespec){0};
}

/* Takes over the file, if it is of these cameras. Else *ret_why says why not, with the level for the log; 0: nothing to say. */
static int read_file(struct plx_corrections *corrections, struct plx_error_message *ret_why)
{
    static _Thread_local struct plx_correction_history found;

    const int result = plx_corrections_read(corrections->path, &found, ret_why);
    corrections->is_damaged = result < 0 && result != PLX_ERR_NOT_FOUND;
    corrections->is_other = result == 0 && !plx_corrections_match(&found, &corrections->history);
    if (result == 0 && !corrections->is_other)
        corrections->history = found;
    if (corrections->is_other)
        plx_say(ret_why, "%s is of another calibration or other cameras: the calibration is used as in its file",
                corrections->path);
    return corrections->is_damaged ? LOG_WARNING : corrections->is_other ? LOG_NOTICE : 0;
}

static bool wanted(void *context, struct plx_correction_order *order)
{
    struct plx_corrections *corrections = context;
    struct plx_correction_history *history = &corrections->history;
    struct plx_error_message why;
    struct stat now;

    choose_path(corrections);
    const bool exists = stat(corrections->path, &now) == 0;
    corrections->is_damaged = corrections->is_damaged && exists; /* moved away by a person, who has seen it */
    if (exists && (now.st_mtim.tv_sec != corrections->changed.tv_sec || now.st_mtim.tv_nsec != corrections->changed.tv_nsec)) {
        corrections->changed = now.st_mtim;
        const int level = read_file(corrections, &why);
        if (level)
            say(corrections, level, why.text);
    }
    order->hold = history->hold || corrections->is_damaged;
    order->off = history->off;
    corrections->in_force = history->number;
    if (history->number == order->number)
        return false;
    const struct plx_correction_entry *entry = plx_corrections_find(history, history->number);
    order->number = history->number;
    order->correction = entry ? entry->correction : (struct plx_correction){0};
    return true;
}

/* Before an entry is added, under the lock: takes over what a command has changed, or moves a file that cannot be used out of
 * the way. Nothing is lost: *ret_aside is its new name. */
static int refresh(struct plx_corrections *corrections, char ret_aside[PATH_MAX], struct plx_error_message *message)
{
    struct plx_error_message why;

    read_file(corrections, &why);
    if (!corrections->is_other && !corrections->is_damaged)
        return 0;
    const int result = plx_file_set_aside(corrections->path, corrections->is_damaged ? "damaged" : "old", ret_aside, message);
    if (result < 0)
        return result;
    corrections->history.hold = corrections->history.hold || corrections->is_damaged;
    corrections->is_other = corrections->is_damaged = false;
    return 0;
}

/* Adds EVIDENCE to the history. What was decided before an undo, or on another correction than the one in force now, is only
 * proposed. */
static void add(struct plx_corrections *corrections, struct plx_correction_evidence *evidence)
{
    struct plx_correction_history *history = &corrections->history;
    const bool is_current = history->number == corrections->in_force;

    evidence->applied = evidence->applied && is_current && !history->hold && !corrections->is_damaged;
    plx_corrections_add(history, evidence, (int64_t)time(NULL));
}

/* Adds EVIDENCE to the history and to its file. After an error it is not in the file; ADDED: it is in the history already. */
static int add_to_file(struct plx_corrections *corrections, struct plx_correction_evidence *evidence, bool *added,
                       char ret_aside[PATH_MAX], struct plx_error_message *message)
{
    struct stat now;
    int lock = -1;

    int result = plx_corrections_lock(corrections->path, &lock, message);
    if (result < 0)
        return result;
    if (!*added)
        result = refresh(corrections, ret_aside, message);
    if (result == 0 && !*added) {
        add(corrections, evidence);
        *added = true;
    }
    if (result == 0)
        result = plx_corrections_write(corrections->path, &corrections->history, message);
    if (result == 0 && stat(corrections->path, &now) == 0)
        corrections->changed = now.st_mtim;
    close(lock);
    return result;
}

/* As above; what cannot be written there is kept beside the socket, and is in the history in any case. */
static int keep_evidence(struct plx_corrections *corrections, struct plx_correction_evidence *evidence,
                         char ret_aside[PATH_MAX], struct plx_error_message *message)
{
    struct plx_error_message ignored;
    bool added = false;

    int result = is_kept(corrections) ? add_to_file(corrections, evidence, &added, ret_aside, message) : 0;
    if (!added) {
        add(corrections, evidence);
        added = true;
    }
    if (result < 0 && *corrections->stand_in && corrections->path != corrections->stand_in) {
        const char *path = corrections->path;
        corrections->path = corrections->stand_in;
        if (add_to_file(corrections, evidence, &added, ret_aside, &ignored) < 0)
            corrections->path = path;
    }
    return result;
}

/* One line that says what changed and why. */
static void describe(struct plx_corrections *corrections, const struct plx_correction_evidence *evidence, const char *path,
                     const char *aside)
{
    const struct plx_drift_info *drift = &evidence->drift;
    struct plx_error_message line;
    const struct plx_correction change = plx_correction_add(&evidence->after, &evidence->before, -1);
    const double middle = (double)change.disparity_offset_px,
                 sides = middle + corrections->history.side * (double)change.curve_px;

    plx_say(&line,
            "calibration: correction %u is %s: rows %.2f -> %.2f px by %u matches, disparities %+.2f px, %+.2f px at the "
            "sides%s%s%s%s",
            corrections->history.last,
            evidence->applied ? "in force (`parallax calibration undo` takes it back)"
                              : "proposed (`parallax calibration accept` puts it in force)",
            (double)drift->epipolar_error_px, (double)drift->residual_px, drift->matches, middle, sides,
            *path ? "; picture: " : "", path, *aside ? "; what was there is now " : "", aside);
    say(corrections, LOG_NOTICE, line.text);
}

static uint32_t keep(void *context, struct plx_correction_evidence *evidence)
{
    struct plx_corrections *corrections = context;
    struct plx_error_message message = {""}, line;
    char picture[PLX_CORRECTIONS_PATH] = "", aside[PATH_MAX] = "";

    const int result = keep_evidence(corrections, evidence, aside, &message);
    if (result == 0 && is_kept(corrections)) {
        snprintf(picture, sizeof picture, "%s.%u.svg", corrections->path, corrections->history.last);
        if (plx_residuals_write(picture, evidence, &message) < 0)
            *picture = '\0';
    }
    if (result == 0) {
        describe(corrections, evidence, picture, aside);
    } else if (!corrections->complained) {
        corrections->complained = true;
        plx_say(&line, "a correction of the calibration is lost with the next restart: %s; see calibration_history",
                message.text);
        say(corrections, LOG_WARNING, line.text);
    }
    corrections->in_force = evidence->applied ? corrections->history.last : corrections->in_force;
    return corrections->history.last;
}

struct plx_correction_store plx_corrections_store(struct plx_corrections *corrections)
{
    return (struct plx_correction_store){.context = corrections, .wanted = wanted, .keep = keep};
}
