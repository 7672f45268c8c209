/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of ROS 2 as pictures. */
#ifndef PLX_DRIVERS_MCAP_MESSAGE_H
#define PLX_DRIVERS_MCAP_MESSAGE_H

#include "core/base/image.h"
#include "core/base/text.h"
#include "formats/cdr/ros_types.h"
#include "formats/mcap/read.h"

/* True if MESSAGE is of TYPE, as CDR. */
bool plx_message_is(const struct plx_mcap_message *message, const struct plx_cdr_type *type);

/* Decodes a message of sensor_msgs/Image; *ret_image points into it. FORMAT, RANGE (its size is wrong), UNSUPPORTED (another
 * encoding than those of docs/sources.md, another type or order of bytes); the sentence begins with PATH and the topic. */
int plx_image_decode(const struct plx_mcap_message *message, const char *path, struct ros_image *ret_image,
                     enum plx_type *ret_type, struct plx_error_message *error);

/* True if a decoded picture has colours. */
bool plx_image_has_colour(const struct ros_image *image);

/* Copies a decoded picture, whose size is IMAGE's, into IMAGE; U16 only from 16 bits. */
void plx_image_copy(const struct ros_image *from, const struct plx_image *image);

/* Copies a decoded picture that has colours as it was sent, but without transparency, to DATA, CAPACITY bytes, and describes
 * it. RANGE. */
int plx_image_copy_raw(const struct ros_image *from, void *data, size_t capacity, struct plx_raw *ret_raw);

/* Copies a decoded picture into RGB of its size. UNSUPPORTED: its encoding is not of red, green and blue. */
int plx_image_copy_rgb(const struct ros_image *from, const struct plx_image *rgb);

#endif
