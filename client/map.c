/* SPDX-License-Identifier: Apache-2.0 */
/* The reader's side of the ring. Protocol and ordering: docs/shared-memory.md; its model: app/publish/ring.pml. */
#include "client/map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/fetch.h"
#include "client/mapping.h"
#include "core/base/checksum.h"

/* An attempt fails if the writer fills the whole ring between two adjacent loads: rare, and never this often in a row. */
#define ATTEMPTS 16
#define STAT_BLOCK 512u /* unit of st_blocks */

/* --- the mapping ------------------------------------------------------------------------------------------------- */

/* The seals of a service (app/publish/shm.c). Without SHRINK it could truncate the memory; without a seal against writing it
 * could punch holes (fallocate, MADV_REMOVE). A read there raises SIGBUS, or allocates memory that this process pays for. */
static bool is_sealed(int fd)
{
    const int needed = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, write = F_SEAL_WRITE | F_SEAL_FUTURE_WRITE;
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & needed) == needed && (seals & write);
}

/* From the begin of the memory to the end of its slots. */
static uint64_t head_of(const struct plx_map *map)
{
    return (uint64_t)((const unsigned char *)(map->slots + map->slot_count) - (const unsigned char *)map->header);
}

/* The header, read without a mapping, must promise a memory of exactly BYTES. */
static int check_header(int fd, uint64_t bytes, uint64_t *ret_head_bytes)
{
    struct plx_shm_header header;
    struct plx_map promised;
    ssize_t got = pread(fd, &header, sizeof header, 0);
    if (got != (ssize_t)sizeof header)
        return got < 0 ? PLX_ERR_IO : PLX_ERR_FORMAT;
    int result = plx_map_check(&header, bytes, &promised);
    if (!result)
        *ret_head_bytes = head_of(&promised);
    return result;
}

static int map_head(int fd, uint64_t bytes, uint64_t head_bytes, struct plx_map *ret_map)
{
    struct plx_map map;
    void *head = mmap(NULL, head_bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (head == MAP_FAILED)
        return errno == ENOMEM ? PLX_ERR_NOMEM : PLX_ERR_IO;
    int result = plx_map_check(head, bytes, &map); /* again: a hostile service may have changed the header */
    if (!result && head_of(&map) > head_bytes)
        result = PLX_ERR_FORMAT;
    if (!result) {
        map.frames = NULL;
        map.head_bytes = head_bytes;
        map.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        if (map.fd < 0)
            result = PLX_ERR_NOMEM;
    }
    if (result)
        munmap(head, head_bytes);
    else
        *ret_map = map;
    return result;
}

/* Checks size and seals, then the header, and only then maps the memory: a refused memory costs no memory. */
int plx_map_open(int fd, struct plx_map *ret_map)
{
    struct stat status;
    if (!is_sealed(fd))
        return PLX_ERR_FORMAT;
    if (fstat(fd, &status))
        return PLX_ERR_IO;
    if (status.st_size < (off_t)sizeof(struct plx_shm_header) || (uint64_t)status.st_size > PTRDIFF_MAX)
        return PLX_ERR_FORMAT;
    uint64_t bytes = (uint64_t)status.st_size;
    /* The seals keep allocated pages; a read of a page that was never allocated would allocate it. */
    if ((uint64_t)status.st_blocks < bytes / STAT_BLOCK)
        return PLX_ERR_FORMAT;
    uint64_t head_bytes = 0;
    int result = check_header(fd, bytes, &head_bytes);
    return result ? result : map_head(fd, bytes, head_bytes, ret_map);
}

int plx_map_frames(struct plx_map *map)
{
    if (map->frames)
        return 0;
    int result = plx_mapping_create(map->fd, map->bytes, &map->mapping);
    if (result)
        return result;
    map->frames = (const unsigned char *)map->mapping->memory + map->frames_offset;
    close(map->fd);
    map->fd = -1;
    return 0;
}

void plx_map_close(struct plx_map *map)
{
    plx_mapping_unref(map->mapping);
    if (map->head_bytes > 0)
        munmap((void *)(uintptr_t)map->header, map->head_bytes);
    if (map->fd >= 0)
        close(map->fd);
    *map = PLX_NO_MAP;
}

int plx_map_check(const void *memory, uint64_t bytes, struct plx_map *ret_map)
{
    const struct plx_shm_header *header = memory;
    if (bytes < sizeof *header || plx_fetch64(&header->magic) != PLX_SHM_MAGIC)
        return PLX_ERR_FORMAT;
    if (plx_fetch32(&header->abi_version) != PLX_ABI_VERSION)
        return PLX_ERR_VERSION;

    uint64_t slot_count = plx_fetch32(&header->slot_count);
    uint64_t slots = plx_fetch64(&header->slots_offset), frames = plx_fetch64(&header->frames_offset);
    uint64_t stride = plx_fetch64(&header->frame_stride), frame_bytes = plx_fetch64(&header->frame_bytes);
    if (plx_fetch64(&header->region_bytes) != bytes || slot_count < PLX_SHM_MIN_SLOTS || slot_count > PLX_SHM_MAX_SLOTS)
        return PLX_ERR_FORMAT;
    if (slots % 8 || slots < sizeof *header || slots > bytes || slot_count * sizeof(struct plx_shm_slot) > bytes - slots)
        return PLX_ERR_FORMAT;
    if (frame_bytes < sizeof(struct plx_frame) || frame_bytes > UINT32_MAX || stride % 8 || stride < frame_bytes)
        return PLX_ERR_FORMAT;
    if (frames % 8 || frames < sizeof *header || frames > bytes || stride > (bytes - frames) / slot_count)
        return PLX_ERR_FORMAT;

    *ret_map = (struct plx_map){
        .header = header,
        .slots = (const struct plx_shm_slot *)((const unsigned char *)memory + slots),
        .frames = (const unsigned char *)memory + frames,
        .bytes = bytes,
        .slot_count = slot_count,
        .frames_offset = frames,
        .frame_bytes = frame_bytes,
        .frame_stride = stride,
    };
    return 0;
}

/* --- frames ------------------------------------------------------------------------------------------------------ */

static bool check_plane(const struct plx_plane *plane, int id, uint64_t bytes, struct plx_plane *ret_plane)
{
    const uint32_t element = plx_plane_element((enum plx_plane_id)id);
    const uint32_t alignment = element & -element; /* what its fields need: the power of two in its size */
    struct plx_plane seen = {
        .offset = plx_fetch32(&plane->offset),
        .pitch = plx_fetch32(&plane->pitch),
        .width = plx_fetch32(&plane->width),
        .height = plx_fetch32(&plane->height),
        .element = plx_fetch32(&plane->element),
    };
    if (seen.width == 0) {
        *ret_plane = (struct plx_plane){0};
        return true;
    }
    /* 64-bit sums of 32-bit numbers; the product is below 2^64 too. */
    uint64_t row = (uint64_t)seen.width * element;
    if (seen.element != element || seen.height == 0 || seen.pitch < row || seen.pitch % alignment || seen.offset % alignment ||
        seen.offset < sizeof(struct plx_frame))
        return false;
    if (seen.offset > bytes || row > bytes - seen.offset ||
        (uint64_t)seen.pitch * (seen.height - 1) > bytes - seen.offset - row)
        return false;
    *ret_plane = seen;
    return true;
}

bool plx_map_check_frame(const struct plx_frame *frame, uint64_t bytes, struct plx_view *ret_view)
{
    struct plx_view view = {
        .frame = frame,
        .obstacle_count = plx_fetch32(&frame->obstacle_count),
        .min_disparity = (int32_t)plx_fetch32(&frame->min_disparity),
        .sequence = plx_fetch64(&frame->sequence),
    };
    if (view.obstacle_count > PLX_MAX_OBSTACLES)
        return false;
    for (int id = 0; id < PLX_PLANE_COUNT; id++) {
        if (!check_plane(&frame->plane[id], id, bytes, &view.layout[id]))
            return false;
        if (view.layout[id].width)
            view.plane[id] = (const unsigned char *)frame + view.layout[id].offset;
    }
    *ret_view = view;
    return true;
}

static const struct plx_shm_slot *slot_of(const struct plx_map *map, uint64_t sequence)
{
    return &map->slots[sequence % map->slot_count];
}

static uint64_t newest_of(const struct plx_map *map)
{
    /* Acquire: the slots' locks and the frames up to this one are at least as new as newest says. */
    return atomic_load_explicit(&map->header->newest, memory_order_acquire);
}

/* Finds frame SEQUENCE, which is at most newest_of(MAP). 1; 0: it is overwritten; FORMAT. */
static int find_frame(const struct plx_map *map, uint64_t sequence, struct plx_view *ret_view)
{
    /* Relaxed: never older than newest, so another number means that the writer has overwritten the slot. */
    if (atomic_load_explicit(&slot_of(map, sequence)->lock, memory_order_relaxed) != 2 * sequence)
        return 0;
    const unsigned char *frame = map->frames + sequence % map->slot_count * map->frame_stride;
    struct plx_view view;
    if (plx_map_check_frame((const struct plx_frame *)frame, map->frame_bytes, &view) && view.sequence == sequence) {
        *ret_view = view;
        return 1;
    }
    return plx_map_whole(map, sequence) ? PLX_ERR_FORMAT : 0; /* damaged, or torn */
}

int plx_map_find_newest(const struct plx_map *map, uint64_t last, struct plx_view *ret_view)
{
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        const uint64_t sequence = newest_of(map);
        if (sequence == last)
            return 0;
        if (sequence < last)
            return PLX_ERR_FORMAT;
        const int found = find_frame(map, sequence, ret_view);
        if (found) /* else it was overwritten between the two loads */
            return found;
    }
    return PLX_ERR_FORMAT;
}

int plx_map_find(const struct plx_map *map, uint64_t sequence, struct plx_view *ret_view)
{
    return sequence > 0 && sequence <= newest_of(map) ? find_frame(map, sequence, ret_view) : 0;
}

bool plx_map_whole(const struct plx_map *map, uint64_t sequence)
{
    /* Acquire fence: the lock is loaded after everything that was read from the frame. */
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&slot_of(map, sequence)->lock, memory_order_relaxed) == 2 * sequence;
}

int64_t plx_map_frame_bytes(const struct plx_map *map, const struct plx_view *view)
{
    uint64_t bytes = plx_fetch32(&view->frame->bytes);
    return bytes < sizeof(struct plx_frame) || bytes > map->frame_bytes ? PLX_ERR_FORMAT : (int64_t)bytes;
}

/* --- reason and verdict ------------------------------------------------------------------------------------------ */

/* Copies COUNT words; needs no ordering: a torn copy has another checksum. False if all attempts read one. */
static bool fetch_words(const _Atomic(uint64_t) *from, const _Atomic(uint64_t) *sum, uint64_t *ret_word, unsigned count)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        for (unsigned n = 0; n < count; n++)
            ret_word[n] = plx_fetch64(&from[n]);
        if (plx_words_checksum(ret_word, count) == plx_fetch64(sum))
            return true;
    }
    return false;
}

bool plx_map_verdict(const struct plx_map *map, struct plx_verdict_now *ret_verdict)
{
    uint64_t word[PLX_VERDICT_WORDS];
    if (!fetch_words(map->header->verdict, &map->header->verdict_sum, word, PLX_VERDICT_WORDS))
        return false;
    memcpy(ret_verdict, word, sizeof *ret_verdict);
    ret_verdict->name[PLX_ZONE_NAME - 1] = '\0';
    return true;
}

int plx_map_reason(const struct plx_map *map, char *ret_text, size_t size)
{
    uint64_t word[PLX_REASON_WORDS];
    const bool whole = fetch_words(map->header->reason, &map->header->reason_sum, word, PLX_REASON_WORDS);
    const char *text = (const char *)word;
    if (!whole || !memchr(text, 0, sizeof word))
        return PLX_ERR_FORMAT;
    size_t length = strlen(text);
    if (length >= size)
        length = size - 1;
    for (size_t i = 0; i < length; i++) /* no terminal control characters */
        ret_text[i] = (char)((unsigned char)text[i] < ' ' || text[i] == 0x7F ? '?' : text[i]);
    ret_text[length] = 0;
    return 0;
}
