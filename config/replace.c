/* SPDX-License-Identifier: Apache-2.0 */
#include "config/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <parallax/error.h>

#include "config/file.h"

#define MAX_NAMES 1000 /* old files beside each other */
#define MAX_BYTES (1 << 20)

static int fail(const char *path, struct plx_error_message *message)
{
    const int error = errno;
    return plx_fail(message, plx_error_of_errno(error), "%s: cannot be written: %s", path, strerror(error));
}

/* Opens the directory of PATH; RET_NAME is the file's name in it, RET_DIRECTORY that of the directory. */
static int open_directory(const char *path, char ret_directory[PATH_MAX], char ret_name[NAME_MAX + 1])
{
    char name[PATH_MAX], parent[PATH_MAX];
    if (strlen(path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(name, path); /* both functions below change their text */
    strcpy(parent, path);
    snprintf(ret_directory, PATH_MAX, "%s", dirname(parent));
    if (snprintf(ret_name, NAME_MAX + 1, "%s", basename(name)) > NAME_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    return open(ret_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Creates the new file under a random name: another's name is never taken, and a link never followed. */
static int create(struct plx_replacement *replacement)
{
    uint64_t number;
    int fd;
    do {
        if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number ||
            snprintf(replacement->fresh, sizeof replacement->fresh, ".%.200s.%016llx", replacement->name,
                     (unsigned long long)number) < 0)
            return -1;
        fd = openat(replacement->directory, replacement->fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    } while (fd < 0 && errno == EEXIST);
    return fd;
}

int plx_replacement_begin(const char *path, struct plx_replacement *ret_replacement, struct plx_error_message *message)
{
    struct plx_replacement made;
    char directory[PATH_MAX];
    made.directory = open_directory(path, directory, made.name);
    const int fd = made.directory >= 0 ? create(&made) : -1;
    if (fd >= 0 && snprintf(made.path, sizeof made.path, "%s/%s", directory, made.fresh) < (int)sizeof made.path) {
        made.file = fdopen(fd, "w");
        if (made.file) {
            *ret_replacement = made;
            return 0;
        }
    }
    const int result = fail(path, message);
    if (fd >= 0) {
        unlinkat(made.directory, made.fresh, 0);
        close(fd);
    }
    if (made.directory >= 0)
        close(made.directory);
    return result;
}

void plx_replacement_cancel(struct plx_replacement *replacement)
{
    if (replacement->file)
        fclose(replacement->file);
    unlinkat(replacement->directory, replacement->fresh, 0);
    close(replacement->directory);
}

int plx_replacement_finish(struct plx_replacement *replacement, const struct stat *like, struct plx_error_message *message)
{
    FILE *file = replacement->file;
    const int fd = fileno(file);
    errno = EIO; /* for a write that failed before */
    bool works = fflush(file) == 0 && !ferror(file) && fchmod(fd, like->st_mode & 07777) == 0;
    if (works && geteuid() == 0)
        works = fchown(fd, like->st_uid, like->st_gid) == 0;
    works = works && fsync(fd) == 0;
    replacement->file = NULL;
    works = fclose(file) == 0 && works;
    if (works && renameat(replacement->directory, replacement->fresh, replacement->directory, replacement->name) == 0) {
        fsync(replacement->directory); /* where it fails, a power loss may bring the old file back, whole */
        close(replacement->directory);
        return 0;
    }
    const int result = fail(replacement->name, message);
    plx_replacement_cancel(replacement);
    return result;
}

int plx_file_replace(const char *path, const char *text, size_t size, struct plx_error_message *message)
{
    struct plx_replacement replacement;
    struct stat old;
    if (stat(path, &old) < 0)
        return fail(path, message);
    const int result = plx_replacement_begin(path, &replacement, message);
    if (result < 0)
        return result;
    fwrite(text, 1, size, replacement.file); /* finish sees an error */
    return plx_replacement_finish(&replacement, &old, message);
}

/* The name NUMBER for an old file. */
static bool name_old(const char *path, const char *suffix, int number, char ret_name[PATH_MAX])
{
    const int length = number == 0 ? snprintf(ret_name, PATH_MAX, "%s.%s", path, suffix)
                                   : snprintf(ret_name, PATH_MAX, "%s.%s.%d", path, suffix, number);
    errno = ENAMETOOLONG;
    return length < PATH_MAX;
}

/* A copy of the regular file at PATH under a name that nobody has. */
static int copy_old(const char *path, const char *name, struct plx_error_message *message)
{
    char *text;
    size_t size;
    int result = plx_file_read(path, MAX_BYTES, &text, &size, message);
    if (result < 0)
        return result;
    const int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, text, size) != (ssize_t)size || fsync(fd) < 0)
        result = fail(name, message);
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && result < 0)
        unlink(name);
    free(text);
    return result;
}

int plx_file_keep_old(const char *path, char ret_name[PATH_MAX], struct plx_error_message *message)
{
    char name[PATH_MAX];
    for (int i = 0; i < MAX_NAMES && name_old(path, "old", i, name); i++) {
        int result = link(path, name) == 0 ? 0 : -errno;
        if (result == -EEXIST)
            continue;
        if (result == -EPERM || result == -EOPNOTSUPP)
            result = copy_old(path, name, message);
        else if (result < 0)
            result = fail(name, message);
        if (result == 0)
            memcpy(ret_name, name, sizeof name);
        return result;
    }
    return plx_fail(message, PLX_ERR_BUSY, "%s.old: %d old files are there; remove some of them", path, MAX_NAMES);
}

int plx_file_set_aside(const char *path, const char *suffix, char ret_name[PATH_MAX], struct plx_error_message *message)
{
    char name[PATH_MAX];
    for (int i = 0; i < MAX_NAMES && name_old(path, suffix, i, name); i++) {
        struct stat there; /* no RENAME_NOREPLACE: not every file system has it, and the caller holds a lock */
        if (lstat(name, &there) == 0)
            continue;
        if (rename(path, name) < 0)
            return fail(path, message);
        memcpy(ret_name, name, sizeof name);
        return 0;
    }
    return plx_fail(message, PLX_ERR_BUSY, "%s.%s: %d such files are there; remove some of them", path, suffix, MAX_NAMES);
}
