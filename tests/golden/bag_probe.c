/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the pairs of an MCAP file, for bag.py:
 *
 *     bag_probe FILE LEFT_TOPIC RIGHT_TOPIC    a line of size, type, fx and baseline; then each pair: stamp and pixels of both
 * eyes
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "drivers/mcap/bag.h"

static void print_pixels(const struct plx_image *image)
{
    putchar(' ');
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++)
            printf("%04x",
                   image->type == PLX_U16 ? ((const uint16_t *)plx_row(image, y))[x] : ((const uint8_t *)plx_row(image, y))[x]);
}

int main(int argc, char **argv)
{
    struct plx_error_message message = {""};
    struct plx_bag *bag;
    if (argc != 4)
        return 64;
    const struct plx_bag_options options = {.path = argv[1], .topic = {argv[2], argv[3]}};
    if (plx_bag_open(&options, &bag, &message) < 0) {
        fprintf(stderr, "%s\n", message.text);
        return 1;
    }
    const struct plx_bag_info *info = plx_bag_info(bag);
    struct plx_calibration_info numbers = {0};
    struct plx_stereo_calibration calibration;
    if (plx_bag_calibration(bag, &calibration, &message) == 0)
        plx_calibration_info(&calibration, &numbers);
    printf("%d %d %d %g %g\n", info->width, info->height, (int)info->type, numbers.fx, numbers.baseline_m);
    const size_t pitch = (size_t)info->width * info->type;
    struct plx_image both[PLX_EYES];
    for (int eye = 0; eye < PLX_EYES; eye++)
        both[eye] = (struct plx_image){malloc(pitch * (size_t)info->height), info->width, info->height, pitch, info->type};
    for (int k = 0; k < info->count; k++) {
        if (plx_bag_read(bag, k, both, &message) < 0) {
            fprintf(stderr, "%s\n", message.text);
            return 1;
        }
        printf("%" PRId64, plx_bag_time_ns(bag, k));
        print_pixels(&both[PLX_LEFT]);
        print_pixels(&both[PLX_RIGHT]);
        putchar('\n');
    }
    for (int eye = 0; eye < PLX_EYES; eye++)
        free(both[eye].data);
    plx_bag_close(bag);
    return 0;
}
