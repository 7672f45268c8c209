/* SPDX-License-Identifier: Apache-2.0 */
#include "app/ros/topics.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <parallax/error.h>

#include "app/ros/compressor.h"

struct plx_ros_topic plx_ros_topic_of(int topic)
{
    static const struct plx_ros_topic own[] = {
        [PLX_ROS_TOPIC_LEFT_JPEG - PLX_TOPICS] = {"left", "left/image_rect/compressed", &ros_compressed_image_type},
        [PLX_ROS_TOPIC_COLOUR_JPEG - PLX_TOPICS] = {"colour", "left/image_rect_color/compressed", &ros_compressed_image_type},
        [PLX_ROS_TOPIC_DEPTH_PNG - PLX_TOPICS] = {"depth", "depth/image_rect/compressedDepth", &ros_compressed_image_type},
        [PLX_ROS_TOPIC_COSTMAP - PLX_TOPICS] = {"costmap", "costmap", &ros_costmap_type},
        [PLX_ROS_TOPIC_ZONE_STOP - PLX_TOPICS] = {"zone", "zone_stop", &ros_polygon_instance_stamped_type},
        [PLX_ROS_TOPIC_ZONE_SLOW - PLX_TOPICS] = {"zone", "zone_slow", &ros_polygon_instance_stamped_type},
        [PLX_ROS_TOPIC_SPEED_LIMIT - PLX_TOPICS] = {"speed_limit", "speed_limit", &ros_speed_limit_type},
        [PLX_ROS_TOPIC_BOXES - PLX_TOPICS] = {"locate", "locate/boxes", &ros_detection_2d_array_type},
        [PLX_ROS_TOPIC_LOCATED - PLX_TOPICS] = {"locate", "locate/detections", &ros_detection_3d_array_type},
        [PLX_ROS_TOPIC_LOCATE_INFO - PLX_TOPICS] = {"locate", "locate/info", &ros_diagnostic_array_type},
    };
    if (topic >= PLX_TOPICS)
        return own[topic - PLX_TOPICS];
    return (struct plx_ros_topic){plx_topics[topic].word, plx_topics[topic].name, plx_topics[topic].type};
}

/* TOPIC is that of the picture itself. */
static int fill_compressed(enum plx_topic_id topic, const struct plx_frame_messages *messages,
                           const struct plx_ros_tools *tools, struct ros_compressed_image *ret_compressed)
{
    union plx_topic_message message;
    const int result = plx_topic_fill(topic, messages, &message);
    if (result < 0)
        return result;
    return topic == PLX_TOPIC_DEPTH ? plx_ros_compress_depth(tools->compressor, &message.image, ret_compressed)
                                    : plx_ros_compress_picture(tools->compressor, &message.image, ret_compressed);
}

int plx_ros_topic_fill(int topic, const struct plx_frame_messages *messages, const struct plx_ros_tools *tools,
                       union plx_ros_message *ret_message)
{
    switch (topic) {
    case PLX_ROS_TOPIC_LEFT_JPEG:
        return fill_compressed(PLX_TOPIC_LEFT, messages, tools, &ret_message->compressed);
    case PLX_ROS_TOPIC_COLOUR_JPEG:
        return fill_compressed(PLX_TOPIC_COLOUR, messages, tools, &ret_message->compressed);
    case PLX_ROS_TOPIC_DEPTH_PNG:
        return fill_compressed(PLX_TOPIC_DEPTH, messages, tools, &ret_message->compressed);
    case PLX_ROS_TOPIC_COSTMAP:
        return plx_message_costmap(messages, &ret_message->costmap);
    case PLX_ROS_TOPIC_ZONE_STOP:
        return plx_message_zone(messages, PLX_VERDICT_STOP, &ret_message->zone);
    case PLX_ROS_TOPIC_ZONE_SLOW:
        return plx_message_zone(messages, PLX_VERDICT_SLOW, &ret_message->zone);
    case PLX_ROS_TOPIC_SPEED_LIMIT:
        return plx_message_speed_limit(messages, tools->slow_percent, &ret_message->speed_limit);
    default:
        return topic < PLX_TOPICS ? plx_topic_fill((enum plx_topic_id)topic, messages, &ret_message->common)
                                  : PLX_ERR_NOT_FOUND;
    }
}

/* The others have names of their own. */
static bool is_in_namespace(int topic)
{
    return topic < PLX_NAMESPACE_TOPICS || topic >= PLX_TOPICS;
}

/* The topics below the namespace whose word the LENGTH characters at WORD are: bit 1 << topic. */
static uint32_t topics_named(const char *word, size_t length)
{
    uint32_t named = 0;
    for (int i = 0; i < PLX_ROS_TOPICS; i++) {
        const char *known = plx_ros_topic_of(i).word;
        if (is_in_namespace(i) && strlen(known) == length && strncmp(known, word, length) == 0)
            named |= 1u << i;
    }
    return named;
}

/* True if the LENGTH characters at NAME are a name of ROS: letters, digits, _ and, between these, /. */
static bool is_name(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const bool begins = i == 0 || name[i - 1] == '/';
        if (!isalnum((unsigned char)name[i]) && name[i] != '_' && (name[i] != '/' || begins))
            return false;
        if (begins && isdigit((unsigned char)name[i]))
            return false;
    }
    return length > 0 && name[length - 1] != '/';
}

static int wrong_name(struct plx_error_message *message, const char *key, const char *name, size_t length)
{
    return plx_fail(message, PLX_ERR_ARG, "%s: \"%.*s\" is no name of ROS; expected letters, digits, _ and / between them", key,
                    (int)length, name);
}

/* Writes "/PREFIX/NAME" or, without a prefix, "/NAME". */
static int write_name(char ret[PLX_ROS_NAME], const char *key, const char *prefix, const char *name,
                      struct plx_error_message *message)
{
    if (snprintf(ret, PLX_ROS_NAME, "%s%s/%s", *prefix ? "/" : "", prefix, name) < PLX_ROS_NAME)
        return 0;
    return plx_fail(message, PLX_ERR_ARG, "%s: the name \"%s\" becomes longer than %d bytes", key, name, PLX_ROS_NAME - 1);
}

/* Switches all topics off that LIST, words separated by commas, does not name. */
static int select_topics(const char *list, struct plx_ros_names *names, struct plx_error_message *message)
{
    uint32_t named = 0;
    for (const char *word = list; *word;) {
        const size_t length = strcspn(word, ",");
        const uint32_t topics = topics_named(word, length);
        if (topics == 0)
            return plx_fail(message, PLX_ERR_ARG, "ros.topics: there is no \"%.*s\"; expected some of %s", (int)length, word,
                            PLX_NAMESPACE_TOPIC_WORDS ",costmap,zone,speed_limit,locate");
        named |= topics;
        word += length + (word[length] == ',');
    }
    for (int i = 0; i < PLX_ROS_TOPICS && named > 0; i++)
        if (is_in_namespace(i) && !(named >> i & 1))
            names->topic[i][0] = '\0';
    return 0;
}

/* One of `ros.rename`: OLD=NEW of LENGTH characters. NEW stands below the namespace, unless it begins with a slash. */
static int rename_topic(const char *assignment, size_t length, const char *prefix, struct plx_ros_names *names,
                        struct plx_error_message *message)
{
    const char *sign = memchr(assignment, '=', length);
    char name[PLX_ROS_NAME];
    if (!sign)
        return plx_fail(message, PLX_ERR_ARG, "ros.rename: \"%.*s\" has no \"=\"; expected OLD=NEW,... such as scan=/scan",
                        (int)length, assignment);
    const bool absolute = sign[1] == '/';
    const char *new_name = sign + 1 + absolute;
    const size_t old_length = (size_t)(sign - assignment), new_length = (size_t)(assignment + length - new_name);
    if (!is_name(new_name, new_length) || new_length >= sizeof name)
        return wrong_name(message, "ros.rename", new_name, new_length);
    snprintf(name, sizeof name, "%.*s", (int)new_length, new_name);
    for (int i = 0; i < PLX_ROS_TOPICS; i++) {
        const char *old = plx_ros_topic_of(i).name;
        if (is_in_namespace(i) && strlen(old) == old_length && strncmp(old, assignment, old_length) == 0)
            return write_name(names->topic[i], "ros.rename", absolute ? "" : prefix, name, message);
    }
    return plx_fail(message, PLX_ERR_ARG, "ros.rename: there is no topic \"%.*s\"; expected one such as left/image_rect",
                    (int)old_length, assignment);
}

/* Two topics under one name would mix their messages, or types that DDS refuses with a number. */
static int check_names(const struct plx_ros_names *names, struct plx_error_message *message)
{
    for (int i = 0; i < PLX_ROS_TOPICS; i++)
        for (int k = 0; k < i; k++)
            if (names->topic[i][0] && strcmp(names->topic[i], names->topic[k]) == 0)
                return plx_fail(message, PLX_ERR_ARG, "ros.rename: %s and %s are both called \"%s\"; expected a name for each",
                                plx_ros_topic_of(k).name, plx_ros_topic_of(i).name, names->topic[i]);
    return 0;
}

static int name_frames(const char *prefix, struct plx_ros_names *names, struct plx_error_message *message)
{
    static const char *const suffix[PLX_FRAME_ODOM] = {
        [PLX_FRAME_LINK] = "link", [PLX_FRAME_OPTICAL] = "left_optical_frame", [PLX_FRAME_SCAN] = "scan"};
    if (*prefix && !is_name(prefix, strlen(prefix)))
        return wrong_name(message, "ros.frame_prefix", prefix, strlen(prefix));
    for (int i = 0; i < PLX_FRAME_IDS; i++) {
        if (i < PLX_FRAME_ODOM)
            snprintf(names->frame[i], PLX_ROS_NAME, "%s%s", prefix, suffix[i]);
        else
            snprintf(names->frame[i], PLX_ROS_NAME, "odom");
        names->frames.name[i] = names->frame[i];
    }
    return 0;
}

int plx_ros_names(const struct plx_config *config, struct plx_ros_names *ret_names, struct plx_error_message *message)
{
    const char *prefix = config->ros.name_space + (config->ros.name_space[0] == '/');
    int result = *prefix && !is_name(prefix, strlen(prefix)) ? wrong_name(message, "ros.namespace", prefix, strlen(prefix)) : 0;
    *ret_names = (struct plx_ros_names){.topic = {""}, .slow_percent = config->ros.slow_percent};
    for (int i = 0; i < PLX_ROS_TOPICS && result == 0; i++)
        if (is_in_namespace(i))
            result = write_name(ret_names->topic[i], "ros.namespace", prefix, plx_ros_topic_of(i).name, message);
        else
            snprintf(ret_names->topic[i], PLX_ROS_NAME, "%s", plx_ros_topic_of(i).name);
    for (const char *text = config->ros.rename; *text && result == 0;) {
        const size_t length = strcspn(text, ",");
        result = rename_topic(text, length, prefix, ret_names, message);
        text += length + (text[length] == ',');
    }
    if (result == 0)
        result = select_topics(config->ros.topics, ret_names, message);
    if (result == 0)
        result = check_names(ret_names, message);
    return result == 0 ? name_frames(config->ros.frame_prefix, ret_names, message) : result;
}
