/* SPDX-License-Identifier: Apache-2.0 */
/* YAML files and `key=value` of a command line into the configuration: each key found in the table, each error with its place.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <parallax/error.h>

#include "config/schema.h"
#include "config/text.h"
#include "config/yaml.h"
#include "config/zones.h"

#define MAX_KEYS 256                                          /* keys in the table */
#define MAX_ITEMS (PLX_HISTOGRAM_TILES * PLX_HISTOGRAM_TILES) /* items in a list */
#define UNKNOWN_TEXT 192

/* Which node gives each key of the table; found first, applied then. */
struct load {
    const struct plx_yaml *yaml;
    struct plx_error_message *message;
    const struct plx_yaml_node *node[MAX_KEYS];
};

static const char *describe_unknown(const char *name, char ret_text[UNKNOWN_TEXT])
{
    char quoted[PLX_QUOTED_TEXT], nearest[PLX_KEY_NAME];
    plx_key_nearest(name, nearest);
    snprintf(ret_text, UNKNOWN_TEXT, "unknown key \"%s\"; did you mean \"%s\"?", plx_quote(name, quoted), nearest);
    return ret_text;
}

static int find_key(struct load *load, const struct plx_yaml_node *node, const char *name)
{
    char unknown[UNKNOWN_TEXT];
    const struct plx_key *key = plx_key_find(name);
    if (!key)
        return plx_yaml_fail(load->yaml, node->key, load->message, PLX_ERR_FORMAT, "%s", describe_unknown(name, unknown));
    const struct plx_yaml_node **slot = &load->node[key - plx_keys];
    if (*slot)
        return plx_yaml_fail(load->yaml, node->key, load->message, PLX_ERR_FORMAT,
                             "key \"%s\" is given twice, first at line %d; expected it once", key->name, (*slot)->key->line);
    *slot = node;
    return 0;
}

static int find_in_section(struct load *load, const struct plx_yaml_node *section, const char *name)
{
    char full[2 * PLX_QUOTED_TEXT]; /* longer than any key of the table; what is cut is unknown anyway */
    for (const struct plx_yaml_node *node = section->child; node; node = node->next) {
        snprintf(full, sizeof full, "%s.%s", name, node->key->text);
        int result = find_key(load, node, full);
        if (result < 0)
            return result;
    }
    return 0;
}

static int find_all(struct load *load, const struct plx_yaml_node *root)
{
    if (root->kind != PLX_YAML_MAP)
        return plx_yaml_fail(load->yaml, root, load->message, PLX_ERR_FORMAT,
                             "not a configuration; expected keys and values, such as \"threads: 2\"");
    for (const struct plx_yaml_node *node = root->child; node; node = node->next) {
        const char *name = node->key->text;
        bool section = plx_key_is_section(name);
        int result = 0;
        if (section && node->kind == PLX_YAML_MAP)
            result = find_in_section(load, node, name);
        else if (section && plx_yaml_is_null(node))
            continue; /* a section with all its keys commented out */
        else if (section && !plx_key_find(name))
            result = plx_yaml_fail(load->yaml, node, load->message, PLX_ERR_FORMAT,
                                   "%s is a section; expected its keys below it", name);
        else
            result = find_key(load, node, name);
        if (result < 0)
            return result;
    }
    return 0;
}

static int apply(const struct load *load, const struct plx_key *key, const struct plx_yaml_node *node,
                 struct plx_config *config)
{
    const char *item[MAX_ITEMS];
    const bool list = node->kind == PLX_YAML_LIST;
    struct plx_written written = {.item = item, .quoted = node->quoted, .list = list};
    struct plx_error_message message;

    if (node->kind == PLX_YAML_MAP || (plx_yaml_is_null(node))) {
        char expected[PLX_VALUE_TEXT];
        plx_value_expected(key, expected);
        return plx_yaml_fail(load->yaml, node, load->message, PLX_ERR_FORMAT, "%s has %s; expected %s", key->name,
                             node->kind == PLX_YAML_MAP ? "keys below it" : "no value", expected);
    }
    if (key->type == PLX_KEY_ZONES) /* a list of maps */
        return plx_zones_parse(load->yaml, node, &config->pipeline.zones, load->message);
    item[0] = node->text;
    written.count = list ? node->count : 1;
    int i = 0;
    for (const struct plx_yaml_node *child = node->child; child && i < MAX_ITEMS; child = child->next)
        item[i++] = child->text; /* "" for a list or map in the list: no number */
    int result = plx_value_parse(key, &written, config, &message);
    if (result < 0)
        return plx_yaml_fail(load->yaml, node, load->message, result, "%s", message.text);
    return 0;
}

/* Presets first, then the keys that change them. */
static int apply_all(const struct load *load, struct plx_config *config)
{
    for (int presets = 1; presets >= 0; presets--) {
        for (int i = 0; i < plx_key_count; i++) {
            if (!load->node[i] || (plx_keys[i].type == PLX_KEY_PRESET) != presets)
                continue;
            int result = apply(load, &plx_keys[i], load->node[i], config);
            if (result < 0)
                return result;
        }
    }
    return 0;
}

/* The node that an error of KEY is about: of all zones that which lies in the robot. NULL: the file does not have the key. */
static const struct plx_yaml_node *find_place(const struct load *load, const struct plx_key *key,
                                              const struct plx_config *config)
{
    const struct plx_yaml_node *node = key ? load->node[key - plx_keys] : NULL;
    if (!node || key->type != PLX_KEY_ZONES)
        return node;
    const int index = plx_zones_find_in_robot(&config->pipeline.zones, &config->pipeline.map);
    if (index >= 0)
        node = node->child;
    for (int i = 0; i < index; i++)
        node = node->next;
    return node;
}

/* Reports an error at the key, or for the whole file if the file does not have the key. */
static int check(const struct load *load, const struct plx_config *config)
{
    struct plx_error_message reason;
    const struct plx_key *key = NULL;
    int result = plx_config_find_error(config, &key, &reason);
    if (result < 0)
        plx_yaml_fail(load->yaml, find_place(load, key, config), load->message, result, "%s", reason.text);
    return result;
}

int plx_config_load(const char *path, struct plx_config *ret_config, struct plx_error_message *message)
{
    struct plx_config config;
    struct plx_yaml *yaml = NULL;
    struct load load = {.message = message};

    plx_config_default(&config);
    int result = plx_yaml_read(path, &yaml, message);
    if (result < 0)
        return result;
    load.yaml = yaml;
    if (plx_yaml_root(yaml) && !plx_yaml_is_null(plx_yaml_root(yaml)))
        result = find_all(&load, plx_yaml_root(yaml));
    if (result == 0)
        result = apply_all(&load, &config);
    if (result == 0)
        result = check(&load, &config);
    if (result == 0)
        *ret_config = config;
    plx_yaml_destroy(yaml);
    return result;
}

/* Splits TEXT, which is changed, at its commas, without brackets around it. Returns the number of items, at most MAX + 1. */
static int split(char *text, const char *item[], int max)
{
    int count = 0;
    char *rest = text + strspn(text, "[ ");
    rest[strcspn(rest, "]")] = '\0';
    for (char *word; (word = strsep(&rest, ",")) && count <= max; count++) {
        word += strspn(word, " ");
        word[strcspn(word, " ")] = '\0';
        item[count] = word;
    }
    return count;
}

int plx_config_set(struct plx_config *config, const char *assignment, struct plx_error_message *message)
{
    char name[PLX_QUOTED_TEXT], quoted[PLX_QUOTED_TEXT], unknown[UNKNOWN_TEXT], list[PLX_VALUE_TEXT];
    const char *item[MAX_ITEMS + 1];
    const char *equals = strchr(assignment, '=');

    if (!equals)
        return plx_fail(message, PLX_ERR_FORMAT, "\"%s\" has no =; expected key=value, such as match.paths=4",
                        plx_quote(assignment, quoted));
    snprintf(name, sizeof name, "%.*s", (int)(equals - assignment), assignment);
    const struct plx_key *key = plx_key_find(name);
    if (!key)
        return plx_fail(message, PLX_ERR_FORMAT, "%s", describe_unknown(name, unknown));
    struct plx_written written = {.item = item, .count = 1};
    item[0] = equals + 1;
    if (plx_key_is_list(key->type)) {
        snprintf(list, sizeof list, "%s", equals + 1);
        written.count = split(list, item, MAX_ITEMS);
        written.list = true;
    }
    return plx_value_parse(key, &written, config, message);
}

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

int plx_config_fail(const struct plx_config_source *config_source, const char *key, struct plx_error_message *message,
                    int error, const char *format, ...)
{
    struct plx_error_message unread;
    struct load load = {.message = &unread};
    struct plx_yaml *yaml = NULL;
    char text[sizeof message->text];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!config_source->path || plx_yaml_read(config_source->path, &yaml, &unread) < 0)
        return plx_fail(message, error, "%s", text);
    load.yaml = yaml;
    if (plx_yaml_root(yaml))
        find_all(&load, plx_yaml_root(yaml)); /* up to its first error, in a file that was replaced a moment ago */
    plx_yaml_fail(yaml, load.node[plx_key_find(key) - plx_keys], message, error, "%s", text);
    plx_yaml_destroy(yaml);
    return error;
}
