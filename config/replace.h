/* SPDX-License-Identifier: Apache-2.0 */
/* A file that takes the place of another at once. After a kill or a power loss, the old file is there or the new one. Neither a
 * link nor a file of another program in the way is written, followed or removed: a command of root may write where others can.
 */
#ifndef PLX_CONFIG_REPLACE_H
#define PLX_CONFIG_REPLACE_H

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "core/base/text.h"

struct plx_replacement {
    FILE *file;    /* the new file, to be written */
    int directory; /* directory of both files, opened */
    char name[NAME_MAX + 1], fresh[NAME_MAX + 1];
    char path[PATH_MAX]; /* the new file until it is finished */
};

/* Makes a new file of mode 0600 beside PATH, under a name that nobody has. *ret_replacement ends with finish or cancel.
 * NOT_FOUND, PERMISSION, IO, RANGE (the path is too long). */
int plx_replacement_begin(const char *path, struct plx_replacement *ret_replacement, struct plx_error_message *message);

/* Gives the new file the mode, and as root the owner, of LIKE, and puts it in the place of PATH, on the disk too. After an
 * error everything is as before. Ends the replacement. */
int plx_replacement_finish(struct plx_replacement *replacement, const struct stat *like, struct plx_error_message *message);

/* Removes the new file. */
void plx_replacement_cancel(struct plx_replacement *replacement);

/* Replaces the file at PATH by SIZE bytes at TEXT; mode and owner stay. NOT_FOUND: there is no such file; errors as above. */
int plx_file_replace(const char *path, const char *text, size_t size, struct plx_error_message *message);

/* Gives the file at PATH the further name PATH.old, or where that is taken PATH.old.1 and so on, which is *ret_name. A file
 * system without links gets a copy. BUSY: all names are taken; errors as above. */
int plx_file_keep_old(const char *path, char ret_name[PATH_MAX], struct plx_error_message *message);

/* Moves what is at PATH, whatever it is, to PATH.SUFFIX, or where that is taken PATH.SUFFIX.1 and so on, which is *ret_name. */
int plx_file_set_aside(const char *path, const char *suffix, char ret_name[PATH_MAX], struct plx_error_message *message);

#endif
