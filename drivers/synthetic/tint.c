/* SPDX-License-Identifier: Apache-2.0 */
/* The colours of a scene. Each surface has a tint, and its pixels the grey levels of the grey picture as their luma, so that a
 * picture in colour and its grey one are the same to everything that looks at grey. */
#include <string.h>

#include <parallax/error.h>

#include "drivers/synthetic/raycast.h"

#define LEVELS 256
#define SURFACES (PLX_HIT_SIDE + PLX_SCENE_MAX_OBJECTS)

/* Red and blue relative to luma, in 1/256. */
struct tint {
    int red, blue;
};

static struct tint tint_of(int surface)
{
    static const struct tint object[] = {{400, 110}, {170, 390}, {300, 150}, {180, 190}, {330, 280},
                                         {150, 250}, {350, 90},  {260, 330}, {220, 130}, {390, 220}};
    if (surface == PLX_HIT_SKY)
        return (struct tint){205, 340};
    if (surface == PLX_HIT_GROUND)
        return (struct tint){275, 225};
    const int index = surface >= PLX_HIT_SIDE ? surface - PLX_HIT_SIDE : surface - PLX_HIT_FRONT;
    return object[index % (int)(sizeof object / sizeof object[0])];
}

static int clamp(int value)
{
    return value < 0 ? 0 : value > 255 ? 255 : value;
}

/* The colour of TINT whose luma, (77 R + 150 G + 29 B + 128) >> 8, is LUMA: green takes what is left, and a tint that leaves
 * green nothing to be is made weaker. */
static struct plx_rgb colour_of(struct tint tint, int luma)
{
    for (int strength = 16; strength > 0; strength--) {
        const int red = clamp(luma + luma * (tint.red - 256) * strength / (16 * 256));
        const int blue = clamp(luma + luma * (tint.blue - 256) * strength / (16 * 256));
        const int rest = 256 * luma - 77 * red - 29 * blue, green = rest <= 0 ? 0 : (rest + 75) / 150;
        if (green <= 255 && (77 * red + 150 * green + 29 * blue + 128) >> 8 == luma)
            return (struct plx_rgb){(uint8_t)red, (uint8_t)green, (uint8_t)blue};
    }
    return (struct plx_rgb){(uint8_t)luma, (uint8_t)luma, (uint8_t)luma};
}

int plx_scene_colour(const struct plx_scene *scene, double time_s, enum plx_eye eye, const struct plx_image *grey,
                     const struct plx_image *ret_rgb)
{
    struct plx_rgb colour[SURFACES][LEVELS];
    float inverse_depth[PLX_MAX_SIDE];
    uint8_t hit[PLX_MAX_SIDE];
    const struct plx_ray_row row = {NULL, inverse_depth, hit};
    struct plx_ray_view view;

    if (!scene || !plx_image_ok(grey, PLX_U8) || !plx_image_ok(ret_rgb, PLX_RGB) || !plx_same_size(grey, ret_rgb) ||
        grey->width != scene->width || grey->height != scene->height || (eye != PLX_LEFT && eye != PLX_RIGHT))
        return PLX_ERR_ARG;
    for (int surface = 0; surface < SURFACES; surface++)
        for (int luma = 0; luma < LEVELS; luma++)
            colour[surface][luma] = colour_of(tint_of(surface), luma);
    plx_ray_view_init(&view, scene, time_s, eye);
    for (int y = 0; y < grey->height; y++) {
        const uint8_t *from = plx_row(grey, y);
        struct plx_rgb *to = plx_row(ret_rgb, y);
        plx_ray_see(&view, y, &row);
        for (int x = 0; x < grey->width; x++)
            to[x] = colour[hit[x]][from[x]];
    }
    return 0;
}
