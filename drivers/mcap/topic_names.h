/* SPDX-License-Identifier: Apache-2.0 */
/* Names of topics with pictures, as image_transport and image_proc make them. */
#ifndef PLX_DRIVERS_MCAP_TOPIC_NAMES_H
#define PLX_DRIVERS_MCAP_TOPIC_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* The end of TOPIC that image_transport adds for compressed pictures, "/compressed"; "": it has none. */
const char *plx_topic_transport(const char *topic);

/* Whether its pictures are rectified: image_rect, image_rect_color and the like. */
bool plx_topic_is_rectified(const char *topic);

/* The topic NAME that lies beside TOPIC, followed by TRANSPORT. */
void plx_topic_beside(const char *topic, const char *name, const char *transport, char *ret_topic, size_t size);

#endif
