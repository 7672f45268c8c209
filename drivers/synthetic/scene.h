/* SPDX-License-Identifier: Apache-2.0 */
/* A textured 3-D scene with known ground truth: tilted ground, boxes and poles that move, seen by a noisy stereo pair. */
#ifndef PLX_DRIVERS_SYNTHETIC_SCENE_H
#define PLX_DRIVERS_SYNTHETIC_SCENE_H

#include <stdint.h>

#include <parallax/frame.h>

#include "core/base/image.h"
#include "core/base/text.h"

#define PLX_SCENE_MAX_OBJECTS 16
#define PLX_SCENE_MAX_STEPS 8

/* An upright box on the ground; a pole is a narrow box. Ground frame: X right, Y down, Z forward from the point
 * below the camera at time 0, metres. It moves with a constant velocity. With a period it moves forth for half of PERIOD_S and
 * back for the other half, at the same speed; 0 = it never turns. */
struct plx_scene_object {
    double x, z; /* centre of the face turned to the camera, at time 0 */
    double width, height, depth;
    double vx, vz; /* m/s */
    double period_s;
};

/* From Z on, across the whole scene, the ground lies DEPTH below that under the camera: stairs, the edge of a platform, and
 * with a later step up again a pit or a kerb. Metres. From there it falls by SLOPE for each metre ahead, and rises if that is
 * negative, up to the next step: a ramp. */
struct plx_scene_step {
    double z, depth, slope;
};

/* A drive to and fro along Z: the left camera stands at the origin at time 0, is AHEAD_M farther half a PERIOD_S later, and
 * starts and stops smoothly. Meanwhile it swings sideways by SWAY_M and turns by TURN_RAD to either side, with periods of their
 * own. Periods of 0: it stands still. */
struct plx_scene_drive {
    double ahead_m, period_s;
    double sway_m, sway_period_s;
    double turn_rad, turn_period_s;
};

struct plx_scene {
    int width, height; /* image, pixels */
    struct plx_scene_drive drive;
    struct plx_calibration_info calibration;
    double camera_height_m, pitch_rad, roll_rad;
    double noise; /* standard deviation, grey levels, after gain */
    double light; /* scene brightness; 1: exposure 10 ms at gain 1 gives a well exposed picture */
    uint64_t seed;
    int step_count; /* in ascending order of z, in front of the camera */
    struct plx_scene_step step[PLX_SCENE_MAX_STEPS];
    int object_count;
    struct plx_scene_object object[PLX_SCENE_MAX_OBJECTS];
};

/* The embedded demonstration scene at any size. */
void plx_scene_demo(int width, int height, uint64_t seed, struct plx_scene *ret_scene);

/* A street that the camera drives along: walls, a hedge and a kerb beside it, a facade at its end, parked cars, poles, people.
 */
void plx_scene_street(int width, int height, uint64_t seed, struct plx_scene *ret_scene);

/* A wall that fills the picture, PLX_SCENE_WALL_M from the left camera: that is the shortest distance. The camera looks down,
 * as in the other scenes. */
#define PLX_SCENE_WALL_M 3.0
void plx_scene_wall(int width, int height, uint64_t seed, struct plx_scene *ret_scene);

/* Pose of the left camera at TIME_S in the ground frame: its axes are x right, y down, z along the optical axis. */
void plx_scene_camera(const struct plx_scene *scene, double time_s, struct plx_pose *ret_ground_from_camera);

/* RANGE, with the reason, if a number of SCENE is not finite or out of range. */
int plx_scene_check(const struct plx_scene *scene, struct plx_error_message *message);

/* Renders EYE at TIME_S with EXPOSURE_US and GAIN into image U8 [height][width]: the same bits at every call. FRAME_INDEX and
 * the scene's seed make the noise. grey = clamp(255 radiance light exposure / 10 ms gain + noise). Thread-safe. ARG, RANGE. */
int plx_scene_render(const struct plx_scene *scene, double time_s, uint32_t frame_index, enum plx_eye eye, uint32_t exposure_us,
                     double gain, const struct plx_image *ret_image);

/* The colours of what EYE sees at TIME_S, RGB, with GREY, which plx_scene_render made of it, as their luma: (77 R + 150 G + 29
 * B + 128) >> 8 is GREY at each pixel. Thread-safe. ARG. */
int plx_scene_colour(const struct plx_scene *scene, double time_s, enum plx_eye eye, const struct plx_image *grey,
                     const struct plx_image *ret_rgb);

/* The same pictures, faster where the camera stands still: what stands still is drawn once, at create, and only what moves in
 * each picture. Holds a copy of SCENE and up to 8 bytes a pixel. Destroy accepts NULL. ARG, NOMEM, RANGE. */
struct plx_scene_renderer;
int plx_scene_renderer_create(const struct plx_scene *scene, struct plx_scene_renderer **ret_renderer);
void plx_scene_renderer_destroy(struct plx_scene_renderer *renderer);

/* As plx_scene_render. Thread-safe, allocates nothing. */
int plx_scene_renderer_draw(const struct plx_scene_renderer *renderer, double time_s, uint32_t frame_index, enum plx_eye eye,
                            uint32_t exposure_us, double gain, const struct plx_image *ret_image);

#endif
