/* SPDX-License-Identifier: Apache-2.0 */
#include "app/ros/compressor.h"

#include <math.h>
#include <png.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <turbojpeg.h>

#include <parallax/error.h>

#define JPEG_QUALITY 90
#define DEPTH_HEADER 12 /* bytes: struct ConfigHeader of compressed_depth_image_transport, which counts for 32FC1 alone */
#define MM_PER_M 1000

struct plx_ros_compressor {
    tjhandle jpeg;
    unsigned char *picture; /* turbojpeg's */
    unsigned long picture_bytes;
    uint8_t *depth; /* header and PNG */
    size_t depth_bytes;
    uint16_t *millimetres;
    size_t pixels;
};

int plx_ros_compressor_create(struct plx_ros_compressor **ret_compressor)
{
    struct plx_ros_compressor *compressor = calloc(1, sizeof *compressor);
    if (compressor)
        compressor->jpeg = tjInitCompress();
    if (!compressor || !compressor->jpeg) {
        plx_ros_compressor_destroy(compressor);
        return PLX_ERR_NOMEM;
    }
    *ret_compressor = compressor;
    return 0;
}

void plx_ros_compressor_destroy(struct plx_ros_compressor *compressor)
{
    if (!compressor)
        return;
    if (compressor->jpeg)
        tjDestroy(compressor->jpeg);
    tjFree(compressor->picture);
    free(compressor->depth);
    free(compressor->millimetres);
    free(compressor);
}

int plx_ros_compress_picture(struct plx_ros_compressor *compressor, const struct ros_image *image,
                             struct ros_compressed_image *ret_compressed)
{
    const bool is_colour = strcmp(image->encoding, "rgb8") == 0;
    if (!is_colour && strcmp(image->encoding, "mono8") != 0)
        return PLX_ERR_UNSUPPORTED;
    if (tjCompress2(compressor->jpeg, image->data.data, (int)image->width, (int)image->step, (int)image->height,
                    is_colour ? TJPF_RGB : TJPF_GRAY, &compressor->picture, &compressor->picture_bytes,
                    is_colour ? TJSAMP_420 : TJSAMP_GRAY, JPEG_QUALITY, TJFLAG_FASTDCT) < 0)
        return PLX_ERR_IO;
    *ret_compressed = (struct ros_compressed_image){
        .header = image->header,
        .format = is_colour ? "rgb8; jpeg compressed bgr8" : "mono8; jpeg compressed ",
        .data = {.data = compressor->picture, .count = (uint32_t)compressor->picture_bytes},
    };
    return 0;
}

/* Room for a depth image of so many pixels, and for any PNG of it. */
static int reserve(struct plx_ros_compressor *compressor, size_t pixels, size_t png_bytes)
{
    if (compressor->pixels >= pixels && compressor->depth_bytes >= DEPTH_HEADER + png_bytes)
        return 0;
    free(compressor->depth);
    free(compressor->millimetres);
    compressor->depth = calloc(1, DEPTH_HEADER + png_bytes);
    compressor->millimetres = malloc(pixels * sizeof *compressor->millimetres);
    const bool has_all = compressor->depth && compressor->millimetres;
    compressor->pixels = has_all ? pixels : 0;
    compressor->depth_bytes = has_all ? DEPTH_HEADER + png_bytes : 0;
    return has_all ? 0 : PLX_ERR_NOMEM;
}

static uint16_t millimetres_of(float metres)
{
    const float rounded = roundf(metres * MM_PER_M);
    return rounded >= 1 && rounded <= UINT16_MAX ? (uint16_t)rounded : 0; /* NaN compares false */
}

int plx_ros_compress_depth(struct plx_ros_compressor *compressor, const struct ros_image *depth,
                           struct ros_compressed_image *ret_compressed)
{
    const size_t pixels = (size_t)depth->width * depth->height;
    png_image png = {.version = PNG_IMAGE_VERSION,
                     .width = depth->width,
                     .height = depth->height,
                     .format = PNG_FORMAT_LINEAR_Y, /* 16 bits */
                     .flags = PNG_IMAGE_FLAG_FAST};
    png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(png);
    if (strcmp(depth->encoding, "32FC1") != 0)
        return PLX_ERR_UNSUPPORTED;
    const int result = reserve(compressor, pixels, bytes);
    if (result < 0)
        return result;
    for (uint32_t y = 0; y < depth->height; y++) {
        const float *row = (const float *)(const void *)(depth->data.data + (size_t)y * depth->step);
        for (uint32_t x = 0; x < depth->width; x++)
            compressor->millimetres[(size_t)y * depth->width + x] = millimetres_of(row[x]);
    }
    if (!png_image_write_to_memory(&png, compressor->depth + DEPTH_HEADER, &bytes, 0, compressor->millimetres, 0, NULL))
        return PLX_ERR_IO;
    *ret_compressed = (struct ros_compressed_image){
        .header = depth->header,
        .format = "16UC1; compressedDepth png",
        .data = {.data = compressor->depth, .count = (uint32_t)(DEPTH_HEADER + bytes)},
    };
    return 0;
}
