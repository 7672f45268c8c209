/* SPDX-License-Identifier: Apache-2.0 */
/* MCAP files cut at every byte, with flipped bytes, with false numbers, and on a full disk. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "tests/unit/mcap_files.h"

#define MESSAGES 40
#define CHUNK 300
#define MAX_CHUNKS 64

/* The file that the tests damage, and where its chunks end. */
static uint8_t *whole;
static size_t whole_bytes;
static struct {
    size_t end, end_with_index; /* in the file */
    unsigned messages;          /* in this chunk and those before */
} chunk[MAX_CHUNKS];
static unsigned chunks;

static size_t size_of(unsigned number)
{
    return number * 13 % 71;
}

/* Writes the messages, until a call fails; returns what plx_mcap_finish returns. */
static int write_all(const char *name)
{
    static const struct plx_mcap_pair pair = {"key", "value"};
    struct mcap_file file = mcap_begin(name, CHUNK, 0);
    int result = plx_mcap_add_metadata(file.writer, "some", &pair, 1, &message);

    for (unsigned n = 0; n < MESSAGES && result == 0; n++)
        result = mcap_put(&file, file.channel, n, n, size_of(n));
    if (result < 0) { /* it stays so */
        assert_int_equal(mcap_put(&file, file.channel, 0, 0, 0), result);
        assert_int_equal(plx_mcap_flush(file.writer, &message), result);
    }
    result = plx_mcap_finish(file.writer, &message);
    plx_mcap_writer_destroy(file.writer);
    close(file.fd);
    return result;
}

static size_t number_at(size_t at, size_t bytes)
{
    size_t number = 0;
    memcpy(&number, whole + at, bytes); /* little-endian, as are all machines that Parallax runs on */
    return number;
}

/* The first BYTES of the file. A file that is written over is slow: ext4 writes it to the disk. */
static void write_fresh(const char *name, size_t bytes)
{
    remove(files_path(name));
    files_write(name, whole, bytes);
}

static int begin(void **state)
{
    FILE *in;
    if (files_begin(state) != 0 || write_all("whole.mcap") != 0 || !(in = fopen(files_path("whole.mcap"), "rb")))
        return -1;
    whole = malloc(1u << 16);
    whole_bytes = fread(whole, 1, 1u << 16, in);
    fclose(in);
    for (size_t at = 8; whole[at] != PLX_MCAP_DATA_END; at += 9 + number_at(at + 1, 8)) {
        const size_t end = at + 9 + number_at(at + 1, 8);
        if (whole[at] == PLX_MCAP_CHUNK)
            chunk[chunks++].end = end;
        if (whole[at] == PLX_MCAP_MESSAGE_INDEX) {
            chunk[chunks - 1].end_with_index = end;
            chunk[chunks - 1].messages = (unsigned)number_at(at + 11, 4) / 16 + (chunks > 1 ? chunk[chunks - 2].messages : 0);
        }
    }
    return chunks > 5 && chunk[chunks - 1].messages == MESSAGES ? 0 : -1;
}

static int end(void **state)
{
    free(whole);
    return files_end(state);
}

/* Reads what is left of the file: exactly the first EXPECTED messages. */
static void assert_messages(const char *name, enum plx_mcap_order order, unsigned expected, bool is_cut)
{
    struct plx_mcap_reader *reader = mcap_open(name, order);
    struct plx_mcap_message got;

    for (unsigned n = 0; n < expected; n++) {
        assert_int_equal(plx_mcap_next(reader, &got, &message), 0);
        mcap_assert(&got, n, n, size_of(n));
    }
    assert_int_equal(plx_mcap_next(reader, &got, &message), PLX_ERR_END);
    assert_int_equal(plx_mcap_is_cut(reader), is_cut);
    plx_mcap_reader_destroy(reader);
}

static void test_cut_at_every_byte(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes < whole_bytes; bytes++) {
        unsigned expected = 0;
        for (unsigned i = 0; i < chunks && chunk[i].end <= bytes; i++)
            expected = chunk[i].messages;
        write_fresh("cut.mcap", bytes);
        assert_messages("cut.mcap", PLX_MCAP_FILE_ORDER, expected, true);
        assert_messages("cut.mcap", PLX_MCAP_LOG_ORDER, expected, true);
    }
    assert_messages("whole.mcap", PLX_MCAP_FILE_ORDER, MESSAGES, false);
}

/* After a loss of power a file may end with zeros. */
static void test_zeros_at_the_end(void **state)
{
    (void)state;
    uint8_t *zeros = calloc(1, whole_bytes + 5000);
    memcpy(zeros, whole, chunk[3].end_with_index);
    files_write("zeros.mcap", zeros, whole_bytes + 5000);
    assert_messages("zeros.mcap", PLX_MCAP_LOG_ORDER, chunk[3].messages, true);
    free(zeros);
}

/* True if the reader noticed anything. Whatever it returned has the right bytes. */
static bool notices(const char *name, enum plx_mcap_order order)
{
    struct plx_mcap_reader *reader;
    struct plx_mcap_message got;
    int result = plx_mcap_reader_create(files_path(name), order, &reader, &message);
    bool noticed = result < 0;
    unsigned calls = 0;

    if (result < 0) {
        assert_int_equal(result, PLX_ERR_FORMAT);
        return true;
    }
    while ((result = plx_mcap_next(reader, &got, &message)) != PLX_ERR_END) {
        assert_true(calls++ < 2 * MESSAGES); /* it comes to an end */
        noticed = noticed || result < 0;
        if (result == 0)
            mcap_assert(&got, got.header.sequence, got.header.log_ns, size_of(got.header.sequence));
        else
            assert_non_null(strstr(message.text, name));
    }
    noticed = noticed || plx_mcap_is_cut(reader);
    plx_mcap_reader_destroy(reader);
    return noticed;
}

static void test_every_flipped_byte_is_noticed(void **state)
{
    (void)state;
    static const uint8_t flip[] = {0x01, 0x80, 0xFF};
    for (size_t at = 0; at < whole_bytes; at++)
        for (size_t i = 0; i < sizeof flip; i++) {
            whole[at] ^= flip[i];
            write_fresh("flip.mcap", whole_bytes);
            if (!notices("flip.mcap", PLX_MCAP_FILE_ORDER))
                fail_msg("byte %zu ^ 0x%02x", at, flip[i]);
            notices("flip.mcap", PLX_MCAP_LOG_ORDER);
            whole[at] ^= flip[i];
        }
}

static void test_a_damaged_chunk_is_passed(void **state)
{
    (void)state;
    struct plx_mcap_message got;
    const size_t at = chunk[2].end - 3;

    whole[at] ^= 0x10;
    files_write("chunk.mcap", whole, whole_bytes);
    whole[at] ^= 0x10;
    for (int order = PLX_MCAP_FILE_ORDER; order <= PLX_MCAP_LOG_ORDER; order++) {
        struct plx_mcap_reader *reader = mcap_open("chunk.mcap", (enum plx_mcap_order)order);
        for (unsigned n = 0; n < MESSAGES; n++) {
            if (n == chunk[1].messages) {
                assert_int_equal(plx_mcap_next(reader, &got, &message), PLX_ERR_FORMAT);
                assert_non_null(strstr(message.text, "chunk.mcap: damaged at byte "));
                n = chunk[2].messages;
            }
            assert_int_equal(plx_mcap_next(reader, &got, &message), 0);
            mcap_assert(&got, n, n, size_of(n));
        }
        assert_int_equal(plx_mcap_next(reader, &got, &message), PLX_ERR_FORMAT); /* CRC of all data; number of messages */
        assert_int_equal(plx_mcap_next(reader, &got, &message), PLX_ERR_END);
        plx_mcap_reader_destroy(reader);
    }
}

static void test_no_mcap_file(void **state)
{
    (void)state;
    struct plx_mcap_reader *reader = NULL;
    files_text("text", "MCAP0 is not what begins so");
    assert_int_equal(plx_mcap_reader_create(files_path("text"), PLX_MCAP_FILE_ORDER, &reader, &message), PLX_ERR_FORMAT);
    assert_non_null(strstr(message.text, "text: not an MCAP file"));
    assert_int_equal(plx_mcap_reader_create(files_path("no"), PLX_MCAP_FILE_ORDER, &reader, &message), PLX_ERR_NOT_FOUND);
    assert_int_equal(plx_mcap_reader_create(files_path(""), PLX_MCAP_FILE_ORDER, &reader, &message), PLX_ERR_FORMAT);
    assert_null(reader);
}

/* A limit of the file's size, at every byte: what is a whole chunk below it can be read. */
static void test_full_disk(void **state)
{
    (void)state;
    struct rlimit before, limit;

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    for (size_t bytes = chunk[0].end; bytes < whole_bytes; bytes++) {
        unsigned expected = 0;
        for (unsigned i = 0; i < chunks && chunk[i].end_with_index <= bytes; i++)
            expected = chunk[i].messages;
        limit = (struct rlimit){bytes, before.rlim_max};
        setrlimit(RLIMIT_FSIZE, &limit);
        remove(files_path("full.mcap"));
        const int result = write_all("full.mcap");
        setrlimit(RLIMIT_FSIZE, &before);
        assert_int_equal(result, PLX_ERR_IO);
        assert_non_null(strstr(message.text, "full.mcap: cannot be written: File too large"));

        struct plx_mcap_reader *reader = mcap_open("full.mcap", PLX_MCAP_FILE_ORDER);
        const bool is_cut = plx_mcap_is_cut(reader);
        plx_mcap_reader_destroy(reader);
        assert_messages("full.mcap", PLX_MCAP_FILE_ORDER, expected, is_cut);
        if (expected > 0)
            assert_messages("full.mcap", PLX_MCAP_LOG_ORDER, expected, is_cut);
    }
}

/* The chunk that did not fit was longer than the summary: the file gets its end. */
static void test_full_disk_with_room_for_the_summary(void **state)
{
    (void)state;
    enum { LARGE = 20000 };
    struct rlimit before;
    struct mcap_file file = mcap_begin("room.mcap", LARGE, 0);
    struct plx_mcap_message got;

    getrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(mcap_put(&file, file.channel, 0, 0, LARGE - 31), 0);
    const struct rlimit limit = {(rlim_t)lseek(file.fd, 0, SEEK_CUR) + 2000, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    const int result = mcap_put(&file, file.channel, 1, 1, LARGE);
    mcap_close(&file, PLX_ERR_IO);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(result, PLX_ERR_IO);
    struct plx_mcap_reader *reader = mcap_open("room.mcap", PLX_MCAP_LOG_ORDER);
    assert_false(plx_mcap_is_cut(reader));
    assert_int_equal(plx_mcap_order(reader), PLX_MCAP_LOG_ORDER);
    assert_int_equal(plx_mcap_next(reader, &got, &message), 0);
    mcap_assert(&got, 0, 0, LARGE - 31);
    assert_int_equal(plx_mcap_next(reader, &got, &message), PLX_ERR_END);
    plx_mcap_reader_destroy(reader);
}

/* Who removes the recording to have space must not be told that it can be read. */
static void test_full_disk_of_a_removed_file(void **state)
{
    (void)state;
    struct rlimit before;
    struct mcap_file file = mcap_begin("gone.mcap", 1000, 0);

    getrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(remove(files_path("gone.mcap")), 0);
    const struct rlimit limit = {(rlim_t)lseek(file.fd, 0, SEEK_CUR) + 100, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    assert_int_equal(mcap_put(&file, file.channel, 0, 0, 20000), PLX_ERR_IO);
    assert_non_null(strstr(message.text, "It was removed meanwhile: nothing of its"));
    mcap_close(&file, PLX_ERR_IO);
    setrlimit(RLIMIT_FSIZE, &before);
}

static void test_no_space_and_a_closed_pipe(void **state)
{
    (void)state;
    int end_of[2];
    struct plx_mcap_writer_options options = {open("/dev/full", O_WRONLY | O_CLOEXEC), "full", "", 0, 0};
    struct plx_mcap_writer *writer = NULL;

    assert_int_equal(plx_mcap_writer_create(&options, &writer, &message), PLX_ERR_IO);
    assert_non_null(strstr(message.text, strerror(ENOSPC)));
    close(options.fd);

    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(end_of), 0);
    options.fd = end_of[1];
    assert_int_equal(plx_mcap_writer_create(&options, &writer, &message), 0);
    close(end_of[0]);
    uint16_t id = 9;
    assert_int_equal(plx_mcap_add_schema(writer, "a", "b", "", 0, &id, &message), PLX_ERR_IO);
    assert_int_equal(id, 9);
    assert_int_equal(plx_mcap_finish(writer, &message), PLX_ERR_IO);
    plx_mcap_writer_destroy(writer);
    close(end_of[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_at_every_byte),
        cmocka_unit_test(test_zeros_at_the_end),
        cmocka_unit_test(test_every_flipped_byte_is_noticed),
        cmocka_unit_test(test_a_damaged_chunk_is_passed),
        cmocka_unit_test(test_no_mcap_file),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_full_disk_with_room_for_the_summary),
        cmocka_unit_test(test_full_disk_of_a_removed_file),
        cmocka_unit_test(test_no_space_and_a_closed_pipe),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
