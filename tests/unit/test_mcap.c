/* SPDX-License-Identifier: Apache-2.0 */
/* MCAP files written and read again: channels, sizes around a chunk's, chunks by time, orders. */
#include <lz4frame.h>

#include "formats/mcap/buffer.h"
#include "tests/unit/mcap_files.h"

#define CHUNK 4096
#define RECORD 31 /* bytes of a message's record besides its data */
#define MS UINT64_C(1000000)

static void test_many_channels_in_pieces(void **state)
{
    (void)state;
    struct mcap_file file = mcap_begin("many.mcap", CHUNK, 0);
    static const struct plx_mcap_pair pair[] = {{"frame", "left"}, {"", "empty key"}};
    uint16_t channel[200], schema;
    char topic[16];

    for (int i = 0; i < 200; i++) {
        snprintf(topic, sizeof topic, "/t%d", i);
        assert_int_equal(plx_mcap_add_schema(file.writer, topic, "ros2msg", topic, 3, &schema, &message), 0);
        assert_int_equal(plx_mcap_add_channel(file.writer, schema, topic, "cdr", pair, (size_t)i % 3, &channel[i], &message),
                         0);
    }
    assert_int_equal(plx_mcap_add_metadata(file.writer, "parallax", pair, 2, &message), 0);
    for (unsigned n = 0; n < 3000; n++)
        assert_int_equal(mcap_put(&file, channel[n * 7 % 200], n, n * MS, n % 97), 0);
    mcap_close(&file, 0);

    for (int order = PLX_MCAP_FILE_ORDER; order <= PLX_MCAP_LOG_ORDER; order++) {
        struct plx_mcap_reader *reader = mcap_open("many.mcap", (enum plx_mcap_order)order);
        struct plx_mcap_message got;
        assert_int_equal(plx_mcap_order(reader), order);
        assert_string_equal(plx_mcap_profile(reader), "ros2");
        assert_string_equal(plx_mcap_library(reader), "parallax test");
        for (unsigned n = 0; n < 3000; n++) {
            assert_int_equal(plx_mcap_next(reader, &got, &message), 0);
            mcap_assert(&got, n, n * MS, n % 97);
            snprintf(topic, sizeof topic, "/t%u", n * 7 % 200);
            assert_string_equal(got.channel->topic, topic);
            assert_string_equal(got.channel->schema->name, topic);
            assert_memory_equal(got.channel->schema->data, topic, 3);
        }
        assert_int_equal(plx_mcap_next(reader, &got, &message), PLX_ERR_END);
        assert_int_equal(plx_mcap_next(reader, &got, &message), PLX_ERR_END);
        assert_false(plx_mcap_is_cut(reader));
        plx_mcap_reader_destroy(reader);
    }
}

static void round_trip(const size_t *bytes, size_t count, size_t message_bytes)
{
    struct mcap_file file = mcap_begin("sizes.mcap", CHUNK, message_bytes);
    struct plx_mcap_message got;

    for (size_t i = 0; i < count; i++)
        assert_int_equal(mcap_put(&file, file.channel, i, i, bytes[i]), 0);
    mcap_close(&file, 0);
    for (int order = PLX_MCAP_FILE_ORDER; order <= PLX_MCAP_LOG_ORDER; order++) {
        struct plx_mcap_reader *reader = mcap_open("sizes.mcap", (enum plx_mcap_order)order);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(plx_mcap_next(reader, &got, &message), 0);
            mcap_assert(&got, i, i, bytes[i]);
        }
        assert_int_equal(plx_mcap_next(reader, &got, &message), PLX_ERR_END);
        plx_mcap_reader_destroy(reader);
    }
}

static void test_sizes_around_a_chunk(void **state)
{
    (void)state;
    const size_t big = 5u << 20, full = CHUNK - RECORD;
    const size_t bytes[] = {0, 1, full - 1, full, full + 1, 0,    CHUNK - 1, CHUNK, CHUNK + 1,
                            1, 0, big,      7,    full - 8, 1000, big,       big,   0};
    round_trip(bytes, sizeof bytes / sizeof bytes[0], 0);   /* larger ones are chunks of their own, uncompressed */
    round_trip(bytes, sizeof bytes / sizeof bytes[0], big); /* compressed */
    round_trip(bytes, 0, 0);
}

/* Ends of chunks: the same file with and without its last message. */
static void test_a_chunk_spans_a_second_at_most(void **state)
{
    (void)state;
    static const uint64_t times[] = {5000, 5999, 6000, 6001, 4000, 4500, 9000}; /* ms; a clock may be set back */
    struct mcap_file file = mcap_begin("time.mcap", 1u << 20, 0);
    off_t end[7];

    for (unsigned n = 0; n < 7; n++) {
        assert_int_equal(mcap_put(&file, file.channel, n, times[n] * MS, 10), 0);
        end[n] = lseek(file.fd, 0, SEEK_CUR);
    }
    assert_true(end[0] == end[1] && end[1] == end[2]);
    assert_true(end[2] < end[3] && end[3] < end[4] && end[4] == end[5] && end[5] < end[6]);
    assert_int_equal(plx_mcap_flush(file.writer, &message), 0);
    const off_t flushed = lseek(file.fd, 0, SEEK_CUR);
    assert_true(end[6] < flushed);
    assert_int_equal(plx_mcap_flush(file.writer, &message), 0);
    assert_int_equal(lseek(file.fd, 0, SEEK_CUR), flushed);
    mcap_close(&file, 0);

    static const unsigned sorted[] = {4, 5, 0, 1, 2, 3, 6};
    struct plx_mcap_reader *reader = mcap_open("time.mcap", PLX_MCAP_LOG_ORDER);
    struct plx_mcap_message got;
    for (unsigned i = 0; i < 7; i++) {
        assert_int_equal(plx_mcap_next(reader, &got, &message), 0);
        mcap_assert(&got, sorted[i], times[sorted[i]] * MS, 10);
    }
    plx_mcap_reader_destroy(reader);
}

/* Times that jump within a second and over chunks: sorted, and messages of one time as they were written. */
static void test_log_order_merges_chunks(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    static uint64_t time_ns[COUNT];
    struct mcap_file file = mcap_begin("order.mcap", CHUNK, 0);
    uint64_t random = scratch_seed(), last_ns = 0;
    bool seen[COUNT] = {false};
    uint32_t last = 0;

    for (unsigned n = 0; n < COUNT; n++) {
        time_ns[n] = n * 10 + scratch_random(&random) % 20000;
        assert_int_equal(mcap_put(&file, file.channel, n, time_ns[n], n % 50), 0);
    }
    mcap_close(&file, 0);
    struct plx_mcap_reader *reader = mcap_open("order.mcap", PLX_MCAP_LOG_ORDER);
    struct plx_mcap_message got;
    for (unsigned i = 0; i < COUNT; i++) {
        assert_int_equal(plx_mcap_next(reader, &got, &message), 0);
        const uint32_t n = got.header.sequence;
        assert_in_range(n, 0, COUNT - 1);
        assert_false(seen[n]);
        seen[n] = true;
        mcap_assert(&got, n, time_ns[n], n % 50);
        assert_true(got.header.log_ns > last_ns || (got.header.log_ns == last_ns && (i == 0 || n > last)));
        last_ns = got.header.log_ns;
        last = n;
    }
    assert_int_equal(plx_mcap_next(reader, &got, &message), PLX_ERR_END);
    plx_mcap_reader_destroy(reader);
}

static void test_more_messages_than_a_chunk_lists(void **state)
{
    (void)state;
    enum { COUNT = 10000 };
    struct mcap_file file = mcap_begin("small.mcap", 1u << 20, 0);
    struct plx_mcap_message got;

    for (unsigned n = 0; n < COUNT; n++)
        assert_int_equal(mcap_put(&file, file.channel, n, n, 0), 0);
    mcap_close(&file, 0);
    struct plx_mcap_reader *reader = mcap_open("small.mcap", PLX_MCAP_LOG_ORDER);
    for (unsigned n = 0; n < COUNT; n++) {
        assert_int_equal(plx_mcap_next(reader, &got, &message), 0);
        mcap_assert(&got, n, n, 0);
    }
    assert_int_equal(plx_mcap_next(reader, &got, &message), PLX_ERR_END);
    plx_mcap_reader_destroy(reader);
}

static void test_the_callers_mistakes(void **state)
{
    (void)state;
    struct mcap_file file = mcap_begin("mistakes.mcap", CHUNK, 0);
    const struct plx_mcap_header header = {file.channel, 0, 0, 0}, none = {0, 0, 0, 0}, other = {2, 0, 0, 0};
    struct iovec piece[PLX_MCAP_MAX_PIECES + 1] = {{0}};
    uint16_t id = 77;

    assert_int_equal(plx_mcap_write(file.writer, &none, piece, 1, &message), PLX_ERR_ARG);
    assert_int_equal(plx_mcap_write(file.writer, &other, piece, 1, &message), PLX_ERR_ARG);
    assert_int_equal(plx_mcap_write(file.writer, &header, piece, PLX_MCAP_MAX_PIECES + 1, &message), PLX_ERR_ARG);
    assert_non_null(strstr(message.text, "mistakes.mcap"));
    piece[0] = (struct iovec){&id, PLX_MCAP_MAX_BYTES};
    assert_int_equal(plx_mcap_write(file.writer, &header, piece, 1, &message), PLX_ERR_ARG);
    assert_int_equal(plx_mcap_add_channel(file.writer, 2, "/b", "cdr", NULL, 0, &id, &message), PLX_ERR_ARG);
    assert_int_equal(id, 77);
    assert_int_equal(plx_mcap_write(file.writer, &header, piece, 0, &message), 0);
    assert_int_equal(plx_mcap_finish(file.writer, &message), 0);
    assert_int_equal(plx_mcap_finish(file.writer, &message), PLX_ERR_ARG);
    assert_int_equal(plx_mcap_write(file.writer, &header, piece, 0, &message), PLX_ERR_ARG);
    plx_mcap_writer_destroy(file.writer);
    close(file.fd);

    const struct plx_mcap_writer_options large = {-1, "x", "", PLX_MCAP_MAX_BYTES, 0}, bad = {-1, "x", "", 0, 0};
    struct plx_mcap_writer *writer = NULL;
    assert_int_equal(plx_mcap_writer_create(&large, &writer, &message), PLX_ERR_ARG);
    assert_int_equal(plx_mcap_writer_create(&bad, &writer, &message), PLX_ERR_IO);
    assert_null(writer);
    plx_mcap_writer_destroy(NULL);
    plx_mcap_reader_destroy(NULL);
}

/* Other writers' chunks: compressed by lz4, whole and damaged. */
static void test_a_chunk_of_lz4(void **state)
{
    (void)state;
    struct plx_mcap_buffer records = {0}, chunk = {0};
    uint8_t packed[4096];
    assert_int_equal(plx_mcap_reserve(&records, 1024), 0);
    plx_mcap_put_prefix(&records, PLX_MCAP_CHANNEL, 2 + 2 + (4 + 2) + (4 + 3) + 4);
    plx_mcap_put_number(&records, 1, 2); /* id */
    plx_mcap_put_number(&records, 0, 2); /* no schema */
    plx_mcap_put_part(&records, "/a", 2);
    plx_mcap_put_part(&records, "cdr", 3);
    plx_mcap_put_number(&records, 0, 4); /* no metadata */
    plx_mcap_put_prefix(&records, PLX_MCAP_MESSAGE, 2 + 4 + 8 + 8 + 300);
    plx_mcap_put_number(&records, 1, 2);
    plx_mcap_put_number(&records, 7, 4);
    plx_mcap_put_number(&records, 11, 8);
    plx_mcap_put_number(&records, 12, 8);
    for (int i = 0; i < 300; i++)
        plx_mcap_put_number(&records, (uint64_t)i / 3, 1);
    const size_t bytes = LZ4F_compressFrame(packed, sizeof packed, records.data, records.used, NULL);
    assert_false(LZ4F_isError(bytes));
    for (int cut = 0; cut < 3; cut++) { /* whole; the frame cut off; a size that is not the frame's */
        const size_t stored = cut == 1 ? bytes - 5 : bytes;
        chunk.used = 0;
        assert_int_equal(plx_mcap_reserve(&chunk, 4096), 0);
        plx_mcap_put(&chunk, PLX_MCAP_MAGIC, PLX_MCAP_MAGIC_BYTES);
        plx_mcap_put_prefix(&chunk, PLX_MCAP_HEADER, 8);
        plx_mcap_put_number(&chunk, 0, 8); /* no profile, no library */
        plx_mcap_put_prefix(&chunk, PLX_MCAP_CHUNK, 8 + 8 + 8 + 4 + (4 + 3) + 8 + stored);
        plx_mcap_put_number(&chunk, 11, 8);
        plx_mcap_put_number(&chunk, 11, 8);
        plx_mcap_put_number(&chunk, records.used + (cut == 2), 8);
        plx_mcap_put_number(&chunk, 0, 4); /* no CRC */
        plx_mcap_put_part(&chunk, "lz4", 3);
        plx_mcap_put_number(&chunk, stored, 8);
        plx_mcap_put(&chunk, packed, stored);
        FILE *file = fopen(files_path("lz4"), "wb");
        assert_int_equal(fwrite(chunk.data, 1, chunk.used, file), chunk.used);
        fclose(file);
        struct plx_mcap_reader *reader;
        struct plx_mcap_message got;
        assert_int_equal(plx_mcap_reader_create(files_path("lz4"), PLX_MCAP_FILE_ORDER, &reader, &message), 0);
        assert_int_equal(plx_mcap_next(reader, &got, &message), cut == 0 ? 0 : PLX_ERR_FORMAT);
        assert_true(cut != 0 || (got.bytes == 300 && got.data[299] == 99 && got.header.log_ns == 11));
        plx_mcap_reader_destroy(reader);
    }
    free(records.data);
    free(chunk.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_chunk_of_lz4),          cmocka_unit_test(test_many_channels_in_pieces),
        cmocka_unit_test(test_sizes_around_a_chunk),    cmocka_unit_test(test_a_chunk_spans_a_second_at_most),
        cmocka_unit_test(test_log_order_merges_chunks), cmocka_unit_test(test_more_messages_than_a_chunk_lists),
        cmocka_unit_test(test_the_callers_mistakes),
    };
    return cmocka_run_group_tests(tests, files_begin, files_end);
}
