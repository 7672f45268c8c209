/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer: a black box of any bytes, read and printed by `parallax blackbox`. The first byte says whether the sums of what
 * look like records are put right, so that the fuzzer reaches what is behind them; the others are the ring.
 */
#include <stdbool.h>
#include <string.h>

#include "app/blackbox/read.h"
#include "app/cli/commands.h"
#include "tests/fuzz/memory_file.h"

#define MAX_BYTES (1u << 18)

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return freopen("/dev/null", "w", stdout) ? 0 : -1; /* standard error is the fuzzer's own */
}

static void write_header(uint8_t *file)
{
    struct plx_box_header header = {
        .version = PLX_BOX_VERSION, .abi_version = PLX_ABI_VERSION, .ring_bytes = PLX_BOX_RING_BYTES, .program = "fuzz"};

    memcpy(header.magic, PLX_BOX_MAGIC, sizeof header.magic);
    header.sum = plx_box_header_sum(&header);
    memcpy(file, &header, sizeof header);
}

static void repair(uint8_t *ring, size_t size)
{
    struct plx_box_record record;

    for (size_t at = 0; at + sizeof record <= size; at += PLX_BOX_ALIGN) {
        memcpy(&record, ring + at, sizeof record);
        if (record.magic != PLX_BOX_RECORD_MAGIC || record.bytes > size - at - sizeof record)
            continue;
        record.sum = plx_box_record_sum(&record, ring + at + sizeof record);
        memcpy(ring + at, &record, sizeof record);
    }
}

static void print(const uint8_t *data, size_t size)
{
    char name[] = "blackbox";
    struct memory_file file = memory_file_open(data, size);
    char *argv[] = {name, file.path, NULL};

    plx_command_blackbox(2, argv);
    memory_file_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t file[PLX_BOX_HEADER_BYTES + MAX_BYTES];
    struct plx_box_content content;
    struct plx_error_message message;

    if (size < 1 || size > MAX_BYTES)
        return 0;
    if (plx_box_parse(data, size, &content, &message) == 0)
        plx_box_free(&content);
    memset(file, 0, PLX_BOX_HEADER_BYTES);
    write_header(file);
    memcpy(file + PLX_BOX_HEADER_BYTES, data + 1, size - 1);
    if (data[0] & 1)
        repair(file + PLX_BOX_HEADER_BYTES, size - 1);
    print(file, PLX_BOX_HEADER_BYTES + size - 1);
    return 0;
}
