/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer: an MCAP file of any bytes, read in both orders. The first byte says whether the CRCs are set to 0, which means
 * none, so that the fuzzer reaches what is behind them; the others are the file.
 */
#include <string.h>

#include <parallax/error.h>

#include "formats/mcap/read.h"
#include "tests/fuzz/memory_file.h"

#define MAX_BYTES (1u << 16)
#define CHUNK_CRC_AT (PLX_MCAP_PREFIX_BYTES + 8 + 8 + 8)
#define SUMMARY_CRC_FROM_END (PLX_MCAP_MAGIC_BYTES + 4)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void clear_sums(uint8_t *file, size_t size)
{
    uint64_t length;

    for (size_t at = PLX_MCAP_MAGIC_BYTES; size - at >= PLX_MCAP_PREFIX_BYTES; at += PLX_MCAP_PREFIX_BYTES + length) {
        memcpy(&length, file + at + 1, sizeof length);
        if (length > size - at - PLX_MCAP_PREFIX_BYTES)
            break;
        if (file[at] == PLX_MCAP_CHUNK && PLX_MCAP_PREFIX_BYTES + length >= CHUNK_CRC_AT + 4)
            memset(file + at + CHUNK_CRC_AT, 0, 4);
        if (file[at] == PLX_MCAP_DATA_END && length >= 4)
            memset(file + at + PLX_MCAP_PREFIX_BYTES, 0, 4);
    }
    if (size >= 2 * PLX_MCAP_MAGIC_BYTES + 4)
        memset(file + size - SUMMARY_CRC_FROM_END, 0, 4);
}

/* Touches every byte that the reader hands out, for the sanitizer. */
static unsigned touch(const struct plx_mcap_message *got)
{
    unsigned sum = (unsigned)strlen(got->channel->topic) + (unsigned)strlen(got->channel->encoding);

    for (size_t i = 0; i < got->bytes; i++)
        sum += got->data[i];
    if (got->channel->schema) {
        sum += (unsigned)strlen(got->channel->schema->name);
        for (size_t i = 0; i < got->channel->schema->bytes; i++)
            sum += got->channel->schema->data[i];
    }
    return sum;
}

static void read_all(const char *path, enum plx_mcap_order order, size_t size)
{
    unsigned sum = 0;
    struct plx_error_message message;
    struct plx_mcap_reader *reader;
    struct plx_mcap_message got;
    int result;

    if (plx_mcap_reader_create(path, order, &reader, &message) < 0)
        return;
    for (size_t errors = 0; (result = plx_mcap_next(reader, &got, &message)) != PLX_ERR_END;) {
        if (result == 0)
            sum += touch(&got);
        else if (errors++ > size) /* each error passes at least a byte of the file */
            abort();
    }
    plx_mcap_reader_destroy(reader);
    __asm__ volatile("" : : "r"(sum)); /* the bytes count as read */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t bytes[MAX_BYTES];

    if (size < 1 || size > MAX_BYTES)
        return 0;
    memcpy(bytes, data + 1, size - 1);
    if (data[0] & 1 && size > PLX_MCAP_MAGIC_BYTES)
        clear_sums(bytes, size - 1);
    struct memory_file file = memory_file_open(bytes, size - 1);
    read_all(file.path, PLX_MCAP_FILE_ORDER, size);
    read_all(file.path, PLX_MCAP_LOG_ORDER, size);
    memory_file_close(&file);
    return 0;
}
