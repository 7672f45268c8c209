/* SPDX-License-Identifier: Apache-2.0 */
/* What the supervisor puts into the black box (app/blackbox/), and when a copy of it is put aside. Without a box nothing. */
#ifndef PLX_APP_SUPERVISOR_BLACKBOX_H
#define PLX_APP_SUPERVISOR_BLACKBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "app/blackbox/box.h"
#include "app/region/region.h"
#include "app/supervisor/child.h"
#include "core/heartbeat.h"

/* Zeroed, with copier PLX_CHILD_NONE: there is none. */
struct plx_blackbox {
    struct plx_box *box;             /* NULL: none */
    struct plx_error_message note;   /* why there is none, until it is told */
    int64_t picture_ns;              /* when the last picture was taken, */
    int64_t beat_ns;                 /* and the last heartbeats */
    struct plx_box_state told;       /* last recorded */
    struct plx_error_message reason; /* likewise */
    struct plx_child copier;         /* writes a copy */
    const char *saving;              /* why a copy is due; NULL: none is */
    const char *copy_reason;         /* of the copy that is being written */
    int64_t save_ns;                 /* when it is to be made */
    int64_t saved_ns;                /* when the last one was */
};

/* DIRECTORY "": none is wanted. Where none can be had the service goes on without, and says so by plx_blackbox_log_note. */
void plx_blackbox_open(struct plx_blackbox *blackbox, const char *directory);
/* At the service's end. Makes the copy that is due, if there was a frame: a service that cannot start, and is started again and
 * again, shall not drive out the copies of what went wrong before. */
void plx_blackbox_close(struct plx_blackbox *blackbox);
/* For a forked process. */
void plx_blackbox_close_in_child(struct plx_blackbox *blackbox);

/* Logs why there is no box, once. */
void plx_blackbox_log_note(struct plx_blackbox *blackbox);

/* The frame SEQUENCE of REGION was published: its header and, once a second, its picture. */
void plx_blackbox_frame(struct plx_blackbox *blackbox, const struct plx_shared_region *region, uint64_t sequence);
/* When it changed. */
void plx_blackbox_state(struct plx_blackbox *blackbox, enum plx_state state, uint32_t health, const char *reason);
/* A line of the engine's log; the supervisor's own lines come by themselves. */
void plx_blackbox_log(struct plx_blackbox *blackbox, int level, const char *line);
/* Ten times a second the heartbeats; reaps the process that wrote a copy. True: a copy is due, and a process of its own should
 * be started for it as blackbox->copier, which calls plx_blackbox_write_copy; it is not asked for again. */
bool plx_blackbox_tick(struct plx_blackbox *blackbox, const struct plx_heartbeats *heartbeats);
/* Writes the copy. Returns an exit code. */
int plx_blackbox_write_copy(struct plx_blackbox *blackbox);

/* Something went wrong: a copy is due, half a second later, for what follows from it, and at least 10 s after the last one,
 * which is as much as a box holds. REASON: letters and hyphens, static; the first one counts. */
void plx_blackbox_save(struct plx_blackbox *blackbox, const char *reason);

#endif
