/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/files/file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <parallax/error.h>

int plx_file_fail(const char *path, struct plx_error_message *message)
{
    const int number = errno;
    return plx_fail(message, plx_error_of_errno(number), "%s: %s", path, strerror(number));
}

int plx_file_open(const char *path, FILE **ret_file, struct plx_error_message *message)
{
    struct stat status;
    int fd =
        open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* without O_NONBLOCK open waits for ever on a FIFO without a writer */
    if (fd < 0)
        return plx_file_fail(path, message);
    int result = 0;
    if (fstat(fd, &status) < 0)
        result = plx_file_fail(path, message);
    else if (!S_ISREG(status.st_mode))
        result = plx_fail(message, PLX_ERR_FORMAT, "%s: not a regular file", path);
    FILE *file = result < 0 ? NULL : fdopen(fd, "rb");
    if (!file) {
        result = result < 0 ? result : plx_file_fail(path, message);
        close(fd);
        return result;
    }
    *ret_file = file;
    return 0;
}

/* For root, a link in a directory where others may write may be planted: it is not followed. */
static int open_new(const char *path)
{
    char parent[PATH_MAX], name[PATH_MAX];
    struct stat about;

    if (snprintf(parent, sizeof parent, "%s", path) >= PATH_MAX || snprintf(name, sizeof name, "%s", path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int directory = open(dirname(parent), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return -1;
    const bool is_shared =
        geteuid() == 0 && (fstat(directory, &about) < 0 || about.st_uid != 0 || (about.st_mode & (S_IWGRP | S_IWOTH)) != 0);
    const int fd =
        openat(directory, basename(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | (is_shared ? O_NOFOLLOW : 0), 0666);
    const int error = errno;
    close(directory);
    errno = error;
    return fd;
}

int plx_file_create(const char *path, FILE **ret_file, struct plx_error_message *message)
{
    const int fd = open_new(path);
    FILE *file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (!file) {
        const int result = plx_file_fail(path, message);
        if (fd >= 0)
            close(fd);
        return result;
    }
    *ret_file = file;
    return 0;
}

int plx_file_commit(const char *path, FILE *file, int result, struct plx_error_message *message)
{
    struct stat status;
    const bool failed = ferror(file) != 0, is_regular = fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode);
    if (fclose(file) != 0 && result == 0)
        result = plx_file_fail(path, message);
    if (failed && result == 0)
        result = plx_fail(message, PLX_ERR_IO, "%s: writing failed", path);
    if (result < 0 && is_regular) /* a device stays */
        unlink(path);
    return result;
}
