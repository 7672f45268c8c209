/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer: the shared region as the client library sees it, spoiled. The input is records of 16 bytes: where (4 bytes), how
 * wide (4), what (8); they are written over header, slots and frame of a good region. Whatever a view then shows can be read.
 */
#include <string.h>

#include "tests/shm_image.h"

#define RECORD 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void spoil(unsigned char *memory, const struct plx_shm_header *good, const uint8_t *record)
{
    const size_t frame = good->frames_offset + good->frame_stride; /* frame of sequence 1, with all before its obstacles */
    const size_t offsets = good->frames_offset + offsetof(struct plx_frame, obstacle);
    uint32_t where, width;
    memcpy(&where, record, sizeof where);
    memcpy(&width, record + 4, sizeof width);
    size_t at = where % offsets;
    at = at < good->frames_offset ? at : at - good->frames_offset + frame;
    width = 1u << width % 4;
    memcpy(memory + at / width * width, record + 8, width);
}

/* In memory of exactly its size, for AddressSanitizer to see what lies outside. */
static void look(const unsigned char *memory, size_t bytes)
{
    struct plx_map map;
    struct plx_view view;
    char reason[40];
    if (plx_map_check(memory, bytes, &map) < 0)
        return;
    if (plx_map_reason(&map, reason, sizeof reason) == 0 && strlen(reason) >= sizeof reason)
        abort();
    if (plx_map_find_newest(&map, 0, &view) != 1)
        return;
    shm_image_read(&view);
    const int64_t frame_bytes = plx_map_frame_bytes(&map, &view);
    if (frame_bytes > (int64_t)map.frame_bytes || plx_age_ns(view.frame) < 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t bytes;
    struct plx_shm_header *good = shm_image_make(&bytes);
    unsigned char *memory = malloc(bytes);
    if (!memory)
        abort();
    memcpy(memory, good, bytes);
    for (; size >= RECORD; data += RECORD, size -= RECORD)
        spoil(memory, good, data);
    look(memory, bytes);
    free(memory);
    free(good);
    return 0;
}
