/* SPDX-License-Identifier: Apache-2.0 */
/* Checks combinations of keys. */
#include <string.h>

#include <parallax/error.h>

#include "config/schema.h"
#include "config/text.h"
#include "config/zones.h"
#include "core/source/source.h"

#define QUOTE(text) #text
#define TEXT_OF(macro) QUOTE(macro)

/* The key of the parameter at OFFSET of the pipeline's parameters, or NULL. */
static const struct plx_key *key_at(size_t offset)
{
    for (const struct plx_key *key = plx_keys; key < plx_keys + plx_key_count; key++)
        if (key->size > 0 && key->offset == offsetof(struct plx_config, pipeline) + offset)
            return key;
    return NULL;
}

static int check_pipeline(const struct plx_pipeline_params *params, int width, int height, const struct plx_key **ret_key,
                          struct plx_error_message *message)
{
    struct plx_parameter_error error;
    const int result = plx_pipeline_params_check(params, width, height, &error);
    if (result < 0) {
        *ret_key = key_at(error.offset);
        error.name = *ret_key ? (*ret_key)->name : error.name;
        plx_parameter_fail(message, &error);
    }
    return result;
}

int plx_config_check_pipeline(const struct plx_pipeline_params *params, int width, int height,
                              struct plx_error_message *message)
{
    const struct plx_key *key;
    return check_pipeline(params, width, height, &key, message);
}

static int refuse(const char *name, const struct plx_key **ret_key, struct plx_error_message *message, const char *sentence)
{
    *ret_key = plx_key_find(name);
    return plx_fail(message, PLX_ERR_RANGE, "%s %s", name, sentence);
}

static int refuse_zone(const struct plx_zone *zone, const struct plx_key **ret_key, struct plx_error_message *message)
{
    *ret_key = plx_key_find("zones");
    return plx_fail(
        message, PLX_ERR_RANGE,
        "zone \"%s\" lies wholly in the rectangle of the robot itself (map.front_m, map.back_m, map.width_m), where "
        "nothing can be seen; expected a zone beside it",
        zone->name);
}

static int check_source(const struct plx_config *config, const struct plx_key **ret_key, struct plx_error_message *message)
{
    if (config->source.type == PLX_SOURCE_REPLAY && config->source.path[0] == '\0')
        return refuse("source.type", ret_key, message,
                      "is replay and source.path is empty; expected a directory of pairs or an MCAP file");
    if ((config->source.topic[PLX_LEFT][0] == '\0') != (config->source.topic[PLX_RIGHT][0] == '\0'))
        return refuse("source.left_topic", ret_key, message, "and source.right_topic belong together; set both or none");
    if (config->source.type == PLX_SOURCE_REPLAY && config->source.replay_rate == PLX_REPLAY_FIXED &&
        !(config->source.rate_hz > 0))
        return refuse("source.replay_rate", ret_key, message,
                      "is fixed and source.rate_hz is 0; expected a rate, or replay_rate: maximum");
    if (config->source.type == PLX_SOURCE_V4L2 && config->source.cameras.camera[PLX_LEFT][0] == '\0')
        return refuse("source.type", ret_key, message,
                      "is v4l2 and source.left is empty; expected a camera (`parallax cameras` lists them)");
    if (config->source.rate_hz > 0 && config->source.rate_hz < PLX_SOURCE_MIN_RATE_HZ)
        return refuse("source.rate_hz", ret_key, message,
                      "is less than " TEXT_OF(PLX_SOURCE_MIN_RATE_HZ) "; expected that or more, or 0");
    if (config->source.cameras.crop_width > 0 && config->source.cameras.crop_height == 0)
        return refuse("source.crop_width", ret_key, message, "is set and source.crop_height is 0; expected both or neither");
    return 0;
}

static int check_processes(const struct plx_config *config, const struct plx_key **ret_key, struct plx_error_message *message)
{
    bool listed[PLX_MAX_CPUS];
    uint32_t flags;

    if (config->engine.cpus[0] != '\0' && !plx_cpus_parse(config->engine.cpus, listed))
        return refuse("engine.cpus", ret_key, message,
                      "is no list of processors below " TEXT_OF(PLX_MAX_CPUS) "; expected a list such as 2-3,5");
    if (config->publish.socket[0] == '\0')
        return refuse("publish.socket", ret_key, message, "is empty; expected the path of a socket");
    if (config->recorder.socket[0] == '\0')
        return refuse("recorder.socket", ret_key, message, "is empty; expected the path of a socket");
    if (config->recorder.directory[0] == '\0')
        return refuse("recorder.directory", ret_key, message, "is empty; expected a directory");
    if (!plx_health_flags_parse(config->recorder.flags, &flags))
        return refuse("recorder.flags", ret_key, message,
                      "is no list of health flags; expected names such as desync,frozen, as `parallax status` prints them");
    return 0;
}

static int check_zones(const struct plx_config *config, const struct plx_key **ret_key, struct plx_error_message *message)
{
    const int in_robot = plx_zones_find_in_robot(&config->pipeline.zones, &config->pipeline.map);
    if (in_robot >= 0)
        return refuse_zone(&config->pipeline.zones.zone[in_robot], ret_key, message);
    if (config->pipeline.zones.count > 0 && !(config->pipeline.mount.z_m > 0))
        return refuse(
            "zones", ret_key, message,
            "lie on the ground before the robot, and mount.z_m is 0; expected the mount of the left camera (keys mount.*)");
    if (config->pipeline.zones.count > 0 && !(config->pipeline.map.enabled && config->pipeline.stixels))
        return refuse("zones", ret_key, message, "need the map; expected map.enabled and stixels.enabled to be true");
    return 0;
}

int plx_config_find_error(const struct plx_config *config, const struct plx_key **ret_key, struct plx_error_message *message)
{
    /* Only the synthetic source's size is known yet; the engine checks the others once it has opened them. Raw pictures of any
     * size will do. */
    const bool has_size = config->source.type == PLX_SOURCE_SYNTHETIC && strcmp(config->calibration, PLX_CALIBRATION_NONE) != 0;
    int result = check_source(config, ret_key, message);

    if (result == 0)
        result = check_processes(config, ret_key, message);
    if (result == 0)
        result = check_zones(config, ret_key, message);
    if (result < 0)
        return result;
    return check_pipeline(&config->pipeline, has_size ? config->source.width : PLX_MAX_SIDE,
                          has_size ? config->source.height : PLX_MAX_SIDE, ret_key, message);
}

int plx_config_check(const struct plx_config *config, struct plx_error_message *message)
{
    const struct plx_key *key;
    return plx_config_find_error(config, &key, message);
}
