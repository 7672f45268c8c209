/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shared memory, seen from the service: the supervisor creates it, the forked engine writes frames into its ring.
 * The layout that clients map is include/parallax/shm.h. One writer at a time; the writer never waits for a reader.
 */
#ifndef PLX_APP_PUBLISH_SHM_H
#define PLX_APP_PUBLISH_SHM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <parallax/error.h>
#include <parallax/frame.h>

#include "core/base/text.h"

struct plx_shm;

struct plx_shm_options {
    uint64_t epoch;
    int slots;            /* 4..64 */
    uint32_t frame_bytes; /* size of one frame with its planes */
};

/* Creates the memfd, mode 0600, fully allocated, mapped writable here (and in every process forked from here), then sealed
 * SHRINK | GROW | FUTURE_WRITE | SEAL. State STARTING. *ret_shm is the caller's. Errors: NOMEM, IO, RANGE. */
int plx_shm_create(const struct plx_shm_options *options, struct plx_shm **ret_shm, struct plx_error_message *message);
/* Unmaps it here; clients and forked processes keep theirs. NULL is fine. */
void plx_shm_destroy(struct plx_shm *shm);

/* The read-only descriptor that clients get; SHM owns it. */
int plx_shm_client_fd(const struct plx_shm *shm);
uint64_t plx_shm_epoch(const struct plx_shm *shm);

/* The memory of all frames, one slot after the other, page-aligned; *ret_bytes is its size. SHM owns it. */
void *plx_shm_frames(const struct plx_shm *shm, size_t *ret_bytes);

/* A slot to fill: frame_bytes of page-aligned memory that still holds an old frame, marked as being written. Never NULL, never
 * blocks. A second call without a commit returns the same slot, also after the writer died and another one calls. */
struct plx_frame *plx_ring_begin(struct plx_shm *shm);

/* Publishes the slot: sets sequence, epoch and published_ns in the frame, makes it the newest, wakes waiting readers. */
void plx_ring_commit(struct plx_shm *shm);

/* Sequence of the newest frame, 0 before the first. It orders no memory accesses. For any process that has the mapping. */
uint64_t plx_ring_newest(const struct plx_shm *shm);

/* Copies BYTES at OFFSET of the published frame SEQUENCE. False if the slot holds another frame by now, or the frame is too
 * short; RET is then undefined. */
bool plx_ring_copy(const struct plx_shm *shm, uint64_t sequence, uint64_t offset, void *ret, size_t bytes);

/* State and health flags that clients read between frames; wakes waiting readers when the state changes. */
void plx_shm_set_state(struct plx_shm *shm, enum plx_state state, uint32_t health);

/* Ends the memory for its readers: the service goes on in another one, which is there when they attach again. */
void plx_shm_hand_over(struct plx_shm *shm);

/* Publishes the verdict of FRAME, for plx_verdict. Only the engine may call it. plx_shm_set_state takes it back in the states
 * in which no engine works. */
void plx_shm_set_verdict(struct plx_shm *shm, const struct plx_frame *frame);

/* How often an engine died or hung, for clients to read; wakes nobody. */
void plx_shm_set_restarts(struct plx_shm *shm, uint32_t restarts);

/* Why the service is in its state, in words, cut to fit; wakes nobody. Only the supervisor may call it. */
void plx_shm_set_reason(struct plx_shm *shm, const char *text);

/* The highest number of a track that a frame of this epoch has shown, 0 before the first. An engine goes on after it, and notes
 * those of FRAME before that is committed: the next engine never gives out a number again. */
uint32_t plx_shm_tracks(const struct plx_shm *shm);
void plx_shm_note_tracks(struct plx_shm *shm, const struct plx_frame *frame);

/* Publishes the GPU schedule, as in parallax/shm.h; wakes nobody. */
void plx_shm_set_gpu_schedule(struct plx_shm *shm, uint32_t schedule);

#endif
