/* SPDX-License-Identifier: Apache-2.0 */
#include "app/service_config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <parallax/client.h>
#include <parallax/error.h>
#include <parallax/shm.h>

#include "app/log.h"

static bool sets_socket(const struct plx_option_list *assignments)
{
    static const char socket[] = "publish.socket=";
    for (int i = 0; i < assignments->count; i++)
        if (strncmp(assignments->item[i], socket, sizeof socket - 1) == 0)
            return true;
    return false;
}

int plx_service_config_read(const char *path, const struct plx_option_list *assignments, struct plx_config *ret_config,
                            struct plx_error_message *message)
{
    const struct plx_config_source source = {
        .path = path || access(PLX_DEFAULT_CONFIG, F_OK) < 0 ? path : PLX_DEFAULT_CONFIG,
        .assignment = assignments->item,
        .assignments = assignments->count,
    };
    const char *chosen = getenv("PARALLAX_SOCKET");
    const size_t length = chosen && !sets_socket(assignments) ? strlen(chosen) : 0;

    if (length >= sizeof ret_config->publish.socket)
        return plx_fail(message, PLX_ERR_RANGE, "$PARALLAX_SOCKET has %zu bytes; expected a path of at most %zu", length,
                        sizeof ret_config->publish.socket - 1);
    const int result = plx_config_read(&source, ret_config, message);
    if (result < 0)
        return result;
    if (length > 0)
        memcpy(ret_config->publish.socket, chosen, length + 1);
    plx_log(LOG_INFO, "reads the service at %s%s", ret_config->publish.socket,
            length > 0 ? ", which $PARALLAX_SOCKET names" : "");
    return 0;
}

bool plx_service_config_ask(const char *socket_path, struct plx_config *ret_config)
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
