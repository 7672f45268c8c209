/* SPDX-License-Identifier: Apache-2.0 */
/* How a recording is laid out in its directory: a folder for each eye, or both eyes side by side in one. docs/sources.md. */
#ifndef PLX_DRIVERS_FILES_LAYOUT_H
#define PLX_DRIVERS_FILES_LAYOUT_H

#include <stdbool.h>

#include <parallax/frame.h>

#include "core/text.h"

struct plx_layout {
    const char *folder[PLX_EYES]; /* "": pictures lie in the directory itself, and their names begin with plx_layout_eye */
    int first_projection;         /* which matrix of calib.txt is the left eye's: 0, or 2 for KITTI's colour cameras */
};

extern const char *const plx_layout_eye[PLX_EYES]; /* "left", "right" */

/* The layout of DIRECTORY, static storage; the one without folders if there is none. NOT_FOUND: one eye's folder is missing.
 * FORMAT: two layouts. */
int plx_layout_find(const char *directory, const struct plx_layout **ret_layout, struct plx_error_message *message);

/* The folder of the left eye in the layout that DIRECTORY holds, static storage; NULL if it has none. */
const char *plx_layout_left_folder(const char *directory);

/* NAME ends as a PNG, PGM or JPEG file does. */
bool plx_layout_is_picture(const char *name);

/* "DIRECTORY/FOLDER/NAME", of which FOLDER or NAME may be empty; malloc'ed. NULL: out of memory. */
char *plx_layout_path(const char *directory, const char *folder, const char *name);

#endif
