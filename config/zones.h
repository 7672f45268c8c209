/* SPDX-License-Identifier: Apache-2.0 */
/* The key zones: a list of maps, one for each zone. docs/verdict.md describes it. */
#ifndef PLX_CONFIG_ZONES_H
#define PLX_CONFIG_ZONES_H

#include <stddef.h>

#include "config/yaml.h"
#include "core/verdict/zones.h"

/* Share of ZONE, 0 .. 1, that lies in the rectangle of the robot itself. */
double plx_zone_share_in_robot(const struct plx_zone *zone, const struct plx_map_params *robot);

/* The first zone that lies wholly in the rectangle of the robot itself; -1: there is none. */
int plx_zones_find_in_robot(const struct plx_zone_list *list, const struct plx_map_params *robot);

/* Reads NODE, the value of the key zones, into *ret_list, which is untouched on failure. FORMAT or RANGE, with the place in
 * YAML before the sentence. */
int plx_zones_parse(const struct plx_yaml *yaml, const struct plx_yaml_node *node, struct plx_zone_list *ret_list,
                    struct plx_error_message *message);

/* The same for TEXT, as on the command line: [{name: front, polygon: [[0.3, -0.4], ...]}]. */
int plx_zones_parse_text(const char *text, struct plx_zone_list *ret_list, struct plx_error_message *message);

/* Writes LIST as YAML on one line that parses to the same bits, cut to SIZE bytes. */
void plx_zones_print(const struct plx_zone_list *list, char *ret_text, size_t size);

#endif
