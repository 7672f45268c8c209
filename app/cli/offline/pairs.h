/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the stereo pairs for `parallax run`. */
#ifndef PLX_APP_CLI_OFFLINE_PAIRS_H
#define PLX_APP_CLI_OFFLINE_PAIRS_H

#include <stdbool.h>

#include "core/base/image.h"
#include "core/base/text.h"
#include "drivers/mcap/bag.h"
#include "drivers/mcap/bag_files.h"

/* Paths are owned. */
struct plx_pair {
    char *name;         /* the pair's folder, or its left picture without the ending */
    char *left, *right; /* an MCAP file has only names: FILE/000012.png */
    double time_s;      /* in a sequence; without times.txt at intervals of 0.1 s, as in KITTI */
    char *folder;       /* holds left.png, right.png and their ground truth; NULL in a sequence */
};

struct plx_pairs {
    struct plx_pair *item;
    int count;
    bool sequence;                 /* pictures of one pair of cameras over time */
    struct plx_error_message note; /* names the pictures that a sequence leaves out, or "" */
    int first_projection;          /* the left camera's number in a KITTI calib.txt */
    struct plx_bag *bag;           /* the pictures are in this MCAP file; NULL: in files of their own */
};

/* The pairs of DIRECTORY: left.png with right.png, folders with these two (sorted by name), or a sequence as replay takes it
 * (drivers/files/pair_list.h). Errors with a sentence: NOT_FOUND, IO, FORMAT (also if DIRECTORY holds two of these layouts),
 * PERMISSION, NOMEM.
 */
int plx_pairs_find(const char *directory, struct plx_pairs *ret_pairs, struct plx_error_message *message);

/* One pair of two files. NOMEM. */
int plx_pairs_single(const char *left, const char *right, struct plx_pairs *ret_pairs, struct plx_error_message *message);

/* The pairs of the MCAP file that OPTIONS name, a sequence. Errors of plx_bag_open. */
int plx_pairs_bag(const struct plx_bag_options *options, struct plx_pairs *ret_pairs, struct plx_error_message *message);

void plx_pairs_destroy(struct plx_pairs *pairs); /* all zeros is fine */

/* Loads pair K as U8; both pictures have the same size. Their data is the caller's. Errors with a sentence. */
int plx_pair_load(const struct plx_pairs *pairs, int k, struct plx_image *ret_left, struct plx_image *ret_right,
                  struct plx_error_message *message);

/* The path of PAIR's file, where GIVEN is an option's value for all pairs: GIVEN is the name of the file in the pair's folder,
 * or for a sequence the directory of a file that is named as the left picture. The caller frees the path; NULL if there is
 * none. */
char *plx_pair_file(const struct plx_pair *pair, const char *given);

#endif
