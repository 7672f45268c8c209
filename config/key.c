/* SPDX-License-Identifier: Apache-2.0 */
/* Finds keys by name, exact or nearest; compares configurations key by key; the presets of the section match. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "config/schema.h"
#include "core/base/text.h"

const struct plx_key *plx_key_find(const char *name)
{
    if (strcmp(name, "match") == 0)
        name = "match.preset";
    for (int i = 0; i < plx_key_count; i++)
        if (strcmp(plx_keys[i].name, name) == 0)
            return &plx_keys[i];
    return NULL;
}

const struct plx_range *plx_key_range(const struct plx_key *key)
{
    static const struct {
        const struct plx_parameters *parameters;
        size_t offset; /* the struct that they are in */
    } owner[] = {
        {&plx_match_parameters, offsetof(struct plx_config, pipeline.match)},
        {&plx_pipeline_parameters, offsetof(struct plx_config, pipeline)},
        {&plx_exposure_parameters, offsetof(struct plx_config, exposure)},
    };
    if (key->type == PLX_KEY_BOOL || key->type == PLX_KEY_TEXT || key->type == PLX_KEY_PRESET || key->type == PLX_KEY_FLAGS ||
        key->type == PLX_KEY_ZONES)
        return NULL;
    for (size_t i = 0; i < sizeof owner / sizeof *owner; i++) {
        const struct plx_range *range = plx_parameter_range(owner[i].parameters, key->offset - owner[i].offset);
        if (range)
            return range;
    }
    return key->type == PLX_KEY_WORD ? NULL : &key->range;
}

bool plx_key_is_section(const char *name)
{
    size_t length = strlen(name);
    for (int i = 0; i < plx_key_count; i++)
        if (strncmp(plx_keys[i].name, name, length) == 0 && plx_keys[i].name[length] == '.')
            return true;
    return false;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static const char *leaf(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

/* Edit distance of NAME and KNOWN; a correct leaf in a wrong section counts as one wrong letter. */
static int distance(const char *name, const char *known)
{
    return least(plx_edit_distance(name, known, strlen(known)),
                 1 + plx_edit_distance(leaf(name), leaf(known), strlen(leaf(known))));
}

void plx_key_nearest(const char *name, char ret_nearest[PLX_KEY_NAME])
{
    int fewest = INT_MAX;
    for (int i = 0; i < plx_key_count; i++) {
        const char *known = plx_keys[i].name;
        const size_t length = strlen(known), section = strcspn(known, ".");
        const char *other = plx_keys[i].other_name ? plx_keys[i].other_name : known;
        const int as_key = least(distance(name, known), plx_edit_distance(name, other, strlen(other)));
        const int as_section = section < length && !strchr(name, '.') ? plx_edit_distance(name, known, section) : INT_MAX;
        if (least(as_key, as_section) >= fewest)
            continue;
        fewest = least(as_key, as_section);
        snprintf(ret_nearest, PLX_KEY_NAME, "%.*s", (int)(as_section < as_key ? section : length), known);
    }
}

/* PLX_KEY_PRESET has no value of its own: its size is 0. */
bool plx_key_is_same(const struct plx_key *key, const struct plx_config *a, const struct plx_config *b)
{
    const char *x = (const char *)a + key->offset, *y = (const char *)b + key->offset;
    return key->type == PLX_KEY_TEXT ? strcmp(x, y) == 0 : memcmp(x, y, key->size) == 0;
}

bool plx_config_equals(const struct plx_config *a, const struct plx_config *b)
{
    for (int i = 0; i < plx_key_count; i++)
        if (!plx_key_is_same(&plx_keys[i], a, b))
            return false;
    return true;
}

bool plx_config_reloadable(const struct plx_config *a, const struct plx_config *b, const char **ret_key)
{
    for (int i = 0; i < plx_key_count; i++) {
        const struct plx_key *key = &plx_keys[i];
        if (!key->reloadable && !plx_key_is_same(key, a, b)) {
            *ret_key = key->name;
            return false;
        }
    }
    return true;
}

const char *plx_config_fixed_difference(const struct plx_config *a, const struct plx_config *b)
{
    for (int i = 0; i < plx_key_count; i++)
        if (plx_keys[i].fixed && !plx_key_is_same(&plx_keys[i], a, b))
            return plx_keys[i].name;
    return NULL;
}

void plx_match_preset_apply(struct plx_match *match, enum plx_match_preset preset)
{
    const struct plx_match old = *match;
    (preset == PLX_MATCH_PRESET_CLASSIC ? plx_match_classic : plx_match_default)(match);
    match->disparities = old.disparities;
    match->min_disparity = old.min_disparity;
    match->paths = old.paths;
}

/* The keys of the section match, without the size of the search, in which MATCH differs from PRESET. */
static int differences(const struct plx_match *match, enum plx_match_preset preset)
{
    static const char section[] = "match.";
    const struct plx_config given = {.pipeline.match = *match};
    struct plx_config other = given;
    int count = 0;

    plx_match_preset_apply(&other.pipeline.match, preset);
    for (const struct plx_key *key = plx_keys; key < plx_keys + plx_key_count; key++)
        if (strncmp(key->name, section, sizeof section - 1) == 0)
            count += !plx_key_is_same(key, &given, &other);
    return count;
}

enum plx_match_preset plx_match_preset_of(const struct plx_match *match)
{
    const bool is_nearer_to_classic =
        differences(match, PLX_MATCH_PRESET_CLASSIC) < differences(match, PLX_MATCH_PRESET_DEFAULT);
    return is_nearer_to_classic ? PLX_MATCH_PRESET_CLASSIC : PLX_MATCH_PRESET_DEFAULT;
}
