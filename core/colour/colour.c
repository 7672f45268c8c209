/* SPDX-License-Identifier: Apache-2.0 */
#include "core/colour/colour.h"

#include <math.h>

#include <parallax/error.h>

int plx_development_check(const struct plx_raw *raw, const struct plx_development *development)
{
    const int result = plx_raw_check(raw, NULL);
    if (result < 0)
        return result;
    if (!development || !development->tone || development->black < 0)
        return PLX_ERR_ARG;
    for (int i = 0; i < PLX_CHANNELS; i++)
        if (development->gain[i] < PLX_COLOUR_ONE || development->gain[i] > PLX_COLOUR_MAX_GAIN * PLX_COLOUR_ONE)
            return PLX_ERR_ARG;
    return 0;
}

int plx_colour_check(const struct plx_raw *raw, const struct plx_development *development, const struct plx_image *ret_rgb)
{
    const int result = plx_development_check(raw, development);
    if (result < 0)
        return result;
    return plx_image_ok(ret_rgb, PLX_RGB) && ret_rgb->width == raw->eye_width && ret_rgb->height == raw->height ? 0
                                                                                                                : PLX_ERR_ARG;
}

void plx_colour_tones(uint8_t ret_tone[PLX_COLOUR_FULL + 1])
{
    for (int i = 0; i <= PLX_COLOUR_FULL; i++) {
        const double linear = (double)i / PLX_COLOUR_FULL;
        const double srgb = linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
        ret_tone[i] = (uint8_t)lround(255 * srgb);
    }
}

/* From the weights of red and blue in luma (BT.601 and BT.709, section on the luminance signal). */
struct plx_yuv_factors plx_yuv_factors(const struct plx_chroma *chroma)
{
    const double one = 1 << PLX_YUV_SHIFT;
    const double red = chroma->bt709 ? 0.2126 : 0.299, blue = chroma->bt709 ? 0.0722 : 0.114, green = 1 - red - blue;
    const double luma = chroma->full_range ? one : one * 255 / 219, colour = chroma->full_range ? one : one * 255 / 224;

    return (struct plx_yuv_factors){
        .black = chroma->full_range ? 0 : 16,
        .luma = (int32_t)lround(luma),
        .red_cr = (int32_t)lround(2 * (1 - red) * colour),
        .green_cb = (int32_t)lround(2 * (1 - blue) * blue / green * colour),
        .green_cr = (int32_t)lround(2 * (1 - red) * red / green * colour),
        .blue_cb = (int32_t)lround(2 * (1 - blue) * colour),
    };
}

struct plx_chroma_plane plx_chroma_plane(const struct plx_raw *raw)
{
    const uint8_t *data = raw->data;
    const bool is_packed = plx_format_layout(raw->format)->extra_rows == 0, is_nv21 = raw->format == PLX_FORMAT_NV21;
    const uint8_t *cb = !is_packed ? data + (size_t)raw->height * raw->pitch : data + (raw->format == PLX_FORMAT_YUYV ? 1 : 0);
    const uint8_t *cr = cb + (is_packed ? 2 : 1);
    const bool swapped = raw->chroma.swapped != is_nv21;
    const bool halved = plx_format_layout(raw->format)->extra_rows == 1;

    return (struct plx_chroma_plane){
        .cb = swapped ? cr : cb,
        .cr = swapped ? cb : cr,
        .pitch = raw->pitch,
        .step = is_packed ? 4 : 2,
        .first = raw->eye_x / 2,
        .last = (raw->eye_x + raw->eye_width - 1) / 2,
        .rows = halved ? (raw->height + 1) / 2 : raw->height,
        .centred = raw->chroma.centred,
        .halved = halved,
    };
}
