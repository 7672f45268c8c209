/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stereo pairs of an MCAP file, or of a folder of them: sensor_msgs/Image and CameraInfo of ROS 2, as `parallax record` and
 * rosbag2 write them. Left and right picture of a pair have the same time, or ones that differ by at most a quarter of the
 * frame period, or by half of it if the caller judges that. The colours of a grey left picture are on the topic
 * image_rect_color beside it, image_color if it is not rectified, with its stamp. A file that was cut off gives the pairs of
 * its whole chunks. For one thread at a time.
 */
#ifndef PLX_DRIVERS_MCAP_BAG_H
#define PLX_DRIVERS_MCAP_BAG_H

#include <stdbool.h>

#include "core/base/image.h"
#include "core/base/text.h"
#include "core/geometry/calibration.h"

struct plx_bag;

struct plx_bag_options {
    const char *path;
    const char *topic[PLX_EYES]; /* topics of the pictures; "" = those of `parallax record` */
    bool unsynchronized;         /* pairs up to half a period apart too, for a caller that looks at plx_bag_skew_ns */
    bool colour;                 /* plx_bag_read_colour will be called */
};

struct plx_bag_info {
    int count; /* pairs, at least 1 */
    int width, height;
    enum plx_type type;            /* U16 if both eyes have 16 bits, else U8 */
    struct plx_error_message note; /* what is left out or unusual: damaged parts, stamps that do not advance; "" = nothing */
};

/* Reads everything once, to find the pairs. NOT_FOUND (no file, no such topic, no pairs, a pair without its colours), FORMAT
 * (no MCAP file, or a damaged one; left and right, or left and colours, differ in size), UNSUPPORTED (another kind of
 * recording, pictures of an unknown encoding, grey ones where colour is wanted), RANGE (a size is wrong), IO, PERMISSION,
 * NOMEM. *ret_bag keeps copies of the options. */
int plx_bag_open(const struct plx_bag_options *options, struct plx_bag **ret_bag, struct plx_error_message *message);
void plx_bag_close(struct plx_bag *bag); /* NULL is fine */

const struct plx_bag_info *plx_bag_info(const struct plx_bag *bag);

/* Time of pair K, 0 .. count - 1, later than that of the pair before: the left picture's stamp, nanoseconds since 1970. Where
 * the stamps do not advance as time does, when it was recorded. */
int64_t plx_bag_time_ns(const struct plx_bag *bag, int k);

/* Right minus left stamp of pair K. 0 where the stamps do not count: times of recording tell nothing of the exposures. */
int64_t plx_bag_skew_ns(const struct plx_bag *bag, int k);

/* From camera_info beside the pictures' topics, judged only now. NOT_FOUND: there is none for both eyes. Others: it is none of
 * a stereo camera with such pictures. */
int plx_bag_calibration(const struct plx_bag *bag, struct plx_stereo_calibration *ret_calibration,
                        struct plx_error_message *message);

/* Decodes pair K into IMAGE, of the size and type that plx_bag_info gives, or of that size as U8: colour becomes luma (77 R +
 * 150 G + 29 B + 128) >> 8, and 16 bits their upper 8. Fast in order; going back reads the file from its begin. FORMAT, RANGE,
 * IO. */
int plx_bag_read(struct plx_bag *bag, int k, const struct plx_image image[PLX_EYES], struct plx_error_message *message);

/* The same with the colours of the left picture: both lie in CAPACITY bytes at IMAGE[PLX_LEFT], which is U8, as *RET_LEFT then
 * says. CAPACITY is four times the bytes of that image. A left picture with colours is there as it was sent; a grey one with
 * that of the colour topic behind it. RANGE too: it is larger. */
int plx_bag_read_colour(struct plx_bag *bag, int k, const struct plx_image image[PLX_EYES], size_t capacity,
                        struct plx_raw *ret_left, struct plx_error_message *message);

#endif
