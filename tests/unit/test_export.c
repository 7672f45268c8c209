/* SPDX-License-Identifier: Apache-2.0 */
/* Every exported file, read back; pictures, looked at pixel by pixel. */
#include <limits.h>
#include <math.h>

#include <png.h>

#include <parallax/error.h>

#include "app/view/export.h"
#include "drivers/files/picture.h"
#include "tests/cmocka.h"
#include "tests/unit/files.h"

#define WIDTH 5
#define HEIGHT 3
#define NONE PLX_DISPARITY_INVALID

/* Rows lie further apart than they are wide. */
static uint16_t disparity_row[HEIGHT][WIDTH + 2] = {
    {0, 1, 16, 4094, NONE, 7, 7},
    {NONE, NONE, NONE, NONE, NONE, 7, 7},
    {4095, 4096, 65534, 160, 80, 7, 7},
};
static uint8_t left_row[HEIGHT][WIDTH + 3] = {{0, 50, 100, 150, 200}, {1, 2, 3, 4, 5}, {255, 254, 253, 252, 251}};
static const struct plx_image disparity = {disparity_row, WIDTH, HEIGHT, sizeof disparity_row[0], PLX_U16};

static struct plx_view make_view(struct plx_frame *frame)
{
    *frame = (struct plx_frame){
        .calibration = {.fx = 100, .fy = 100, .cx = 2, .cy = 1, .cx_right = 2, .baseline_m = 0.5},
    };
    struct plx_view view = {.frame = frame};
    view.plane[PLX_PLANE_LEFT] = left_row;
    view.plane[PLX_PLANE_DISPARITY] = disparity_row;
    view.layout[PLX_PLANE_LEFT] = (struct plx_plane){.pitch = sizeof left_row[0], .width = WIDTH, .height = HEIGHT};
    view.layout[PLX_PLANE_DISPARITY] = (struct plx_plane){.pitch = sizeof disparity_row[0], .width = WIDTH, .height = HEIGHT};
    return view;
}

static void check_kitti(int min_disparity)
{
    const char *path = files_path("kitti.png");
    static struct plx_frame frame;
    struct plx_view view = make_view(&frame);
    struct plx_image read;
    struct plx_error_message message;
    view.min_disparity = min_disparity;
    assert_int_equal(plx_export_kitti(path, &view, &message), 0);
    assert_int_equal(plx_picture_read(path, PLX_U16, &read, &message), 0);
    assert_true(plx_same_size(&read, &disparity));
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            double pixels = disparity_row[y][x] / 16.0 + min_disparity;
            bool fits = disparity_row[y][x] != NONE && pixels >= 0 && pixels < 256;
            double expected = pixels == 0 ? 1 : pixels * 256; /* at infinity is not unknown */
            assert_int_equal(((const uint16_t *)plx_row(&read, y))[x], fits ? expected : 0);
        }
    free(read.data);
}

static void kitti_png_holds_256_times_the_pixels(void **state)
{
    (void)state;
    check_kitti(0);
    check_kitti(3);
    check_kitti(-20);
}

static void pfm_holds_every_value(void **state)
{
    (void)state;
    const char *path = files_path("map.pfm");
    struct plx_error_message message;
    int width, height;
    float scale, values[WIDTH * HEIGHT + 1];
    static struct plx_frame frame;
    struct plx_view view = make_view(&frame);
    view.min_disparity = -2;
    assert_int_equal(plx_export_pfm(path, &view, &message), 0);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "Pf %d %d %f", &width, &height, &scale), 3);
    assert_int_equal(fgetc(file), '\n');
    assert_int_equal(width, WIDTH);
    assert_int_equal(height, HEIGHT);
    assert_true(scale == -1.0f); /* little endian */
    assert_int_equal(fread(values, sizeof *values, WIDTH * HEIGHT + 1, file), WIDTH * HEIGHT);
    fclose(file);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            float value = values[(HEIGHT - 1 - y) * WIDTH + x];
            uint16_t stored = disparity_row[y][x];
            assert_true(stored == NONE ? isinf(value) && value > 0 : value == stored / 16.0f - 2);
        }
}

struct __attribute__((packed)) vertex {
    float x, y, z;
    uint8_t grey[3];
};

static void ply_holds_every_point(void **state)
{
    (void)state;
    static struct plx_frame frame;
    const struct plx_view view = make_view(&frame);
    const char *path = files_path("points.ply");
    struct plx_error_message message;
    char line[128];
    int count = 0, properties = 0;
    struct vertex vertex[WIDTH * HEIGHT];
    assert_int_equal(plx_export_ply(path, &view, &message), 0);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) && strcmp(line, "end_header\n") != 0) {
        sscanf(line, "element vertex %d", &count);
        properties += strncmp(line, "property", 8) == 0;
    }
    assert_int_equal(properties, 6);
    assert_int_equal(count, 8); /* 15 less 6 invalid and one at infinity */
    assert_int_equal(fread(vertex, sizeof *vertex, WIDTH * HEIGHT, file), count);
    fclose(file);
    assert_float_equal(vertex[1].z, 100 * 0.5 / 1, 1e-4); /* (2, 0), disparity 1 px */
    assert_float_equal(vertex[1].x, 0, 1e-4);
    assert_float_equal(vertex[1].y, -0.5, 1e-4);
    assert_int_equal(vertex[1].grey[0], 100);
    assert_float_equal(vertex[7].z, 100 * 0.5 / 5, 1e-4); /* (4, 2), 5 px */
    assert_float_equal(vertex[7].x, 0.2, 1e-4);
    assert_float_equal(vertex[7].y, 0.1, 1e-4);
    assert_int_equal(vertex[7].grey[2], 251);
}

static void colours_survive_the_file(void **state)
{
    (void)state;
    const char *path = files_path("colour.png");
    struct plx_rgb_image drawing;
    struct plx_error_message message;
    uint8_t read[HEIGHT][WIDTH][3];
    assert_int_equal(plx_rgb_image_create(WIDTH, HEIGHT, &drawing), 0);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        drawing.pixel[i] = (struct plx_rgb){(uint8_t)(i * 3), (uint8_t)(255 - i), (uint8_t)(i * 17)};
    assert_int_equal(plx_export_rgb_image(path, &drawing, &message), 0);
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_file(&image, path));
    assert_int_equal(image.format, PNG_FORMAT_RGB);
    assert_int_equal(PNG_IMAGE_SIZE(image), sizeof read);
    assert_true(png_image_finish_read(&image, NULL, read, 0, NULL));
    assert_memory_equal(read, drawing.pixel, sizeof read);
    plx_rgb_image_destroy(&drawing);
}

static void near_is_red_far_is_blue_unknown_is_black(void **state)
{
    (void)state;
    static uint16_t row[100];
    const struct plx_image ramp = {row, 100, 1, sizeof row, PLX_U16};
    struct plx_rgb_image drawing;
    for (int x = 0; x < 100; x++)
        row[x] = (uint16_t)(x * 16);
    row[50] = NONE;
    assert_int_equal(plx_rgb_image_create(100, 1, &drawing), 0);
    static const struct plx_frame raw; /* without a calibration there is no bar */
    const struct plx_depth_range automatic = {0, 0};
    plx_draw_disparity(&drawing, &raw, &ramp, &automatic);
    assert_true(drawing.pixel[2].b > drawing.pixel[2].r && drawing.pixel[2].b > drawing.pixel[2].g);
    assert_true(drawing.pixel[95].r > drawing.pixel[95].b && drawing.pixel[95].r > drawing.pixel[95].g);
    assert_int_equal(drawing.pixel[50].r + drawing.pixel[50].g + drawing.pixel[50].b, 0);
    assert_true(drawing.pixel[0].b > 64); /* the farthest is not black */
    plx_rgb_image_destroy(&drawing);
}

static void boxes_are_outlines_and_nothing_is_drawn_outside(void **state)
{
    (void)state;
    const struct plx_rgb red = {255, 0, 0};
    struct plx_rgb_image drawing;
    int drawn = 0;
    assert_int_equal(plx_rgb_image_create(40, 30, &drawing), 0);
    plx_draw_box(&drawing, 5, 6, 20, 10, 2, red);
    for (int i = 0; i < 40 * 30; i++)
        drawn += drawing.pixel[i].r == 255;
    assert_int_equal(drawn, 20 * 10 - 16 * 6);
    assert_int_equal(drawing.pixel[6 * 40 + 5].r, 255);
    assert_int_equal(drawing.pixel[15 * 40 + 24].r, 255);
    assert_int_equal(drawing.pixel[10 * 40 + 10].r, 0);

    /* Numbers from a hostile region; the sanitizers watch. */
    const int bad[] = {INT_MIN, -1, 0, 39, INT_MAX};
    for (size_t i = 0; i < 5 * 5 * 5 * 5; i++)
        plx_draw_box(&drawing, bad[i % 5], bad[i / 5 % 5], bad[i / 25 % 5], bad[i / 125], 2, red);
    plx_draw_text(&drawing, INT_MAX, INT_MAX, 3, "#1 2.5m", red);
    plx_draw_text(&drawing, INT_MIN, 0, 3, "#1 2.5m", red);
    plx_rgb_image_destroy(&drawing);
}

static void obstacles_stand_on_the_picture(void **state)
{
    (void)state;
    static uint8_t grey_row[60][80];
    static struct plx_frame frame;
    const struct plx_image grey = {memset(grey_row, 77, sizeof grey_row), 80, 60, 80, PLX_U8};
    struct plx_rgb_image drawing;
    assert_int_equal(plx_rgb_image_create(80, 60, &drawing), 0);
    plx_draw_image(&drawing, &grey);
    frame.obstacle_count = 2;
    frame.obstacle[0] = (struct plx_obstacle){.status = PLX_TRACK_LOST, .width = 80, .height = 60};
    frame.obstacle[1] = (struct plx_obstacle){
        .status = PLX_TRACK_TRACKED, .track = 1, .x = 20, .y = 20, .width = 30, .height = 25, .nearest_m = 1};
    plx_draw_obstacles(&drawing, &frame);
    const struct plx_rgb *outline = &drawing.pixel[20 * 80 + 20], *inside = &drawing.pixel[30 * 80 + 30];
    const struct plx_rgb *label = &drawing.pixel[11 * 80 + 20], *outside = &drawing.pixel[50 * 80 + 70];
    assert_true(outline->r > outline->b && outline->r != outline->g); /* near */
    assert_int_equal(inside->r, 77);
    assert_int_equal(inside->b, 77);
    assert_int_equal(outside->g, 77);
    assert_int_equal(label->r + label->g + label->b, 0); /* black behind the distance, above the box */
    assert_int_equal(drawing.pixel[0].r, 77);            /* what is lost is not drawn */
    plx_rgb_image_destroy(&drawing);
}

/* fx b = 6; the ground is 1 m below the camera, in row 20 + 60 / Z: 50 at 2 m, 35 at 4 m. */
static void a_bar_at_the_foot_follows_the_outline(void **state)
{
    (void)state;
    static struct plx_frame frame = {
        .calibration = {.fx = 60, .fy = 60, .cx = 40, .cy = 20, .cx_right = 40, .baseline_m = 0.1},
        .ground = {.valid = 1, .camera_height_m = 1, .normal = {0, 1, 0}},
        .obstacle_count = 1,
        .obstacle = {{.status = PLX_TRACK_TRACKED, .x = 8, .y = 10, .width = 64, .height = 45, .nearest_m = 2}}};
    for (int part = 0; part < PLX_OUTLINE_PARTS; part++)
        frame.obstacle[0].outline[part] = part < 8 ? 48 : 24; /* 2 m, 4 m */
    frame.obstacle[0].outline[3] = 0;                         /* columns 20 .. 23 */

    struct plx_rgb_image drawing;
    assert_int_equal(plx_rgb_image_create(80, 60, &drawing), 0);
    plx_draw_obstacles(&drawing, &frame);
    const struct plx_rgb *near = &drawing.pixel[49 * 80 + 30], *far = &drawing.pixel[34 * 80 + 50];
    const struct plx_rgb *open = &drawing.pixel[49 * 80 + 21], *below = &drawing.pixel[50 * 80 + 30];
    assert_true(near->r > near->b && far->b > 0 && near->r > far->r && near->b < far->b);
    assert_int_equal(open->r + open->g + open->b, 0);
    assert_int_equal(below->r + below->g + below->b, 0);

    const struct plx_rgb wanted[] = {*near, *far};
    frame.ground.valid = 0; /* then the lower edge of the box */
    plx_draw_obstacles(&drawing, &frame);
    assert_memory_equal(&drawing.pixel[51 * 80 + 30], &wanted[0], sizeof *wanted);
    assert_memory_equal(&drawing.pixel[51 * 80 + 50], &wanted[1], sizeof *wanted);
    frame.ground = (struct plx_ground_info){.valid = 1, .camera_height_m = 9, .normal = {0, 1, 0}}; /* below the box */
    memset(drawing.pixel, 0, 80 * 60 * sizeof *drawing.pixel);
    plx_draw_obstacles(&drawing, &frame);
    assert_memory_equal(&drawing.pixel[51 * 80 + 50], &wanted[1], sizeof *wanted);
    plx_rgb_image_destroy(&drawing);
}

/* fx b = 64: 16 px at 4 m, 4 px at 16 m. */
static void a_bar_names_the_distances(void **state)
{
    (void)state;
    enum { WIDE = 100, HIGH = 120 };
    static uint16_t value[HIGH][WIDE];
    static struct plx_frame frame;
    const struct plx_image plane = {value, WIDE, HIGH, sizeof value[0], PLX_U16};
    const struct plx_depth_range range = {4, 16};
    struct plx_rgb_image drawing;
    frame.calibration =
        (struct plx_calibration_info){.fx = 640, .fy = 640, .cx = 50, .cy = 60, .cx_right = 50, .baseline_m = 0.1};
    value[5][1] = 16 * 16;     /* 4 m */
    value[5][2] = 64 * 16;     /* nearer */
    value[5][3] = 4 * 16;      /* 16 m */
    value[5][4] = 16 + 5 * 16; /* 10.7 m */
    assert_int_equal(plx_rgb_image_create(WIDE, HIGH, &drawing), 0);
    plx_draw_disparity(&drawing, &frame, &plane, &range);
    const struct plx_rgb *pixel = drawing.pixel + (size_t)5 * WIDE;
    assert_memory_equal(&pixel[1], &pixel[2], sizeof *pixel); /* the range ends there */
    assert_memory_equal(&pixel[3], &pixel[50], sizeof *pixel);
    assert_true(pixel[1].r > pixel[1].b && pixel[3].b > pixel[3].r && memcmp(&pixel[4], &pixel[3], sizeof *pixel) != 0);
    const struct plx_rgb *top = &drawing.pixel[(size_t)3 * WIDE + 95], *bottom = &drawing.pixel[(size_t)116 * WIDE + 95];
    assert_true(top->r > top->b && bottom->b > bottom->r); /* from near to far */

    /* White lines at 5 and 10 m: rows (16 - 12.8) / 12 and (16 - 6.4) / 12 of 116. */
    int lines = 0;
    for (int y = 0; y < HIGH; y++) {
        const struct plx_rgb *at = &drawing.pixel[(size_t)y * WIDE + 95];
        const bool white = at->r == 255 && at->g == 255 && at->b == 255;
        assert_int_equal(white, y == 2 + 31 || y == 2 + 93);
        lines += white;
    }
    assert_int_equal(lines, 2);
    plx_rgb_image_destroy(&drawing);
}

static bool overlap(const struct plx_label *a, const struct plx_label *b)
{
    return a->x < b->x + b->width && b->x < a->x + a->width && a->y < b->y + b->height && b->y < a->y + a->height;
}

static void labels_do_not_cover_each_other(void **state)
{
    (void)state;
    static struct plx_frame frame;
    static struct plx_label label[PLX_MAX_OBSTACLES];
    uint32_t random = 1;
    for (int round = 0; round < 50; round++) {
        frame.obstacle_count = round % 2 ? PLX_MAX_OBSTACLES : 40;
        for (uint32_t i = 0; i < frame.obstacle_count; i++) {
            int32_t *const number[] = {&frame.obstacle[i].x, &frame.obstacle[i].y, &frame.obstacle[i].width,
                                       &frame.obstacle[i].height};
            frame.obstacle[i] =
                (struct plx_obstacle){.status = PLX_TRACK_TRACKED, .track = i + 1, .nearest_m = (float)(i % 50 + 1)};
            for (int k = 0; k < 4; k++) {
                random = random * 1664525 + 1013904223;
                *number[k] =
                    round == 49 && i % 7 == 0 ? (i % 2 ? INT_MIN : INT_MAX) : (int32_t)(random >> 16) % (k % 2 ? 480 : 640);
            }
        }
        const int count = plx_place_labels(&frame, 640, 480, 2, label);
        assert_true(round % 2 || round == 49 || count == 40); /* where there is room, all have a place */
        if (round % 2 && count < 60)
            fail_msg("%d labels in a crowd", count);
        for (int i = 0; i < count; i++) {
            assert_true(label[i].x >= 0 && label[i].y >= 0 && label[i].x + label[i].width <= 640 &&
                        label[i].y + label[i].height <= 480);
            for (int k = 0; k < i; k++)
                assert_false(overlap(&label[i], &label[k]));
        }
        assert_true(label[0].obstacle->nearest_m == 1);
    }
    frame.obstacle_count = 1; /* wider than the picture */
    assert_int_equal(plx_place_labels(&frame, 16, 480, 2, label), 0);
}

static void text_is_readable(void **state)
{
    (void)state;
    static const char *const one[7] = {"..#..", ".##..", "..#..", "..#..", "..#..", "..#..", ".###."};
    struct plx_rgb_image drawing;
    assert_int_equal(plx_rgb_image_create(20, 12, &drawing), 0);
    assert_int_equal(plx_draw_text(&drawing, 3, 2, 1, "1", (struct plx_rgb){9, 9, 9}), 7);
    for (int y = 0; y < 7; y++)
        for (int x = 0; x < 5; x++)
            assert_int_equal(drawing.pixel[(y + 3) * 20 + x + 4].r, one[y][x] == '#' ? 9 : 0);
    plx_rgb_image_destroy(&drawing);
}

static void what_cannot_be_written_is_said(void **state)
{
    (void)state;
    struct plx_error_message message = {""};
    static struct plx_frame frame;
    const struct plx_view view = make_view(&frame);
    const char *path = files_path("none/map.pfm");
    assert_int_equal(plx_export_pfm(path, &view, &message), PLX_ERR_NOT_FOUND);
    assert_non_null(strstr(message.text, "none/map.pfm"));
    files_text("file", "x");
    assert_true(plx_make_directories(files_path("file/a"), &message) < 0);
    assert_true(plx_make_directories(files_path("file"), &message) < 0);
    assert_int_equal(plx_make_directories(files_path("a/b//c/"), &message), 0);
    assert_int_equal(plx_make_directories(files_path("a/b"), &message), 0);
    assert_int_equal(access(files_path("a/b/c"), F_OK), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kitti_png_holds_256_times_the_pixels),
        cmocka_unit_test(pfm_holds_every_value),
        cmocka_unit_test(ply_holds_every_point),
        cmocka_unit_test(colours_survive_the_file),
        cmocka_unit_test(near_is_red_far_is_blue_unknown_is_black),
        cmocka_unit_test(boxes_are_outlines_and_nothing_is_drawn_outside),
        cmocka_unit_test(obstacles_stand_on_the_picture),
        cmocka_unit_test(a_bar_at_the_foot_follows_the_outline),
        cmocka_unit_test(a_bar_names_the_distances),
        cmocka_unit_test(labels_do_not_cover_each_other),
        cmocka_unit_test(text_is_readable),
        cmocka_unit_test(what_cannot_be_written_is_said),
    };
    return cmocka_run_group_tests(tests, files_begin, files_end);
}
