/* SPDX-License-Identifier: Apache-2.0 */
#include "app/evaluate/wall_measurement.h"

#include <math.h>

#include <parallax/error.h>

#include "app/view/export.h"
#include "app/view/frame_text.h"

void plx_wall_measurement_begin(double distance_m, struct plx_wall_measurement *ret_measurement)
{
    *ret_measurement = (struct plx_wall_measurement){.result = {.distance_m = distance_m, .rows_px = NAN}};
}

void plx_wall_measurement_end(struct plx_wall_measurement *measurement)
{
    plx_wall_destroy(measurement->wall);
    measurement->wall = NULL;
}

/* --- a frame ------------------------------------------------------------------------------------------------------- */

/* The newest measurement: by corners, else by patches. NAN: neither. */
static double rows_of(const struct plx_frame *frame)
{
    if (frame->drift.matches > 0)
        return fabs((double)frame->drift.epipolar_error_px);
    return frame->alignment.patches > 0 ? fabs((double)frame->alignment.epipolar_error_px) : (double)NAN;
}

static int create_wall(struct plx_wall_measurement *measurement, struct plx_frame *frame, struct plx_error_message *message)
{
    const struct plx_image disparity = plx_export_plane(frame, PLX_PLANE_DISPARITY);
    struct plx_box region = measurement->roi;

    if (!plx_image_ok(&disparity, PLX_U16))
        return plx_fail(message, PLX_ERR_FORMAT, "the frames have no disparity");
    if (region.width == 0 && measurement->is_whole)
        region = (struct plx_box){.width = disparity.width, .height = disparity.height};
    else if (region.width == 0)
        region = plx_wall_default_region(&disparity, &frame->calibration, frame->min_disparity);
    const int result = plx_wall_create(disparity.width, disparity.height, &region, &frame->calibration, frame->min_disparity,
                                       measurement->result.distance_m, &measurement->wall);
    if (result == PLX_ERR_RANGE)
        return plx_fail(message, result, "the part is not inside the picture of %d x %d pixels", disparity.width,
                        disparity.height);
    if (result < 0)
        return plx_fail(message, result, "%s", plx_strerror(result));
    measurement->width = disparity.width;
    measurement->height = disparity.height;
    measurement->region = region;
    return 0;
}

int plx_wall_measurement_add(struct plx_wall_measurement *measurement, struct plx_frame *frame,
                             struct plx_error_message *message)
{
    if (plx_frame_is_raw(frame))
        return plx_fail(message, PLX_ERR_UNSUPPORTED,
                        "the service has no calibration, so there is no disparity; name one with the key calibration");
    const int created = measurement->wall ? 0 : create_wall(measurement, frame, message);
    if (created < 0)
        return created;
    const struct plx_image disparity = plx_export_plane(frame, PLX_PLANE_DISPARITY);
    const struct plx_image left = plx_export_plane(frame, PLX_PLANE_LEFT);
    const struct plx_image confidence = plx_export_plane(frame, PLX_PLANE_CONFIDENCE);
    if (!plx_image_ok(&left, PLX_U8) || !plx_same_size(&left, &disparity) ||
        plx_wall_add(measurement->wall, &disparity, confidence.data ? &confidence : NULL, &frame->errors) < 0)
        return plx_fail(message, PLX_ERR_LOST, "the pictures changed meanwhile; try again");
    measurement->result.source = frame->source;
    measurement->result.light = plx_wall_light(&left, &measurement->region);
    const double rows_px = rows_of(frame);
    if (isfinite(rows_px))
        measurement->result.rows_px = rows_px;
    return 0;
}

/* --- the result ----------------------------------------------------------------------------------------------------- */

void plx_wall_measurement_judge(struct plx_wall_measurement *measurement)
{
    struct plx_wall_result *result = &measurement->result;
    plx_wall_report(measurement->wall, &result->report);
    result->missing = plx_wall_missing(&result->report, result->rows_px);
    result->verdict = plx_wall_judge(&result->report, &result->light, result->rows_px);
}

static struct plx_rgb colour_of(double residual)
{
    const double share = fmin(fabs(residual) / PLX_WALL_OUTLIER_PX, 1);
    const uint8_t pale = (uint8_t)lround(255 * (1 - share));

    if (isnan(residual))
        return (struct plx_rgb){128, 128, 128};
    return residual > 0 ? (struct plx_rgb){255, pale, pale} : (struct plx_rgb){pale, pale, 255};
}

int plx_wall_measurement_draw(const struct plx_wall_measurement *measurement, struct plx_rgb_image *ret_drawing)
{
    const struct plx_box *region = &measurement->region;
    const size_t width = (size_t)measurement->width;
    const int result = plx_rgb_image_create(measurement->width, measurement->height, ret_drawing);

    if (result < 0)
        return result;
    for (int y = region->y; y < region->y + region->height; y++)
        for (int x = region->x; x < region->x + region->width; x++)
            ret_drawing->pixel[(size_t)y * width + (size_t)x] = colour_of(plx_wall_residual(measurement->wall, x, y));
    for (int i = 0; i < 9; i++) {
        const int x0 = region->width * (i % 3) / 3, x1 = region->width * (i % 3 + 1) / 3;
        const int y0 = region->height * (i / 3) / 3, y1 = region->height * (i / 3 + 1) / 3;
        plx_draw_box(ret_drawing, region->x + x0, region->y + y0, x1 - x0, y1 - y0, 1, (struct plx_rgb){0, 0, 0});
    }
    return 0;
}
