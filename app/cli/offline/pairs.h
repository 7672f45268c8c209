/* SPDX-License-Identifier: Apache-2.0 */
/* The stereo pairs that `parallax run` works on. */
#ifndef PLX_APP_CLI_OFFLINE_PAIRS_H
#define PLX_APP_CLI_OFFLINE_PAIRS_H

#include <stdbool.h>

#include "core/why.h"

/* Paths are owned. */
struct plx_pair {
    char *name; /* of its folder, or of its left picture without the extension */
    char *left, *right;
    double time_s; /* in a sequence; without times.txt 0.1 s apart, as KITTI's are */
    char *folder;  /* with left.png and right.png, and what else belongs to them; NULL in a sequence */
};

struct plx_pairs {
    struct plx_pair *item;
    int count;
    bool sequence;        /* one scene over time, from one pair of cameras */
    struct plx_why note;  /* what was left out of a sequence, or "" */
    int first_projection; /* of the left camera in a KITTI calib.txt */
};

/* The pairs of DIRECTORY: left.png with right.png, folders with these two (sorted by name), or a sequence as replay takes it
 * (drivers/files/listing.h). Errors with a sentence: NOT_FOUND, IO, FORMAT (more than one of these among others), PERMISSION,
 * NOMEM.
 */
int plx_pairs_find(const char *directory, struct plx_pairs *ret_pairs, struct plx_why *why);

/* One pair of two files. NOMEM. */
int plx_pairs_single(const char *left, const char *right, struct plx_pairs *ret_pairs, struct plx_why *why);

void plx_pairs_destroy(struct plx_pairs *pairs); /* one of all zeros is fine */

/* Where the file GIVEN for several pairs lies for this one: GIVEN in its folder, or in a sequence a file named as the left
 * picture in the directory GIVEN. To be freed; NULL if there is none. */
char *plx_pair_file(const struct plx_pair *pair, const char *given);

#endif
