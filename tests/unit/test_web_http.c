/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of parallax-web: what is understood, what is refused with which status, and who may look. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/web/access.h"
#include "app/web/files.h"
#include "app/web/http.h"
#include "tests/cmocka.h"
#include "tests/unit/files.h"

#define HOST "Host: localhost:8765\r\n"
#define KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define UPGRADE "Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"

static int parse(const char *text, struct plx_http_request *ret_request)
{
    return plx_http_parse(text, strlen(text), ret_request);
}

static void a_request_is_whole_at_its_last_byte_only(void **state)
{
    (void)state;
    static const char text[] = "GET /a%20b?x=1&token=a%2Bb HTTP/1.1\r\n" HOST
                               "Origin:  http://localhost:8765 \r\nCookie: a=1; parallax_token=t\r\n\r\n";
    struct plx_http_request request;
    for (size_t count = 0; count < sizeof text - 1; count++)
        assert_int_equal(plx_http_parse(text, count, &request), 0);
    assert_int_equal(parse(text, &request), 1);
    assert_string_equal(request.path, "/a b");
    assert_string_equal(request.host, "localhost:8765");
    assert_string_equal(request.origin, "http://localhost:8765");
    assert_string_equal(request.key, "");
    char value[16];
    assert_true(plx_http_query(request.query, "token", value, sizeof value));
    assert_string_equal(value, "a+b");
    assert_true(plx_http_cookie(request.cookie, PLX_WEB_COOKIE, value, sizeof value));
    assert_string_equal(value, "t");
    assert_false(plx_http_query(request.query, "oken", value, sizeof value));
}

static void an_upgrade_has_all_its_parts(void **state)
{
    (void)state;
    struct plx_http_request request;
    assert_int_equal(parse("GET / HTTP/1.1\r\n" HOST UPGRADE KEY
                           "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: x, parallax.v1\r\n\r\n",
                           &request),
                     1);
    assert_string_equal(request.key, "dGhlIHNhbXBsZSBub25jZQ==");
    assert_true(plx_http_lists(request.protocols, "parallax.v1"));
    assert_false(plx_http_lists(request.protocols, "parallax"));
    assert_int_equal(parse("GET / HTTP/1.1\r\n" HOST UPGRADE KEY "Sec-WebSocket-Version: 8\r\n\r\n", &request), -426);
    assert_int_equal(parse("GET / HTTP/1.1\r\n" HOST UPGRADE "Sec-WebSocket-Version: 13\r\n\r\n", &request), -400);
    assert_int_equal(
        parse("GET / HTTP/1.1\r\n" HOST "Upgrade: websocket\r\n" KEY "Sec-WebSocket-Version: 13\r\n\r\n", &request), -400);
    assert_int_equal(
        parse("GET / HTTP/1.1\r\n" HOST UPGRADE "Sec-WebSocket-Key: short\r\nSec-WebSocket-Version: 13\r\n\r\n", &request),
        -400);
}

static void what_is_wrong_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int status;
    } cases[] = {
        {"GET / HTTP/1.1\r\n\r\n", -400},                                   /* no Host */
        {"GET / HTTP/1.1\r\nHost:\r\n\r\n", -400},                          /* an empty one */
        {"GET / HTTP/1.1\r\nHost:\r\n" HOST "\r\n", -400},                  /* two, the first of them empty */
        {"GET / HTTP/1.1\r\n" HOST HOST "\r\n", -400},                      /* two of them */
        {"GET / HTTP/1.1\r\nHost : x\r\n\r\n", -400},                       /* a space before the colon */
        {"GET / HTTP/1.1\r\n" HOST " folded\r\n\r\n", -400},                /* a folded line */
        {"GET / HTTP/1.1\r\n" HOST "A: b\x01\r\n\r\n", -400},               /* a control character */
        {"GET / HTTP/2.0\r\n" HOST "\r\n", -505},                           /* another version */
        {"GET / FTP\r\n" HOST "\r\n", -400},                                /* none */
        {"GET /\r\n" HOST "\r\n", -400},                                    /* HTTP/0.9 */
        {"POST / HTTP/1.1\r\n" HOST "\r\n", -405},                          /* changes nothing here */
        {"GET / HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello", -413}, /* content */
        {"GET / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n", -413},
        {"GET /../x HTTP/1.1\r\n" HOST "\r\n", -400},     /* out of the tree */
        {"GET /a/%2e%2E HTTP/1.1\r\n" HOST "\r\n", -400}, /* likewise, encoded */
        {"GET /a%2f..%2fb HTTP/1.1\r\n" HOST "\r\n", -400},
        {"GET /a\\b HTTP/1.1\r\n" HOST "\r\n", -400},
        {"GET /%00 HTTP/1.1\r\n" HOST "\r\n", -400},
        {"GET /%4 HTTP/1.1\r\n" HOST "\r\n", -400},
        {"GET /%zz HTTP/1.1\r\n" HOST "\r\n", -400},
        {"GET x HTTP/1.1\r\n" HOST "\r\n", -400},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plx_http_request request = {.path = "untouched"};
        const int status = parse(cases[i].text, &request);
        if (status != cases[i].status)
            fail_msg("%s: %d, expected %d", cases[i].text, status, cases[i].status);
        assert_string_equal(request.path, "untouched");
    }
}

/* As a request to a proxy has it: its authority counts, not Host. */
static void a_target_may_be_absolute(void **state)
{
    (void)state;
    struct plx_http_request request;
    assert_int_equal(parse("GET http://robot.lan:8765/a?x=1 HTTP/1.1\r\nHost: evil.example\r\n\r\n", &request), 1);
    assert_string_equal(request.host, "robot.lan:8765");
    assert_string_equal(request.path, "/a");
    assert_string_equal(request.query, "x=1");
    assert_int_equal(parse("GET HTTP://robot.lan HTTP/1.1\r\n" HOST "\r\n", &request), 1);
    assert_string_equal(request.host, "robot.lan");
    assert_string_equal(request.path, "/");
    assert_int_equal(parse("GET https://robot.lan?token=t HTTP/1.1\r\n" HOST "\r\n", &request), -400); /* no path */
    assert_int_equal(parse("GET http:// HTTP/1.1\r\n" HOST "\r\n", &request), -400);
    assert_int_equal(parse("GET http:///x HTTP/1.1\r\n" HOST "\r\n", &request), -400);
    assert_int_equal(parse("GET ftp://robot.lan/ HTTP/1.1\r\n" HOST "\r\n", &request), -400);
    assert_int_equal(parse("GET http://robot.lan/../x HTTP/1.1\r\n" HOST "\r\n", &request), -400);
}

static void sizes_are_limited(void **state)
{
    (void)state;
    static char text[2 * PLX_HTTP_MAX_BYTES];
    struct plx_http_request request;
    memset(text, 'a', sizeof text);
    assert_int_equal(plx_http_parse(text, PLX_HTTP_MAX_BYTES - 1, &request), 0);
    assert_int_equal(plx_http_parse(text, sizeof text, &request), -431);
    snprintf(text, sizeof text, "GET /%0600d HTTP/1.1\r\n" HOST "\r\n", 0);
    assert_int_equal(parse(text, &request), -414);
    snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: %0600d\r\n\r\n", 0);
    assert_int_equal(parse(text, &request), -431);
}

/* --- access ----------------------------------------------------------------------------------------------------------- */

static int check(const struct plx_web_access *access, const char *host, const char *origin, const char *query)
{
    struct plx_http_request request = {.head = false};
    struct plx_error_message message = {""};
    snprintf(request.host, sizeof request.host, "%s", host);
    snprintf(request.origin, sizeof request.origin, "%s", origin);
    snprintf(request.query, sizeof request.query, "%s", query);
    const int status = plx_web_check(access, &request, "192.168.1.7", &message);
    assert_true((status == 0) == (message.text[0] == '\0'));
    return status;
}

static void other_sites_and_names_are_refused(void **state)
{
    (void)state;
    const struct plx_web_access access = {.names = "robot.lan, eye", .origins = "https://app.foxglove.dev"};
    char own[200] = "", local[300];
    gethostname(own, sizeof own - 1);
    snprintf(local, sizeof local, "%s.local", own);
    assert_int_equal(check(&access, "localhost:8765", "", ""), 0);
    assert_int_equal(check(&access, "[::1]:8765", "http://[::1]:8765", ""), 0);
    assert_int_equal(check(&access, "192.168.1.7:8765", "http://192.168.1.7:8765", ""), 0);
    assert_int_equal(check(&access, "EYE", "", ""), 0);
    assert_int_equal(check(&access, own, "", ""), 0);
    assert_int_equal(check(&access, local, "", ""), 0);
    static const char *const no_host[] = {
        "localhost:1@evil.com", "[::1]evil.com", "[::1",   "[::1]:", "localhost:x", "localhost:1:2",
        "local host",           "localhost/",    "[evil]", ":8765",  "[]:1 "};
    for (size_t i = 0; i < sizeof no_host / sizeof *no_host; i++)
        if (strcmp(no_host[i], "[::1]:") != 0) /* an empty port is one (RFC 3986, 3.2.3) */
            assert_int_equal(check(&access, no_host[i], "", ""), 421);
    assert_int_equal(check(&access, "evil.example:8765", "", ""), 421); /* DNS rebinding */
    assert_int_equal(check(&access, "192.168.1.8:8765", "", ""), 421);
    assert_int_equal(check(&access, "localhost:8765", "http://evil.example", ""), 403);
    assert_int_equal(check(&access, "localhost:8765", "http://localhost:80", ""), 403); /* another program's page */
    assert_int_equal(check(&access, "localhost:8765", "null", ""), 403);
    assert_int_equal(check(&access, "localhost:8765", "file://", ""), 403); /* without a WebSocket of Foxglove */
    assert_int_equal(check(&access, "localhost:8765", "https://app.foxglove.dev", ""), 0);
}

static void a_token_is_needed_where_there_is_one(void **state)
{
    (void)state;
    const struct plx_web_access access = {.token = "0123456789abcdef", .names = "", .origins = ""};
    assert_int_equal(check(&access, "localhost", "", ""), 401);
    assert_int_equal(check(&access, "localhost", "", "token=0123456789abcde"), 401);
    assert_int_equal(check(&access, "localhost", "", "token=0123456789abcdef0"), 401);
    assert_int_equal(check(&access, "localhost", "", "token=0123456789abcdef"), 0);
    struct plx_http_request request = {.host = "localhost", .cookie = "x=y; " PLX_WEB_COOKIE "=0123456789abcdef"};
    struct plx_error_message message;
    assert_int_equal(plx_web_check(&access, &request, "127.0.0.1", &message), 0);
    static const char *const bearer[] = {"Bearer 0123456789abcdef", "bearer 0123456789abcdef", "BEARER 0123456789abcdef"};
    for (size_t i = 0; i < sizeof bearer / sizeof *bearer; i++) {
        request = (struct plx_http_request){.host = "localhost"};
        snprintf(request.authorization, sizeof request.authorization, "%s", bearer[i]);
        assert_int_equal(plx_web_check(&access, &request, "127.0.0.1", &message), 0);
    }
}

static const char *write_text(const char *name, const char *text)
{
    const char *path = files_path(name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(chmod(path, 0600), 0);
    return path;
}

static void a_token_file_holds_a_token(void **state)
{
    (void)state;
    char token[PLX_WEB_TOKEN];
    struct plx_error_message message;
    assert_int_equal(plx_web_token_read(files_path("none"), token, &message), PLX_ERR_NOT_FOUND);
    assert_int_equal(plx_web_token_read(write_text("token", "short\n"), token, &message), PLX_ERR_RANGE);
    assert_int_equal(plx_web_token_read(write_text("token", "spaces are not a token\n"), token, &message), PLX_ERR_FORMAT);
    assert_int_equal(plx_web_token_read(write_text("token", "0123456789abcdef\nmore\n"), token, &message), 0);
    assert_string_equal(token, "0123456789abcdef");
    static const mode_t others[] = {0604, 0602, 0666};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        assert_int_equal(chmod(files_path("token"), others[i]), 0);
        assert_int_equal(plx_web_token_read(files_path("token"), token, &message), PLX_ERR_PERMISSION);
        assert_non_null(strstr(message.text, "chmod o="));
    }
    assert_int_equal(chmod(files_path("token"), 0640), 0); /* the group of the service may */
    assert_int_equal(plx_web_token_read(files_path("token"), token, &message), 0);
    assert_int_equal(mkfifo(files_path("fifo"), 0600), 0); /* nobody will write to it */
    assert_int_equal(plx_web_token_read(files_path("fifo"), token, &message), PLX_ERR_FORMAT);
    assert_int_equal(plx_web_token_read("/dev/zero", token, &message), PLX_ERR_FORMAT);
    unlink(files_path("fifo"));
}

static void only_plain_files_can_be_read(void **state)
{
    (void)state;
    static const char *const refused[] = {"", ".", "..", ".hidden", "link.box", "none", "../a.box", "a/b", "a b"};
    char directory[256];
    int fd;
    size_t bytes;
    snprintf(directory, sizeof directory, "%s", files_path("."));
    unlink(files_path("token"));
    write_text("a.box", "12345");
    write_text(".hidden", "");
    assert_int_equal(symlink("/etc/passwd", files_path("link.box")), 0);
    assert_int_equal(plx_web_file_open(directory, "a.box", &fd, &bytes), 0);
    assert_int_equal(bytes, 5);
    close(fd);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_int_equal(plx_web_file_open(directory, refused[i], &fd, &bytes), PLX_ERR_NOT_FOUND);
    assert_int_equal(plx_web_file_open("", "a.box", &fd, &bytes), PLX_ERR_NOT_FOUND);
    cJSON *files = plx_web_files_json(directory, "/nowhere");
    const cJSON *boxes = cJSON_GetObjectItem(files, "blackbox"), *recordings = cJSON_GetObjectItem(files, "recordings");
    assert_int_equal(cJSON_GetArraySize(boxes), 1);
    assert_string_equal(cJSON_GetObjectItem(cJSON_GetArrayItem(boxes, 0), "name")->valuestring, "a.box");
    assert_true(cJSON_IsArray(recordings) && cJSON_GetArraySize(recordings) == 0);
    cJSON_Delete(files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_whole_at_its_last_byte_only),
        cmocka_unit_test(an_upgrade_has_all_its_parts),
        cmocka_unit_test(what_is_wrong_is_refused),
        cmocka_unit_test(a_target_may_be_absolute),
        cmocka_unit_test(sizes_are_limited),
        cmocka_unit_test(other_sites_and_names_are_refused),
        cmocka_unit_test(a_token_is_needed_where_there_is_one),
        cmocka_unit_test(a_token_file_holds_a_token),
        cmocka_unit_test(only_plain_files_can_be_read),
    };
    return cmocka_run_group_tests(tests, files_begin, files_end);
}
