/* SPDX-License-Identifier: Apache-2.0 */
/* Time to draw the synthetic scene: milliseconds per pair on one core. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/clock.h"
#include "drivers/synthetic/scene.h"

#define ROUNDS 30

static double pair_ms(const struct plx_scene *scene)
{
    const int width = scene->width, height = scene->height;
    struct plx_scene_renderer *renderer = NULL;
    uint8_t *grey = malloc((size_t)width * (size_t)height);
    if (!grey || plx_scene_renderer_create(scene, &renderer) < 0) {
        free(grey);
        return NAN;
    }
    const struct plx_image image = {grey, width, height, (size_t)width, PLX_U8};
    int64_t best = INT64_MAX;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        int64_t begun = plx_now_ns();
        plx_scene_renderer_draw(renderer, i / 30.0, i, PLX_LEFT, 10000, 1.0, &image);
        plx_scene_renderer_draw(renderer, i / 30.0, i, PLX_RIGHT, 10000, 1.0, &image);
        int64_t taken = plx_now_ns() - begun;
        best = taken < best ? taken : best;
    }
    plx_scene_renderer_destroy(renderer);
    free(grey);
    return (double)best / PLX_NS_PER_MS;
}

int main(void)
{
    static const int size[][2] = {{320, 240}, {640, 480}, {1280, 720}, {1920, 1080}};
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++)
        for (int street = 0; street < 2; street++) {
            struct plx_scene scene;
            (street ? plx_scene_street : plx_scene_demo)(size[i][0], size[i][1], 1, &scene);
            printf("%-6s %4dx%-4d  %7.2f ms a pair\n", street ? "street" : "demo", scene.width, scene.height, pair_ms(&scene));
        }
    return 0;
}
