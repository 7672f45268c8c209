/* SPDX-License-Identifier: Apache-2.0 */
#include "app/service_config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <parallax/error.h>

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
