/* SPDX-License-Identifier: Apache-2.0 */
#include "app/cli/live/blackbox_directory.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <parallax/client.h>

#include "config/config.h"

#define CONFIG_BYTES (1 << 18)

/* What the service has in force; false if it does not say. */
static bool ask_service(const char *socket_path, struct plx_config *ret_config)
{
    static char text[CONFIG_BYTES];
    char path[64];
    size_t bytes;
    struct plx_why why;

    if (plx_config(socket_path, text, sizeof text, &bytes) < 0)
        return false;
    const int file = memfd_create("configuration", MFD_CLOEXEC); /* what reads configurations reads files */
    if (file < 0)
        return false;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    const size_t length = bytes > 0 && text[bytes - 1] == '\0' ? bytes - 1 : bytes;
    const bool read = write(file, text, length) == (ssize_t)length && plx_config_load(path, ret_config, &why) == 0;
    close(file);
    return read;
}

void plx_blackbox_directory(const char *socket_path, const char *config_path, char ret_directory[PLX_DIRECTORY_BYTES])
{
    static struct plx_config config; /* large */
    struct plx_why why;

    if (!ask_service(socket_path, &config) && plx_config_load(config_path, &config, &why) < 0)
        plx_config_default(&config);
    snprintf(ret_directory, PLX_DIRECTORY_BYTES, "%s", config.blackbox.directory);
}
