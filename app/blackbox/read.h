/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a black box. No number in the file is trusted: any file gives its whole records, or none. */
#ifndef PLX_APP_BLACKBOX_READ_H
#define PLX_APP_BLACKBOX_READ_H

#include "app/blackbox/format.h"
#include "core/base/text.h"

/* One record. DATA has record.bytes and belongs to the content; only its checksum was checked. */
struct plx_box_entry {
    struct plx_box_record record;
    const unsigned char *data;
};

/* The whole content. */
struct plx_box_content {
    struct plx_box_header header; /* its text ends with a zero and has no control characters */
    struct plx_box_entry *entry;  /* sorted by number */
    int count;
    unsigned char *memory; /* holds the entries' data */
};

/* Reads the SIZE bytes of a file at FILE, which may be cut off. FORMAT: no black box, or its header is damaged. NOMEM. */
int plx_box_parse(const void *file, size_t size, struct plx_box_content *ret_content, struct plx_error_message *message);

/* The same for the file at PATH. Also NOT_FOUND, PERMISSION, IO. */
int plx_box_read(const char *path, struct plx_box_content *ret_content, struct plx_error_message *message);

void plx_box_free(struct plx_box_content *content);

#endif
