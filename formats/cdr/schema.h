/* SPDX-License-Identifier: Apache-2.0 */
/* The definition of a message as text, as MCAP has it for schemas of encoding "ros2msg": the fields of the message, then those
 * of each message within it, once each, behind a line of 80 '=' and "MSG: package/Type". */
#ifndef PLX_FORMATS_CDR_SCHEMA_H
#define PLX_FORMATS_CDR_SCHEMA_H

#include "formats/cdr/cdr.h"

#define PLX_SCHEMA_BYTES 4096 /* enough for every type of formats/cdr/ros_types.h */
#define PLX_SCHEMA_TYPES 16   /* messages within one message */

/* Writes the definition of TYPE into RET_TEXT [SIZE], with a NUL; returns its length without it. RANGE: SIZE or
 * PLX_SCHEMA_TYPES is too small. */
int plx_schema_text(const struct plx_cdr_type *type, char *ret_text, size_t size);

#endif
