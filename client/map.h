/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory as a reader sees it. No number in it is trusted: sizes and offsets are read once, checked, and only the checked
 * copies are used. So a damaged or hostile memory gives PLX_ERR_FORMAT and never an access outside the mapping.
 */
#ifndef PLX_CLIENT_MAP_H
#define PLX_CLIENT_MAP_H

#include <stdbool.h>

#include <parallax/client.h>
#include <parallax/shm.h>

struct plx_map {                         /* PLX_NO_MAP: none */
    const struct plx_shm_header *header; /* NULL = none */
    const struct plx_shm_slot *slots;
    const unsigned char *frames; /* NULL until plx_map_frames */
    uint64_t bytes;
    /* Checked copies. */
    uint64_t slot_count, frames_offset, frame_bytes, frame_stride;
    /* Set by plx_map_open: */
    uint64_t head_bytes;               /* header and slots, which have a mapping of their own */
    const struct plx_mapping *mapping; /* the whole memory, with one reference, from plx_map_frames on */
    int fd;                            /* the memory, until then; -1: closed */
};

#define PLX_NO_MAP ((struct plx_map){.fd = -1})

static inline bool plx_map_any(const struct plx_map *map)
{
    return map->header || map->fd >= 0;
}

/* Maps header and slots of the memory of FD, which may be closed afterwards: microseconds. FORMAT if it lacks the seals of a
 * service, has pages that are not allocated, or a header that does not fit its size; VERSION, NOMEM, IO. */
int plx_map_open(int fd, struct plx_map *ret_map);

/* Maps all of the memory, if that was not done yet: up to seconds for gigabytes. NOMEM, IO. */
int plx_map_frames(struct plx_map *map);

/* As long, also without frames: the last that holds a memory frees all of it. Then there is none; none is fine. */
void plx_map_close(struct plx_map *map);

/* Checks the memory at MEMORY, all of it, which stays the caller's. FORMAT, VERSION. */
int plx_map_check(const void *memory, uint64_t bytes, struct plx_map *ret_map);

/* Finds a frame newer than LAST, in a map with frames. 1: *ret_view shows the newest one (the caller fills missed and token);
 * 0: there is none; FORMAT. */
int plx_map_find_newest(const struct plx_map *map, uint64_t last, struct plx_view *ret_view);

/* Finds frame SEQUENCE of whatever age, likewise. 1; 0: the ring does not hold it, or not yet; FORMAT. */
int plx_map_find(const struct plx_map *map, uint64_t sequence, struct plx_view *ret_view);

/* True if frame SEQUENCE was not overwritten since it was found. */
bool plx_map_whole(const struct plx_map *map, uint64_t sequence);

/* Bytes of the viewed frame; FORMAT (negative) if that number is impossible. */
int64_t plx_map_frame_bytes(const struct plx_map *map, const struct plx_view *view);

/* As plx_reason; FORMAT if every attempt reads a torn text, or the text has no end. */
int plx_map_reason(const struct plx_map *map, char *ret_text, size_t size);

/* The newest verdict, of whatever age. False if every attempt reads a torn one. */
bool plx_map_verdict(const struct plx_map *map, struct plx_verdict_now *ret_verdict);

/* Fills planes, layout, obstacle count and min_disparity of *ret_view from FRAME, whose planes must lie inside BYTES. False if
 * they do not. */
bool plx_map_check_frame(const struct plx_frame *frame, uint64_t bytes, struct plx_view *ret_view);

#endif
