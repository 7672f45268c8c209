/* SPDX-License-Identifier: Apache-2.0 */
/* Matches of a rectified pair whose rows differ, on a smooth random texture: both pictures are drawn from one formula, so that
 * disparity and rows of every match are known. */
#include <math.h>
#include <string.h>

#include "core/drift/matches.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"

#define WAVES 12
#define PADDING 11 /* elements after a row: the pitch is no multiple of anything */
#define COLUMNS 8  /* cells of the picture, each looked at in turn */
#define ROWS 6
#define CELLS (COLUMNS * ROWS)
#define BORDER 20 /* px that the cells leave */
#define MIN_WIDTH (2 * BORDER + COLUMNS * 12)
#define MIN_HEIGHT (2 * BORDER + ROWS * 12)
#define MIN_DISPARITY (-12)
#define ROWS_TOLERANCE 0.15 /* px, one match */
#define MEAN_TOLERANCE 0.015
#define POINT_TOLERANCE 0.01 /* px, to recognize the pixel that a match began at */

static const struct plx_drift_info nothing_expected;

/* Other focal lengths and principal points for each axis and eye, so that none can stand in for another. */
static const struct plx_calibration_info calibration = {
    .fx = 410, .fy = 330, .cx = 251, .cy = 187, .cx_right = 243, .baseline_m = 0.12};

static double wave[2][WAVES][4]; /* per px right and down, phase, amplitude; of two textures that have nothing in common */

static double uniform(uint64_t *seed, double low, double high)
{
    return low + (high - low) * random_below(seed, 1 << 24) / (1 << 24);
}

static int draw_waves(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    for (int i = 0; i < 2 * WAVES; i++) {
        double *w = wave[i / WAVES][i % WAVES];
        const double angle = uniform(&seed, 0, 6.283185307179586), length_px = uniform(&seed, 9, 28);
        w[0] = 6.283185307179586 * cos(angle) / length_px;
        w[1] = 6.283185307179586 * sin(angle) / length_px;
        w[2] = uniform(&seed, 0, 6.283185307179586);
        w[3] = uniform(&seed, 9, 11);
    }
    return 0;
}

static double texture(int which, double u, double v)
{
    double sum = 0;
    for (int i = 0; i < WAVES; i++) {
        const double *w = wave[which][i];
        sum += w[3] * sin(w[0] * u + w[1] * v + w[2]);
    }
    return sum;
}

/* Disparity DISPARITY[0] + [1] u + [2] v px and rows ROWS[0] + [1] v px, (u, v) the left pixel. */
struct scene {
    int width, height;
    double disparity[3], rows[2], contrast;
    int right_texture; /* 1: the right picture shows something else */
    struct plx_image left, right, plane;
    const struct plx_drift_info *expected;
};

static uint8_t grey(double value)
{
    return (uint8_t)lround(fmin(fmax(128 + value, 0), 255));
}

static double disparity_at(const struct scene *scene, double u, double v)
{
    return scene->disparity[0] + scene->disparity[1] * u + scene->disparity[2] * v;
}

/* The pixel (x, y) of the right picture shows what lies at (u, v) of the left one. */
static uint8_t right_pixel(const struct scene *scene, int x, int y)
{
    const double *d = scene->disparity;
    const double v = (y - scene->rows[0]) / (1 + scene->rows[1]), u = (x + d[0] + d[2] * v) / (1 - d[1]);
    return grey(scene->contrast * texture(scene->right_texture, u, v));
}

static void draw(struct scene *scene)
{
    scene->left = test_image_new(scene->width, scene->height, PLX_U8, PADDING);
    scene->right = test_image_new(scene->width, scene->height, PLX_U8, PADDING);
    scene->plane = test_image_new(scene->width, scene->height, PLX_U16, PADDING);
    for (int y = 0; y < scene->height; y++) {
        uint8_t *left = plx_row(&scene->left, y), *right = plx_row(&scene->right, y);
        uint16_t *plane = plx_row(&scene->plane, y);
        for (int x = 0; x < scene->width; x++) {
            left[x] = grey(scene->contrast * texture(0, x, y));
            right[x] = right_pixel(scene, x, y);
            plane[x] = (uint16_t)lround(PLX_DISPARITY_ONE * (disparity_at(scene, x, y) - MIN_DISPARITY));
        }
    }
}

static void erase(struct scene *scene)
{
    assert_true(test_image_padding_intact(&scene->left) && test_image_padding_intact(&scene->right) &&
                test_image_padding_intact(&scene->plane));
    test_image_free(&scene->left);
    test_image_free(&scene->right);
    test_image_free(&scene->plane);
}

static int find(const struct scene *scene, uint32_t place, int places, struct plx_row_match ret[PLX_PLACES_MAX])
{
    return plx_row_matches_find(&scene->left, &scene->right, &scene->plane, MIN_DISPARITY, &calibration, place, places,
                                scene->expected ? scene->expected : &nothing_expected, ret);
}

/* How many of the cells have a match. */
static int find_all(const struct scene *scene)
{
    struct plx_row_match match[PLX_PLACES_MAX];
    return find(scene, 0, CELLS, match);
}

/* Rows where the search begins, by the formula of rows.h. */
static double expected_rows(const struct scene *scene, double x, double y)
{
    const struct plx_drift_info *e = scene->expected ? scene->expected : &nothing_expected;
    return calibration.fy *
           ((double)e->pitch_rad * (1 + y * y) - (double)e->roll_rad * x - (double)e->bend_rad * x * y + (double)e->scale * y);
}

/* The first pixel of number INDEX of COUNT cells over SIZE pixels. */
static int cell_begin(int index, int count, int size)
{
    return BORDER + (size - 2 * BORDER) * index / count;
}

/* Whether MATCH began at the left pixel (u, v): its place in the right picture and its depth are those of that pixel. */
static bool began_at(const struct scene *scene, const struct plx_row_match *match, int u, int v)
{
    const uint16_t *plane = plx_row(&scene->plane, v);
    const double disparity = (double)plane[u] / PLX_DISPARITY_ONE + MIN_DISPARITY;
    const double x = (u - disparity - calibration.cx_right) / calibration.fx, y = (v - calibration.cy) / calibration.fy;
    const double lower = y + expected_rows(scene, x, y) / calibration.fy;
    const double z = calibration.fx * calibration.baseline_m / (disparity - (calibration.cx - calibration.cx_right));
    return fabs((double)match->x - x) * calibration.fx < POINT_TOLERANCE &&
           fabs((double)match->y - lower) * calibration.fy < POINT_TOLERANCE && fabs((double)match->z_m - z) < 1e-4 * fabs(z);
}

/* The left pixel in CELL that MATCH began at; fails if there is none. */
static void find_begin(const struct scene *scene, const struct plx_row_match *match, int cell, int ret[2])
{
    const int column = cell % COLUMNS, row = cell / COLUMNS;
    const int used = scene->height - 1; /* the last row serves only to interpolate */
    const int width = (scene->width - 2 * BORDER) / COLUMNS, height = (used - 2 * BORDER) / ROWS;
    for (int j = 0; j < height; j++)
        for (int i = 0; i < width; i++) {
            ret[0] = cell_begin(column, COLUMNS, scene->width) + i;
            ret[1] = cell_begin(row, ROWS, used) + j;
            if (began_at(scene, match, ret[0], ret[1]))
                return;
        }
    fail_msg("cell %d: a match at (%g, %g), %g m, is none of its pixels", cell, (double)match->x, (double)match->y,
             (double)match->z_m);
}

/* Looks at the first ROUNDS times all cells, one after another. Returns how many matches there are. */
static int check_places(const struct scene *scene, int rounds)
{
    int count = 0;
    double mean = 0;
    for (uint32_t number = 0; number < (uint32_t)(rounds * CELLS); number++) {
        struct plx_row_match match[PLX_PLACES_MAX] = {{0}};
        const int cell = (int)(number * 29 % CELLS), found = find(scene, number, 1, match);
        int begin[2];
        assert_in_range(found, 0, 1);
        if (found == 0)
            continue;
        find_begin(scene, match, cell, begin);
        const double rows = scene->rows[0] + scene->rows[1] * begin[1];
        if (!(fabs((double)match->rows - rows) < ROWS_TOLERANCE))
            fail_msg("cell %d: %g rows, expected %g", cell, (double)match->rows, rows);
        assert_int_equal(match->odd, (cell % COLUMNS + cell / COLUMNS + (int)number / CELLS) % 2);
        mean += (double)match->rows - rows;
        count++;
    }
    assert_true(count > 0 && fabs(mean / count) < MEAN_TOLERANCE);
    return count;
}

static void rows_are_measured_at_known_pixels(void **state)
{
    (void)state;
    static const struct plx_drift_info rolled = {.pitch_rad = 0.02F, .roll_rad = 0.01F, .bend_rad = 0.005F, .scale = -0.004F};
    static const struct plx_drift_info *const estimate[] = {NULL, NULL, NULL, &rolled};
    struct scene scenes[] = {
        {513, 387, {24.5, 0, 0}, {0.37, 0}, 1, 0, .left = {0}},
        {513, 387, {18, 0.04, 0.03}, {-0.61, 0}, 1, 0, .left = {0}},
        {431, 290, {40, -0.05, -0.02}, {-1.2, 0.008}, 1, 0, .left = {0}},
        {513, 387, {24.5, 0, 0}, {6.6, 0}, 1, 0, .left = {0}}, /* too far without an estimate */
    };
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        scenes[i].expected = estimate[i];
        draw(&scenes[i]);
        const int count = check_places(&scenes[i], 2);
        print_message("    scene %zu: %d of %d\n", i, count, 2 * CELLS);
        assert_true(count >= CELLS);
        scenes[i].expected = NULL;
        if (estimate[i])
            assert_true(find_all(&scenes[i]) <= CELLS / 12);
        erase(&scenes[i]);
    }
}

/* Many places in one call are those of as many calls. */
static void places_are_numbered(void **state)
{
    (void)state;
    struct scene scene = {513, 387, {24.5, 0, 0}, {0.37, 0}, 1, 0, .left = {0}};
    struct plx_row_match all[PLX_PLACES_MAX] = {{0}}, one[PLX_PLACES_MAX] = {{0}};
    const uint32_t first = 1000;
    int count = 0;
    draw(&scene);
    const int found = find(&scene, first, PLX_PLACES_MAX, all);
    for (uint32_t number = first; number < first + PLX_PLACES_MAX; number++) {
        if (!find(&scene, number, 1, one))
            continue;
        assert_true(all[count].x == one->x && all[count].y == one->y && all[count].rows == one->rows);
        assert_int_equal(all[count].odd, one->odd);
        count++;
    }
    assert_int_equal(found, count);
    assert_int_equal(find(&scene, first, 0, all), 0);
    erase(&scene);
}

/* Along a line of the texture nothing tells where a match lies; nor in a picture of one grey, or without a disparity. */
static void nothing_is_found_without_texture_or_disparity(void **state)
{
    (void)state;
    static const double stripes[][2] = {{0.5, 0}, {0, 0.5}, {0.4, 0.4}, {0.4, -0.4}, {0, 0}};
    struct scene scene = {257, 201, {20, 0, 0}, {0, 0}, 1, 0, .left = {0}};
    draw(&scene);
    assert_true(find_all(&scene) >= CELLS / 3);
    for (size_t i = 0; i < sizeof stripes / sizeof *stripes; i++) {
        for (int y = 0; y < scene.height; y++)
            for (int x = 0; x < scene.width; x++) {
                ((uint8_t *)plx_row(&scene.left, y))[x] = grey(80 * sin(stripes[i][0] * x + stripes[i][1] * y));
                ((uint8_t *)plx_row(&scene.right, y))[x] = grey(80 * sin(stripes[i][0] * (x + 20) + stripes[i][1] * y));
            }
        assert_int_equal(find_all(&scene), 0);
    }
    erase(&scene);
    draw(&scene);
    for (int y = 0; y < scene.height; y++)
        memset(plx_row(&scene.plane, y), 0xFF, (size_t)scene.width * sizeof(uint16_t));
    assert_int_equal(find_all(&scene), 0);
    erase(&scene);
}

/* Mean squared steps over 2 px of the window around a pixel, in the direction in which they are least: by trying directions. */
static double least_texture(const struct plx_image *image, int x, int y)
{
    double least = INFINITY;
    for (int degree = 0; degree < 180; degree++) {
        const double across = cos(degree * 0.017453292519943295), down = sin(degree * 0.017453292519943295);
        double sum = 0;
        for (int v = y - 6; v < y + 6; v++)
            for (int u = x - 6; u < x + 6; u++) {
                const uint8_t *row = plx_row(image, v), *above = plx_row(image, v - 1), *below = plx_row(image, v + 1);
                const double step = across * (row[u + 1] - row[u - 1]) + down * (below[u] - above[u]);
                sum += step * step;
            }
        least = fmin(least, sum / 144);
    }
    return least;
}

/* Contrast falls from the top to the bottom: matches end where the mean squared step falls below 64. */
static void weak_texture_is_no_match(void **state)
{
    (void)state;
    struct scene scene = {513, 387, {24, 0, 0}, {0, 0}, 1, 0, .left = {0}};
    struct plx_row_match match[PLX_PLACES_MAX];
    double weakest = INFINITY;
    draw(&scene);
    for (int y = 0; y < scene.height; y++)
        for (int x = 0; x < scene.width; x++) {
            const double contrast = 1 - (double)y / scene.height;
            ((uint8_t *)plx_row(&scene.left, y))[x] = grey(contrast * texture(0, x, y));
            ((uint8_t *)plx_row(&scene.right, y))[x] = grey(contrast * texture(0, x + 24, y));
        }
    for (uint32_t number = 0; number < 20 * CELLS; number++) {
        int begin[2];
        if (!find(&scene, number, 1, match))
            continue;
        find_begin(&scene, match, (int)(number * 29 % CELLS), begin);
        weakest = fmin(weakest, least_texture(&scene.left, begin[0], begin[1]));
    }
    print_message("    the weakest texture is %.1f\n", weakest);
    assert_true(weakest >= 64 && weakest < 80);
    erase(&scene);
}

/* In each cell the right half hardly has texture: of six tries one lies in the left half, except one time in 64. */
static void the_place_with_most_texture_counts(void **state)
{
    (void)state;
    struct scene scene = {552, 387, {24, 0, 0}, {0, 0}, 1, 0, .left = {0}};
    const int side = (scene.width - 2 * BORDER) / COLUMNS;
    struct plx_row_match match[PLX_PLACES_MAX];
    int strong = 0, count = 0;
    draw(&scene);
    for (int y = 0; y < scene.height; y++)
        for (int x = 0; x < scene.width; x++) {
            const double left = (x + side - BORDER) % side < side / 2 ? 1 : 0.5,
                         right = (x + 24 + side - BORDER) % side < side / 2 ? 1 : 0.5;
            ((uint8_t *)plx_row(&scene.left, y))[x] = grey(left * texture(0, x, y));
            ((uint8_t *)plx_row(&scene.right, y))[x] = grey(right * texture(0, x + 24, y));
        }
    for (uint32_t number = 0; number < 4 * CELLS; number++) {
        int begin[2];
        if (!find(&scene, number, 1, match))
            continue;
        find_begin(&scene, match, (int)(number * 29 % CELLS), begin);
        strong += (begin[0] - BORDER) % side < side / 2 + 6; /* the window reaches into it */
        count++;
    }
    print_message("    %d of %d where the texture is strong\n", strong, count);
    assert_true(count >= 2 * CELLS && strong >= count * 9 / 10);
    erase(&scene);
}

/* A match may lie 1.5 columns and 4 rows from where it is expected. */
static void matches_far_from_the_expected_place_do_not_count(void **state)
{
    (void)state;
    static const struct {
        double columns, rows;
        bool found;
    } cases[] = {{1.3, 0, true}, {-1.3, 0, true}, {1.75, 0, false}, {-1.75, 0, false},
                 {0, 3.7, true}, {0, -3.7, true}, {0, 4.3, false},  {0, -4.3, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene scene = {393, 291, {24, 0, 0}, {cases[i].rows, 0}, 1, 0, .left = {0}};
        draw(&scene);
        for (int y = 0; y < scene.height; y++)
            for (int x = 0; x < scene.width; x++)
                ((uint16_t *)plx_row(&scene.plane, y))[x] += (uint16_t)(int16_t)lround(PLX_DISPARITY_ONE * cases[i].columns);
        const int count = find_all(&scene);
        if (cases[i].found ? count < CELLS / 3 : count > CELLS / 12)
            fail_msg("%g columns and %g rows off: %d matches", cases[i].columns, cases[i].rows, count);
        erase(&scene);
    }
}

/* In two pictures that show different things, weak enough to look alike, hardly a point comes back to where it began. */
static void what_does_not_come_back_is_no_match(void **state)
{
    (void)state;
    struct scene scene = {513, 387, {24, 0, 0}, {0, 0}, 0.75, 1, .left = {0}};
    struct plx_row_match match[PLX_PLACES_MAX];
    draw(&scene);
    const int count = find(&scene, 0, PLX_PLACES_MAX, match);
    print_message("    %d of %d\n", count, PLX_PLACES_MAX);
    assert_true(count <= PLX_PLACES_MAX * 3 / 100);
    scene.right_texture = 0;
    erase(&scene);
    draw(&scene);
    assert_true(find(&scene, 0, PLX_PLACES_MAX, match) >= PLX_PLACES_MAX / 8);
    erase(&scene);
}

/* A disparity is needed 5 px to all sides, and at one more px to interpolate, to know how the surface leans. */
static void the_surface_is_known_around_a_match(void **state)
{
    (void)state;
    struct scene scene = {513, 387, {24, 0, 0}, {0, 0}, 1, 0, .left = {0}};
    struct plx_row_match match[PLX_PLACES_MAX];
    const int period = 32, known = 16; /* the last 16 of each 32 columns and rows have a disparity */
    int least = period, most = 0;
    draw(&scene);
    for (int y = 0; y < scene.height; y++)
        for (int x = 0; x < scene.width; x++)
            if (x % period < period - known || y % period < period - known)
                ((uint16_t *)plx_row(&scene.plane, y))[x] = PLX_DISPARITY_INVALID;
    for (uint32_t number = 0; number < 16 * CELLS; number++) {
        int begin[2] = {0, 0};
        if (!find(&scene, number, 1, match))
            continue;
        find_begin(&scene, match, (int)(number * 29 % CELLS), begin);
        for (int i = 0; i < 2; i++) {
            const int at = begin[i] % period - (period - known);
            least = at < least ? at : least;
            most = at > most ? at : most;
        }
    }
    assert_int_equal(least, 5);
    assert_int_equal(most, known - 1 - 6);
    erase(&scene);
}

/* A patch of 32 x 32 px of the right picture and a pixel more, to interpolate, are read around the place where a match is
 * expected: 16 px from the left and the top on, 17 from the right and the bottom. Places beyond show themselves nowhere. */
static void the_patch_stays_inside_the_right_picture(void **state)
{
    (void)state;
    static const struct plx_drift_info up = {.pitch_rad = -0.03F}, down = {.pitch_rad = 0.03F};
    static const struct {
        double disparity, rows;
        const struct plx_drift_info *expected;
        bool vertical, upper; /* which border is near */
    } cases[] = {
        {14, 0, NULL, false, false}, {-9, 0, NULL, false, true}, {24, -10, &up, true, false}, {24, 10, &down, true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene scene = {393, 291, {cases[i].disparity, 0, 0}, {cases[i].rows, 0}, 1, 0, .expected = cases[i].expected};
        const int size = cases[i].vertical ? scene.height : scene.width;
        int extreme = size / 2;
        draw(&scene);
        for (uint32_t number = 0; number < 50 * CELLS; number++) {
            struct plx_row_match match[PLX_PLACES_MAX];
            if (!find(&scene, number, 1, match))
                continue;
            const double column = (double)match->x * calibration.fx + calibration.cx_right,
                         row = (double)match->y * calibration.fy + calibration.cy;
            const int at = (int)floor((cases[i].vertical ? row : column) + 1e-3); /* floats hold whole pixels nearly */
            extreme = (cases[i].upper ? at > extreme : at < extreme) ? at : extreme;
        }
        assert_int_equal(extreme, cases[i].upper ? size - 17 : 16);
        erase(&scene);
    }
}

static void pictures_of_any_size_are_looked_at(void **state)
{
    (void)state;
    static const int small[][2] = {{1, 1}, {2, 2}, {7, 7}, {513, 7}, {7, 513}, {MIN_WIDTH - 1, 513}, {513, MIN_HEIGHT - 1}};
    static const int large[][2] = {{MIN_WIDTH, MIN_HEIGHT}, {513, MIN_HEIGHT}, {MIN_WIDTH, 513}};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        struct scene scene = {small[i][0], small[i][1], {2, 0, 0}, {0.2, 0}, 1, 0, .left = {0}};
        draw(&scene);
        assert_int_equal(find_all(&scene), 0);
        erase(&scene);
    }
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        struct scene scene = {large[i][0], large[i][1], {2, 0, 0}, {0.2, 0}, 1, 0, .left = {0}};
        draw(&scene);
        assert_true(check_places(&scene, 3) >= CELLS);
        erase(&scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_measured_at_known_pixels),
        cmocka_unit_test(places_are_numbered),
        cmocka_unit_test(nothing_is_found_without_texture_or_disparity),
        cmocka_unit_test(weak_texture_is_no_match),
        cmocka_unit_test(the_place_with_most_texture_counts),
        cmocka_unit_test(matches_far_from_the_expected_place_do_not_count),
        cmocka_unit_test(what_does_not_come_back_is_no_match),
        cmocka_unit_test(the_surface_is_known_around_a_match),
        cmocka_unit_test(the_patch_stays_inside_the_right_picture),
        cmocka_unit_test(pictures_of_any_size_are_looked_at),
    };
    return cmocka_run_group_tests(tests, draw_waves, NULL);
}
