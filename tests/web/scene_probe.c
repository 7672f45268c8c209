/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of the synthetic scene as its pictures show them, for tests of pictures: scene_probe demo|street WIDTH HEIGHT
 * TIME_S prints a JSON array. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/scene_truth.h"

int main(int argc, char **argv)
{
    struct plx_scene scene;
    struct scene_truth truth;
    if (argc != 5)
        return 64;
    const int width = atoi(argv[2]), height = atoi(argv[3]);
    (strcmp(argv[1], "street") == 0 ? plx_scene_street : plx_scene_demo)(width, height, 1, &scene);
    if (scene_truth(&scene, strtod(argv[4], NULL), NULL, &truth) != 0)
        return 1;
    for (int i = 0; i < truth.object_count; i++) {
        const struct scene_truth_object *object = &truth.object[i];
        printf("%s{\"index\": %d, \"position_m\": [%.4f, %.4f, %.4f], \"size_m\": [%.4f, %.4f], \"visible\": %.3f, "
               "\"box_px\": [%d, %d, %d, %d]}",
               i == 0 ? "[" : ", ", object->index, object->x, object->y, object->z, object->width, object->height,
               object->visible_ratio, object->box_x, object->box_y, object->box_width, object->box_height);
    }
    puts("]");
    return 0;
}
