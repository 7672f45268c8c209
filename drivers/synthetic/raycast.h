/* SPDX-License-Identifier: Apache-2.0 */
/* What each pixel of a row sees of a scene. */
#ifndef PLX_DRIVERS_SYNTHETIC_RAYCAST_H
#define PLX_DRIVERS_SYNTHETIC_RAYCAST_H

#include <stdbool.h>
#include <stdint.h>

#include "drivers/synthetic/face.h"
#include "drivers/synthetic/scene.h"

/* The ground and what each step leaves of it, with its front; front, one side and top of each box. */
#define PLX_RAY_FACES (1 + 2 * PLX_SCENE_MAX_STEPS + 3 * PLX_SCENE_MAX_OBJECTS)
#define PLX_RAY_FAR_M 250.0 /* the ground ends here, the background begins */

/* The surfaces that a ray can hit; values of plx_ray_row.hit. Fronts of objects are FRONT + index, their other faces SIDE +
 * index. */
enum { PLX_HIT_SKY, PLX_HIT_GROUND, PLX_HIT_FRONT, PLX_HIT_SIDE = PLX_HIT_FRONT + PLX_SCENE_MAX_OBJECTS };

struct plx_ray_view {
    const struct plx_scene *scene;
    double rotation[9]; /* camera axes -> ground frame, row-major */
    double origin[3];   /* position of this eye in the ground frame */
    double rest[3];     /* middle of the drive */
    double cx;
    float across[PLX_RAY_LEVELS], along[PLX_RAY_LEVELS]; /* texels per metre: facing the camera, receding */
    struct plx_ray_face face[PLX_RAY_FACES];
    int face_count;
};

/* One row of pixels; arrays of the image's width, the caller's. */
struct plx_ray_row {
    float *radiance;      /* at light 1; 1 = white under full exposure */
    float *inverse_depth; /* 1/m along the optical axis */
    uint8_t *hit;
};

/* Where OBJECT is TIME_S after the start: x, z of its front face, and its velocity then. */
void plx_ray_object_at(const struct plx_scene_object *object, double time_s, double *ret_x, double *ret_z, double *ret_vx,
                       double *ret_vz);

/* Pixel of the point (X, Y, Z) of the ground frame; false if it lies behind the camera. */
bool plx_ray_project(const struct plx_ray_view *view, const double point[3], double *ret_u, double *ret_v);

void plx_ray_view_init(struct plx_ray_view *view, const struct plx_scene *scene, double time_s, enum plx_eye eye);

/* Row Y of the picture. */
void plx_ray_cast(const struct plx_ray_view *view, int y, const struct plx_ray_row *row);

/* The same without the radiance, whose array may be NULL. */
void plx_ray_see(const struct plx_ray_view *view, int y, const struct plx_ray_row *row);

/* The radiance alone; the other arrays are scratch. */
void plx_ray_draw(const struct plx_ray_view *view, int y, const struct plx_ray_row *row);

/* For a camera that stands still: takes the faces that move out of VIEW. */
void plx_ray_view_keep_still(struct plx_ray_view *view);

/* False if nothing that moves can be seen in row Y. */
bool plx_ray_moves(const struct plx_ray_view *view, int y);

/* Draws what moves over ROW's radiance, which is that of a view of what stands still. The other arrays are scratch. */
void plx_ray_draw_moving(const struct plx_ray_view *view, int y, const struct plx_ray_row *row);

#endif
