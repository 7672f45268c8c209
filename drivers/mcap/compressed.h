/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of sensor_msgs/CompressedImage, JPEG or PNG, as the pictures that they hold. */
#ifndef PLX_DRIVERS_MCAP_COMPRESSED_H
#define PLX_DRIVERS_MCAP_COMPRESSED_H

#include <stdbool.h>

#include "core/base/image.h"
#include "core/base/text.h"
#include "formats/cdr/ros_types.h"
#include "formats/mcap/read.h"

struct plx_compressed;

int plx_compressed_create(struct plx_compressed **ret_compressed); /* NOMEM */
void plx_compressed_destroy(struct plx_compressed *compressed);    /* NULL is fine */

/* Decodes MESSAGE: *ret_image is mono8, mono16 or rgb8, and points into COMPRESSED and MESSAGE until the next call; without its
 * pixels if not WHOLE, which is quick. Errors of plx_image_decode (drivers/mcap/message.h), NOMEM; UNSUPPORTED also for other
 * codecs. */
int plx_compressed_decode(struct plx_compressed *compressed, const struct plx_mcap_message *message, const char *path,
                          bool whole, struct ros_image *ret_image, enum plx_type *ret_type, struct plx_error_message *error);

#endif
