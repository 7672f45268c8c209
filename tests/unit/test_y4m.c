/* SPDX-License-Identifier: Apache-2.0 */
/* The header and the 16-bit pictures of Y4M streams. */
#include <math.h>

#include <parallax/client.h>

#include "app/view/y4m.h"
#include "core/base/image.h"
#include "tests/cmocka.h"

#define COUNT 4096 /* disparities 0 to 255 15/16 px */

static void header_has_size_rate_and_format(void **state)
{
    (void)state;
    static const struct {
        double rate_hz;
        enum plx_y4m_kind kind;
        const char *text;
    } row[] = {
        {30, PLX_Y4M_GREY8, "YUV4MPEG2 W640 H480 F30:1 Ip A1:1 Cmono XCOLORRANGE=FULL\n"},
        {12.5, PLX_Y4M_GREY16, "YUV4MPEG2 W640 H480 F25:2 Ip A1:1 Cmono16 XCOLORRANGE=FULL\n"},
        {29.97, PLX_Y4M_GREY8, "YUV4MPEG2 W640 H480 F2997:100 Ip A1:1 Cmono XCOLORRANGE=FULL\n"},
        {0.5, PLX_Y4M_GREY8, "YUV4MPEG2 W640 H480 F1:2 Ip A1:1 Cmono XCOLORRANGE=FULL\n"},
        {0, PLX_Y4M_GREY8, "YUV4MPEG2 W640 H480 F0:0 Ip A1:1 Cmono XCOLORRANGE=FULL\n"},
        {15, PLX_Y4M_COLOUR, "YUV4MPEG2 W640 H480 F15:1 Ip A1:1 C444 XCOLORRANGE=FULL\n"},
        {NAN, PLX_Y4M_GREY8, "YUV4MPEG2 W640 H480 F0:0 Ip A1:1 Cmono XCOLORRANGE=FULL\n"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[PLX_Y4M_HEADER_BYTES];
        plx_y4m_header(640, 480, row[i].kind, row[i].rate_hz, text);
        assert_string_equal(text, row[i].text);
    }
}

/* All disparities, and the invalid one, in two rows with padding; the depth is that of plx_point. */
static void pixels_are_those_of_the_library(void **state)
{
    (void)state;
    static uint16_t plane[2][COUNT + 9], disparity[2][COUNT], depth[2][COUNT];
    static struct plx_frame frame = {
        .calibration = {.fx = 400, .fy = 400, .cx = 320, .cy = 2, .cx_right = 318.5, .baseline_m = 0.12}};
    struct plx_view view = {.frame = &frame, .min_disparity = -3};
    const struct plx_plane layout = {.width = COUNT, .height = 2, .pitch = sizeof plane[0], .element = PLX_U16};
    for (int x = 0; x < COUNT; x++) {
        plane[0][x] = (uint16_t)x;
        plane[1][x] = x % 2 ? PLX_DISPARITY_INVALID : (uint16_t)(COUNT - 1 - x);
    }
    view.plane[PLX_PLANE_DISPARITY] = plane;
    view.layout[PLX_PLANE_DISPARITY] = layout;
    plx_y4m_disparity(&view, disparity[0]);
    plx_y4m_depth(&view, depth[0]);
    for (uint32_t y = 0; y < 2; y++)
        for (uint32_t x = 0; x < COUNT; x++) {
            float point[3] = {0}, pixels = plx_disparity_px(&view, x, y);
            assert_int_equal(disparity[y][x], isnan(pixels) || pixels < 0 ? 0 : pixels == 0 ? 1 : (int)(pixels * 256));
            const double mm = plx_point(&view, x, y, point) == 0 ? (double)point[2] * 1000 : 0;
            if (mm > 65535.4)
                assert_int_equal(depth[y][x], 0);
            else
                assert_true(fabs(depth[y][x] - mm) <= 0.51);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_has_size_rate_and_format),
        cmocka_unit_test(pixels_are_those_of_the_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
