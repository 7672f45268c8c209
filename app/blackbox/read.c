/* SPDX-License-Identifier: Apache-2.0 */
#include "app/blackbox/read.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "config/file.h"
#include "core/base/text.h"

/* The limit of bytes under checksums that fail: it bounds the time for a file with false records at every step. */
#define WASTE_BYTES (4u * PLX_BOX_RING_BYTES)
#define RECORD sizeof(struct plx_box_record)

/* Copies the ring, *ret_bytes long, and repeats its begin behind its end if the ring is whole, so that no record is in two
 * parts. */
static int unroll(const unsigned char *file, size_t size, unsigned char **ret_ring, size_t *ret_bytes)
{
    const size_t more = RECORD + PLX_BOX_MAX_PAYLOAD;
    const size_t bytes = size - PLX_BOX_HEADER_BYTES < PLX_BOX_RING_BYTES ? size - PLX_BOX_HEADER_BYTES : PLX_BOX_RING_BYTES;
    unsigned char *ring = calloc(1, bytes + more);

    if (!ring)
        return PLX_ERR_NOMEM;
    memcpy(ring, file + PLX_BOX_HEADER_BYTES, bytes);
    if (bytes == PLX_BOX_RING_BYTES)
        memcpy(ring + bytes, ring, more);
    *ret_ring = ring;
    *ret_bytes = bytes;
    return 0;
}

/* Reads the record at AT; false if there is no whole one. *WASTE counts the bytes under checksums that failed. */
static bool find_record(const unsigned char *at, size_t *waste, struct plx_box_record *ret_record)
{
    memcpy(ret_record, at, RECORD);
    if (ret_record->magic != PLX_BOX_RECORD_MAGIC || ret_record->bytes > PLX_BOX_MAX_PAYLOAD || *waste > WASTE_BYTES)
        return false;
    if (plx_box_record_sum(ret_record, at + RECORD) == ret_record->sum)
        return true;
    *waste += ret_record->bytes;
    return false;
}

/* Tries every position where a record may begin. RET_ENTRY NULL: only counts. */
static int find_all(const unsigned char *ring, size_t bytes, struct plx_box_entry *ret_entry)
{
    struct plx_box_record record;
    size_t waste = 0;
    int count = 0;

    for (size_t at = 0; at < bytes;) {
        if (!find_record(ring + at, &waste, &record)) {
            at += PLX_BOX_ALIGN;
            continue;
        }
        if (ret_entry)
            ret_entry[count] = (struct plx_box_entry){.record = record, .data = ring + at + RECORD};
        count++;
        at += (RECORD + record.bytes + PLX_BOX_ALIGN - 1) / PLX_BOX_ALIGN * PLX_BOX_ALIGN;
    }
    return count;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t left = ((const struct plx_box_entry *)a)->record.number,
                   right = ((const struct plx_box_entry *)b)->record.number;
    return (left > right) - (left < right);
}

static int check_header(const void *file, size_t size, struct plx_box_header *ret_header, struct plx_error_message *message)
{
    if (size < PLX_BOX_HEADER_BYTES)
        return plx_fail(message, PLX_ERR_FORMAT, "no black box: the file has %zu bytes; expected %u", size, PLX_BOX_BYTES);
    memcpy(ret_header, file, sizeof *ret_header);
    if (memcmp(ret_header->magic, PLX_BOX_MAGIC, sizeof ret_header->magic) != 0)
        return plx_fail(message, PLX_ERR_FORMAT, "no black box: the file does not begin with PLXBOX");
    if (ret_header->version != PLX_BOX_VERSION || ret_header->ring_bytes != PLX_BOX_RING_BYTES)
        return plx_fail(message, PLX_ERR_FORMAT,
                        "a black box of version %u; expected %u: read it with the program that wrote it", ret_header->version,
                        PLX_BOX_VERSION);
    if (ret_header->sum != plx_box_header_sum(ret_header))
        return plx_fail(message, PLX_ERR_FORMAT, "a black box whose header is damaged");
    ret_header->program[sizeof ret_header->program - 1] = '\0';
    plx_clean_text(ret_header->program);
    return 0;
}

int plx_box_parse(const void *file, size_t size, struct plx_box_content *ret_content, struct plx_error_message *message)
{
    struct plx_box_content content = {0};
    size_t bytes;
    int result = check_header(file, size, &content.header, message);

    if (result < 0)
        return result;
    if (unroll(file, size, &content.memory, &bytes) < 0)
        return plx_fail(message, PLX_ERR_NOMEM, "out of memory");
    content.count = find_all(content.memory, bytes, NULL);
    content.entry = calloc((size_t)content.count + 1, sizeof *content.entry);
    if (!content.entry) {
        free(content.memory);
        return plx_fail(message, PLX_ERR_NOMEM, "out of memory");
    }
    find_all(content.memory, bytes, content.entry);
    qsort(content.entry, (size_t)content.count, sizeof *content.entry, by_number);
    *ret_content = content;
    return 0;
}

int plx_box_read(const char *path, struct plx_box_content *ret_content, struct plx_error_message *message)
{
    struct plx_error_message what;
    char *file;
    size_t size;

    int result = plx_file_read(path, PLX_BOX_BYTES, &file, &size, message);
    if (result < 0)
        return result;
    result = plx_box_parse(file, size, ret_content, &what);
    free(file);
    return result < 0 ? plx_fail(message, result, "%s: %s", path, what.text) : 0;
}

void plx_box_free(struct plx_box_content *content)
{
    free(content->entry);
    free(content->memory);
    *content = (struct plx_box_content){0};
}
