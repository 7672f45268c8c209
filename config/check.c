/* SPDX-License-Identifier: Apache-2.0 */
/* What no single key can tell: combinations. */
#include <string.h>

#include <parallax/error.h>

#include "config/config.h"
#include "config/cpus.h"

static int check_source(const struct plx_config *config, struct plx_error_message *message)
{
    if (config->source.type == PLX_SOURCE_REPLAY && config->source.path[0] == '\0')
        return plx_fail(message, PLX_ERR_RANGE,
                        "source.type is replay and source.path is empty; expected a directory of pairs");
    if (config->source.type == PLX_SOURCE_REPLAY && config->source.replay_rate == PLX_REPLAY_FIXED &&
        !(config->source.rate_hz > 0))
        return plx_fail(message, PLX_ERR_RANGE,
                        "source.replay_rate is fixed and source.rate_hz is 0; expected a rate, or replay_rate: maximum");
    if (config->source.type == PLX_SOURCE_V4L2 && config->source.camera[PLX_LEFT][0] == '\0')
        return plx_fail(message, PLX_ERR_RANGE,
                        "source.type is v4l2 and source.left is empty; expected a camera (`parallax cameras` lists them)");
    if (config->source.crop_width > 0 && config->source.crop_height == 0)
        return plx_fail(message, PLX_ERR_RANGE, "source.crop_width is %d and source.crop_height is 0; expected both or neither",
                        config->source.crop_width);
    return 0;
}

int plx_config_check(const struct plx_config *config, struct plx_error_message *message)
{
    /* Only the synthetic source's size is known yet; the engine checks the others once it has opened them. Raw pictures of any
     * size will do. */
    const bool synthetic =
        config->source.type == PLX_SOURCE_SYNTHETIC && strcmp(config->calibration, PLX_CALIBRATION_NONE) != 0;
    int result = check_source(config, message);
    if (result < 0)
        return result;
    bool listed[PLX_MAX_CPUS];
    if (config->engine.cpus[0] != '\0' && !plx_cpus_parse(config->engine.cpus, listed))
        return plx_fail(message, PLX_ERR_RANGE, "engine.cpus is \"%s\"; expected a list of processors below %d, such as 2-3,5",
                        config->engine.cpus, PLX_MAX_CPUS);
    if (config->publish.socket[0] == '\0')
        return plx_fail(message, PLX_ERR_RANGE, "publish.socket is empty; expected the path of a socket");
    return plx_pipeline_params_check(&config->pipeline, synthetic ? config->source.width : PLX_MAX_SIDE,
                                     synthetic ? config->source.height : PLX_MAX_SIDE, message);
}
