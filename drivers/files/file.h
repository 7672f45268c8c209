/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing files; every error names the path and what the system says. */
#ifndef PLX_DRIVERS_FILES_FILE_H
#define PLX_DRIVERS_FILES_FILE_H

#include <stdio.h>

#include "core/base/text.h"

/* Opens the regular file PATH for reading. NOT_FOUND, PERMISSION, NOMEM, IO, FORMAT (not a regular file). */
int plx_file_open(const char *path, FILE **ret_file, struct plx_error_message *message);

/* Creates or empties PATH for writing. The same errors. */
int plx_file_create(const char *path, FILE **ret_file, struct plx_error_message *message);

/* Closes FILE after writing, whose RESULT so far is given. On any failure, also of the last bytes, removes PATH and returns the
 * error. */
int plx_file_commit(const char *path, FILE *file, int result, struct plx_error_message *message);

/* "PATH: what the system says", and the plx_error for errno. */
int plx_file_fail(const char *path, struct plx_error_message *message);

#endif
