/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the stereo pairs for `parallax run`. */
#ifndef PLX_APP_CLI_OFFLINE_PAIRS_H
#define PLX_APP_CLI_OFFLINE_PAIRS_H

#include <stdbool.h>

#include "core/text.h"

/* Paths are owned. */
struct plx_pair {
    char *name; /* of its folder, or of its left picture without the ending */
    char *left, *right;
    double time_s; /* in a sequence; without times.txt at intervals of 0.1 s, as in KITTI */
    char *folder;  /* of left.png, right.png and their ground truth; NULL in a sequence */
};

struct plx_pairs {
    struct plx_pair *item;
    int count;
    bool sequence;                 /* pictures of one pair of cameras over time */
    struct plx_error_message note; /* names the pictures that a sequence leaves out, or "" */
    int first_projection;          /* of the left camera in a KITTI calib.txt */
};

/* The pairs of DIRECTORY: left.png with right.png, folders with these two (sorted by name), or a sequence as replay takes it
 * (drivers/files/pair_list.h). Errors with a sentence: NOT_FOUND, IO, FORMAT (also if DIRECTORY holds two of these layouts),
 * PERMISSION, NOMEM.
 */
int plx_pairs_find(const char *directory, struct plx_pairs *ret_pairs, struct plx_error_message *message);

/* One pair of two files. NOMEM. */
int plx_pairs_single(const char *left, const char *right, struct plx_pairs *ret_pairs, struct plx_error_message *message);

void plx_pairs_destroy(struct plx_pairs *pairs); /* all zeros is fine */

/* The path of PAIR's file, where GIVEN is an option's value for all pairs: GIVEN is the name of the file in the pair's folder,
 * or for a sequence the directory of a file that is named as the left picture. The caller frees the path; NULL if there is
 * none. */
char *plx_pair_file(const struct plx_pair *pair, const char *given);

#endif
