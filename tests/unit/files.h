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

struct files {
    char directory[64];
};

static inline int files_remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status;
    (void)type;
    (void)where;
    return remove(path);
}

static inline int files_begin(struct files *files)
{
    strcpy(files->directory, "/tmp/plx-test-XXXXXX");
    return mkdtemp(files->directory) ? 0 : -1;
}

static inline void files_end(const struct files *files)
{
    nftw(files->directory, files_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* The path of NAME; good for the next three calls. */
static inline const char *files_path(const struct files *files, const char *name)
{
    static char path[4][512];
    static unsigned turn;
    char *here = path[turn++ % 4];
    snprintf(here, sizeof path[0], "%s/%s", files->directory, name);
    return here;
}

static inline void files_folder(const struct files *files, const char *name)
{
    mkdir(files_path(files, name), 0755);
}

static inline void files_write(const struct files *files, const char *name, const void *data, size_t bytes)
{
    FILE *file = fopen(files_path(files, name), "wb");
    if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0)
        abort();
}

static inline void files_text(const struct files *files, const char *name, const char *text)
{
    files_write(files, name, text, strlen(text));
}

/* Cuts NAME to BYTES, or by -BYTES if negative. */
static inline void files_cut(const struct files *files, const char *name, long bytes)
{
    struct stat status;
    const char *path = files_path(files, name);
    if (stat(path, &status) != 0 || truncate(path, bytes < 0 ? status.st_size + bytes : bytes) != 0)
        abort();
}

#endif
