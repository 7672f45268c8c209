/* SPDX-License-Identifier: Apache-2.0 */
/* Watches alloc, free, adopt and disown of a backend, so a test knows its memory, and can restrict them as other backends do.
 */
#ifndef PLX_TESTS_MEMORY_SPY_H
#define PLX_TESTS_MEMORY_SPY_H

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include <parallax/error.h>

#include "core/pipeline/stages.h"
#include "tests/cmocka.h"

static struct {
    struct spied_block {
        uint8_t *data; /* NULL: free */
        size_t bytes;
        bool adopted;
    } block[64];
    bool pins_nothing;   /* what alloc gives, no device may write: as GPU memory that the kernel cannot pin */
    bool adopts_nothing; /* as a GPU that does not reach registered memory */
    const struct plx_stages_ops *real;
    struct plx_stages_ops ops;
} spy;

static inline int spied_blocks(bool adopted)
{
    int count = 0;
    for (size_t i = 0; i < sizeof spy.block / sizeof *spy.block; i++)
        count += spy.block[i].data && spy.block[i].adopted == adopted;
    return count;
}

/* The block that holds all of DATA; NULL: the backend does not know it. */
static inline struct spied_block *spied_block(const void *data, size_t bytes)
{
    const uint8_t *first = data;
    for (size_t i = 0; i < sizeof spy.block / sizeof *spy.block; i++) {
        struct spied_block *block = &spy.block[i];
        if (block->data && first >= block->data && first + bytes <= block->data + block->bytes)
            return block;
    }
    return NULL;
}

static inline void spy_note(void *data, size_t bytes, bool adopted)
{
    size_t i = 0;
    while (spy.block[i].data)
        assert_true(++i < sizeof spy.block / sizeof *spy.block);
    spy.block[i] = (struct spied_block){data, bytes, adopted};
}

static inline struct spied_block spy_forget(void *data, bool adopted)
{
    struct spied_block *block = spied_block(data, 1);
    assert_non_null(block);
    assert_ptr_equal(block->data, data);
    assert_true(block->adopted == adopted);
    const struct spied_block was = *block;
    block->data = NULL;
    return was;
}

static inline int spy_alloc(struct plx_stages *self, size_t bytes, void **ret_data)
{
    int result = 0;
    if (spy.pins_nothing) {
        *ret_data = mmap(NULL, bytes, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(*ret_data, MAP_FAILED);
    } else {
        result = spy.real->alloc(self, bytes, ret_data);
    }
    if (result == 0)
        spy_note(*ret_data, bytes, false);
    return result;
}

static inline void spy_free(struct plx_stages *self, void *data)
{
    const struct spied_block was = spy_forget(data, false);
    if (spy.pins_nothing)
        munmap(data, was.bytes);
    else
        spy.real->free(self, data);
}

static inline int spy_adopt(struct plx_stages *self, void *data, size_t bytes)
{
    int result = spy.adopts_nothing ? PLX_ERR_UNSUPPORTED : spy.real->adopt(self, data, bytes);
    if (result == 0)
        spy_note(data, bytes, true);
    return result;
}

static inline void spy_disown(struct plx_stages *self, void *data)
{
    spy_forget(data, true);
    spy.real->disown(self, data);
}

/* From now on; what STAGES gave before is not known. */
static inline void spy_on(struct plx_stages *stages)
{
    memset(&spy, 0, sizeof spy);
    spy.real = stages->ops;
    spy.ops = *stages->ops;
    spy.ops.alloc = spy_alloc;
    spy.ops.free = spy_free;
    spy.ops.adopt = spy_adopt;
    spy.ops.disown = spy_disown;
    stages->ops = &spy.ops;
}

#endif
