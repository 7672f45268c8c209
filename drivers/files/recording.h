/* SPDX-License-Identifier: Apache-2.0 */
/* What the directory of a recording holds: a folder for each eye, or both eyes in one. docs/sources.md. */
#ifndef PLX_DRIVERS_FILES_RECORDING_H
#define PLX_DRIVERS_FILES_RECORDING_H

#include <stdbool.h>

#include <parallax/frame.h>

#include "core/base/text.h"

struct plx_layout {
    const char *folder[PLX_EYES]; /* "": the pictures are in the directory itself, and their names tell the eye */
    int first_projection;         /* the matrix of the left eye in calib.txt: 0, or 2 for KITTI's colour cameras */
    const char *times[PLX_EYES];  /* what has the times where there is no times.txt; NULL: nothing */
    bool in_colour;               /* the pairs of the layout before, in colour: both may be there */
};

/* The eye that the picture NAME shows, by its first word "left" or "right", its last word before the ending, or im0 and im1;
 * PLX_EYES if it does not say. RET_KEY, of the size of NAME: what is left of NAME, the same for the other eye's picture; may be
 * NULL. */
enum plx_eye plx_layout_eye_of(const char *name, char *ret_key);

extern const char *const plx_layout_eye[PLX_EYES]; /* "left", "right" */

/* The layout of DIRECTORY, static storage; without folders, the layout of pictures in DIRECTORY itself. NOT_FOUND: one eye's
 * folder is missing. FORMAT: two layouts. */
int plx_layout_find(const char *directory, const struct plx_layout **ret_layout, struct plx_error_message *message);

/* The folder of the left eye in the layout that DIRECTORY holds, static storage; NULL if it has none. */
const char *plx_layout_left_folder(const char *directory);

#define PLX_LAYOUT_COLOUR "_color" /* behind the name of the left eye's folder: that of its pictures in colour */

/* The folder of the left pictures in colour, under the names of the grey ones; false: DIRECTORY has none. */
bool plx_layout_colour_folder(const char *directory, const struct plx_layout *layout, char *ret_folder, size_t bytes);

/* True if NAME ends like a PNG, PGM or JPEG file. */
bool plx_layout_is_picture(const char *name);

/* "DIRECTORY/FOLDER/NAME", of which FOLDER or NAME may be empty; malloc'ed. NULL: out of memory. */
char *plx_layout_path(const char *directory, const char *folder, const char *name);

#endif
