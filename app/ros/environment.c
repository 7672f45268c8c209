/* SPDX-License-Identifier: Apache-2.0 */
#include "app/ros/environment.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dds/version.h>
#include <parallax/error.h>

/* The value of a variable; "" if it is not set. */
static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

static int find_domain(uint32_t *ret_domain, struct plx_error_message *message)
{
    const char *text = variable("ROS_DOMAIN_ID");
    char *end;
    const long domain = strtol(text, &end, 10);
    if (*end || domain < 0 || domain > PLX_ROS_MAX_DOMAIN)
        return plx_fail(message, PLX_ERR_ARG, "ROS_DOMAIN_ID: \"%s\"; expected a number from 0 to %d", text,
                        PLX_ROS_MAX_DOMAIN);
    *ret_domain = (uint32_t)domain;
    return 0;
}

enum range { RANGE_SUBNET, RANGE_LOCALHOST, RANGE_OFF, RANGE_SYSTEM_DEFAULT, RANGES };

/* How far nodes look for each other. ROS_LOCALHOST_ONLY is what older releases have. */
static int find_range(enum range *ret_range, struct plx_error_message *message)
{
    static const char *const words[RANGES] = {"SUBNET", "LOCALHOST", "OFF", "SYSTEM_DEFAULT"};
    const char *text = variable("ROS_AUTOMATIC_DISCOVERY_RANGE");
    *ret_range = strcmp(variable("ROS_LOCALHOST_ONLY"), "1") == 0 ? RANGE_LOCALHOST : RANGE_SUBNET;
    if (!*text)
        return 0;
    for (int i = 0; i < RANGES; i++)
        if (strcmp(text, words[i]) == 0) {
            *ret_range = (enum range)i;
            return 0;
        }
    return plx_fail(message, PLX_ERR_ARG,
                    "ROS_AUTOMATIC_DISCOVERY_RANGE: \"%s\"; expected SUBNET, LOCALHOST, OFF or SYSTEM_DEFAULT", text);
}

struct text {
    char *at;
    size_t size, used;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *text, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    const int length = vsnprintf(text->at + text->used, text->size - text->used, format, values);
    va_end(values);
    text->used = (size_t)length < text->size - text->used ? text->used + (size_t)length : text->size - 1;
}

/* The addresses in PEERS, separated by semicolons. */
static void add_peers(struct text *text, const char *peers)
{
    while (*peers) {
        const size_t length = strcspn(peers, ";");
        if (length > 0 && !memchr(peers, '"', length) && !memchr(peers, '<', length))
            add(text, "<Peer address=\"%.*s\"/>", (int)length, peers);
        peers += length + (peers[length] == ';');
    }
}

/* On loopback, discovery goes by multicast too: nodes that older releases configure, and Cyclone DDS 11, take any port there
 * and hear no peer list. Linux does not mark loopback as multicast-capable, although it is. */
static void add_interface(struct text *text, enum range range)
{
    const bool is_old = DDS_VERSION_MAJOR == 0 && DDS_VERSION_MINOR < 9;
    if (range == RANGE_LOCALHOST && is_old)
        add(text, "<NetworkInterfaceAddress>127.0.0.1</NetworkInterfaceAddress>"
                  "<AssumeMulticastCapable>lo</AssumeMulticastCapable>");
    else if (range == RANGE_LOCALHOST)
        add(text, "<Interfaces><NetworkInterface address=\"127.0.0.1\" multicast=\"true\"/></Interfaces>");
    if (range == RANGE_LOCALHOST || range == RANGE_OFF)
        add(text, "<AllowMulticast>%s</AllowMulticast>", range == RANGE_LOCALHOST ? "spdp" : "false");
}

/* Several nodes on one machine find each other without multicast by their participant numbers. */
static void add_discovery(struct text *text, enum range range, const char *peers)
{
    if (range == RANGE_SYSTEM_DEFAULT || (range == RANGE_SUBNET && !*peers))
        return;
    add(text,
        "<Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>32</MaxAutoParticipantIndex><Peers>");
    if (range == RANGE_LOCALHOST)
        add(text, "<Peer address=\"127.0.0.1\"/>");
    if (range != RANGE_OFF)
        add_peers(text, peers);
    add(text, "</Peers></Discovery>");
}

int plx_ros_environment(struct plx_ros_environment *ret_environment, struct plx_error_message *message)
{
    struct plx_ros_environment result = {.domain = 0};
    struct text text = {.at = result.configuration, .size = sizeof result.configuration};
    enum range range = RANGE_SUBNET;
    int error = find_domain(&result.domain, message);
    if (error == 0)
        error = find_range(&range, message);
    if (error < 0)
        return error;
    /* Two datagrams make a portion (app/ros/pacing.h), and a picture that nobody has acknowledged yet does not stop the next.
     */
    add(&text, "<CycloneDDS><Domain><General><MaxMessageSize>16384B</MaxMessageSize><FragmentSize>16000B</FragmentSize>");
    add_interface(&text, range);
    add(&text, "</General>");
    add_discovery(&text, range, variable("ROS_STATIC_PEERS"));
    add(&text, "<Internal><Watermarks><WhcHigh>64MB</WhcHigh></Watermarks></Internal></Domain></CycloneDDS>");
    const char *uri = variable("CYCLONEDDS_URI");
    add(&text, "%s%s", *uri ? "," : "", uri);
    if (text.used == text.size - 1)
        return plx_fail(message, PLX_ERR_ARG,
                        "CYCLONEDDS_URI, ROS_STATIC_PEERS: longer than %zu bytes; name a file: file:///PATH",
                        sizeof result.configuration - 2048);
    *ret_environment = result;
    return 0;
}
