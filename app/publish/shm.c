/* SPDX-License-Identifier: Apache-2.0 */
/* The shared memory and the writer's side of its ring. Protocol and ordering: docs/shared-memory.md; its model: ring.pml. */
#include "app/publish/shm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <parallax/shm.h>

#include "core/base/checksum.h"
#include "core/base/clock.h"

struct plx_shm {
    struct plx_shm_header *header; /* the mapping */
    struct plx_shm_slot *slots;
    unsigned char *frames;
    int client_fd; /* read-only */
};

#define WAKES 64   /* readers that the writer wakes; docs/shared-memory.md says why not all, and who wakes the others */
#define PAGE 4096u /* alignment of the frames in the layout, on machines with larger pages too */

/* --- creation ---------------------------------------------------------------------------------------------------- */

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

static struct plx_shm_header layout(const struct plx_shm_options *options)
{
    struct plx_shm_header header = {
        .magic = PLX_SHM_MAGIC,
        .abi_version = PLX_ABI_VERSION,
        .slot_count = (uint32_t)options->slots,
        .slots_offset = sizeof header,
        .frames_offset = round_up(sizeof header + (uint64_t)options->slots * sizeof(struct plx_shm_slot)),
        .frame_stride = round_up(options->frame_bytes),
        .frame_bytes = options->frame_bytes,
        .epoch = options->epoch,
    };
    header.region_bytes = header.frames_offset + header.slot_count * header.frame_stride;
    return header;
}

static int refuse(struct plx_error_message *message, const char *what, uint64_t bytes)
{
    int error = errno;
    int result = error == ENOMEM || error == ENOSPC || error == EMFILE || error == ENFILE ? PLX_ERR_NOMEM : PLX_ERR_IO;
    return plx_fail(message, result, "shared memory of %llu bytes: cannot %s: %s%s", (unsigned long long)bytes, what,
                    strerror(error), result == PLX_ERR_NOMEM ? "; lower publish.slots or the image size, or free memory" : "");
}

/* Every page exists before the first frame: a full machine is an error now, not a SIGBUS later. */
static int make_memory(uint64_t bytes, int *ret_fd, void **ret_memory, struct plx_error_message *message)
{
    int result;
    void *memory = MAP_FAILED;
    int fd = memfd_create("parallax", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return refuse(message, "create a memfd", bytes);

    /* 0600: a new memfd has mode 0777, which lets a client reopen its read-only descriptor for writing through /proc. */
    if (fchmod(fd, 0600) || ftruncate(fd, (off_t)bytes)) {
        result = refuse(message, "set mode and size", bytes);
        goto fail;
    }
    if (fallocate(fd, 0, 0, (off_t)bytes)) {
        result = refuse(message, "allocate it", bytes);
        goto fail;
    }
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (memory == MAP_FAILED) {
        result = refuse(message, "map it", bytes);
        goto fail;
    }
    /* After the mapping, because FUTURE_WRITE forbids every later writable mapping, ours as well. */
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL)) {
        result = refuse(message, "seal it", bytes);
        goto fail;
    }
    *ret_fd = fd;
    *ret_memory = memory;
    return 0;

fail:
    if (memory != MAP_FAILED)
        munmap(memory, bytes);
    close(fd);
    return result;
}

int plx_shm_create(const struct plx_shm_options *options, struct plx_shm **ret_shm, struct plx_error_message *message)
{
    if (options->slots < (int)PLX_SHM_MIN_SLOTS || options->slots > (int)PLX_SHM_MAX_SLOTS)
        return plx_fail(message, PLX_ERR_RANGE, "shared memory: %d slots; expected %u to %u", options->slots, PLX_SHM_MIN_SLOTS,
                        PLX_SHM_MAX_SLOTS);
    if (options->frame_bytes < sizeof(struct plx_frame))
        return plx_fail(message, PLX_ERR_RANGE, "shared memory: frames of %u bytes; expected at least %zu",
                        options->frame_bytes, sizeof(struct plx_frame));
    struct plx_shm_header header = layout(options);
    if (header.region_bytes > PTRDIFF_MAX)
        return plx_fail(message, PLX_ERR_NOMEM, "shared memory: %llu bytes are more than this machine can map",
                        (unsigned long long)header.region_bytes);

    struct plx_shm *shm = calloc(1, sizeof *shm);
    if (!shm)
        return plx_fail(message, PLX_ERR_NOMEM, "out of memory");
    int fd = -1;
    void *memory = NULL;
    int result = make_memory(header.region_bytes, &fd, &memory, message);
    if (result)
        goto fail_alloc;

    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    shm->client_fd = open(path, O_RDONLY | O_CLOEXEC);
    if (shm->client_fd < 0) {
        result = refuse(message, "reopen it read-only (is /proc mounted?)", header.region_bytes);
        goto fail_memory;
    }
    close(fd); /* the mapping stays */

    shm->header = memory;
    shm->slots = (struct plx_shm_slot *)((char *)memory + header.slots_offset);
    shm->frames = (unsigned char *)memory + header.frames_offset;
    memcpy(shm->header, &header, sizeof header); /* state STARTING, no frame; no other process sees the memory yet */
    for (uint32_t i = 0; i < header.slot_count; i++)
        atomic_init(&shm->slots[i].lock, 1); /* odd: empty */
    *ret_shm = shm;
    return 0;

fail_memory:
    munmap(memory, header.region_bytes);
    close(fd);
fail_alloc:
    free(shm);
    return result;
}

void plx_shm_destroy(struct plx_shm *shm)
{
    if (!shm)
        return;
    munmap(shm->header, shm->header->region_bytes);
    close(shm->client_fd);
    free(shm);
}

int plx_shm_client_fd(const struct plx_shm *shm)
{
    return shm->client_fd;
}

uint64_t plx_shm_epoch(const struct plx_shm *shm)
{
    return shm->header->epoch;
}

void *plx_shm_frames(const struct plx_shm *shm, size_t *ret_bytes)
{
    *ret_bytes = (size_t)(shm->header->slot_count * shm->header->frame_stride);
    return shm->frames;
}

/* --- the ring ---------------------------------------------------------------------------------------------------- */

static void wake_readers(struct plx_shm_header *header)
{
    /* Release: a reader that sees the new word sees what was stored before. Supervisor and engine both add to the word. */
    atomic_fetch_add_explicit(&header->wake, 1, memory_order_release);
    /* Readers cannot register in memory that they cannot write, so the call is always made. It wakes a bounded number, because
     * a client may have thousands of waiting threads. */
    syscall(SYS_futex, &header->wake, FUTEX_WAKE, WAKES, NULL, NULL, 0);
}

/* The sequence of the next frame. All state is in the shared memory, so that a new engine goes on where the last one died. */
static uint64_t next_sequence(const struct plx_shm *shm)
{
    /* Relaxed: only the one writer stores it, and a new writer is forked after the old one is reaped. */
    return atomic_load_explicit(&shm->header->newest, memory_order_relaxed) + 1;
}

struct plx_frame *plx_ring_begin(struct plx_shm *shm)
{
    uint64_t sequence = next_sequence(shm);
    uint64_t slot = sequence % shm->header->slot_count;

    atomic_store_explicit(&shm->slots[slot].lock, 2 * sequence - 1, memory_order_relaxed);
    /* Release fence: no store into the frame becomes visible before the odd lock. */
    atomic_thread_fence(memory_order_release);
    return (struct plx_frame *)(shm->frames + slot * shm->header->frame_stride);
}

void plx_ring_commit(struct plx_shm *shm)
{
    uint64_t sequence = next_sequence(shm);
    uint64_t slot = sequence % shm->header->slot_count;
    struct plx_frame *frame = (struct plx_frame *)(shm->frames + slot * shm->header->frame_stride);

    /* Relaxed atomics, because a reader of the frame that is being overwritten may still load these fields. */
    __atomic_store_n(&frame->sequence, sequence, __ATOMIC_RELAXED);
    __atomic_store_n(&frame->epoch, shm->header->epoch, __ATOMIC_RELAXED);
    __atomic_store_n(&frame->published_ns, plx_now_ns(), __ATOMIC_RELAXED);
    /* Relaxed: readers load newest first. Release: a reader that sees newest sees the even lock and the whole frame. */
    atomic_store_explicit(&shm->slots[slot].lock, 2 * sequence, memory_order_relaxed);
    atomic_store_explicit(&shm->header->newest, sequence, memory_order_release);
    wake_readers(shm->header);
}

uint64_t plx_ring_newest(const struct plx_shm *shm)
{
    /* Relaxed: only the number is used, in messages to clients, which then load the frame themselves. */
    return atomic_load_explicit(&shm->header->newest, memory_order_relaxed);
}

/* Relaxed, in any order: the checksum tells readers whether they have read the whole of it. */
static void store_words(_Atomic(uint64_t) *ret_word, _Atomic(uint64_t) *ret_sum, const uint64_t *word, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        atomic_store_explicit(&ret_word[i], word[i], memory_order_relaxed);
    atomic_store_explicit(ret_sum, plx_words_checksum(word, count), memory_order_relaxed);
}

void plx_shm_set_state(struct plx_shm *shm, enum plx_state state, uint32_t health)
{
    static const uint64_t no_verdict[PLX_VERDICT_WORDS]; /* stop, valid for no time */
    uint64_t status = (uint64_t)health << 32 | (uint32_t)state;
    if (state != PLX_STATE_RUNNING && state != PLX_STATE_DEGRADED)
        store_words(shm->header->verdict, &shm->header->verdict_sum, no_verdict, PLX_VERDICT_WORDS);
    /* Release: a reader that sees the state sees what was stored before it, such as the last frame. */
    uint64_t before = atomic_exchange_explicit(&shm->header->status, status, memory_order_release);
    if ((uint32_t)before != (uint32_t)state)
        wake_readers(shm->header);
}

void plx_shm_hand_over(struct plx_shm *shm)
{
    /* Relaxed: the state, stored after it with release, brings it to those who see the end. */
    atomic_store_explicit(&shm->header->replaced, 1, memory_order_relaxed);
    plx_shm_set_state(shm, PLX_STATE_STOPPED, 0);
}

void plx_shm_set_restarts(struct plx_shm *shm, uint32_t restarts)
{
    /* Relaxed: readers use only the count. */
    atomic_store_explicit(&shm->header->restarts, restarts, memory_order_relaxed);
}

void plx_shm_set_gpu_schedule(struct plx_shm *shm, uint32_t schedule)
{
    /* Relaxed: readers use only the number. */
    atomic_store_explicit(&shm->header->gpu_schedule, schedule, memory_order_relaxed);
}

uint32_t plx_shm_tracks(const struct plx_shm *shm)
{
    /* Relaxed: only the one writer stores it, and a new writer is forked after the old one is reaped. */
    return atomic_load_explicit(&shm->header->tracks, memory_order_relaxed);
}

void plx_shm_note_tracks(struct plx_shm *shm, const struct plx_frame *frame)
{
    uint32_t last = plx_shm_tracks(shm);

    for (uint32_t i = 0; i < frame->obstacle_count; i++)
        if (frame->obstacle[i].track > last)
            last = frame->obstacle[i].track;
    /* Relaxed: the commit that follows releases it, and the next engine comes after this process is reaped. */
    atomic_store_explicit(&shm->header->tracks, last, memory_order_relaxed);
}

void plx_shm_set_verdict(struct plx_shm *shm, const struct plx_frame *frame)
{
    uint64_t word[PLX_VERDICT_WORDS];
    const struct plx_verdict_info *verdict = &frame->verdict;
    struct plx_verdict_now now = {
        .sequence = frame->sequence,
        .capture_ns = frame->capture[PLX_LEFT].capture_ns,
        .suspended_ns = frame->suspended_ns,
        .valid_ns = verdict->valid_ns,
        .verdict = verdict->verdict,
        .reasons = verdict->reasons,
        .faults = verdict->faults,
        .zone = verdict->zone,
        .distance_m = verdict->distance_m,
        .speed_mps = verdict->speed_mps,
    };
    if (verdict->zone >= 0)
        memcpy(now.name, frame->zone[verdict->zone].name, sizeof now.name);
    memcpy(word, &now, sizeof word);
    store_words(shm->header->verdict, &shm->header->verdict_sum, word, PLX_VERDICT_WORDS);
}

void plx_shm_set_reason(struct plx_shm *shm, const char *text)
{
    uint64_t word[PLX_REASON_WORDS] = {0};

    snprintf((char *)word, sizeof word, "%s", text);
    store_words(shm->header->reason, &shm->header->reason_sum, word, PLX_REASON_WORDS);
}

/* The protocol is that of client/map.c, whose orderings docs/shared-memory.md proves. */
bool plx_ring_copy(const struct plx_shm *shm, uint64_t sequence, uint64_t offset, void *ret, size_t bytes)
{
    const struct plx_shm_header *header = shm->header;
    const struct plx_shm_slot *slot = &shm->slots[sequence % header->slot_count];

    if (offset > header->frame_bytes || bytes > header->frame_bytes - offset)
        return false;
    /* Acquire: the frame is read after its lock. */
    if (atomic_load_explicit(&slot->lock, memory_order_acquire) != 2 * sequence)
        return false;
    memcpy(ret, shm->frames + sequence % header->slot_count * header->frame_stride + offset, bytes);
    /* Acquire fence: the lock is read again after the frame. */
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&slot->lock, memory_order_relaxed) == 2 * sequence;
}
