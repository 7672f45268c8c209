/* SPDX-License-Identifier: Apache-2.0 */
/* The history of corrections in the service: what the worker keeps there and finds there. */
#ifndef PLX_APP_CORRECTIONS_STORE_H
#define PLX_APP_CORRECTIONS_STORE_H

#include <stdatomic.h>
#include <time.h>

#include "app/corrections/history.h"
#include "app/corrections/worker.h"

struct plx_corrections {
    const char *path;                    /* file of the history; "": nothing is kept */
    char stand_in[PLX_CORRECTIONS_PATH]; /* instead of it, where it exists; "": none */
    struct plx_correction_history history;
    struct timespec changed; /* the file, when it was last read */
    bool is_other;           /* the file is of other cameras or another calibration */
    bool is_damaged;   /* the file cannot be used: what it said, an undo perhaps, is not known, so nothing is put in force */
    uint32_t in_force; /* the number that the learner uses */
    bool complained;   /* that a correction cannot be kept */
    struct plx_error_message note;
    int level;
    atomic_bool has_note; /* note and level are written before it is set with release order, by the worker's thread, and read
                             by the log's thread after it is seen with acquire order */
};

/* PATH stays the caller's. SOCKET: of the service, beside which the history is kept while PATH cannot be written, or is "";
 * NULL: nowhere. CALIBRATION: rectified. */
void plx_corrections_open(struct plx_corrections *corrections, const char *path, const char *socket,
                          const struct plx_stereo_calibration *calibration);

/* CAMERAS: what tells them from others. "": it is not known, so nothing that was learned is known to be theirs: none is in
 * force, and what is learned now is only proposed and not kept. */
void plx_corrections_name_cameras(struct plx_corrections *corrections, const char *cameras);

/* Its functions for the worker, after the above; CORRECTIONS must outlive it. */
struct plx_correction_store plx_corrections_store(struct plx_corrections *corrections);

/* Logs what the worker's thread has to say. For the thread that logs. */
void plx_corrections_log(struct plx_corrections *corrections);

#endif
