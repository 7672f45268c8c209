/* SPDX-License-Identifier: Apache-2.0 */
#include "app/web/http.h"

#include <string.h>
#include <strings.h>

/* A part of the request: not ended by a 0. */
struct span {
    const char *text;
    size_t length;
};

static bool is_token(char c) /* tchar of RFC 9110, 5.6.2 */
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_text(struct span span) /* printable ASCII and tabs: what we keep is nothing else */
{
    for (size_t i = 0; i < span.length; i++)
        if ((span.text[i] < ' ' && span.text[i] != '\t') || span.text[i] == 127)
            return false;
    return true;
}

static bool equals(struct span span, const char *word)
{
    return span.length == strlen(word) && strncasecmp(span.text, word, span.length) == 0;
}

static bool keep(struct span span, char *ret_text, size_t size)
{
    if (span.length >= size)
        return false;
    memcpy(ret_text, span.text, span.length);
    ret_text[span.length] = '\0';
    return true;
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Percent-encoding (RFC 3986, 2.1). False: it is wrong, too long, or hides a control character. */
static bool decode(struct span span, char *ret_text, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < span.length; i++) {
        int c = (unsigned char)span.text[i];
        if (c == '%') {
            const int high = i + 2 < span.length ? hex(span.text[i + 1]) : -1, low = high >= 0 ? hex(span.text[i + 2]) : -1;
            if (low < 0)
                return false;
            c = high * 16 + low;
            i += 2;
        }
        if (c < ' ' || c == 127 || n + 1 >= size)
            return false;
        ret_text[n++] = (char)c;
    }
    ret_text[n] = '\0';
    return true;
}

/* Nothing outside of what is served can be named, however files are kept. */
static bool is_plain_path(const char *path)
{
    if (path[0] != '/' || strchr(path, '\\'))
        return false;
    for (const char *segment = path; segment; segment = strchr(segment, '/')) {
        segment++;
        const size_t length = strcspn(segment, "/");
        if ((length == 1 && segment[0] == '.') || (length == 2 && segment[0] == '.' && segment[1] == '.'))
            return false;
    }
    return true;
}

/* What the fields before have said: which kept ones were there, and parts of the upgrade (RFC 6455, 4.2.1). */
struct seen {
    unsigned kept;         /* bit i: field i of parse_field */
    struct span authority; /* host in a target of absolute form, which counts instead of Host; length 0: none */
    bool upgrade, connection, version;
};

/* Takes "http://AUTHORITY" off TARGET in absolute form, as a request to a proxy has it (RFC 9112, 3.2.2). */
static struct span without_authority(struct span target, struct seen *seen)
{
    static const char *const scheme[] = {"http://", "https://"};
    for (size_t i = 0; i < sizeof scheme / sizeof *scheme; i++) {
        const size_t length = strlen(scheme[i]);
        if (target.length <= length || strncasecmp(target.text, scheme[i], length) != 0)
            continue;
        seen->authority = (struct span){target.text + length, 0};
        while (length + seen->authority.length < target.length && !strchr("/?", seen->authority.text[seen->authority.length]))
            seen->authority.length++;
        const size_t taken = length + seen->authority.length;
        if (seen->authority.length == 0)
            return target; /* no path either: it is refused */
        return taken == target.length ? (struct span){"/", 1} : (struct span){target.text + taken, target.length - taken};
    }
    return target;
}

static int parse_target(struct span target, struct plx_http_request *request)
{
    const char *mark = memchr(target.text, '?', target.length);
    const struct span path = {target.text, mark ? (size_t)(mark - target.text) : target.length};
    if (path.length + 1 >= sizeof request->path)
        return -414;
    if (!decode(path, request->path, sizeof request->path) || !is_plain_path(request->path))
        return -400;
    if (mark && !keep((struct span){mark + 1, target.length - path.length - 1}, request->query, sizeof request->query))
        return -414;
    return 0;
}

/* "GET /path HTTP/1.1" */
static int parse_request_line(struct span line, struct plx_http_request *request, struct seen *seen)
{
    const char *const end = line.text + line.length;
    const char *target = memchr(line.text, ' ', line.length);
    const char *version = target ? memchr(target + 1, ' ', (size_t)(end - target - 1)) : NULL;
    if (!version || !is_text(line))
        return -400;
    const struct span method = {line.text, (size_t)(target - line.text)};
    const struct span version_span = {version + 1, (size_t)(end - version - 1)};
    for (size_t i = 0; i < method.length; i++)
        if (!is_token(method.text[i]))
            return -400;
    if (!equals(version_span, "HTTP/1.1") && !equals(version_span, "HTTP/1.0"))
        return version_span.length > 5 && memcmp(version_span.text, "HTTP/", 5) == 0 ? -505 : -400;
    request->head = method.length == 4 && memcmp(method.text, "HEAD", 4) == 0;
    if (!request->head && !(method.length == 3 && memcmp(method.text, "GET", 3) == 0))
        return method.length > 0 ? -405 : -400;
    return parse_target(without_authority((struct span){target + 1, (size_t)(version - target - 1)}, seen), request);
}

/* True if WORD is in the comma-separated LIST. */
static bool lists(struct span list, const char *word)
{
    const char *at = list.text, *const end = list.text + list.length;
    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;
        struct span item = {at, (size_t)(stop - at)};
        while (item.length > 0 && (*item.text == ' ' || *item.text == '\t')) {
            item.text++;
            item.length--;
        }
        while (item.length > 0 && (item.text[item.length - 1] == ' ' || item.text[item.length - 1] == '\t'))
            item.length--;
        if (equals(item, word))
            return true;
        at = stop + 1;
    }
    return false;
}

static int parse_field(struct span name, struct span value, struct plx_http_request *request, struct seen *seen)
{
    const struct {
        const char *name;
        char *text;
        size_t size;
    } kept[] = {{"Host", request->host, sizeof request->host},
                {"Origin", request->origin, sizeof request->origin},
                {"Cookie", request->cookie, sizeof request->cookie},
                {"Authorization", request->authorization, sizeof request->authorization},
                {"Sec-WebSocket-Key", request->key, sizeof request->key},
                {"Sec-WebSocket-Protocol", request->protocols, sizeof request->protocols}};

    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (equals(name, kept[i].name)) {
            if (seen->kept >> i & 1u) /* given twice: which one counts? */
                return -400;
            seen->kept |= 1u << i;
            return keep(value, kept[i].text, kept[i].size) ? 0 : -431;
        }
    if (equals(name, "Transfer-Encoding") || (equals(name, "Content-Length") && !equals(value, "0")))
        return -413; /* no request of ours has content */
    seen->upgrade |= equals(name, "Upgrade") && lists(value, "websocket");
    seen->connection |= equals(name, "Connection") && lists(value, "upgrade");
    seen->version |= equals(name, "Sec-WebSocket-Version") && equals(value, "13");
    return 0;
}

static int parse_line(struct span line, struct plx_http_request *request, struct seen *seen)
{
    const char *colon = memchr(line.text, ':', line.length);
    if (!colon || colon == line.text || !is_text(line))
        return -400;
    const struct span name = {line.text, (size_t)(colon - line.text)};
    for (size_t i = 0; i < name.length; i++)
        if (!is_token(name.text[i])) /* a space before the colon, or a folded line, too */
            return -400;
    struct span value = {colon + 1, line.length - name.length - 1};
    while (value.length > 0 && (*value.text == ' ' || *value.text == '\t')) {
        value.text++;
        value.length--;
    }
    while (value.length > 0 && (value.text[value.length - 1] == ' ' || value.text[value.length - 1] == '\t'))
        value.length--;
    return parse_field(name, value, request, seen);
}

/* Base64 of 16 bytes. */
static bool is_key(const char *key)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    return strlen(key) == 24 && strspn(key, letters) == 22 && strcmp(key + 22, "==") == 0;
}

static int check(struct plx_http_request *request, const struct seen *seen)
{
    if (request->host[0] == '\0')
        return -400;
    if (seen->authority.length > 0 && !keep(seen->authority, request->host, sizeof request->host))
        return -431;
    if (!seen->upgrade) {
        request->key[0] = '\0';
        return 1;
    }
    if (!seen->version)
        return -426;
    return seen->connection && is_key(request->key) && !request->head ? 1 : -400;
}

int plx_http_parse(const char *bytes, size_t count, struct plx_http_request *ret_request)
{
    struct plx_http_request request = {.head = false};
    struct seen seen = {.kept = 0};
    const size_t limit = count < PLX_HTTP_MAX_BYTES ? count : PLX_HTTP_MAX_BYTES;
    const char *const whole = memmem(bytes, limit, "\r\n\r\n", 4);
    if (!whole)
        return count >= PLX_HTTP_MAX_BYTES ? -431 : 0;

    int result = 0;
    for (const char *line = bytes; line <= whole && result == 0;) {
        const char *end = memmem(line, (size_t)(whole + 2 - line), "\r\n", 2);
        const struct span span = {line, (size_t)(end - line)};
        result = line == bytes ? parse_request_line(span, &request, &seen) : parse_line(span, &request, &seen);
        line = end + 2;
    }
    if (result == 0)
        result = check(&request, &seen);
    if (result == 1)
        *ret_request = request;
    return result;
}

bool plx_http_lists(const char *list, const char *word)
{
    return lists((struct span){list, strlen(list)}, word);
}

bool plx_http_query(const char *query, const char *name, char *ret_value, size_t size)
{
    const size_t length = strlen(name);
    while (*query) {
        const size_t pair = strcspn(query, "&");
        if (pair > length && strncmp(query, name, length) == 0 && query[length] == '=')
            return decode((struct span){query + length + 1, pair - length - 1}, ret_value, size);
        query += pair + (query[pair] == '&');
    }
    return false;
}

bool plx_http_cookie(const char *cookie, const char *name, char *ret_value, size_t size)
{
    const size_t length = strlen(name);
    while (*cookie) {
        cookie += strspn(cookie, "; ");
        const size_t pair = strcspn(cookie, ";");
        if (pair > length && strncmp(cookie, name, length) == 0 && cookie[length] == '=')
            return keep((struct span){cookie + length + 1, pair - length - 1}, ret_value, size);
        cookie += pair;
    }
    return false;
}

const char *plx_http_reason(int status)
{
    static const struct {
        int status;
        const char *reason;
    } reasons[] = {{101, "Switching Protocols"},
                   {200, "OK"},
                   {303, "See Other"},
                   {400, "Bad Request"},
                   {401, "Unauthorized"},
                   {403, "Forbidden"},
                   {404, "Not Found"},
                   {405, "Method Not Allowed"},
                   {408, "Request Timeout"},
                   {413, "Content Too Large"},
                   {414, "URI Too Long"},
                   {421, "Misdirected Request"},
                   {426, "Upgrade Required"},
                   {429, "Too Many Requests"},
                   {431, "Request Header Fields Too Large"},
                   {500, "Internal Server Error"},
                   {503, "Service Unavailable"},
                   {505, "HTTP Version Not Supported"}};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "Error";
}
