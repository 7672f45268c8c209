/* SPDX-License-Identifier: Apache-2.0 */
#include "config/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <parallax/error.h>

/* Reads SIZE bytes, fewer only at the end of the file. Returns their number; -1 with errno set on an error. */
static ssize_t read_fully(int fd, char *text, size_t size)
{
    size_t done = 0;
    while (done < size) {
        ssize_t got = read(fd, text + done, size - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

int plx_file_read(const char *path, size_t max, char **ret_text, size_t *ret_size, struct plx_error_message *message)
{
    struct stat status;
    char *text = NULL;
    int result = 0;
    ssize_t size;

    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* O_NONBLOCK: a FIFO without a writer must not block */
    if (fd < 0 || fstat(fd, &status) < 0) {
        result = plx_fail(message, plx_error_of_errno(errno), "%s: cannot be opened: %s", path, strerror(errno));
        goto out;
    }
    if (!S_ISREG(status.st_mode)) {
        result = plx_fail(message, PLX_ERR_FORMAT, "%s: is not a regular file", path);
        goto out;
    }
    text = malloc(max + 2);
    if (!text) {
        result = plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", path);
        goto out;
    }
    size = read_fully(fd, text, max + 1);
    if (size < 0)
        result = plx_fail(message, plx_error_of_errno(errno), "%s: cannot be read: %s", path, strerror(errno));
    else if ((size_t)size > max)
        result = plx_fail(message, PLX_ERR_RANGE, "%s: is larger than %zu bytes; is it the right file?", path, max);
    if (result < 0)
        goto out;
    text[size] = '\0';
    *ret_text = text;
    *ret_size = (size_t)size;
    text = NULL;
out:
    free(text);
    if (fd >= 0)
        close(fd);
    return result;
}
