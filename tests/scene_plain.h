/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle of drivers/synthetic/: the same pictures, drawn one pixel at a time by the formulas alone. */
#ifndef PLX_TESTS_SCENE_PLAIN_H
#define PLX_TESTS_SCENE_PLAIN_H

#include "drivers/synthetic/scene.h"

/* What plx_scene_render draws of a valid SCENE, into RET_GREY [height][width]. Not thread-safe. */
void scene_plain(const struct plx_scene *scene, double time_s, uint32_t frame_index, enum plx_eye eye, uint32_t exposure_us,
                 double gain, uint8_t *ret_grey);

#endif
