/* SPDX-License-Identifier: Apache-2.0 */
/* WebSocket frames: those of RFC 6455's examples, fragments, and what is refused. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/web/sha1.h"
#include "app/web/websocket.h"
#include "tests/cmocka.h"

static struct plx_ws_reader reader;

static long take(const uint8_t *bytes, size_t count, struct plx_ws_message *ret_message)
{
    static uint8_t copy[PLX_WS_MAX_MESSAGE + 32]; /* it is unmasked in place */
    memcpy(copy, bytes, count);
    return plx_ws_read(&reader, copy, count, ret_message);
}

/* Writes a frame of a client; returns its length. */
static size_t frame(int first, const char *text, size_t bytes, uint8_t *ret_frame)
{
    static const uint8_t mask[4] = {0x37, 0xfa, 0x21, 0x3d};
    size_t n = 0;
    ret_frame[n++] = (uint8_t)first;
    if (bytes < 126)
        ret_frame[n++] = (uint8_t)(0x80 | bytes);
    else if (bytes < 65536) {
        ret_frame[n++] = 0x80 | 126;
        ret_frame[n++] = (uint8_t)(bytes >> 8);
        ret_frame[n++] = (uint8_t)bytes;
    } else {
        ret_frame[n++] = 0x80 | 127;
        for (int i = 7; i >= 0; i--)
            ret_frame[n++] = (uint8_t)((uint64_t)bytes >> (8 * i));
    }
    memcpy(ret_frame + n, mask, 4);
    n += 4;
    for (size_t i = 0; i < bytes; i++)
        ret_frame[n++] = (uint8_t)text[i] ^ mask[i % 4];
    return n;
}

static int setup(void **state)
{
    (void)state;
    memset(&reader, 0, sizeof reader);
    return 0;
}

static void the_hash_is_sha1(void **state)
{
    (void)state;
    static const struct {
        const char *text, *hash;
    } cases[] = {/* FIPS 180-4's examples */
                 {"", "da39a3ee5e6b4b0d3255bfef95601890afd80709"},
                 {"abc", "a9993e364706816aba3e25717850c26c9cd0d89d"},
                 {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "84983e441c3bd26ebaae4aa1f95129e5e54670f1"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t hash[PLX_SHA1_BYTES];
        char text[2 * PLX_SHA1_BYTES + 1];
        plx_sha1(cases[i].text, strlen(cases[i].text), hash);
        for (int k = 0; k < PLX_SHA1_BYTES; k++)
            snprintf(text + 2 * k, 3, "%02x", hash[k]);
        assert_string_equal(text, cases[i].hash);
    }
}

static void the_answer_to_a_key_is_the_rfcs(void **state)
{
    (void)state;
    char accept[PLX_WS_ACCEPT];
    plx_ws_accept("dGhlIHNhbXBsZSBub25jZQ==", accept); /* RFC 6455, 1.3 */
    assert_string_equal(accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

static void a_frame_is_read_when_it_is_whole(void **state)
{
    (void)state;
    static const uint8_t hello[] = {0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58}; /* RFC 6455, 5.7 */
    struct plx_ws_message message = {.data = NULL};
    for (size_t count = 0; count < sizeof hello; count++)
        assert_int_equal(take(hello, count, &message), 0);
    assert_int_equal(take(hello, sizeof hello, &message), sizeof hello);
    assert_int_equal(message.opcode, PLX_WS_TEXT);
    assert_string_equal((const char *)message.data, "Hello");
}

static void fragments_come_together_around_a_ping(void **state)
{
    (void)state;
    uint8_t bytes[64];
    struct plx_ws_message message = {.data = NULL};
    assert_true(take(bytes, frame(0x01, "Hel", 3, bytes), &message) > 0);
    assert_null(message.data);
    assert_true(take(bytes, frame(0x89, "?", 1, bytes), &message) > 0);
    assert_int_equal(message.opcode, PLX_WS_PING);
    message.data = NULL;
    assert_true(take(bytes, frame(0x80, "lo", 2, bytes), &message) > 0);
    assert_int_equal(message.opcode, PLX_WS_TEXT);
    assert_int_equal(message.bytes, 5);
    assert_string_equal((const char *)message.data, "Hello");
}

static void lengths_of_all_forms_are_read_and_written(void **state)
{
    (void)state;
    static char text[PLX_WS_MAX_MESSAGE];
    static uint8_t bytes[PLX_WS_MAX_MESSAGE + 32];
    static const size_t sizes[] = {0, 1, 125, 126, 127, 65535, PLX_WS_MAX_MESSAGE};
    memset(text, 'x', sizeof text);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct plx_ws_message message = {.data = NULL};
        uint8_t head[PLX_WS_MAX_HEAD];
        const size_t length = frame(0x82, text, sizes[i], bytes);
        assert_int_equal(take(bytes, length - 1, &message), 0);
        assert_int_equal(take(bytes, length, &message), (long)length);
        assert_int_equal(message.bytes, sizes[i]);
        /* The server's head is the client's without mask. */
        const size_t head_length = plx_ws_head(PLX_WS_BINARY, sizes[i], head);
        assert_int_equal(head_length, length - sizes[i] - 4);
        assert_int_equal(head[1], bytes[1] & 0x7F);
        assert_memory_equal(head + 2, bytes + 2, head_length - 2);
    }
}

static void what_breaks_the_protocol_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *why;
        uint8_t bytes[16];
        int count, reason;
    } cases[] = {
        {"not masked", {0x81, 0x05, 'H', 'e', 'l', 'l', 'o'}, 7, PLX_WS_PROTOCOL_ERROR},
        {"an extension", {0xC1, 0x80, 0, 0, 0, 0}, 6, PLX_WS_PROTOCOL_ERROR},
        {"an unknown opcode", {0x83, 0x80, 0, 0, 0, 0}, 6, PLX_WS_PROTOCOL_ERROR},
        {"a fragmented ping", {0x09, 0x80, 0, 0, 0, 0}, 6, PLX_WS_PROTOCOL_ERROR},
        {"a long ping", {0x89, 0xFE, 0, 126, 0, 0, 0, 0}, 8, PLX_WS_PROTOCOL_ERROR},
        {"nothing to continue", {0x80, 0x80, 0, 0, 0, 0}, 6, PLX_WS_PROTOCOL_ERROR},
        {"a length in too many bytes", {0x81, 0xFE, 0, 5, 0, 0, 0, 0}, 8, PLX_WS_PROTOCOL_ERROR},
        {"too large", {0x82, 0xFF, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0}, 14, PLX_WS_TOO_LARGE},
        {"far too large", {0x82, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0}, 14, PLX_WS_TOO_LARGE},
        {"no UTF-8", {0x81, 0x81, 0, 0, 0, 0, 0xFF}, 7, PLX_WS_NO_TEXT},
        {"half a character", {0x81, 0x81, 0, 0, 0, 0, 0xC3}, 7, PLX_WS_NO_TEXT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plx_ws_message message = {.data = NULL};
        setup(NULL);
        const long result = take(cases[i].bytes, (size_t)cases[i].count, &message);
        if (result != -cases[i].reason)
            fail_msg("%s: %ld", cases[i].why, result);
        assert_null(message.data);
    }
}

static void fragments_do_not_add_up_beyond_the_limit(void **state)
{
    (void)state;
    static char text[40000];
    static uint8_t bytes[PLX_WS_MAX_MESSAGE + 32];
    struct plx_ws_message message = {.data = NULL};
    memset(text, 'x', sizeof text);
    assert_true(take(bytes, frame(0x02, text, sizeof text, bytes), &message) > 0);
    assert_int_equal(take(bytes, frame(0x02, text, 1, bytes), &message),
                     -PLX_WS_PROTOCOL_ERROR); /* another message within it */
    assert_int_equal(take(bytes, frame(0x80, text, sizeof text, bytes), &message), -PLX_WS_TOO_LARGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hash_is_sha1),
        cmocka_unit_test(the_answer_to_a_key_is_the_rfcs),
        cmocka_unit_test_setup(a_frame_is_read_when_it_is_whole, setup),
        cmocka_unit_test_setup(fragments_come_together_around_a_ping, setup),
        cmocka_unit_test_setup(lengths_of_all_forms_are_read_and_written, setup),
        cmocka_unit_test_setup(what_breaks_the_protocol_is_refused, setup),
        cmocka_unit_test_setup(fragments_do_not_add_up_beyond_the_limit, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
