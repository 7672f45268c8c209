/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures and depth as sensor_msgs/CompressedImage, by the conventions of compressed_image_transport (JPEG) and
 * compressed_depth_image_transport (PNG). For one thread. */
#ifndef PLX_APP_ROS_COMPRESSOR_H
#define PLX_APP_ROS_COMPRESSOR_H

#include "bridge/frame_messages.h"

struct plx_ros_compressor;

int plx_ros_compressor_create(struct plx_ros_compressor **ret_compressor); /* NOMEM */
void plx_ros_compressor_destroy(struct plx_ros_compressor *compressor);    /* NULL is fine */

/* IMAGE, mono8 or rgb8, as JPEG. *ret_compressed points into COMPRESSOR until its next call. UNSUPPORTED (another encoding), IO
 * (the library fails). */
int plx_ros_compress_picture(struct plx_ros_compressor *compressor, const struct ros_image *image,
                             struct ros_compressed_image *ret_compressed);

/* DEPTH, 32FC1 in metres, as PNG of millimetres, 16UC1: 0 is unknown, and what is beyond 65.535 m. As above; NOMEM. */
int plx_ros_compress_depth(struct plx_ros_compressor *compressor, const struct ros_image *depth,
                           struct ros_compressed_image *ret_compressed);

#endif
