/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/mcap/bag_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <parallax/error.h>

#include "drivers/files/file.h"
#include "drivers/files/recording.h"
#include "formats/mcap/format.h"

#define MAGIC(text) (text), sizeof(text) - 1

/* What recordings of ROS begin with, and what to do with those that are no MCAP. */
static const struct kind {
    const char *magic;
    size_t bytes;
    const char *advice; /* NULL: it is read */
} kinds[] = {
    {PLX_MCAP_MAGIC, PLX_MCAP_MAGIC_BYTES, NULL},
    {MAGIC("SQLite format 3"), "is a recording of rosbag2 in SQLite; convert it: mcap convert IN.db3 OUT.mcap"},
    {MAGIC("#ROSBAG V"), "is a recording of ROS 1; convert it: mcap convert IN.bag OUT.mcap"},
    {MAGIC("\x28\xb5\x2f\xfd"), "is compressed as a whole; unpack it: zstd -d IN.mcap.zstd"},
    {MAGIC("\x04\x22\x4d\x18"), "is compressed as a whole; unpack it: lz4 -d IN.mcap.lz4"},
    {MAGIC("\x1f\x8b"), "is compressed as a whole; unpack it: gunzip IN.mcap.gz"},
};

static const char *const endings[] = {".mcap", ".db3", ".bag", ".mcap.zstd", ".db3.zstd"};

/* NULL: no recording. */
static const struct kind *kind_of(const char *path)
{
    char start[32] = "";
    struct plx_error_message ignored;
    FILE *file;
    if (plx_file_open(path, &file, &ignored) < 0)
        return NULL;
    const size_t bytes = fread(start, 1, sizeof start, file);
    fclose(file);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (bytes >= kinds[i].bytes && memcmp(start, kinds[i].magic, kinds[i].bytes) == 0)
            return &kinds[i];
    return NULL;
}

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static int is_recording(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings && entry->d_name[0] != '.'; i++) {
        const size_t ending = strlen(endings[i]);
        if (length > ending && strcmp(entry->d_name + length - ending, endings[i]) == 0)
            return 1;
    }
    return 0;
}

bool plx_bag_files_exist(const char *path)
{
    struct dirent **entry;
    if (!is_folder(path))
        return kind_of(path) != NULL;
    if (plx_layout_left_folder(path))
        return false;
    const int count = scandir(path, &entry, is_recording, versionsort);
    for (int i = 0; i < count; i++)
        free(entry[i]);
    if (count >= 0)
        free(entry);
    return count > 0;
}

/* Takes PATH, which is malloc'ed. */
static int add(struct plx_bag_files *files, char *path, struct plx_error_message *message)
{
    char **grown = path ? realloc(files->path, ((size_t)files->count + 1) * sizeof *grown) : NULL;
    if (!grown) {
        free(path);
        return plx_fail(message, PLX_ERR_NOMEM, "out of memory for the files of a bag");
    }
    files->path = grown;
    files->path[files->count++] = path;
    const struct kind *kind = kind_of(path);
    if (!kind || kind->advice)
        return plx_fail(message, kind ? PLX_ERR_UNSUPPORTED : PLX_ERR_FORMAT, "%s: %s", path,
                        kind ? kind->advice : "is no MCAP file: it does not begin with MCAP's magic bytes");
    return 0;
}

/* rosbag2 numbers the files of a recording: NAME_0.mcap, NAME_1.mcap, ... */
static int find_in_folder(const char *path, struct plx_bag_files *files, struct plx_error_message *message)
{
    struct dirent **entry;
    const int count = scandir(path, &entry, is_recording, versionsort);
    int result = count < 0 ? plx_file_fail(path, message) : 0;
    for (int i = 0; i < count; i++) {
        if (result == 0)
            result = add(files, plx_layout_path(path, "", entry[i]->d_name), message);
        free(entry[i]);
    }
    if (count >= 0)
        free(entry);
    return result;
}

int plx_bag_files_find(const char *path, struct plx_bag_files *ret_files, struct plx_error_message *message)
{
    struct plx_bag_files files = {NULL, 0};
    struct stat status;
    int result;
    if (stat(path, &status) < 0)
        result = plx_file_fail(path, message);
    else
        result = S_ISDIR(status.st_mode) ? find_in_folder(path, &files, message) : add(&files, strdup(path), message);
    if (result == 0 && files.count == 0)
        result = plx_fail(message, PLX_ERR_NOT_FOUND, "%s: holds no MCAP file", path);
    if (result < 0)
        plx_bag_files_free(&files);
    else
        *ret_files = files;
    return result;
}

void plx_bag_files_free(struct plx_bag_files *files)
{
    for (int i = 0; i < files->count; i++)
        free(files->path[i]);
    free(files->path);
    *files = (struct plx_bag_files){NULL, 0};
}
