/* SPDX-License-Identifier: Apache-2.0 */
#include "app/web/listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <parallax/error.h>

#define BACKLOG 16

/* Splits "ADDRESS:PORT", "[ADDRESS]:PORT" or "PORT". */
static bool split(const char *text, char *ret_address, size_t size, const char **ret_port)
{
    const char *colon = strrchr(text, ':');
    const char *port = colon ? colon + 1 : text;
    size_t length = colon ? (size_t)(colon - text) : 0;
    if (length >= 2 && text[0] == '[' && text[length - 1] == ']') {
        text++;
        length -= 2;
    } else if (memchr(text, ':', length))
        return false; /* an IPv6 address without brackets */
    const size_t digits = strspn(port, "0123456789");
    if (length >= size || digits == 0 || digits > 5 || port[digits] != '\0' || atoi(port) > UINT16_MAX)
        return false; /* getaddrinfo takes 99999 for 34463 */
    snprintf(ret_address, size, "%.*s", (int)length, text);
    if (length == 0)
        snprintf(ret_address, size, "127.0.0.1");
    *ret_port = port;
    return true;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

int plx_web_listen(const char *text, bool has_token, int *ret_fd, struct plx_error_message *message)
{
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char address[64];
    const char *port;
    const int on = 1;
    if (!split(text, address, sizeof address, &port) || getaddrinfo(address, port, &hints, &found) != 0)
        return plx_fail(message, PLX_ERR_ARG,
                        "web.listen is \"%s\"; expected ADDRESS:PORT with a numeric address, such as 127.0.0.1:8765", text);
    int result = 0, fd = -1;
    if (!has_token && !is_loopback(found->ai_addr))
        result =
            plx_fail(message, PLX_ERR_ARG,
                     "web.listen is \"%s\", which other machines reach; set web.token_file to a file with a token, so that "
                     "not everybody sees the pictures, or listen at 127.0.0.1",
                     text);
    if (result == 0) {
        fd = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
            bind(fd, found->ai_addr, found->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0)
            result = plx_fail(message, errno == EADDRINUSE ? PLX_ERR_BUSY : plx_error_of_errno(errno), "web.listen: %s: %s",
                              text, strerror(errno));
    }
    freeaddrinfo(found);
    if (result == 0)
        *ret_fd = fd;
    else if (fd >= 0)
        close(fd);
    return result;
}

void plx_web_listen_address(int fd, char *ret_text, size_t size)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    char host[NI_MAXHOST] = "", port[NI_MAXSERV] = "";
    if (getsockname(fd, (struct sockaddr *)&address, &length) == 0)
        getnameinfo((const struct sockaddr *)&address, length, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV);
    const bool is_any = strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
    const char *form = !is_any && strchr(host, ':') ? "http://[%s]:%s/" : "http://%s:%s/";
    snprintf(ret_text, size, form, is_any ? "localhost" : host, port);
}
