/* SPDX-License-Identifier: Apache-2.0 */
#include "config/source.h"

int plx_config_read(const struct plx_config_source *config_source, struct plx_config *ret_config,
                    struct plx_error_message *message)
{
    static struct plx_config config; /* large */
    int result = 0;

    if (config_source->path)
        result = plx_config_load(config_source->path, &config, message);
    else
        plx_config_default(&config);
    for (int i = 0; i < config_source->assignments && result == 0; i++)
        result = plx_config_set(&config, config_source->assignment[i], message);
    if (result == 0)
        result = plx_config_check(&config, message);
    if (result == 0)
        *ret_config = config;
    return result;
}
