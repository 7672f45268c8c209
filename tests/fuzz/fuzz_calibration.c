/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: any bytes as a calibration, and as both of a ROS pair. The check accepts every result. */
#include <string.h>

#include "config/config.h"
#include "tests/fuzz/memory_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_as(const char *path)
{
    static const struct plx_calibration_options options = {.scale = 1, .width = 640, .height = 480};
    struct plx_stereo_calibration calibration;
    struct plx_error_message message = {""};
    int result = plx_calibration_read(path, &options, &calibration, &message);
    if (result < 0 && (message.text[0] == '\0' || strchr(message.text, '\n')))
        abort();
    if (result == 0 && plx_calibration_check(&calibration, &message) < 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* a pair is the two halves around a line of ten equals signs, else twice the same */
    const uint8_t *cut = memmem(data, size, "\n==========\n", 12);
    const size_t first = cut ? (size_t)(cut - data) + 1 : size;
    struct memory_file left = memory_file_open(data, first);
    struct memory_file right = memory_file_open(cut ? cut + 12 : data, cut ? size - first - 11 : size);
    char both[80];
    snprintf(both, sizeof both, "%s,%s", left.path, right.path);
    read_as(left.path);
    read_as(both);
    memory_file_close(&right);
    memory_file_close(&left);
    return 0;
}
