/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the video node of a camera: by a stable path, or by what it must match. Never by /dev/videoN, whose number changes. */
#ifndef PLX_V4L2_FIND_H
#define PLX_V4L2_FIND_H

#include "drivers/v4l2/node.h"

/* "/dev/v4l/by-path/..." or any other name but /dev/videoN; or "card=...,driver=...,serial=...,bus=...", each with shell
 * wildcards. All that are given must match. */
struct plx_v4l2_rule {
    char path[PLX_V4L2_PATH]; /* "" : by match */
    struct plx_v4l2_identity match;
};

/* RANGE, with what is wrong with TEXT and what was expected. */
int plx_v4l2_rule_parse(const char *text, struct plx_v4l2_rule *ret_rule, struct plx_error_message *message);
bool plx_v4l2_rule_fits(const struct plx_v4l2_rule *rule, const struct plx_v4l2_identity *identity);

/* Opens the one node that RULE names. LOST if there is none now, RANGE if several fit, errors of plx_v4l2_open. */
int plx_v4l2_find(const struct plx_v4l2_rule *rule, struct plx_v4l2_node *ret_node, struct plx_error_message *message);

/* The numbers of /dev/videoN that exist, ascending; returns how many, at most MAX. */
int plx_v4l2_node_numbers(int *ret_number, int max);

/* The name of a camera for the configuration: a stable path, else a match. */
void plx_v4l2_configured_name(const struct plx_v4l2_node *node, char ret_name[PLX_V4L2_PATH]);

#endif
