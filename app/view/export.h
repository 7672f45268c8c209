/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files for other programs: 16-bit PNG as in KITTI, PFM as in Middlebury, PLY point clouds, colour PNG.
 * Disparities of a view are U16 in 1/16 px above min_disparity, 0xFFFF = invalid. A file that cannot be written completely is
 * removed. Errors, each with a sentence that begins with the path: NOT_FOUND, PERMISSION, IO, NOMEM.
 */
#ifndef PLX_APP_VIEW_EXPORT_H
#define PLX_APP_VIEW_EXPORT_H

#include <parallax/client.h>

#include "app/view/draw.h"
#include "core/base/image.h"
#include "core/base/text.h"

/* The type of the next three functions. */
typedef int plx_export(const char *path, const struct plx_view *view, struct plx_error_message *message);

/* 16-bit PNG, pixels x 256, 0 = invalid. A disparity of 0 px (a point at infinity) is valid and becomes 1, the nearest value
 * that this format has; those that it cannot hold (below 0 px, 256 px and above) become invalid. */
int plx_export_kitti(const char *path, const struct plx_view *view, struct plx_error_message *message);

/* The value of one disparity there. */
uint16_t plx_kitti_value(uint16_t disparity, int min_disparity);

/* Portable float map: one channel, pixels, little endian, last row first, +infinity = invalid. */
int plx_export_pfm(const char *path, const struct plx_view *view, struct plx_error_message *message);

/* Binary little-endian PLY: x, y, z in metres (right, down, forward) and red, green, blue (without colour the grey value), for
 * each pixel whose point lies in front of the camera and not at infinity. The view's left and disparity planes have the same
 * size. */
int plx_export_ply(const char *path, const struct plx_view *view, struct plx_error_message *message);

/* A view of FRAME in this process, for the functions of libparallax that take a view. */
struct plx_view plx_export_view(const struct plx_frame *frame);

/* Plane ID of FRAME in this process; data is NULL if the plane is switched off or too large for
 * an image. */
struct plx_image plx_export_plane(struct plx_frame *frame, enum plx_plane_id id);

int plx_export_rgb_image(const char *path, const struct plx_rgb_image *drawing, struct plx_error_message *message);

/* The bytes of that file, a PNG, the caller's, to be freed with free(). ARG, NOMEM. */
int plx_export_rgb_bytes(const struct plx_rgb_image *drawing, char **ret_bytes, size_t *ret_count);

/* Creates directory PATH and its missing parents. */
int plx_make_directories(const char *path, struct plx_error_message *message);

#endif
