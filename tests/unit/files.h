/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary directory for tests that need real files. */
#ifndef PLX_TESTS_FILES_H
#define PLX_TESTS_FILES_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char files_directory[64];

static inline int files_remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status;
    (void)type;
    (void)where;
    return remove(path);
}

/* Set-up and tear-down of a cmocka test or group. */
static inline int files_begin(void **state)
{
    (void)state;
    strcpy(files_directory, "/tmp/plx-test-XXXXXX");
    return mkdtemp(files_directory) ? 0 : -1;
}

static inline int files_end(void **state)
{
    (void)state;
    return nftw(files_directory, files_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* The path of NAME; good for the next three calls. */
static inline const char *files_path(const char *name)
{
    static char path[4][512];
    static unsigned turn;
    char *here = path[turn++ % 4];
    snprintf(here, sizeof path[0], "%s/%s", files_directory, name);
    return here;
}

static inline void files_folder(const char *name)
{
    mkdir(files_path(name), 0755);
}

static inline void files_write(const char *name, const void *data, size_t bytes)
{
    FILE *file = fopen(files_path(name), "wb");
    if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0)
        abort();
}

static inline void files_text(const char *name, const char *text)
{
    files_write(name, text, strlen(text));
}

/* Cuts NAME to BYTES, or by -BYTES if negative. */
static inline void files_cut(const char *name, long bytes)
{
    struct stat status;
    const char *path = files_path(name);
    if (stat(path, &status) != 0 || truncate(path, bytes < 0 ? status.st_size + bytes : bytes) != 0)
        abort();
}

#endif
