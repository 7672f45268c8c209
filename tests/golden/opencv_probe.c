/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What opencv.py asks Parallax. A calibration comes as numbers on standard input: for each eye width height fx fy cx cy model
 * and 8 coefficients; rotation, translation; then 0, or 1 followed by R1 R2 P1 P2.
 *   opencv_probe rectify ALPHA            prints R1 R2 P1 P2
 *   opencv_probe map EYE OUT              writes the map's entries, int16 x y and uint8 fx fy each
 *   opencv_probe remap BYTES W H MAP MW MH SRC DST   resamples a raw file of 1- or 2-byte pixels; prints the masked count
 *   opencv_probe mosaic W H SRC DST       develops a raw file of 8-bit RGGB, without gains, matrix or tone, to R G B
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/colour/colour.h"
#include "core/geometry/calibration.h"
#include "cpu/cpu.h"

static void die(const char *what)
{
    fprintf(stderr, "opencv_probe: %s\n", what);
    exit(2);
}

static void read_numbers(double *value, int count)
{
    for (int i = 0; i < count; i++)
        if (scanf("%lf", &value[i]) != 1)
            die("too few numbers on standard input");
}

static void read_calibration(struct plx_stereo_calibration *calibration)
{
    double flag;
    memset(calibration, 0, sizeof *calibration);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        double v[7];
        struct plx_camera *camera = &calibration->camera[eye];
        read_numbers(v, 7);
        *camera = (struct plx_camera){(int)v[0], (int)v[1], v[2], v[3], v[4], v[5], (enum plx_distortion)v[6], {0}};
        read_numbers(camera->k, 8);
    }
    read_numbers(calibration->rotation, 9);
    read_numbers(calibration->translation, 3);
    read_numbers(&flag, 1);
    if (flag == 0)
        return;
    for (int eye = 0; eye < PLX_EYES; eye++)
        read_numbers(calibration->rectification[eye], 9);
    for (int eye = 0; eye < PLX_EYES; eye++)
        read_numbers(calibration->projection[eye], 12);
    calibration->rectified = true;
    calibration->rectified_width = calibration->camera[PLX_LEFT].width;
    calibration->rectified_height = calibration->camera[PLX_LEFT].height;
}

static void read_file(const char *path, void *data, size_t bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file || fread(data, 1, bytes, file) != bytes)
        die(path);
    fclose(file);
}

static void write_file(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, bytes, file) != bytes || fclose(file) != 0)
        die(path);
}

static void print_numbers(const double *value, int count)
{
    for (int i = 0; i < count; i++)
        printf("%.17g%c", value[i], i == count - 1 ? '\n' : ' ');
}

static void rectify(const char *alpha)
{
    struct plx_stereo_calibration calibration;
    struct plx_error_message message = {""};
    read_calibration(&calibration);
    if (plx_calibration_rectify(&calibration, atof(alpha), &message) < 0)
        die(message.text);
    for (int eye = 0; eye < PLX_EYES; eye++)
        print_numbers(calibration.rectification[eye], 9);
    for (int eye = 0; eye < PLX_EYES; eye++)
        print_numbers(calibration.projection[eye], 12);
}

static void fill_map(const char *eye, const char *out)
{
    struct plx_stereo_calibration calibration;
    read_calibration(&calibration);
    struct plx_remap map = {NULL, calibration.rectified_width, calibration.rectified_height};
    size_t bytes = (size_t)map.width * (size_t)map.height * sizeof *map.entry;
    map.entry = malloc(bytes);
    if (!map.entry || plx_remap_fill(&calibration, (enum plx_eye)atoi(eye), NULL, &map) < 0)
        die("plx_remap_fill failed");
    write_file(out, map.entry, bytes);
    free(map.entry);
}

static void remap(char **argument)
{
    enum plx_type type = (enum plx_type)atoi(argument[0]);
    struct plx_image src = {NULL, atoi(argument[1]), atoi(argument[2]), 0, type}, dst = src;
    struct plx_remap map = {NULL, atoi(argument[4]), atoi(argument[5])};
    dst.width = map.width;
    dst.height = map.height;
    src.pitch = (size_t)src.width * type;
    dst.pitch = (size_t)dst.width * type;
    size_t map_bytes = (size_t)map.width * (size_t)map.height * sizeof *map.entry;
    uint32_t masked;

    struct plx_stages *stages = NULL;
    struct plx_limits limits = {PLX_MAX_SIDE, PLX_MAX_SIDE, 64, 2};
    src.data = malloc(src.pitch * (size_t)src.height);
    dst.data = malloc(dst.pitch * (size_t)dst.height);
    map.entry = malloc(map_bytes);
    if (!src.data || !dst.data || !map.entry || plx_cpu_create(&limits, &stages) < 0)
        die("out of memory");
    read_file(argument[3], map.entry, map_bytes);
    read_file(argument[6], src.data, src.pitch * (size_t)src.height);
    if (stages->ops->rectify(stages, &src, &map, &dst, &masked) < 0)
        die("rectify failed");
    write_file(argument[7], dst.data, dst.pitch * (size_t)dst.height);
    printf("%u\n", masked);
    stages->ops->destroy(stages);
    free(map.entry);
    free(dst.data);
    free(src.data);
}

static void mosaic(char **argument)
{
    const int width = atoi(argument[0]), height = atoi(argument[1]);
    const size_t bytes = (size_t)width * (size_t)height;
    static uint8_t tone[PLX_COLOUR_FULL + 1];
    for (int i = 0; i <= PLX_COLOUR_FULL; i++)
        tone[i] = (uint8_t)((i * 255 + PLX_COLOUR_FULL / 2) / PLX_COLOUR_FULL);
    const struct plx_development plain = {.gain = {PLX_COLOUR_ONE, PLX_COLOUR_ONE, PLX_COLOUR_ONE},
                                          .matrix = {PLX_COLOUR_ONE, 0, 0, 0, PLX_COLOUR_ONE, 0, 0, 0, PLX_COLOUR_ONE},
                                          .tone = tone};
    const struct plx_limits limits = {PLX_MAX_SIDE, PLX_MAX_SIDE, 64, 2};
    struct plx_stages *stages = NULL;
    uint8_t *src = malloc(bytes), *dst = malloc(3 * bytes);
    if (!src || !dst || plx_cpu_create(&limits, &stages) < 0)
        die("out of memory");
    read_file(argument[2], src, bytes);
    const struct plx_raw raw = {.data = src,
                                .bytes = bytes,
                                .width = width,
                                .height = height,
                                .pitch = (size_t)width,
                                .format = PLX_FORMAT_BAYER8,
                                .bayer = PLX_BAYER_RGGB,
                                .eye_width = width};
    const struct plx_image rgb = {dst, width, height, 3 * (size_t)width, PLX_RGB};
    if (stages->ops->colour(stages, &raw, &plain, &rgb) < 0)
        die("colour failed");
    write_file(argument[3], dst, 3 * bytes);
    stages->ops->destroy(stages);
    free(dst);
    free(src);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "rectify") == 0)
        rectify(argv[2]);
    else if (argc == 4 && strcmp(argv[1], "map") == 0)
        fill_map(argv[2], argv[3]);
    else if (argc == 10 && strcmp(argv[1], "remap") == 0)
        remap(argv + 2);
    else if (argc == 6 && strcmp(argv[1], "mosaic") == 0)
        mosaic(argv + 2);
    else
        die("unknown request");
    return 0;
}
