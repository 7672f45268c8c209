/* SPDX-License-Identifier: Apache-2.0 */
/* The stereo pairs of a directory, in order, and their times. docs/sources.md describes the layouts. */
#ifndef PLX_DRIVERS_FILES_PAIR_LIST_H
#define PLX_DRIVERS_FILES_PAIR_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include <parallax/frame.h>

#include "core/base/text.h"

enum { PLX_PAIR_COLOUR = PLX_EYES, PLX_PAIR_PICTURES };

struct plx_pair_list_pair {
    char *path[PLX_PAIR_PICTURES]; /* the third: the left picture in colour, which need not exist; NULL: the list has none */
    double time_s;                 /* from times.txt, or from the left picture's name; 0 without one */
    int64_t skew_ns;               /* right minus left time, where each eye has its own; else 0 */
    long long number;              /* that the name of the left picture is; -1 for other names */
};

struct plx_pair_list {
    struct plx_pair_list_pair *pair;
    int count;                     /* at least 1 */
    bool timed;                    /* the pairs have times */
    struct plx_error_message note; /* what is left out at the end of a recording that was cut off; "" = nothing */
    int first_projection;          /* the matrix of the left eye in calib.txt: 0, or 2 for KITTI's colour cameras */
};

/* Lists the pairs of DIRECTORY. A recorder that was killed may leave its last pair without its time, with half a time, or with
 * a picture missing or cut off: that pair is left out, and the note says so. The same in any other pair is an error. NOT_FOUND
 * (no directory, no pairs, a picture without its counterpart), FORMAT (two layouts, bad times.txt), RANGE, IO, PERMISSION,
 * NOMEM. */
int plx_pair_list_open(const char *directory, struct plx_pair_list *ret_list, struct plx_error_message *message);
void plx_pair_list_close(struct plx_pair_list *list); /* all zeros is fine */

#endif
