/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a black box. No number in it is trusted: any bytes give their whole records, or none. */
#ifndef PLX_APP_BLACKBOX_READ_H
#define PLX_APP_BLACKBOX_READ_H

#include "app/blackbox/format.h"
#include "core/text.h"

/* One record. DATA has BYTES and belongs to the reading; nothing but its sum was checked. */
struct plx_box_entry {
    struct plx_box_record record;
    const unsigned char *data;
};

/* The whole content. */
struct plx_box_content {
    struct plx_box_header header; /* its texts end with a zero, and are clean */
    struct plx_box_entry *entry;  /* by number */
    int count;
    unsigned char *memory; /* of the entries' data */
};

/* Of a file's SIZE bytes at FILE, which may be fewer than once were. FORMAT: no black box, or its header is damaged. NOMEM. */
int plx_box_parse(const void *file, size_t size, struct plx_box_content *ret_content, struct plx_error_message *message);

/* The same of a file. NOT_FOUND, PERMISSION, IO too. */
int plx_box_read(const char *path, struct plx_box_content *ret_content, struct plx_error_message *message);

void plx_box_free(struct plx_box_content *content);

#endif
