/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/files/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
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

int plx_file_create(const char *path, FILE **ret_file, struct plx_error_message *message)
{
    /* /dev/stdout is a link, which root made. Others are not followed: the directory may be another user's. */
    const int nofollow = strncmp(path, "/dev/", 5) == 0 ? 0 : O_NOFOLLOW;
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | nofollow, 0666);
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
