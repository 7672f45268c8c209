/* SPDX-License-Identifier: Apache-2.0 */
/* The fuzzer's bytes as a file with a path. */
#ifndef PLX_TESTS_MEMORY_FILE_H
#define PLX_TESTS_MEMORY_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct memory_file {
    int fd;
    char path[32];
};

static inline struct memory_file memory_file_open(const uint8_t *data, size_t size)
{
    struct memory_file file = {.fd = memfd_create("fuzz", MFD_CLOEXEC)};
    if (file.fd < 0 || (size > 0 && write(file.fd, data, size) != (ssize_t)size))
        abort();
    snprintf(file.path, sizeof file.path, "/proc/self/fd/%d", file.fd);
    return file;
}

static inline void memory_file_close(struct memory_file *file)
{
    close(file->fd);
}

#endif
