/* SPDX-License-Identifier: Apache-2.0 */
/* Fixture of the fault matrix (faults.md): how much of it to run, and the conditions that must hold after every fault. */
#ifndef PLX_TESTS_SYSTEM_FAULT_H
#define PLX_TESTS_SYSTEM_FAULT_H

#include "tests/system/service.h"

#include "tests/scratch.h"

/* ./dev test faults sets PLX_FAULTS=full: everything; else a sample. */
static inline bool fault_full(void)
{
    const char *how_much = getenv("PLX_FAULTS");
    return how_much && strcmp(how_much, "full") == 0;
}

/* Descriptors that PROCESS has open. */
static inline int open_files(pid_t process)
{
    char path[64];
    int count = 0;

    snprintf(path, sizeof path, "/proc/%d/fd", (int)process);
    DIR *directory = opendir(path);
    assert_non_null(directory);
    while (readdir(directory))
        count++;
    closedir(directory);
    return count - 2; /* . and .. */
}

/* The same once that is no longer changing: clients that left, children that were reaped, may take the supervisor a moment. */
static inline int settled_files(pid_t process)
{
    int files = open_files(process);

    for (int same = 0; same < 10; same++) {
        usleep(5000);
        const int now = open_files(process);
        if (now != files)
            same = -1;
        files = now;
    }
    return files;
}

/* The service has FILES descriptors again within TIMEOUT_MS. */
static inline void expect_files(int files, int timeout_ms)
{
    const int64_t begin_ms = now_ms();

    while (open_files(daemon_.pid) != files) {
        if (is_late(begin_ms, timeout_ms))
            fail_msg("%d descriptors, %d before; PLX_TEST_SEED=%llu", open_files(daemon_.pid), files,
                     (unsigned long long)scratch_seed());
        usleep(5000);
    }
}

/* Memory of PROCESS itself, without what it shares: KiB. */
static inline long private_kib(pid_t process)
{
    char path[64], line[128];
    long anonymous = -1;

    snprintf(path, sizeof path, "/proc/%d/status", (int)process);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "RssAnon: %ld", &anonymous) == 1)
            break;
    fclose(file);
    assert_true(anonymous >= 0);
    return anonymous;
}

/* Copies the next frame and looks whether it is of one piece: the histogram that was published with it must be that of its
 * picture, which the small scene does not rectify. Returns its header; fails after TIMEOUT_MS. */
static inline struct plx_frame whole_frame(struct plx_client *client, int timeout_ms)
{
    static uint64_t memory[(1 << 22) / sizeof(uint64_t)];
    const struct plx_frame *frame = (const struct plx_frame *)memory;
    const int64_t begin_ms = now_ms();
    uint32_t bins[PLX_HISTOGRAM_BINS] = {0};
    size_t bytes;
    int result;

    while ((result = plx_copy(client, 50, memory, sizeof memory, &bytes)) < 0) {
        assert_true(result == PLX_ERR_TIMEOUT || result == PLX_ERR_LOST || result == PLX_ERR_OVERWRITTEN);
        if (is_late(begin_ms, timeout_ms))
            fail_msg("no frame in %d ms; the service said: %s", timeout_ms, daemon_said(&daemon_));
        if (result == PLX_ERR_LOST)
            usleep(5000);
    }
    const struct plx_plane *picture = &frame->plane[PLX_PLANE_LEFT], *histogram = &frame->plane[PLX_PLANE_HISTOGRAM];
    assert_int_equal(picture->width, WIDTH);
    for (uint32_t y = 0; y < picture->height; y++)
        for (uint32_t x = 0; x < picture->width; x++)
            bins[((const uint8_t *)memory)[picture->offset + y * picture->pitch + x]]++;
    assert_memory_equal(bins, (const uint8_t *)memory + histogram->offset, sizeof bins);
    return *frame;
}

#endif
