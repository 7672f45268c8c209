/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that cameras write and backends read in place: whole pages that the backend knows, and given back as they came. */
#include "tests/memory_spy.h"

#include <errno.h>
#include <unistd.h>

#include "cpu/cpu.h"
#include "drivers/v4l2/buffer_queue.h"

static struct plx_stages *stages;

static int setup(void **state)
{
    (void)state;
    const struct plx_limits limits = {.width = 16, .height = 16, .disparities = 64, .threads = 1};
    assert_int_equal(plx_cpu_create(&limits, &stages), 0);
    spy_on(stages);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_int_equal(spied_blocks(false) + spied_blocks(true), 0);
    stages->ops->destroy(stages);
    return 0;
}

static bool is_mapped(const void *page)
{
    unsigned char resident;
    uintptr_t start = (uintptr_t)page;
    void *address;
    memcpy(&address, &start, sizeof address);
    return mincore(address, 1, &resident) == 0 || errno != ENOMEM;
}

/* Checks MEMORY of at least BYTES: page-aligned, in whole pages, writable, and all of it known to the backend. */
static void check(const struct plx_v4l2_memory *memory, size_t bytes, bool adopted)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    assert_int_equal((uintptr_t)memory->data % page, 0);
    assert_int_equal(memory->bytes % page, 0);
    assert_true(memory->bytes >= bytes && memory->bytes < bytes + page);
    const struct spied_block *block = spied_block(memory->data, memory->bytes);
    assert_non_null(block);
    assert_true(block->adopted == adopted);
    memset(memory->data, 0xA5, memory->bytes);
}

static const size_t sizes[] = {1, 4095, 4096, 4097, (size_t)513 * 7, (size_t)1280 * 800 * 2};
#define SIZES (sizeof sizes / sizeof *sizes)

static void the_backends_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < SIZES; i++) {
        struct plx_v4l2_memory memory;
        assert_int_equal(plx_v4l2_memory_alloc(stages, sizes[i], &memory), 0);
        check(&memory, sizes[i], false);
        assert_int_equal(memory.dmabuf, -1);
        plx_v4l2_memory_free(stages, &memory);
        assert_int_equal(spied_blocks(false), 0);
        plx_v4l2_memory_free(stages, &memory); /* all zeros by now */
    }
}

static void adopted_by_the_backend(void **state)
{
    (void)state;
    for (size_t i = 0; i < SIZES; i++) {
        struct plx_v4l2_memory memory;
        assert_int_equal(plx_v4l2_memory_adopt(stages, sizes[i], &memory), 0);
        check(&memory, sizes[i], true);
        assert_ptr_equal(spied_block(memory.data, 1)->data, memory.data); /* registered as a whole */
        const void *was = memory.data;
        plx_v4l2_memory_free(stages, &memory);
        assert_int_equal(spied_blocks(true), 0);
        assert_false(is_mapped(was));
    }
}

/* A dma-buf where the kernel makes one; the memory is the same through it. */
static void shared_with_the_driver(void **state)
{
    (void)state;
    for (size_t i = 0; i < SIZES; i++) {
        struct plx_v4l2_memory memory;
        int result = plx_v4l2_memory_create_dmabuf(stages, sizes[i], &memory);
        if (result < 0 && access("/dev/udmabuf", R_OK | W_OK) < 0) {
            assert_int_equal(result, PLX_ERR_UNSUPPORTED);
            continue; /* tests/vm/vm_source_memory.c has one */
        }
        assert_int_equal(result, 0);
        check(&memory, sizes[i], true);
        plx_v4l2_memory_begin_read(&memory);
        uint8_t *other = mmap(NULL, memory.bytes, PROT_READ, MAP_SHARED, memory.dmabuf, 0);
        assert_ptr_not_equal(other, MAP_FAILED);
        assert_memory_equal(other, memory.data, memory.bytes);
        munmap(other, memory.bytes);
        plx_v4l2_memory_end_read(&memory);
        plx_v4l2_memory_free(stages, &memory);
    }
}

static void a_backend_that_adopts_nothing(void **state)
{
    (void)state;
    struct plx_v4l2_memory memory, before;
    memset(&before, 0x5A, sizeof before);
    memory = before;
    spy.adopts_nothing = true;
    assert_int_equal(plx_v4l2_memory_adopt(stages, 4096, &memory), PLX_ERR_UNSUPPORTED);
    assert_int_equal(plx_v4l2_memory_create_dmabuf(stages, 4096, &memory), PLX_ERR_UNSUPPORTED);
    spy.ops.adopt = NULL; /* or says so this way */
    assert_int_equal(plx_v4l2_memory_adopt(stages, 4096, &memory), PLX_ERR_UNSUPPORTED);
    assert_memory_equal(&memory, &before, sizeof memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_backends_own, setup, teardown),
        cmocka_unit_test_setup_teardown(adopted_by_the_backend, setup, teardown),
        cmocka_unit_test_setup_teardown(shared_with_the_driver, setup, teardown),
        cmocka_unit_test_setup_teardown(a_backend_that_adopts_nothing, setup, teardown),
    };
    return cmocka_run_group_tests_name("v4l2_memory", tests, NULL, NULL);
}
