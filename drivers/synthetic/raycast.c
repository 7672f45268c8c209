/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every surface is a rectangle in a plane of the ground frame. Along an image row the inverse depth of such a plane is linear
 * in the column, and so are the bounds of the rectangle, multiplied by it: a few divisions a row find the columns that a face
 * can cover. First all faces of a row are compared, then each pixel is shaded once.
 */
#include "drivers/synthetic/raycast.h"

#include <math.h>
#include <string.h>

#include "core/geometry/matrix3.h"
#include "drivers/synthetic/shade.h"
#include "drivers/synthetic/texture.h"

#define GROUND_ALBEDO 0.38f
#define SMALLEST_OFFSET_M 0.02 /* between the camera and a receding plane: keeps the texture scale finite */

void plx_ray_object_at(const struct plx_scene_object *object, double time_s, double *ret_x, double *ret_z, double *ret_vx,
                       double *ret_vz)
{
    double out = time_s, direction = 1.0;
    if (object->period_s > 0.0) {
        double phase = time_s - floor(time_s / object->period_s) * object->period_s;
        bool back = phase >= 0.5 * object->period_s;
        out = back ? object->period_s - phase : phase;
        direction = back ? -1.0 : 1.0;
    }
    *ret_x = object->x + object->vx * out;
    *ret_z = object->z + object->vz * out;
    *ret_vx = object->vx * direction;
    *ret_vz = object->vz * direction;
}

bool plx_ray_project(const struct plx_ray_view *view, const double point[3], double *ret_u, double *ret_v)
{
    const double d[3] = {point[0] - view->origin[0], point[1] - view->origin[1], point[2] - view->origin[2]};
    double camera[3];
    plx_mat3_apply_transposed(view->rotation, d, camera);
    if (camera[2] < 1e-3)
        return false;
    const struct plx_calibration_info *info = &view->scene->calibration;
    *ret_u = info->fx * camera[0] / camera[2] + view->cx;
    *ret_v = info->fy * camera[1] / camera[2] + info->cy;
    return true;
}

static int clamp_to(double value, int limit)
{
    return value < 0.0 ? 0 : value > limit ? limit : (int)value;
}

/* The pixels that FACE may cover: the box of its corners, or the whole image if one of them is behind the
 * camera or at infinity. */
static void bound_face(const struct plx_ray_view *view, struct plx_ray_face *face)
{
    double u_min = INFINITY, u_max = -INFINITY, v_min = INFINITY, v_max = -INFINITY;
    face->x0 = face->y0 = 0;
    face->x1 = view->scene->width;
    face->y1 = view->scene->height;
    for (int corner = 0; corner < 4; corner++) {
        double point[3], u, v;
        point[face->axis] = face->plane;
        point[face->s_axis] = corner & 1 ? face->s_max : face->s_min;
        point[face->q_axis] = corner & 2 ? face->q_max : face->q_min;
        if (!plx_ray_project(view, point, &u, &v) || !isfinite(u) || !isfinite(v))
            return;
        u_min = fmin(u_min, u);
        u_max = fmax(u_max, u);
        v_min = fmin(v_min, v);
        v_max = fmax(v_max, v);
    }
    face->x0 = clamp_to(floor(u_min), face->x1);
    face->y0 = clamp_to(floor(v_min), face->y1);
    face->x1 = clamp_to(ceil(u_max) + 1.0, face->x1);
    face->y1 = clamp_to(ceil(v_max) + 1.0, face->y1);
}

/* Adds the face of BOX (min and max corner) whose AXIS has the value PLANE. */
static void add_face(struct plx_ray_view *view, enum plx_axis axis, double plane, const double box[2][3], uint8_t hit,
                     bool moves, float albedo)
{
    struct plx_ray_face *face = &view->face[view->face_count++];
    face->axis = axis;
    face->s_axis = axis == PLX_AXIS_X ? PLX_AXIS_Z : PLX_AXIS_X;
    face->q_axis = axis == PLX_AXIS_Y ? PLX_AXIS_Z : PLX_AXIS_Y;
    face->plane = plane;
    face->slope = 0.0;
    face->s_min = (float)box[0][face->s_axis];
    face->s_max = (float)box[1][face->s_axis];
    face->q_min = (float)box[0][face->q_axis];
    face->q_max = (float)box[1][face->q_axis];
    face->hit = hit;
    face->moves = moves;
    face->albedo = albedo;
    face->s_origin = isfinite(face->s_min) ? face->s_min : 0.0f;
    face->q_origin = isfinite(face->q_min) ? face->q_min : 0.0f;
    /* The texture belongs to the world: neither a camera that moves nor the other eye may change it. */
    double offset = fmax(fabs(plane - view->rest[axis]), SMALLEST_OFFSET_M);
    bool s_recedes = face->s_axis == PLX_AXIS_Z, q_recedes = face->q_axis == PLX_AXIS_Z;
    face->s_density = s_recedes ? view->along : view->across;
    face->q_density = q_recedes ? view->along : view->across;
    face->s_stretch = s_recedes ? (float)offset : 1.0f;
    face->q_stretch = q_recedes ? (float)offset : 1.0f;
    face->shift = (float)(plx_hash(view->scene->seed + ((uint64_t)hit << 8) + axis) % PLX_TEXTURE_SIDE);
    bound_face(view, face);
}

static void add_object(struct plx_ray_view *view, int index, double time_s)
{
    static const float albedo[] = {0.62f, 0.30f, 0.50f, 0.24f, 0.70f};
    const float front = albedo[index % (int)(sizeof albedo / sizeof albedo[0])], side = 0.75f * front, top = 1.2f * front;
    const struct plx_scene_object *object = &view->scene->object[index];
    const bool moves = object->vx != 0.0 || object->vz != 0.0;
    double x, z, vx, vz;
    plx_ray_object_at(object, time_s, &x, &z, &vx, &vz);
    const double box[2][3] = {{x - 0.5 * object->width, -object->height, z}, {x + 0.5 * object->width, 0.0, z + object->depth}};
    uint8_t front_hit = (uint8_t)(PLX_HIT_FRONT + index), side_hit = (uint8_t)(PLX_HIT_SIDE + index);

    if (view->origin[2] < z)
        add_face(view, PLX_AXIS_Z, z, box, front_hit, moves, front);
    if (view->origin[0] < box[0][0])
        add_face(view, PLX_AXIS_X, box[0][0], box, side_hit, moves, side);
    else if (view->origin[0] > box[1][0])
        add_face(view, PLX_AXIS_X, box[1][0], box, side_hit, moves, side);
    if (view->origin[1] < box[0][1])
        add_face(view, PLX_AXIS_Y, box[0][1], box, side_hit, moves, top);
}

/* The ground from step to step, and the fronts of those that lead up. */
static void add_ground(struct plx_ray_view *view)
{
    const struct plx_scene *scene = view->scene;
    for (int i = 0; i <= scene->step_count; i++) {
        const struct plx_scene_step here = i > 0 ? scene->step[i - 1] : (struct plx_scene_step){0};
        const double from = i > 0 ? here.z : -INFINITY, to = i < scene->step_count ? scene->step[i].z : INFINITY;
        const double depth = here.depth - here.slope * here.z; /* depth of its plane at Z 0 */
        const double floor[2][3] = {{-INFINITY, depth, from}, {INFINITY, depth, to}};
        add_face(view, PLX_AXIS_Y, depth, floor, PLX_HIT_GROUND, false, GROUND_ALBEDO);
        view->face[view->face_count - 1].slope = here.slope;
        if (i == scene->step_count)
            break;
        const double end = depth + here.slope * to, next = scene->step[i].depth;
        const double front[2][3] = {{-INFINITY, next, to}, {INFINITY, end, to}};
        if (next < end)
            add_face(view, PLX_AXIS_Z, to, front, PLX_HIT_GROUND, false, 0.75f * GROUND_ALBEDO);
    }
}

void plx_ray_view_init(struct plx_ray_view *view, const struct plx_scene *scene, double time_s, enum plx_eye eye)
{
    const struct plx_calibration_info *info = &scene->calibration;
    double shift = eye == PLX_RIGHT ? info->baseline_m : 0.0;
    view->scene = scene;
    view->cx = eye == PLX_RIGHT ? info->cx_right : info->cx;
    struct plx_pose camera;
    plx_scene_camera(scene, time_s, &camera);
    memcpy(view->rotation, camera.rotation, sizeof view->rotation);
    for (int axis = 0; axis < 3; axis++) {
        view->rest[axis] = axis == PLX_AXIS_Y ? -scene->camera_height_m : 0.0;
        view->origin[axis] = shift * view->rotation[3 * axis] + camera.translation[axis];
    }
    for (int level = 0; level < PLX_RAY_LEVELS; level++) {
        double z = PLX_SHADE_NEAREST_M * ldexp(level % 2 ? 1.5 : 1.0, level / 2);
        view->across[level] = (float)(info->fx / z);
        view->along[level] = (float)(info->fx / (z * z));
    }
    view->face_count = 0;
    add_ground(view);
    for (int index = 0; index < scene->object_count; index++)
        add_object(view, index, time_s);
}

/* --- a row -------------------------------------------------------------------------------------------------------- */

#define ROUNDING 1e-6 /* bounds the relative error of what see_face computes, seven roundings of 2^-24 */

/* A face along one row: value at column 0 and step per column of the inverse depth, and of the ray's direction along S and Q.
 */
struct line {
    float nearness, nearness_step;
    float s_start, s_step, s_eye;
    float q_start, q_step, q_eye;
    int x0, x1; /* columns in which it may be seen, end excluded */
};

/* Leaves the columns where START + STEP x, known to SLACK, may be 0 or more. */
static void clip_columns(struct line *line, double start, double step, double slack)
{
    if (step == 0.0) {
        if (start + slack < 0.0)
            line->x1 = line->x0;
        return;
    }
    const double zero = floor(-(start + slack) / step);
    if (step > 0.0 && zero > line->x0)
        line->x0 = zero > line->x1 ? line->x1 : (int)zero;
    else if (step < 0.0 && zero + 2.0 < line->x1)
        line->x1 = zero + 2.0 < line->x0 ? line->x0 : (int)zero + 2;
}

/* The largest magnitude of START + STEP x up to column LAST. */
static double largest(double start, double step, double last)
{
    return fabs(start) + fabs(step) * last;
}

/* Clips LINE where s >= BOUND (SIGN 1) or s <= BOUND (SIGN -1) cannot hold: that is linear once multiplied by the inverse
 * depth, which is positive. */
static void clip_bound(struct line *line, double start, double step, double eye, double bound, double sign, double last)
{
    if (!isfinite(bound))
        return;
    const double nearness = line->nearness, nearness_step = line->nearness_step, from = eye - bound;
    const double slack = largest(start, step, last) + largest(nearness, nearness_step, last) * (fabs(eye) + fabs(bound));
    clip_columns(line, sign * (start + from * nearness), sign * (step + from * nearness_step), ROUNDING * slack);
}

static void clip_line(const struct plx_ray_face *face, double last, struct line *line)
{
    const double nearest = largest(line->nearness, line->nearness_step, last), far = 1.0 / PLX_RAY_FAR_M;
    if (!isfinite(nearest))
        return;
    clip_columns(line, line->nearness - far, line->nearness_step, ROUNDING * (nearest + far));
    clip_bound(line, line->s_start, line->s_step, line->s_eye, face->s_min, 1.0, last);
    clip_bound(line, line->s_start, line->s_step, line->s_eye, face->s_max, -1.0, last);
    clip_bound(line, line->q_start, line->q_step, line->q_eye, face->q_min, 1.0, last);
    clip_bound(line, line->q_start, line->q_step, line->q_eye, face->q_max, -1.0, last);
}

/* LINE[i] belongs to VIEW's face i. */
static void init_lines(const struct plx_ray_view *view, int y, struct line line[PLX_RAY_FACES])
{
    const struct plx_calibration_info *info = &view->scene->calibration;
    float start[3], step[3]; /* the ray's direction in the ground frame, along the row */
    for (int axis = 0; axis < 3; axis++) {
        const double *r = view->rotation + 3 * axis;
        start[axis] = (float)(r[0] * -view->cx / info->fx + r[1] * (y - info->cy) / info->fy + r[2]);
        step[axis] = (float)(r[0] / info->fx);
    }
    for (int i = 0; i < view->face_count; i++) {
        const struct plx_ray_face *face = &view->face[i];
        const double slope = face->slope, offset = face->plane - view->origin[face->axis] + slope * view->origin[PLX_AXIS_Z];
        const bool crosses = y >= face->y0 && y < face->y1;
        line[i] = (struct line){
            .nearness = (float)((start[face->axis] - slope * start[PLX_AXIS_Z]) / offset),
            .nearness_step = (float)((step[face->axis] - slope * step[PLX_AXIS_Z]) / offset),
            .s_start = start[face->s_axis],
            .s_step = step[face->s_axis],
            .s_eye = (float)view->origin[face->s_axis],
            .q_start = start[face->q_axis],
            .q_step = step[face->q_axis],
            .q_eye = (float)view->origin[face->q_axis],
            .x0 = face->x0,
            .x1 = crosses ? face->x1 : face->x0,
        };
        if (crosses)
            clip_line(face, view->scene->width - 1, &line[i]);
    }
}

/* Marks the columns X0..X1 where FACE is nearer than all before it; MARK is its number. */
static void see_face(const struct plx_ray_face *face, const struct line *line, int x0, int x1, uint8_t mark,
                     float *restrict nearest, uint8_t *restrict seen)
{
    const struct line l = *line;
    const float s_min = face->s_min, s_max = face->s_max, q_min = face->q_min, q_max = face->q_max;
    for (int x = x0; x < x1; x++) {
        float column = (float)x;
        float inverse_depth = l.nearness + column * l.nearness_step, depth = 1.0f / inverse_depth;
        float s = l.s_eye + depth * (l.s_start + column * l.s_step), q = l.q_eye + depth * (l.q_start + column * l.q_step);
        bool is_seen = (inverse_depth > nearest[x]) & (s >= s_min) & (s <= s_max) & (q >= q_min) & (q <= q_max);
        nearest[x] = is_seen ? inverse_depth : nearest[x];
        seen[x] = is_seen ? mark : seen[x];
    }
}

/* Finds the nearest surface of the columns X0..X1: its inverse depth, and 1 + the number of its face, 0 for the background. */
static void see_columns(const struct plx_ray_view *view, const struct line line[PLX_RAY_FACES], int x0, int x1,
                        const struct plx_ray_row *row)
{
    for (int x = x0; x < x1; x++)
        row->inverse_depth[x] = (float)(1.0 / PLX_RAY_FAR_M);
    memset(row->hit + x0, 0, (size_t)(x1 - x0));
    for (int i = 0; i < view->face_count; i++)
        see_face(&view->face[i], &line[i], line[i].x0 > x0 ? line[i].x0 : x0, line[i].x1 < x1 ? line[i].x1 : x1,
                 (uint8_t)(1 + i), row->inverse_depth, row->hit);
}

/* Shades X0..X1, at most PLX_SHADE_POINTS columns, all of FACE. */
static void shade_columns(const struct plx_ray_face *face, const struct line *line, int x0, int x1,
                          const struct plx_ray_row *row)
{
    const struct line l = *line;
    float s[PLX_SHADE_POINTS], q[PLX_SHADE_POINTS], depth[PLX_SHADE_POINTS];
    for (int x = x0; x < x1; x++) {
        float column = (float)x;
        int i = x - x0;
        depth[i] = 1.0f / row->inverse_depth[x];
        s[i] = l.s_eye + depth[i] * (l.s_start + column * l.s_step);
        q[i] = l.q_eye + depth[i] * (l.q_start + column * l.q_step);
    }
    plx_shade_face(face, x1 - x0, s, q, depth, row->radiance + x0);
}

/* Shades what see_columns found in X0..X1, or only what moves. */
static void shade_seen(const struct plx_ray_view *view, const struct line line[PLX_RAY_FACES], int y, int x0, int x1,
                       bool only_moving, const struct plx_ray_row *row)
{
    const float sky_u = (float)(1024.0 - view->cx), sky_v = (float)(1024.0 + y - view->scene->calibration.cy);
    for (int begin = x0, end; begin < x1; begin = end) {
        const int number = row->hit[begin] - 1;
        const int limit = begin + PLX_SHADE_POINTS < x1 ? begin + PLX_SHADE_POINTS : x1;
        for (end = begin + 1; end < limit && row->hit[end] == row->hit[begin]; end++)
            ;
        if (only_moving && (number < 0 || !view->face[number].moves))
            continue;
        if (number < 0)
            plx_shade_sky(sky_u, begin, sky_v, end - begin, row->radiance + begin);
        else
            shade_columns(&view->face[number], &line[number], begin, end, row);
    }
}

void plx_ray_draw(const struct plx_ray_view *view, int y, const struct plx_ray_row *row)
{
    struct line line[PLX_RAY_FACES];
    init_lines(view, y, line);
    see_columns(view, line, 0, view->scene->width, row);
    shade_seen(view, line, y, 0, view->scene->width, false, row);
}

/* Names the surfaces that see_columns numbered. */
static void name_hits(const struct plx_ray_view *view, const struct plx_ray_row *row)
{
    for (int x = 0; x < view->scene->width; x++)
        row->hit[x] = row->hit[x] > 0 ? view->face[row->hit[x] - 1].hit : PLX_HIT_SKY;
}

void plx_ray_cast(const struct plx_ray_view *view, int y, const struct plx_ray_row *row)
{
    plx_ray_draw(view, y, row);
    name_hits(view, row);
}

void plx_ray_see(const struct plx_ray_view *view, int y, const struct plx_ray_row *row)
{
    struct line line[PLX_RAY_FACES];
    init_lines(view, y, line);
    see_columns(view, line, 0, view->scene->width, row);
    name_hits(view, row);
}

void plx_ray_draw_moving(const struct plx_ray_view *view, int y, const struct plx_ray_row *row)
{
    struct line line[PLX_RAY_FACES];
    init_lines(view, y, line);
    for (int i = 0; i < view->face_count; i++)
        if (view->face[i].moves && line[i].x0 < line[i].x1) {
            see_columns(view, line, line[i].x0, line[i].x1, row);
            shade_seen(view, line, y, line[i].x0, line[i].x1, true, row);
        }
}

bool plx_ray_moves(const struct plx_ray_view *view, int y)
{
    for (int i = 0; i < view->face_count; i++)
        if (view->face[i].moves && y >= view->face[i].y0 && y < view->face[i].y1)
            return true;
    return false;
}

void plx_ray_view_keep_still(struct plx_ray_view *view)
{
    int kept = 0;
    for (int i = 0; i < view->face_count; i++)
        if (!view->face[i].moves)
            view->face[kept++] = view->face[i];
    view->face_count = kept;
}
