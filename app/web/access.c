/* SPDX-License-Identifier: Apache-2.0 */
#include "app/web/access.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <parallax/error.h>

int plx_web_token_read(const char *path, char ret_token[PLX_WEB_TOKEN], struct plx_error_message *message)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
    char token[PLX_WEB_TOKEN + 1] = "";
    FILE *file = fopen(path, "re");
    if (!file)
        return plx_fail(message, plx_error_of_errno(errno), "%s: %s", path, strerror(errno));
    const bool is_read = fgets(token, sizeof token, file) && !ferror(file);
    fclose(file);
    token[strcspn(token, "\r\n")] = '\0';
    const size_t length = strlen(token);
    if (!is_read || length < PLX_WEB_MIN_TOKEN || length >= PLX_WEB_TOKEN)
        return plx_fail(message, PLX_ERR_RANGE, "%s: expected a token of %d to %d characters in the first line", path,
                        PLX_WEB_MIN_TOKEN, PLX_WEB_TOKEN - 1);
    if (strspn(token, letters) != length)
        return plx_fail(message, PLX_ERR_FORMAT, "%s: expected letters, digits, '-', '_' and '.' in the token", path);
    memcpy(ret_token, token, length + 1);
    return 0;
}

/* True if the LENGTH characters at WORD are in the comma-separated LIST. */
static bool lists(const char *list, const char *word, size_t length)
{
    while (*list) {
        list += strspn(list, ", ");
        const size_t item = strcspn(list, ", ");
        if (item == length && item > 0 && strncasecmp(list, word, item) == 0)
            return true;
        list += item;
    }
    return false;
}

/* Length of HOST without its port: of "[::1]:8765" the bracket. */
static size_t name_length(const char *host)
{
    const char *bracket = host[0] == '[' ? strchr(host, ']') : NULL;
    return bracket ? (size_t)(bracket - host) + 1 : strcspn(host, ":");
}

static bool is_own_host(const struct plx_web_access *access, const char *host, const char *local)
{
    char own[256] = "";
    const size_t length = name_length(host);
    gethostname(own, sizeof own - 1);
    const size_t own_length = strlen(own);
    return lists("localhost,127.0.0.1,[::1]", host, length) || lists(local, host, length) || lists(own, host, length) ||
           (length == own_length + 6 && strncasecmp(host, own, own_length) == 0 &&
            strncasecmp(host + own_length, ".local", 6) == 0) || /* mDNS */
           lists(access->names, host, length);
}

static bool is_own_origin(const struct plx_web_access *access, const char *origin, const char *host)
{
    if (origin[0] == '\0') /* not a browser */
        return true;
    const char *rest = strncmp(origin, "http://", 7) == 0 ? origin + 7 : strncmp(origin, "https://", 8) == 0 ? origin + 8 : "";
    return strcasecmp(rest, host) == 0 || lists(access->origins, origin, strlen(origin));
}

/* Takes as long for every wrong token. */
static bool equals(const char *token, const char *given)
{
    unsigned difference = strlen(token) != strlen(given);
    for (size_t i = 0; token[i] && given[i]; i++)
        difference |= (unsigned char)(token[i] ^ given[i]);
    return difference == 0;
}

static bool has_token(const struct plx_web_access *access, const struct plx_http_request *request)
{
    static const char bearer[] = "Bearer ";
    char given[PLX_WEB_TOKEN] = "";
    if (access->token[0] == '\0')
        return true;
    if (plx_http_query(request->query, "token", given, sizeof given) && equals(access->token, given))
        return true;
    if (plx_http_cookie(request->cookie, PLX_WEB_COOKIE, given, sizeof given) && equals(access->token, given))
        return true;
    return strncmp(request->authorization, bearer, sizeof bearer - 1) == 0 &&
           equals(access->token, request->authorization + sizeof bearer - 1);
}

int plx_web_check(const struct plx_web_access *access, const struct plx_http_request *request, const char *local,
                  struct plx_error_message *message)
{
    if (!is_own_host(access, request->host, local))
        return plx_fail(message, 421,
                        "Host \"%.128s\" is refused: it is no name of this machine. Add it to web.names, or use the address %s",
                        request->host, local);
    if (!is_own_origin(access, request->origin, request->host))
        return plx_fail(message, 403, "Origin \"%.128s\" is refused: another site asks. Add it to web.origins if you trust it",
                        request->origin);
    if (!has_token(access, request))
        return plx_fail(message, 401, "a token is needed: open http://%.128s/?token=TOKEN, with what web.token_file holds",
                        request->host);
    return 0;
}
