/* SPDX-License-Identifier: Apache-2.0 */
#include "app/web/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <parallax/error.h>

#include "core/base/text.h"

#define MAX_FILES 256

struct entry {
    char name[256];
    off_t bytes;
    time_t time;
};

static bool is_plain(const char *name)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:+";
    return name[0] != '\0' && name[0] != '.' && name[strspn(name, letters)] == '\0';
}

static int by_time(const void *a, const void *b)
{
    const struct entry *one = a, *other = b;
    return (one->time < other->time) - (one->time > other->time);
}

static int list(const char *directory, struct entry *entry)
{
    DIR *open_directory = directory[0] ? opendir(directory) : NULL;
    int count = 0;
    struct dirent *item;
    struct stat about;
    while (open_directory && count < MAX_FILES && (item = readdir(open_directory))) {
        if (!is_plain(item->d_name) || fstatat(dirfd(open_directory), item->d_name, &about, AT_SYMLINK_NOFOLLOW) < 0 ||
            !S_ISREG(about.st_mode))
            continue;
        strcpy(entry[count].name, item->d_name); /* NOLINT: both hold 256 bytes */
        entry[count].bytes = about.st_size;
        entry[count++].time = about.st_mtime;
    }
    if (open_directory)
        closedir(open_directory);
    qsort(entry, (size_t)count, sizeof *entry, by_time);
    return count;
}

static cJSON *list_json(const char *directory)
{
    struct entry *entry = malloc(MAX_FILES * sizeof *entry);
    const int count = entry ? list(directory, entry) : 0;
    cJSON *array = cJSON_CreateArray();
    for (int i = 0; i < count; i++) {
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "name", entry[i].name);
        cJSON_AddNumberToObject(item, "bytes", (double)entry[i].bytes);
        cJSON_AddNumberToObject(item, "time", (double)entry[i].time);
        cJSON_AddItemToArray(array, item);
    }
    free(entry);
    return array;
}

cJSON *plx_web_files_json(const char *blackbox, const char *recordings)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddItemToObject(item, "blackbox", list_json(blackbox));
    cJSON_AddItemToObject(item, "recordings", list_json(recordings));
    return item;
}

int plx_web_file_open(const char *directory, const char *name, int *ret_fd, size_t *ret_bytes)
{
    struct stat about;
    if (!is_plain(name) || directory[0] == '\0')
        return PLX_ERR_NOT_FOUND;
    const int parent = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    /* Without waiting: a FIFO of that name has no writer. */
    const int fd = parent >= 0 ? openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    const int error = errno;
    if (parent >= 0)
        close(parent);
    if (fd < 0)
        return error == ELOOP ? PLX_ERR_NOT_FOUND : plx_error_of_errno(error);
    if (fstat(fd, &about) < 0 || !S_ISREG(about.st_mode)) {
        close(fd);
        return PLX_ERR_NOT_FOUND;
    }
    *ret_fd = fd;
    *ret_bytes = (size_t)about.st_size;
    return 0;
}
