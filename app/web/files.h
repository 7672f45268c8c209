/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the service that may be downloaded: black boxes, and the flight recorder's recordings. */
#ifndef PLX_APP_WEB_FILES_H
#define PLX_APP_WEB_FILES_H

#include <stddef.h>

#include <cjson/cJSON.h>

/* {"blackbox": [{"name", "bytes", "time": seconds since 1970}, ...], "recordings": likewise} of the files in the two
 * directories, the newest first; empty where one cannot be read. The caller's. */
cJSON *plx_web_files_json(const char *blackbox, const char *recordings);

/* Opens file NAME of DIRECTORY for reading. NOT_FOUND (also for a name that is no plain one, and for what is no file),
 * PERMISSION, IO. */
int plx_web_file_open(const char *directory, const char *name, int *ret_fd, size_t *ret_bytes);

#endif
