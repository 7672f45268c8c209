/* SPDX-License-Identifier: Apache-2.0 */
/* What the supervisor records in the black box (app/blackbox/), and when it saves a copy. Without a box, every call returns. */
#ifndef PLX_APP_SUPERVISOR_BLACKBOX_H
#define PLX_APP_SUPERVISOR_BLACKBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "app/blackbox/box.h"
#include "app/publish/shm.h"
#include "app/supervisor/child.h"
#include "core/checks/health_table.h"

/* Zeroed, with copier PLX_CHILD_NONE: no box. */
struct plx_blackbox {
    struct plx_box *box;             /* NULL: none */
    struct plx_error_message note;   /* why there is no box, until it is logged */
    int64_t picture_ns;              /* time of the last picture */
    int64_t beat_ns;                 /* time of the last heartbeats */
    struct plx_box_state recorded;   /* the last recorded state */
    struct plx_error_message reason; /* the last recorded reason */
    struct plx_child copier;         /* the process that writes a copy */
    const char *saving;              /* why a copy is due; NULL: no copy is due */
    const char *copy_reason;         /* reason for the copy that is being written */
    int64_t save_ns;                 /* when that copy is due */
    int64_t saved_ns;                /* when the last copy was made */
};

/* DIRECTORY "": no box. If the box cannot be made, the service runs without one; plx_blackbox_log_note logs the reason. */
void plx_blackbox_open(struct plx_blackbox *blackbox, const char *directory);
/* At the service's end. Saves the copy that is due, if there was a frame: a service that fails at every start must not replace
 * the copies of earlier faults. */
void plx_blackbox_close(struct plx_blackbox *blackbox);
/* For a forked process. */
void plx_blackbox_close_in_child(struct plx_blackbox *blackbox);

/* Logs why there is no box, once. */
void plx_blackbox_log_note(struct plx_blackbox *blackbox);

/* The frame SEQUENCE of SHM was published: its header and, once a second, its picture. */
void plx_blackbox_frame(struct plx_blackbox *blackbox, const struct plx_shm *shm, uint64_t sequence);
/* The state has changed. */
void plx_blackbox_state(struct plx_blackbox *blackbox, enum plx_state state, uint32_t health, const char *reason);
/* A line of the engine's log; the supervisor's own lines come by themselves. */
void plx_blackbox_log(struct plx_blackbox *blackbox, int level, const char *line);
/* Records the heartbeats ten times a second; reaps the process that wrote a copy. True once for a copy that is due: the caller
 * starts the copier. */
bool plx_blackbox_tick(struct plx_blackbox *blackbox, const struct plx_heartbeats *heartbeats);
/* Starts the copier, a process that writes the copy. Logs a failure. */
void plx_blackbox_start_copier(struct plx_blackbox *blackbox, const struct plx_parent *parent);

/* Requests a copy after a fault. It is due 0.5 s later, so that it holds what followed, and at least 10 s after the last copy,
 * which is as much as a box holds. REASON: letters and hyphens, static; the first one names the copy. */
void plx_blackbox_save(struct plx_blackbox *blackbox, const char *reason);

#endif
