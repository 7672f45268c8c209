/* SPDX-License-Identifier: Apache-2.0 */
#include "app/web/access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <parallax/error.h>

#include "app/web/local_user.h"

#define LOCAL_ORIGIN "file://"

/* Opens the file PATH, which holds a secret; a negative plx_error. */
static int open_secret(const char *path, struct plx_error_message *message)
{
    struct stat status;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a FIFO is not waited for */
    int result = 0;
    if (fd < 0 || fstat(fd, &status) < 0)
        result = plx_fail(message, plx_error_of_errno(errno), "%s: %s", path, strerror(errno));
    else if (!S_ISREG(status.st_mode))
        result = plx_fail(message, PLX_ERR_FORMAT, "%s: expected a file with a token", path);
    else if (status.st_mode & (S_IROTH | S_IWOTH))
        result =
            plx_fail(message, PLX_ERR_PERMISSION, "%s: every user of this machine may read the token; chmod o= %s", path, path);
    if (result == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return result;
}

int plx_web_token_read(const char *path, char ret_token[PLX_WEB_TOKEN], struct plx_error_message *message)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
    char token[PLX_WEB_TOKEN + 1] = "";
    const int fd = open_secret(path, message);
    if (fd < 0)
        return fd;
    const bool is_read = read(fd, token, sizeof token - 1) > 0;
    close(fd);
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

/* Length of HOST without its port: of "[::1]:8765" the bracket; 0 if HOST is neither a name nor an address (RFC 9110, 7.2). */
static size_t name_length(const char *host)
{
    static const char digits[] = "0123456789", hex[] = "0123456789abcdefABCDEF:.";
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
    size_t length = strspn(host, letters);
    if (host[0] == '[') {
        length = 1 + strspn(host + 1, hex);
        if (host[length++] != ']')
            return 0;
    }
    const char *port = host + length;
    const bool has_port = port[0] == ':' && strspn(port + 1, digits) == strlen(port + 1);
    return port[0] == '\0' || has_port ? length : 0;
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

/* True if an Electron application asks for Foxglove's WebSocket, which only shows. A browser sends the same Origin for a page
 * on this machine's disk, and never for a site. */
static bool is_local_viewer(const struct plx_http_request *request)
{
    return strcmp(request->origin, LOCAL_ORIGIN) == 0 && request->key[0] != '\0' &&
           !plx_http_lists(request->protocols, PLX_WEB_PAGE_PROTOCOL);
}

static bool is_own_origin(const struct plx_web_access *access, const struct plx_http_request *request)
{
    const char *origin = request->origin, *host = request->host;
    if (origin[0] == '\0' || is_local_viewer(request)) /* not a browser, or a viewer of this machine */
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
    if (strcmp(request->origin, LOCAL_ORIGIN) != 0 && /* whose page must know the token itself */
        plx_http_cookie(request->cookie, PLX_WEB_COOKIE, given, sizeof given) && equals(access->token, given))
        return true;
    return strncasecmp(request->authorization, bearer, sizeof bearer - 1) == 0 && /* RFC 9110, 11.1 */
           equals(access->token, request->authorization + sizeof bearer - 1);
}

int plx_web_check(const struct plx_web_access *access, const struct plx_http_request *request, const char *local,
                  struct plx_error_message *message)
{
    if (!is_own_host(access, request->host, local))
        return plx_fail(message, 421,
                        "Host \"%.128s\" is refused: it is no name of this machine. Add it to web.names, or use the address %s",
                        request->host, local);
    if (!is_own_origin(access, request))
        return plx_fail(message, 403, "Origin \"%.128s\" is refused: another site asks. Add it to web.origins if you trust it",
                        request->origin);
    if (!has_token(access, request))
        return plx_fail(message, 401, "a token is needed: open http://%.128s/?token=TOKEN, with what web.token_file holds",
                        request->host);
    return 0;
}

int plx_web_check_user(const struct plx_web_access *access, int fd, struct plx_error_message *message)
{
    uid_t user;
    if (access->token[0] != '\0') /* it was asked for */
        return 0;
    if (!plx_local_user(fd, &user))
        return plx_fail(message, 403, "nobody knows which user asks; set web.token_file, and open the page with that token");
    if (plx_local_user_may_open(access->socket, access->group, user))
        return 0;
    return plx_fail(message, 403,
                    "user %u may not open %s, and so may not see its pictures: add that user to the socket's group, or set "
                    "web.token_file",
                    (unsigned)user, access->socket);
}
