/* SPDX-License-Identifier: Apache-2.0 */
#include "app/supervisor/config_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <parallax/error.h>

/* Writes TEXT into a sealed memfd and gives back a read-only descriptor of it. */
static int seal_text(const char *text, size_t bytes)
{
    char path[32];
    int reader = -1;
    const int fd = memfd_create("parallax-config", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0)
        return PLX_ERR_NOMEM;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    /* 0400: a memfd is born 0777, and a client could reopen it for writing, which the seals alone would stop. */
    if (write(fd, text, bytes) == (ssize_t)bytes && fchmod(fd, 0400) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) == 0)
        reader = open(path, O_RDONLY | O_CLOEXEC);
    close(fd);
    return reader < 0 ? PLX_ERR_NOMEM : reader;
}

static int write_text(const struct plx_config *config)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    if (!out)
        return PLX_ERR_NOMEM;
    int result = plx_config_dump(config, out);
    if (fclose(out) != 0 || result < 0)
        result = PLX_ERR_NOMEM;
    if (result == 0)
        result = seal_text(text, bytes);
    free(text);
    return result;
}

int plx_config_text_fd(struct plx_config_text *text, const struct plx_config *config)
{
    if (text->fd > 0 && plx_config_equals(&text->config, config))
        return text->fd;
    plx_config_text_close(text);
    const int fd = write_text(config);
    if (fd < 0)
        return fd;
    text->fd = fd;
    text->config = *config;
    return fd;
}

void plx_config_text_close(struct plx_config_text *text)
{
    if (text->fd > 0)
        close(text->fd);
    text->fd = 0;
}
