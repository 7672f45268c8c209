/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/scene_truth.h"

#include <math.h>
#include <string.h>

#include <parallax/error.h>

#include "drivers/synthetic/raycast.h"

/* Pixels of one surface seen so far. */
struct seen {
    int64_t pixels;
    int x0, y0, x1, y1; /* inclusive */
};

static void see(struct seen *seen, int x, int y)
{
    if (seen->pixels == 0)
        *seen = (struct seen){0, x, y, x, y};
    seen->pixels++;
    seen->x0 = x < seen->x0 ? x : seen->x0;
    seen->x1 = x > seen->x1 ? x : seen->x1;
    seen->y1 = y;
}

static void disparity_row(const struct plx_scene *scene, const struct plx_ray_row *row, uint16_t *disparity)
{
    const struct plx_calibration_info *info = &scene->calibration;
    for (int x = 0; x < scene->width; x++) {
        double pixels = info->fx * info->baseline_m * (double)row->inverse_depth[x] + info->cx - info->cx_right;
        double value = floor(pixels * PLX_DISPARITY_ONE + 0.5);
        disparity[x] =
            row->hit[x] == PLX_HIT_SKY || !(value >= 0.0 && value <= 65534.0) ? PLX_DISPARITY_INVALID : (uint16_t)value;
    }
}

/* Area in pixels of the projected front face, the part outside the image included (shoelace formula); 0 if behind. */
static double front_area(const struct plx_ray_view *view, const struct plx_scene_object *object, double x, double z)
{
    static const double corner[4][2] = {{-0.5, 0.0}, {0.5, 0.0}, {0.5, -1.0}, {-0.5, -1.0}};
    double u[4], v[4], twice = 0.0;
    for (int i = 0; i < 4; i++) {
        const double point[3] = {x + corner[i][0] * object->width, corner[i][1] * object->height, z};
        if (!plx_ray_project(view, point, &u[i], &v[i]))
            return 0.0;
    }
    for (int i = 0; i < 4; i++)
        twice += u[i] * v[(i + 1) % 4] - u[(i + 1) % 4] * v[i];
    return 0.5 * fabs(twice);
}

static void describe(const struct plx_ray_view *view, int index, double time_s, const struct seen *front,
                     const struct seen *side, struct scene_truth_object *ret)
{
    const struct plx_scene_object *object = &view->scene->object[index];
    const double *r = view->rotation;
    double x, z, vx, vz;
    plx_ray_object_at(object, time_s, &x, &z, &vx, &vz);
    x -= view->origin[0]; /* from here on from the camera */
    z -= view->origin[2];
    double y = view->scene->camera_height_m - 0.5 * object->height;
    memset(ret, 0, sizeof *ret);
    ret->index = index;
    ret->x = r[0] * x + r[3] * y + r[6] * z;
    ret->y = r[1] * x + r[4] * y + r[7] * z;
    ret->z = r[2] * x + r[5] * y + r[8] * z;
    ret->width = object->width;
    ret->height = object->height;
    for (int axis = 0; axis < 3; axis++)
        ret->velocity[axis] = r[axis] * vx + r[6 + axis] * vz;
    double area = front_area(view, object, x + view->origin[0], z + view->origin[2]);
    ret->visible_ratio = area > 0.0 ? fmin(1.0, (double)front->pixels / area) : 0.0;
    if (front->pixels > 0) {
        ret->box_x = front->x0;
        ret->box_y = front->y0;
        ret->box_width = front->x1 - front->x0 + 1;
        ret->box_height = front->y1 - front->y0 + 1;
    }
    const struct seen *a = front->pixels > 0 ? front : side, *b = side->pixels > 0 ? side : front;
    if (a->pixels > 0) {
        ret->full_x = a->x0 < b->x0 ? a->x0 : b->x0;
        ret->full_y = a->y0 < b->y0 ? a->y0 : b->y0;
        ret->full_width = (a->x1 > b->x1 ? a->x1 : b->x1) - ret->full_x + 1;
        ret->full_height = (a->y1 > b->y1 ? a->y1 : b->y1) - ret->full_y + 1;
    }
}

int scene_truth(const struct plx_scene *scene, double time_s, const struct plx_image *ret_disparity,
                struct scene_truth *ret_truth)
{
    if (!scene || (ret_disparity && (!plx_image_ok(ret_disparity, PLX_U16) || ret_disparity->width != scene->width ||
                                     ret_disparity->height != scene->height)))
        return PLX_ERR_ARG;
    if (plx_scene_check(scene, NULL) < 0 || !isfinite(time_s))
        return PLX_ERR_RANGE;

    float radiance[PLX_MAX_SIDE], inverse_depth[PLX_MAX_SIDE];
    uint8_t hit[PLX_MAX_SIDE];
    const struct plx_ray_row row = {radiance, inverse_depth, hit};
    struct seen seen[PLX_HIT_SIDE + PLX_SCENE_MAX_OBJECTS] = {0};
    struct plx_ray_view view;
    plx_ray_view_init(&view, scene, time_s, PLX_LEFT);
    for (int y = 0; y < scene->height; y++) {
        plx_ray_cast(&view, y, &row);
        for (int x = 0; x < scene->width; x++)
            if (hit[x] >= PLX_HIT_FRONT)
                see(&seen[hit[x]], x, y);
        if (ret_disparity)
            disparity_row(scene, &row, plx_row(ret_disparity, y));
    }
    if (ret_truth) {
        ret_truth->object_count = scene->object_count;
        for (int i = 0; i < scene->object_count; i++)
            describe(&view, i, time_s, &seen[PLX_HIT_FRONT + i], &seen[PLX_HIT_SIDE + i], &ret_truth->object[i]);
    }
    return 0;
}
