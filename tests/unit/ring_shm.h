/* SPDX-License-Identifier: Apache-2.0 */
/* A region of shared memory with a small ring, as tests write and map it. */
#ifndef PLX_TESTS_RING_REGION_H
#define PLX_TESTS_RING_REGION_H

#include "app/publish/shm.h"
#include "client/client.h"
#include "client/fetch.h"
#include "core/base/clock.h"
#include "tests/cmocka.h"

static inline struct plx_shm *make_shm(int slots)
{
    const struct plx_shm_options options = {.epoch = 7, .slots = slots, .frame_bytes = sizeof(struct plx_frame) + 4096};
    struct plx_shm *shm;
    assert_int_equal(plx_shm_create(&options, &shm, NULL), 0);
    return shm;
}

static inline struct plx_map map_of(const struct plx_shm *shm)
{
    struct plx_map map;
    assert_int_equal(plx_map_open(plx_shm_client_fd(shm), &map), 0);
    assert_int_equal(plx_map_frames(&map), 0);
    return map;
}

/* Publishes a frame that the reader's checks accept. */
static inline void publish(struct plx_shm *shm)
{
    struct plx_frame *frame = plx_ring_begin(shm);
    frame->bytes = sizeof *frame;
    frame->capture[PLX_LEFT].capture_ns = plx_now_ns();
    frame->fresh_ns = 60 * PLX_NS_PER_S;
    frame->obstacle_count = 0;
    plx_ring_commit(shm);
}

/* The writer's own mapping of REGION. */
static inline void *memory_of(struct plx_shm *shm)
{
    unsigned char *frame = (unsigned char *)plx_ring_begin(shm);
    struct plx_map map = map_of(shm);
    size_t slot = (plx_ring_newest(shm) + 1) % map.slot_count;
    size_t to_header = map.frames_offset + slot * map.frame_stride;
    plx_map_close(&map);
    return frame - to_header;
}

#endif
