/* SPDX-License-Identifier: Apache-2.0 */
/* A whole small file in memory. */
#ifndef PLX_CONFIG_FILE_H
#define PLX_CONFIG_FILE_H

#include <stddef.h>

#include "core/base/text.h"

/* Reads the regular file at PATH of at most MAX bytes; *ret_text is the caller's to free, *ret_size its bytes (a zero byte
 * follows). NOT_FOUND, PERMISSION, IO, RANGE (larger than MAX), FORMAT (not a regular file), NOMEM. */
int plx_file_read(const char *path, size_t max, char **ret_text, size_t *ret_size, struct plx_error_message *message);

#endif
