/* SPDX-License-Identifier: Apache-2.0 */
#include "client/mapping.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define PAUSE_NS 50000

struct counted_mapping {
    struct plx_mapping public; /* first: its address is that of the whole */
    _Atomic(size_t) references;
};

static struct counted_mapping *counted(const struct plx_mapping *mapping)
{
    return (struct counted_mapping *)(uintptr_t)mapping;
}

int plx_mapping_create(int fd, size_t bytes, const struct plx_mapping **ret_mapping)
{
    struct counted_mapping *mapping = malloc(sizeof *mapping);
    if (!mapping)
        return PLX_ERR_NOMEM;
    void *memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (memory == MAP_FAILED) {
        const int result = errno == ENOMEM ? PLX_ERR_NOMEM : PLX_ERR_IO;
        free(mapping);
        return result;
    }
    mapping->public = (struct plx_mapping){.memory = memory, .bytes = bytes};
    atomic_init(&mapping->references, 1);
    *ret_mapping = &mapping->public;
    return 0;
}

const struct plx_mapping *plx_mapping_share(const struct plx_mapping *mapping)
{
    /* Relaxed: the caller's own reference keeps the mapping meanwhile. */
    atomic_fetch_add_explicit(&counted(mapping)->references, 1, memory_order_relaxed);
    return mapping;
}

/* True if that was the last reference. */
static bool give_back(const struct plx_mapping *mapping)
{
    /* Acquire and release: every thread's reads of the memory happen before the last one unmaps it. */
    return mapping && atomic_fetch_sub_explicit(&counted(mapping)->references, 1, memory_order_acq_rel) == 1;
}

void plx_mapping_unref(const struct plx_mapping *mapping)
{
    if (!give_back(mapping))
        return;
    munmap((void *)(uintptr_t)mapping->memory, mapping->bytes);
    free(counted(mapping));
}

void plx_mapping_unref_gently(const struct plx_mapping *mapping)
{
    /* Without a pause this thread has the lock again before one that waits for it is awake, for milliseconds. */
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    if (!give_back(mapping))
        return;
    char *memory = (char *)(uintptr_t)mapping->memory;
    for (size_t left = mapping->bytes; left > 0;) {
        const size_t piece = left < PLX_MAPPING_PIECE ? left : PLX_MAPPING_PIECE;
        munmap(memory, piece);
        nanosleep(&pause, NULL);
        memory += piece;
        left -= piece;
    }
    free(counted(mapping));
}
