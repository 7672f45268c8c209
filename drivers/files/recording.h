/* SPDX-License-Identifier: Apache-2.0 */
/* What the directory of a recording holds: the layout (a folder for each eye, or both eyes in one), and the calib.txt of
 * KITTI's odometry sequences (Geiger, Lenz, Urtasun, CVPR 2012). docs/sources.md. */
#ifndef PLX_DRIVERS_FILES_RECORDING_H
#define PLX_DRIVERS_FILES_RECORDING_H

#include <stdbool.h>

#include <parallax/frame.h>

#include "core/text.h"

/* --- its layout --------------------------------------------------------------------------------------------------- */

struct plx_layout {
    const char *folder[PLX_EYES]; /* "": the pictures are in the directory itself, and their names begin with plx_layout_eye */
    int first_projection;         /* the matrix of the left eye in calib.txt: 0, or 2 for KITTI's colour cameras */
};

extern const char *const plx_layout_eye[PLX_EYES]; /* "left", "right" */

/* The layout of DIRECTORY, static storage; without folders, the layout of pictures in DIRECTORY itself. NOT_FOUND: one eye's
 * folder is missing. FORMAT: two layouts. */
int plx_layout_find(const char *directory, const struct plx_layout **ret_layout, struct plx_error_message *message);

/* The folder of the left eye in the layout that DIRECTORY holds, static storage; NULL if it has none. */
const char *plx_layout_left_folder(const char *directory);

/* True if NAME ends like a PNG, PGM or JPEG file. */
bool plx_layout_is_picture(const char *name);

/* "DIRECTORY/FOLDER/NAME", of which FOLDER or NAME may be empty; malloc'ed. NULL: out of memory. */
char *plx_layout_path(const char *directory, const char *folder, const char *name);

/* --- its calib.txt ------------------------------------------------------------------------------------------------ */

/* A line of Parallax in calib.txt: the pictures are not rectified. */
#define PLX_KITTI_RAW "rectified: 0"

/* Reads the 3x4 matrices FIRST (left) and FIRST + 1 (right) of PATH: lines "P0: ..." or, without names, counted from 0. Other
 * lines are ignored. NOT_FOUND (no file, or no such matrices in it), UNSUPPORTED (the pictures are not rectified), FORMAT,
 * RANGE (not a rectified pair), IO, PERMISSION. */
int plx_kitti_calibration(const char *path, int first, struct plx_calibration_info *ret_info,
                          struct plx_error_message *message);

#endif
