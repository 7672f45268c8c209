/* SPDX-License-Identifier: Apache-2.0 */
#include "app/cli/live/service_config.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <parallax/client.h>
#include <parallax/region.h>

bool plx_service_config(const char *socket_path, struct plx_config *ret_config)
{
    static char text[PLX_CONFIG_BYTES + 1];
    char path[64];
    size_t bytes;
    struct plx_error_message message;

    if (plx_config(socket_path, text, sizeof text, &bytes) < 0)
        return false;
    const int file = memfd_create("configuration", MFD_CLOEXEC); /* plx_config_load reads files only */
    if (file < 0)
        return false;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    const size_t length = bytes > 0 && text[bytes - 1] == '\0' ? bytes - 1 : bytes;
    const bool is_read = write(file, text, length) == (ssize_t)length && plx_config_load(path, ret_config, &message) == 0;
    close(file);
    return is_read;
}
