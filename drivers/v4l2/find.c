/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/v4l2/node.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <parallax/error.h>

#define MAX_NODES 64

static const struct field {
    const char *name;
    size_t offset, bytes;
} fields[] = {
#define FIELD(name) #name, offsetof(struct plx_v4l2_identity, name), sizeof(((struct plx_v4l2_identity *)0)->name)
    {FIELD(card)},
    {FIELD(driver)},
    {FIELD(serial)},
    {FIELD(bus)},
#undef FIELD
};
#define FIELDS (sizeof fields / sizeof *fields)

static int parse_path(const char *text, struct plx_v4l2_rule *ret_rule, struct plx_error_message *message)
{
    int number, length = 0;

    if (strlen(text) >= sizeof ret_rule->path)
        return plx_fail(message, PLX_ERR_RANGE, "camera path of %zu bytes, expected fewer than %zu", strlen(text),
                        sizeof ret_rule->path);
    if (sscanf(text, "/dev/video%d%n", &number, &length) == 1 && text[length] == '\0')
        return plx_fail(
            message, PLX_ERR_RANGE,
            "camera \"%s\" is a number that changes whenever a camera is plugged in; expected a name below /dev/v4l/by-path or "
            "by-id, or card=..., serial=..., bus=... (`parallax cameras` suggests one)",
            text);
    *ret_rule = (struct plx_v4l2_rule){.path = ""};
    memcpy(ret_rule->path, text, strlen(text) + 1);
    return 0;
}

static int parse_field(const char *text, size_t length, struct plx_v4l2_rule *rule, struct plx_error_message *message)
{
    for (size_t i = 0; i < FIELDS; i++) {
        const size_t name = strlen(fields[i].name);
        if (length <= name + 1 || strncmp(text, fields[i].name, name) != 0 || text[name] != '=')
            continue;
        if (length - name - 1 >= fields[i].bytes)
            return plx_fail(message, PLX_ERR_RANGE,
                            "camera match \"%.*s\" is too long; expected at most %zu bytes after the =", (int)length, text,
                            fields[i].bytes - 1);
        memcpy((char *)&rule->match + fields[i].offset, text + name + 1, length - name - 1);
        return 0;
    }
    return plx_fail(message, PLX_ERR_RANGE,
                    "camera match \"%.*s\" is not understood; expected a path, or card=, driver=, serial= or bus= with a value",
                    (int)length, text);
}

int plx_v4l2_rule_parse(const char *text, struct plx_v4l2_rule *ret_rule, struct plx_error_message *message)
{
    struct plx_v4l2_rule rule = {.path = ""};

    if (text[0] == '/')
        return parse_path(text, ret_rule, message);
    while (true) {
        size_t length = strcspn(text, ",");
        int result = parse_field(text, length, &rule, message);
        if (result < 0)
            return result;
        if (text[length] == '\0')
            break;
        text += length + 1;
    }
    *ret_rule = rule;
    return 0;
}

bool plx_v4l2_rule_fits(const struct plx_v4l2_rule *rule, const struct plx_v4l2_identity *identity)
{
    for (size_t i = 0; i < FIELDS; i++) {
        const char *wanted = (const char *)&rule->match + fields[i].offset;
        if (wanted[0] != '\0' && fnmatch(wanted, (const char *)identity + fields[i].offset, 0) != 0)
            return false;
    }
    return true;
}

static int by_number(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

int plx_v4l2_node_numbers(int *ret_number, int max)
{
    DIR *directory = opendir("/dev");
    const struct dirent *entry;
    int count = 0, length;

    if (!directory)
        return 0;
    while (count < max && (entry = readdir(directory)))
        if (length = 0, sscanf(entry->d_name, "video%d%n", &ret_number[count], &length) == 1 && entry->d_name[length] == '\0')
            count++;
    closedir(directory);
    qsort(ret_number, (size_t)count, sizeof *ret_number, by_number);
    return count;
}

bool plx_v4l2_is_any_denied(void)
{
    int number[MAX_NODES];
    const int count = plx_v4l2_node_numbers(number, MAX_NODES);

    for (int i = 0; i < count; i++) {
        char path[32];
        snprintf(path, sizeof path, "/dev/video%d", number[i]);
        if (access(path, R_OK | W_OK) < 0 && errno == EACCES)
            return true;
    }
    return false;
}

static int find_match(const struct plx_v4l2_rule *rule, struct plx_v4l2_node *ret_node, struct plx_error_message *message)
{
    int number[MAX_NODES], fitting = 0;
    const int count = plx_v4l2_node_numbers(number, MAX_NODES);
    struct plx_v4l2_node found = {.fd = -1}, node;
    struct plx_error_message denied = {""}, reason;

    for (int i = 0; i < count; i++) {
        char path[32];
        snprintf(path, sizeof path, "/dev/video%d", number[i]);
        int result = plx_v4l2_open(path, &node, &reason);
        if (result == PLX_ERR_PERMISSION)
            denied = reason;
        if (result < 0)
            continue;
        if (plx_v4l2_rule_fits(rule, &node.identity) && fitting++ == 0)
            found = node;
        else
            plx_v4l2_close(&node);
    }
    if (fitting == 1) {
        *ret_node = found;
        return 0;
    }
    plx_v4l2_close(&found);
    if (fitting > 1)
        return plx_fail(message, PLX_ERR_RANGE,
                        "%d cameras match the configured one; expected a single match: add serial= or bus=", fitting);
    return plx_fail(message, PLX_ERR_LOST, "none of the %d video nodes matches the configured camera%s%s", count,
                    denied.text[0] ? "; " : "", denied.text);
}

int plx_v4l2_find(const struct plx_v4l2_rule *rule, struct plx_v4l2_node *ret_node, struct plx_error_message *message)
{
    return rule->path[0] ? plx_v4l2_open(rule->path, ret_node, message) : find_match(rule, ret_node, message);
}

static bool name_in(const char *folder, dev_t device, char ret_name[PLX_V4L2_PATH])
{
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    bool found = false;

    if (!directory)
        return false;
    while (!found && (entry = readdir(directory))) {
        char name[PATH_MAX];
        struct stat info;
        int length = snprintf(name, sizeof name, "%s/%s", folder, entry->d_name);
        found = length < PLX_V4L2_PATH && stat(name, &info) == 0 && S_ISCHR(info.st_mode) && info.st_rdev == device;
        if (found)
            memcpy(ret_name, name, (size_t)length + 1);
    }
    closedir(directory);
    return found;
}

/* The link to the node PATH below /dev/parallax, /dev/v4l/by-path or by-id, tried in this order; false if there is none. */
static bool stable_name(const char *path, char ret_name[PLX_V4L2_PATH])
{
    static const char *const folder[] = {"/dev/parallax", "/dev/v4l/by-path", "/dev/v4l/by-id"};
    struct stat info;
    bool found = false;

    if (stat(path, &info) < 0)
        return false;
    for (size_t i = 0; i < sizeof folder / sizeof *folder && !found; i++)
        found = name_in(folder[i], info.st_rdev, ret_name);
    return found;
}

/* "NAME=TEXT" for a match in a quoted YAML string: special characters become the wildcard "?". */
static void print_match(const char *name, const char *text, char ret_match[PLX_V4L2_PATH])
{
    snprintf(ret_match, PLX_V4L2_PATH, "%s=%s", name, text);
    for (char *at = ret_match + strlen(name) + 1; *(at += strcspn(at, ",*[]\\\"")) != '\0';)
        *at = '?';
}

void plx_v4l2_configured_name(const struct plx_v4l2_node *node, char ret_name[PLX_V4L2_PATH])
{
    const struct plx_v4l2_identity *identity = &node->identity;

    if (stable_name(node->path, ret_name))
        return;
    const bool by_serial = identity->serial[0] != '\0';
    char driver[PLX_V4L2_PATH], device[PLX_V4L2_PATH];
    print_match("driver", identity->driver, driver);
    print_match(by_serial ? "serial" : "bus", by_serial ? identity->serial : identity->bus, device);
    snprintf(ret_name, PLX_V4L2_PATH, "%.100s,%.150s", driver, device);
}
