/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The corrections of a calibration over time, in a JSON file that the service keeps and `parallax calibration` shows and
 * changes. It is bound to the cameras and to the numbers of the calibration, and says which correction is in force: the service
 * follows the file.
 */
#ifndef PLX_APP_CORRECTIONS_HISTORY_H
#define PLX_APP_CORRECTIONS_HISTORY_H

#include "core/drift/job.h"

#define PLX_CORRECTIONS_KEPT 32
#define PLX_CORRECTIONS_PATH 4200   /* bytes of a path, with what is added to that of the history */
#define PLX_CORRECTIONS_BASE 17     /* bytes of a checksum as text */
#define PLX_CORRECTIONS_CAMERAS 200 /* bytes */

struct plx_correction_entry {
    uint32_t number;
    uint32_t before; /* the one in force when it was learned */
    bool proposed;   /* when it was learned; else put in force at once */
    int64_t time_s;  /* since 1970 */
    struct plx_correction correction;
    struct plx_drift_info drift; /* why: of the matches, with BEFORE in force */
};

struct plx_correction_history {
    char base[PLX_CORRECTIONS_BASE];       /* checksum of the calibration's numbers */
    char cameras[PLX_CORRECTIONS_CAMERAS]; /* that took the pictures; "": not known */
    double focal_baseline;                 /* focal length times baseline, px m: for distances */
    double side;                           /* plx_side_square; 0: of an older file, not known */
    uint32_t number;                       /* in force; 0: none, or of an entry */
    uint32_t proposed;                     /* waits to be accepted; 0: none */
    uint32_t last;                         /* the highest number that was given */
    bool hold;                             /* after an undo: what is learned is only proposed */
    bool off;                              /* so too, because corrections contradicted each other */
    int count;
    struct plx_correction_entry entry[PLX_CORRECTIONS_KEPT]; /* the oldest first */
};

/* Starts a history without entries. CALIBRATION: rectified. CAMERAS ("": not known) is cut to fit. */
void plx_corrections_begin(const struct plx_stereo_calibration *calibration, const char *cameras,
                           struct plx_correction_history *ret_history);

/* True if both are of the same calibration and of the same cameras. Cameras that are not known are none of them. */
bool plx_corrections_match(const struct plx_correction_history *a, const struct plx_correction_history *b);

/* The entry with NUMBER; NULL if there is none, or not any more. */
const struct plx_correction_entry *plx_corrections_find(const struct plx_correction_history *history, uint32_t number);

/* Adds what EVIDENCE shows, learned at TIME_S, in place of the oldest entry that is not in use; returns its number. */
uint32_t plx_corrections_add(struct plx_correction_history *history, const struct plx_correction_evidence *evidence,
                             int64_t time_s);

/* Puts in force what the proposal says, and lets corrections go on after an undo. NOT_FOUND: there is neither. */
int plx_corrections_accept(struct plx_correction_history *history, struct plx_error_message *message);

/* Puts in force what was before the one in force, or (ALL) the calibration's file alone; nothing is corrected until accept.
 * NOT_FOUND: none is in force. */
int plx_corrections_undo(struct plx_correction_history *history, bool all, struct plx_error_message *message);

/* NOT_FOUND if there is no such file; FORMAT, with path, line and column, if its checksum is wrong, or if it has a correction
 * that no estimate makes, or if it is no regular file. */
int plx_corrections_read(const char *path, struct plx_correction_history *ret_history, struct plx_error_message *message);

/* Replaces the file at once; as root, its owner is that of its directory. */
int plx_corrections_write(const char *path, const struct plx_correction_history *history, struct plx_error_message *message);

/* Until the lock, a file descriptor, is closed, no other program changes the file. BUSY: another has held it for 5 s. */
int plx_corrections_lock(const char *path, int *ret_lock, struct plx_error_message *message);

/* Where a service with this socket keeps its history while the file of calibration_history cannot be written. The file is in
 * use as soon as it exists, and lasts until the next start of the service. */
void plx_corrections_stand_in(const char *socket, char ret_path[PLX_CORRECTIONS_PATH]);

/* Removes the above. For the start of the service. */
void plx_corrections_remove_stand_in(const char *socket);

/* How much longer the distance of something DISTANCE_M away becomes by correcting its disparity by PX, percent; less than 0:
 * shorter. */
double plx_corrections_distance_percent(const struct plx_correction_history *history, double px, double distance_m);

#endif
