/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the configuration in force from the service. */
#include <parallax/client.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <parallax/shm.h>

#include "client/link.h"

/* Sealed against every change, so that the checked text is the text that is read. Only a memfd has seals; reading it never
 * blocks. */
#define TEXT_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE)

static int check_text(int fd, uint64_t bytes)
{
    struct stat status;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & TEXT_SEALS) != TEXT_SEALS)
        return PLX_ERR_FORMAT;
    if (fstat(fd, &status))
        return PLX_ERR_IO;
    return bytes > PLX_CONFIG_BYTES || status.st_size < 0 || (uint64_t)status.st_size != bytes ? PLX_ERR_FORMAT : 0;
}

/* Copies by pread, which returns an error where a mapping would raise SIGBUS. */
static int read_text(int fd, char *ret_text, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t got = pread(fd, ret_text + done, bytes - done, (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return PLX_ERR_IO;
        done += (size_t)got;
    }
    for (size_t i = 0; i < bytes; i++) /* no terminal control characters */
        if (((unsigned char)ret_text[i] < ' ' && ret_text[i] != '\n') || ret_text[i] == 0x7F)
            ret_text[i] = '?';
    ret_text[bytes] = 0;
    return 0;
}

static int ask(const char *path, int64_t deadline, int *ret_text, uint64_t *ret_bytes)
{
    int shm, socket;
    int result = plx_link_start(path, deadline, &socket);
    if (result)
        return result;
    result = plx_link_finish(socket, deadline, &shm);
    if (!result) {
        close(shm);
        result = plx_link_ask_config(socket, deadline, ret_text, ret_bytes);
    }
    close(socket);
    return result == PLX_ERR_LOST ? PLX_ERR_NOT_FOUND : result; /* closed without an answer: the service is stopping */
}

int plx_config(const char *socket_path, char *ret_text, size_t size, size_t *ret_bytes)
{
    uint64_t bytes;
    int text;
    if (!ret_bytes || (!ret_text && size))
        return PLX_ERR_ARG;
    int result = ask(plx_link_path(socket_path), plx_now_ns() + PLX_HELLO_TIME_NS, &text, &bytes);
    if (result)
        return result;
    result = check_text(text, bytes);
    if (!result) {
        *ret_bytes = (size_t)bytes + 1;
        result = *ret_bytes <= size ? read_text(text, ret_text, (size_t)bytes) : PLX_ERR_RANGE;
    }
    close(text);
    return result;
}
