/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes in memory that grow, and little-endian fields written at their end. */
#ifndef PLX_FORMATS_MCAP_BUFFER_H
#define PLX_FORMATS_MCAP_BUFFER_H

#include "formats/mcap/format.h"

/* Zeroed: empty. free(data) ends it. */
struct plx_mcap_buffer {
    uint8_t *data;
    size_t used, capacity;
};

/* Room for MORE bytes behind those used; at least doubles, so that growing is rare. NOMEM, and nothing is changed. */
int plx_mcap_reserve(struct plx_mcap_buffer *buffer, size_t more);

/* The caller has reserved the room for all that is put. */
void plx_mcap_put(struct plx_mcap_buffer *buffer, const void *data, size_t bytes);
void plx_mcap_put_number(struct plx_mcap_buffer *buffer, uint64_t value, size_t bytes);
void plx_mcap_put_prefix(struct plx_mcap_buffer *buffer, enum plx_mcap_opcode opcode, uint64_t length);
/* A length of 4 bytes, and so many bytes. */
void plx_mcap_put_part(struct plx_mcap_buffer *buffer, const void *data, size_t bytes);

#endif
