/* SPDX-License-Identifier: Apache-2.0 */
/* The named match sets as values of the key match.set. */
#include <string.h>

#include "config/schema.h"

void plx_match_set_apply(struct plx_match *match, enum plx_match_set set)
{
    const struct plx_match old = *match;
    (set == PLX_MATCH_SET_CLASSIC ? plx_match_classic : plx_match_default)(match);
    match->disparities = old.disparities;
    match->min_disparity = old.min_disparity;
    match->paths = old.paths;
}

enum plx_match_set plx_match_set_of(const struct plx_match *match)
{
    static const char section[] = "match.";
    struct plx_config classic = {.pipeline.match = *match}, given = classic;
    plx_match_set_apply(&classic.pipeline.match, PLX_MATCH_SET_CLASSIC);
    for (int i = 0; i < plx_key_count; i++) {
        const struct plx_key *key = &plx_keys[i];
        if (strncmp(key->name, section, sizeof section - 1) == 0 &&
            memcmp((char *)&classic + key->offset, (char *)&given + key->offset, key->size) != 0)
            return PLX_MATCH_SET_DEFAULT;
    }
    return PLX_MATCH_SET_CLASSIC;
}
