/* SPDX-License-Identifier: Apache-2.0 */
#include "app/view/export.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <parallax/error.h>

#include "core/pipeline/pipeline.h"
#include "drivers/files/file.h"
#include "drivers/files/picture.h"

uint16_t plx_kitti_value(uint16_t disparity, int min_disparity)
{
    const long value = ((long)disparity + (long)min_disparity * PLX_DISPARITY_ONE) * (256 / PLX_DISPARITY_ONE);
    if (disparity == PLX_DISPARITY_INVALID || value < 0 || value > UINT16_MAX)
        return 0;
    return value == 0 ? 1 : (uint16_t)value;
}

static const uint16_t *disparity_row(const struct plx_view *view, uint32_t y)
{
    const uint8_t *plane = view->plane[PLX_PLANE_DISPARITY];
    return (const void *)(plane + (size_t)y * view->layout[PLX_PLANE_DISPARITY].pitch);
}

int plx_export_kitti(const char *path, const struct plx_view *view, struct plx_error_message *message)
{
    const struct plx_plane *layout = &view->layout[PLX_PLANE_DISPARITY];
    size_t width = layout->width;
    uint16_t *values = malloc(width * layout->height * sizeof *values);
    if (!values)
        return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", path);
    for (uint32_t y = 0; y < layout->height; y++)
        for (size_t x = 0; x < width; x++)
            values[y * width + x] = plx_kitti_value(disparity_row(view, y)[x], view->min_disparity);
    const struct plx_image image = {values, (int)width, (int)layout->height, width * sizeof *values, PLX_U16};
    int result = plx_png_write(path, &image, message);
    free(values);
    return result;
}

/* P. Debevec's format, with the conventions of the Middlebury stereo benchmark. */
int plx_export_pfm(const char *path, const struct plx_view *view, struct plx_error_message *message)
{
    const struct plx_plane *layout = &view->layout[PLX_PLANE_DISPARITY];
    FILE *file;
    int result = plx_file_create(path, &file, message);
    if (result < 0)
        return result;
    fprintf(file, "Pf\n%u %u\n-1.0\n", layout->width, layout->height);
    for (uint32_t y = layout->height; y-- > 0;)
        for (uint32_t x = 0; x < layout->width; x++) {
            const uint16_t disparity = disparity_row(view, y)[x];
            float value = disparity == PLX_DISPARITY_INVALID
                              ? INFINITY
                              : (float)disparity / PLX_DISPARITY_ONE + (float)view->min_disparity;
            fwrite(&value, sizeof value, 1, file);
        }
    return plx_file_commit(path, file, 0, message);
}

/* NULL where the view has no colour as large as its left picture. */
static const struct plx_rgb *colour_row(const struct plx_view *view, uint32_t y)
{
    const struct plx_plane *colour = &view->layout[PLX_PLANE_COLOUR], *left = &view->layout[PLX_PLANE_LEFT];
    const uint8_t *plane = view->plane[PLX_PLANE_COLOUR];
    return plane && colour->width == left->width && colour->height == left->height
               ? (const void *)(plane + (size_t)y * colour->pitch)
               : NULL;
}

/* Writes each point in raster order and returns how many there are; OUT NULL only counts. */
static unsigned long write_points(FILE *out, const struct plx_view *view)
{
    const struct plx_plane *layout = &view->layout[PLX_PLANE_LEFT];
    unsigned long count = 0;
    for (uint32_t y = 0; y < layout->height; y++) {
        const uint8_t *grey = (const uint8_t *)view->plane[PLX_PLANE_LEFT] + (size_t)y * layout->pitch;
        const struct plx_rgb *rgb = colour_row(view, y);
        for (uint32_t x = 0; x < layout->width; x++) {
            float point[3];
            if (plx_point(view, x, y, point) != 0)
                continue;
            const struct plx_rgb colour = rgb ? rgb[x] : (struct plx_rgb){grey[x], grey[x], grey[x]};
            if (out) {
                fwrite(point, sizeof point, 1, out);
                fwrite(&colour, sizeof colour, 1, out);
            }
            count++;
        }
    }
    return count;
}

/* G. Turk's format. */
int plx_export_ply(const char *path, const struct plx_view *view, struct plx_error_message *message)
{
    FILE *file;
    int result = plx_file_create(path, &file, message);
    if (result < 0)
        return result;
    fprintf(file,
            "ply\nformat binary_little_endian 1.0\ncomment metres; x right, y down, z forward\nelement vertex %lu\n"
            "property float x\nproperty float y\nproperty float z\n"
            "property uchar red\nproperty uchar green\nproperty uchar blue\nend_header\n",
            write_points(NULL, view));
    write_points(file, view);
    return plx_file_commit(path, file, 0, message);
}

struct plx_view plx_export_view(const struct plx_frame *frame)
{
    struct plx_view view = {.frame = frame,
                            .obstacle_count = frame->obstacle_count,
                            .min_disparity = frame->min_disparity,
                            .sequence = frame->sequence};
    for (int id = 0; id < PLX_PLANE_COUNT; id++) {
        view.layout[id] = frame->plane[id];
        if (frame->plane[id].width)
            view.plane[id] = (const uint8_t *)frame + frame->plane[id].offset;
    }
    return view;
}

struct plx_image plx_export_plane(struct plx_frame *frame, enum plx_plane_id id)
{
    const struct plx_plane *plane = &frame->plane[id];
    if (plane->width < 1 || plane->width > PLX_MAX_SIDE || plane->height > PLX_MAX_SIDE)
        return (struct plx_image){.data = NULL};
    return plx_pipeline_plane(frame, id);
}

static struct plx_image image_of(const struct plx_rgb_image *drawing)
{
    return (struct plx_image){drawing->pixel, 3 * drawing->width, drawing->height, 3 * (size_t)drawing->width, PLX_U8};
}

int plx_export_rgb_image(const char *path, const struct plx_rgb_image *drawing, struct plx_error_message *message)
{
    const struct plx_image image = image_of(drawing);
    return plx_png_write_rgb(path, &image, message);
}

int plx_export_rgb_bytes(const struct plx_rgb_image *drawing, char **ret_bytes, size_t *ret_count)
{
    const struct plx_image image = image_of(drawing);
    return plx_png_encode_rgb(&image, ret_bytes, ret_count);
}

int plx_make_directories(const char *path, struct plx_error_message *message)
{
    char partial[PATH_MAX];
    if (strlen(path) >= sizeof partial)
        return plx_fail(message, PLX_ERR_IO, "%s: the path is too long; expected less than %d bytes", path, PATH_MAX);
    for (const char *end = path; *end;) {
        end += strspn(end, "/");
        end += strcspn(end, "/");
        snprintf(partial, sizeof partial, "%.*s", (int)(end - path), path);
        if (mkdir(partial, 0777) < 0 && errno != EEXIST)
            return plx_file_fail(partial, message);
    }
    struct stat status;
    if (stat(path, &status) < 0)
        return plx_file_fail(path, message);
    return S_ISDIR(status.st_mode) ? 0 : plx_fail(message, PLX_ERR_IO, "%s: is a file; expected a directory", path);
}
