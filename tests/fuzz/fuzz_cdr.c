/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: any bytes as a ROS 2 message. The first byte selects the type. What can be decoded is encoded again, and decoding
 * that gives the same bytes. */
#include <stdlib.h>
#include <string.h>

#include "formats/cdr/ros_types.h"

#define ARENA (1 << 16)
#define CAPACITY (1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

union message {
    struct ros_camera_info camera_info;
    struct ros_detection_3d_array detections;
    struct ros_diagnostic_array diagnostics;
    struct ros_disparity_image disparity;
    struct ros_laser_scan scan;
    struct ros_marker_array markers;
    struct ros_occupancy_grid map;
    struct ros_odometry odometry;
    struct ros_point_cloud2 points;
};

static const struct plx_cdr_type *selected(uint8_t number)
{
    int count = 0;
    while (ros_message_types[count])
        count++;
    return ros_message_types[number % count];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static _Alignas(8) uint8_t memory[ARENA], first[CAPACITY], second[CAPACITY];
    struct plx_cdr_arena arena = {.memory = memory, .capacity = ARENA};
    union message message;
    size_t bytes, again;

    if (size == 0)
        return 0;
    const struct plx_cdr_type *type = selected(data[0]);
    if (plx_cdr_decode(type, data + 1, size - 1, &arena, &message) < 0 ||
        plx_cdr_encode(type, &message, first, CAPACITY, &bytes) < 0)
        return 0;
    arena.used = 0;
    if (plx_cdr_decode(type, first, bytes, &arena, &message) < 0 ||
        plx_cdr_encode(type, &message, second, CAPACITY, &again) < 0 || again != bytes || memcmp(first, second, bytes) != 0)
        abort();
    return 0;
}
