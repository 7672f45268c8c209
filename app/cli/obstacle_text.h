/* SPDX-License-Identifier: Apache-2.0 */
/* An obstacle as one line for people. */
#ifndef PLX_CLI_OBSTACLE_TEXT_H
#define PLX_CLI_OBSTACLE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include <parallax/frame.h>

#define PLX_OBSTACLE_TEXT 128 /* bytes: room for one */

/* "#3     4.52 m ahead   0.61 m left   0.80 m wide   1.21 m high   closing 0.4 m/s"; METRIC false: box and disparity instead.
 */
void plx_obstacle_text(const struct plx_obstacle *obstacle, bool metric, char *ret_text, size_t size);

/* The obstacles seen in this frame (not the lost ones), nearest first; returns how many. */
int plx_obstacles_by_distance(const struct plx_frame *frame, const struct plx_obstacle *ret_sorted[PLX_MAX_OBSTACLES]);

#endif
