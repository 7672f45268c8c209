/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every surface is a rectangle in a plane of the ground frame. Along an image row the inverse depth of such a plane is linear
 * in the column, so a pixel costs one multiplication to reject, and one division and two texture samples to shade.
 *
 * The texture is drawn at the scale that suits the depth of the point, in steps of half an octave that blend into each other.
 * Depth is the same for both eyes, so they see the same surface; and at any distance its finest detail spans a few pixels.
 */
#include "drivers/synthetic/raycast.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

/* --- the texture: value noise in six octaves (Perlin and Hoffert, SIGGRAPH 1989) on lattices that divide the tile - */

#define SIDE PLX_TEXTURE_SIDE
#define OCTAVES 6
#define FINEST_SPACING 2 /* texels between lattice points of the finest octave */

static uint8_t texels[(SIDE + 1) * PLX_TEXTURE_STRIDE];
static pthread_once_t tile_once = PTHREAD_ONCE_INIT;

/* Lattice value in -1..1 of OCTAVE at (X, Y), which wrap at CELLS. */
static float lattice(int octave, int cells, int x, int y)
{
    uint64_t key = (uint64_t)octave << 40 | (uint64_t)(y % cells) << 20 | (uint64_t)(x % cells);
    return (float)(plx_hash(key) >> 40) * (2.0f / 16777216.0f) - 1.0f;
}

static float smoothstep(float t)
{
    return t * t * (3.0f - 2.0f * t);
}

static float octave_at(int octave, int x, int y)
{
    int spacing = FINEST_SPACING << octave, cells = SIDE / spacing;
    int cell_x = x / spacing, cell_y = y / spacing;
    float tx = smoothstep((float)(x % spacing) / (float)spacing), ty = smoothstep((float)(y % spacing) / (float)spacing);
    float a = lattice(octave, cells, cell_x, cell_y), b = lattice(octave, cells, cell_x + 1, cell_y);
    float c = lattice(octave, cells, cell_x, cell_y + 1), d = lattice(octave, cells, cell_x + 1, cell_y + 1);
    float above = a + (b - a) * tx, below = c + (d - c) * tx;
    return above + (below - above) * ty;
}

static void make_tile(void)
{
    static const float weight[OCTAVES] = {60.0f, 50.0f, 40.0f, 35.0f, 30.0f, 30.0f}; /* grey levels */
    for (int y = 0; y <= SIDE; y++)
        for (int x = 0; x < PLX_TEXTURE_STRIDE; x++) {
            float value = 128.0f;
            for (int octave = 0; octave < OCTAVES; octave++)
                value += weight[octave] * octave_at(octave, x % SIDE, y % SIDE);
            value = value < 0.0f ? 0.0f : value > 255.0f ? 255.0f : value;
            texels[y * PLX_TEXTURE_STRIDE + x] = (uint8_t)value;
        }
}

const uint8_t *plx_texture_tile(void)
{
    pthread_once(&tile_once, make_tile);
    return texels;
}

/* --- the rays ----------------------------------------------------------------------------------------------------- */

#define CONTRAST 0.65f /* of the texture around the albedo */
#define SKY_CONTRAST 0.35f
#define NEAREST_M 0.0625 /* distance of level 0 */
#define SKY_ALBEDO 0.55f
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
    const double *r = view->rotation;
    double d[3] = {point[0] - view->origin[0], point[1] - view->origin[1], point[2] - view->origin[2]};
    double x = r[0] * d[0] + r[3] * d[1] + r[6] * d[2];
    double y = r[1] * d[0] + r[4] * d[1] + r[7] * d[2];
    double z = r[2] * d[0] + r[5] * d[1] + r[8] * d[2];
    if (z < 1e-3)
        return false;
    const struct plx_calibration_info *info = &view->scene->calibration;
    *ret_u = info->fx * x / z + view->cx;
    *ret_v = info->fy * y / z + info->cy;
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
                     float albedo)
{
    struct plx_ray_face *face = &view->face[view->face_count++];
    face->axis = axis;
    face->s_axis = axis == PLX_AXIS_X ? PLX_AXIS_Z : PLX_AXIS_X;
    face->q_axis = axis == PLX_AXIS_Y ? PLX_AXIS_Z : PLX_AXIS_Y;
    face->plane = plane;
    face->s_min = (float)box[0][face->s_axis];
    face->s_max = (float)box[1][face->s_axis];
    face->q_min = (float)box[0][face->q_axis];
    face->q_max = (float)box[1][face->q_axis];
    face->hit = hit;
    face->albedo = albedo;
    face->s_origin = isfinite(face->s_min) ? face->s_min : 0.0f;
    face->q_origin = isfinite(face->q_min) ? face->q_min : 0.0f;
    /* With a camera that moves the texture must not: then the distance from the middle of its drive. */
    const double from = view->scene->drive.period_s > 0.0 ? view->rest[axis] : view->origin[axis];
    double offset = fmax(fabs(plane - from), SMALLEST_OFFSET_M);
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
    double x, z, vx, vz;
    plx_ray_object_at(object, time_s, &x, &z, &vx, &vz);
    const double box[2][3] = {{x - 0.5 * object->width, -object->height, z}, {x + 0.5 * object->width, 0.0, z + object->depth}};
    uint8_t front_hit = (uint8_t)(PLX_HIT_FRONT + index), side_hit = (uint8_t)(PLX_HIT_SIDE + index);

    if (view->origin[2] < z)
        add_face(view, PLX_AXIS_Z, z, box, front_hit, front);
    if (view->origin[0] < box[0][0])
        add_face(view, PLX_AXIS_X, box[0][0], box, side_hit, side);
    else if (view->origin[0] > box[1][0])
        add_face(view, PLX_AXIS_X, box[1][0], box, side_hit, side);
    if (view->origin[1] < box[0][1])
        add_face(view, PLX_AXIS_Y, box[0][1], box, side_hit, top);
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
        double z = NEAREST_M * ldexp(level % 2 ? 1.5 : 1.0, level / 2);
        view->across[level] = (float)(info->fx / z);
        view->along[level] = (float)(info->fx / (z * z));
    }
    const double everywhere[2][3] = {{-INFINITY, 0.0, -INFINITY}, {INFINITY, 0.0, INFINITY}};
    view->face_count = 0;
    add_face(view, PLX_AXIS_Y, 0.0, everywhere, PLX_HIT_GROUND, GROUND_ALBEDO);
    for (int index = 0; index < scene->object_count; index++)
        add_object(view, index, time_s);
}

/* Texture around 1 at (S, Q) metres on FACE at DEPTH. The level is 2 log2(depth / NEAREST_M), log2 being taken as linear
 * between powers of two, which the bits of a float give at once. */
static inline float shade(const struct plx_ray_face *face, const uint8_t *tile, float s, float q, float depth)
{
    float scaled = depth * (float)(1.0 / NEAREST_M);
    int32_t bits;
    memcpy(&bits, &scaled, sizeof bits);
    int32_t position = bits - (127 << 23);
    position = position < 0 ? 0 : position;
    int level = position >> 22;
    level = level > PLX_RAY_LEVELS - 2 ? PLX_RAY_LEVELS - 2 : level;
    int32_t part = (position >> 14) & 255;

    s = (s - face->s_origin) * face->s_stretch;
    q = (q - face->q_origin) * face->q_stretch;
    float offset = face->shift + 37.0f * (float)level; /* each level shows another part of the tile */
    int32_t fine = plx_texture_sample(tile, s * face->s_density[level] + offset, q * face->q_density[level] + offset);
    int32_t coarse = plx_texture_sample(tile, s * face->s_density[level + 1] + (offset + 37.0f),
                                        q * face->q_density[level + 1] + (offset + 37.0f));
    int32_t value = (fine >> 8) * (256 - part) + (coarse >> 8) * part;
    return 1.0f + CONTRAST * ((float)value * (1.0f / (128.0f * 65536.0f)) - 1.0f);
}

/* The background is infinitely far: both eyes see the same in the same direction. */
static void cast_sky(const struct plx_ray_view *view, int y, const uint8_t *tile, const struct plx_ray_row *row)
{
    float u0 = (float)(1024.0 - view->cx), v = (float)(1024.0 + y - view->scene->calibration.cy);
    for (int x = 0; x < view->scene->width; x++) {
        float texture = (float)plx_texture_sample(tile, 0.8f * (u0 + (float)x), 0.8f * v) * (1.0f / (128.0f * 65536.0f)) - 1.0f;
        row->radiance[x] = SKY_ALBEDO * (1.0f + SKY_CONTRAST * texture);
        row->inverse_depth[x] = (float)(1.0 / PLX_RAY_FAR_M);
        row->hit[x] = PLX_HIT_SKY;
    }
}

static void cast_face(const struct plx_ray_view *view, const struct plx_ray_face *face, int y, const uint8_t *tile,
                      const struct plx_ray_row *row)
{
    const struct plx_calibration_info *info = &view->scene->calibration;
    float start[3], step[3]; /* of the ray's direction in the ground frame, along the row */
    for (int axis = 0; axis < 3; axis++) {
        const double *r = view->rotation + 3 * axis;
        start[axis] = (float)(r[0] * -view->cx / info->fx + r[1] * (y - info->cy) / info->fy + r[2]);
        step[axis] = (float)(r[0] / info->fx);
    }
    double offset = face->plane - view->origin[face->axis];
    float nearness = (float)(start[face->axis] / offset), nearness_step = (float)(step[face->axis] / offset);
    float s_start = start[face->s_axis], s_step = step[face->s_axis], s_eye = (float)view->origin[face->s_axis];
    float q_start = start[face->q_axis], q_step = step[face->q_axis], q_eye = (float)view->origin[face->q_axis];

    for (int x = face->x0; x < face->x1; x++) {
        float column = (float)x;
        float inverse_depth = nearness + column * nearness_step;
        if (!(inverse_depth > row->inverse_depth[x]))
            continue;
        float depth = 1.0f / inverse_depth;
        float s = s_eye + depth * (s_start + column * s_step), q = q_eye + depth * (q_start + column * q_step);
        if (s < face->s_min || s > face->s_max || q < face->q_min || q > face->q_max)
            continue;
        row->inverse_depth[x] = inverse_depth;
        row->hit[x] = face->hit;
        row->radiance[x] = face->albedo * shade(face, tile, s, q, depth);
    }
}

void plx_ray_cast(const struct plx_ray_view *view, int y, const struct plx_ray_row *row)
{
    const uint8_t *tile = plx_texture_tile();
    cast_sky(view, y, tile, row);
    for (int i = 0; i < view->face_count; i++)
        if (y >= view->face[i].y0 && y < view->face[i].y1)
            cast_face(view, &view->face[i], y, tile, row);
}
