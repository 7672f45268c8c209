/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a bag: one MCAP file, or those of a folder as rosbag2 writes it. */
#ifndef PLX_DRIVERS_MCAP_BAG_FILES_H
#define PLX_DRIVERS_MCAP_BAG_FILES_H

#include <stdbool.h>

#include "core/base/text.h"

struct plx_bag_files {
    char **path; /* [count], in the order in which they were recorded */
    int count;
};

/* True if PATH is a file that begins as a recording does, of whatever kind, or a folder with such files and without pictures.
 */
bool plx_bag_files_exist(const char *path);

/* FORMAT, UNSUPPORTED: recordings of other kinds, and how to convert them. NOT_FOUND, IO, PERMISSION, NOMEM. */
int plx_bag_files_find(const char *path, struct plx_bag_files *ret_files, struct plx_error_message *message);
void plx_bag_files_free(struct plx_bag_files *files); /* all zeros is fine */

#endif
