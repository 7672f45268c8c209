/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stereo pairs of an MCAP file: sensor_msgs/Image and CameraInfo of ROS 2, as `parallax record` and rosbag2 write them.
 * Left and right picture of a pair have the same stamp, or ones that differ by at most a quarter of the frame period. A file
 * that was cut off gives the pairs of its whole chunks. For one thread at a time.
 */
#ifndef PLX_DRIVERS_MCAP_BAG_H
#define PLX_DRIVERS_MCAP_BAG_H

#include <stdbool.h>

#include "core/calibration.h"
#include "core/image.h"
#include "core/text.h"

struct plx_bag;

struct plx_bag_options {
    const char *path;
    const char *topic[PLX_EYES]; /* of the pictures; "" = those of `parallax record` */
};

struct plx_bag_info {
    int count; /* of pairs, at least 1 */
    int width, height;
    enum plx_type type; /* U16 if both eyes have 16 bits, else U8 */
    bool calibrated;
    struct plx_stereo_calibration calibration; /* from camera_info beside the pictures' topics; zeros if there is none */
    struct plx_error_message note;             /* what is left out: pictures without a partner, damaged parts; "" = nothing */
};

/* True if the file at PATH begins as an MCAP file. */
bool plx_bag_is_one(const char *path);

/* Reads the whole file once, to find its pairs. NOT_FOUND (no file, no such topic, no pairs), FORMAT (no MCAP file, or pictures
 * of an unknown encoding), RANGE (a size is wrong), IO, PERMISSION, NOMEM. *ret_bag keeps copies of the options. */
int plx_bag_open(const struct plx_bag_options *options, struct plx_bag **ret_bag, struct plx_error_message *message);
void plx_bag_close(struct plx_bag *bag); /* NULL is fine */

const struct plx_bag_info *plx_bag_info(const struct plx_bag *bag);

/* Stamp of pair K, 0 .. count - 1: the left picture's, nanoseconds since 1970. */
int64_t plx_bag_stamp_ns(const struct plx_bag *bag, int k);

/* Decodes pair K into IMAGE, of the size and type that plx_bag_info gives, or of that size as U8: colour becomes luma (77 R +
 * 150 G + 29 B + 128) >> 8, and 16 bits their upper 8. Fast in order; going back reads the file from its begin. FORMAT, RANGE,
 * IO. */
int plx_bag_read(struct plx_bag *bag, int k, const struct plx_image image[PLX_EYES], struct plx_error_message *message);

#endif
