/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing the black box: a file of fixed size in a directory of its own, which holds the last records. Records are written to
 * the page cache and survive the death of every process. After a loss of power the disk may lack the newest ones.
 */
#ifndef PLX_APP_BLACKBOX_BOX_H
#define PLX_APP_BLACKBOX_BOX_H

#include "app/blackbox/format.h"
#include "core/base/text.h"

#define PLX_BOX_SAVED 8 /* copies that are kept */

struct plx_box;

/* Creates DIRECTORY unless it exists (its parent must), keeps the box of a supervisor that did not end in order as a copy, and
 * begins a new box of its full size, mode 0640. Errors with a sentence: NOT_FOUND, PERMISSION, IO, NOMEM; BUSY: another process
 * writes there. */
int plx_box_create(const char *directory, const char *program, struct plx_box **ret_box, struct plx_error_message *message);

/* An end in order: the next start keeps no copy of this box. NULL is fine. */
void plx_box_destroy(struct plx_box *box);

/* For a forked process: closes its descriptors and leaves the file alone. NULL is fine. */
void plx_box_close_in_child(struct plx_box *box);

/* Appends a record whose payload is HEAD, then BODY (which may be empty). Longer ones are cut. IO: the disk refuses, and no
 * further record is written. */
struct plx_box_part {
    const void *data;
    size_t bytes;
};
int plx_box_append(struct plx_box *box, enum plx_box_kind kind, struct plx_box_part head, struct plx_box_part body,
                   struct plx_error_message *message);

/* Copies the box to a file of its own, named after the time and REASON (letters and hyphens), and removes the oldest beyond
 * PLX_BOX_SAVED. It takes as long as the disk does, so call it in a process of its own. */
int plx_box_save(struct plx_box *box, const char *reason, struct plx_error_message *message);

#endif
