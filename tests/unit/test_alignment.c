/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far rows are off, measured on real pairs (skipped where they are missing) and on the synthetic scene, whose right picture
 * is bent by known numbers; pictures that repeat themselves or show nothing.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/checks/alignment.h"
#include "cpu/cpu.h"
#include "drivers/files/picture.h"
#include "drivers/synthetic/scene.h"
#include "tests/bend.h"
#include "tests/cmocka.h"
#include "tests/sanitizer.h"
#include "tests/scratch.h"

#define MAX_WIDTH 1280
#define MAX_HEIGHT 600
#define FRAMES (SANITIZED ? 100 : 300)

/*
 * ThreadSanitizer makes the template search hundreds of times as slow: gcc leaves vector code out around its checks. With a
 * sanitizer the tests take a sample: one bend in 7, one pair of the table in 4, one pair of kitti_dev, 100 frames of each.
 * All other builds run all.
 */
#define BEND_STEP (SANITIZED ? 7 : 1)
#define FIRST_PAIR (SANITIZED ? PAIRS - 1 : 0)
#define GOOD_PAIRS (SANITIZED ? 1 : 200)
#define NOISE_STEP (SANITIZED ? 8 : 4)

struct pair {
    char name[64];
    int width, height, disparities;
    uint8_t *pixels[PLX_EYES];
};

static struct plx_stages *stages;
static uint8_t bent[MAX_HEIGHT * MAX_WIDTH];

static int begin(void **state)
{
    const struct plx_limits limits = {.width = MAX_WIDTH, .height = MAX_HEIGHT, .disparities = 256, .threads = 1};
    (void)state;
    return plx_cpu_create(&limits, &stages);
}

static int end(void **state)
{
    (void)state;
    stages->ops->destroy(stages);
    return 0;
}

static void bend_right(const struct pair *pair, struct bend bend)
{
    bend_picture(pair->pixels[PLX_RIGHT], pair->width, pair->height, bend, bent);
}

/* Looks at the pair FRAMES times; the first frame with a flag, FRAMES if there is none. */
static int look(const struct pair *pair, struct plx_alignment_info *ret_info)
{
    const struct plx_image left = {pair->pixels[PLX_LEFT], pair->width, pair->height, (size_t)pair->width, PLX_U8};
    const struct plx_image right = {bent, pair->width, pair->height, (size_t)pair->width, PLX_U8};
    struct plx_template_match found[PLX_ALIGNMENT_MATCHES];
    struct plx_image patch, strip;
    struct plx_alignment alignment;
    int flagged = FRAMES;
    bool is_measured = false;

    plx_alignment_init(&alignment, pair->width, pair->height, pair->width, 0, pair->disparities);
    for (int frame = 0; frame < FRAMES; frame++) {
        for (int i = 0; i < PLX_ALIGNMENT_MATCHES; i++) {
            assert_true(plx_alignment_patch(&alignment, i, &left, &right, &patch, &strip));
            assert_int_equal(stages->ops->image.match_template(stages, &strip, &patch, &found[i]), 0);
        }
        if (plx_alignment_update(&alignment, &left, found, ret_info) && frame < flagged)
            flagged = frame;
        is_measured = is_measured || ret_info->patches > 0;
        assert_true(is_measured || !alignment.is_known);
        assert_true(flagged == FRAMES || alignment.is_known);
    }
    assert_true(flagged < FRAMES || alignment.is_known == is_measured); /* rows that are right are known at once */
    return flagged;
}

static bool read_pair(const char *directory, int disparities, struct pair *ret_pair)
{
    struct plx_image image;
    char path[256];

    *ret_pair = (struct pair){.disparities = disparities};
    snprintf(ret_pair->name, sizeof ret_pair->name, "%s", directory);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        snprintf(path, sizeof path, "%s/%s/%s.png", PLX_TEST_DATA, directory, eye ? "right" : "left");
        if (plx_png_read(path, &image, NULL) < 0)
            return false;
        ret_pair->width = image.width;
        ret_pair->height = image.height;
        assert_true(image.type == PLX_U8 && image.width <= MAX_WIDTH && image.height <= MAX_HEIGHT);
        ret_pair->pixels[eye] = malloc((size_t)image.width * (size_t)image.height);
        for (int y = 0; y < image.height; y++)
            memcpy(ret_pair->pixels[eye] + y * image.width, plx_row(&image, y), (size_t)image.width);
        free(image.data);
    }
    return true;
}

/* --- real pairs -------------------------------------------------------------------------------------------------- */

static const struct {
    const char *directory;
    int disparities;
} real[] = {{"stereo/aloe_half", 128},      {"stereo/fc2_640x480", 64}, {"stereo/kitti12_000003", 128},
            {"stereo/kitti12_000076", 128}, {"stereo/motorcycle", 64},  {"stereo/teddy", 64},
            {"stereo/tsukuba", 64}};
#define PAIRS (sizeof real / sizeof *real)

static const struct bend bends[] = {
    {0, 0, 1},    {1, 0, 1},    {2, 0, 1},   {-2, 0, 1},   {5, 0, 1},      {8, 0, 1},  {16, 0, 1},
    {24, 0, 1},   {-24, 0, 1},  {0, 0.5, 1}, {0, 1, 1},    {0, 2, 1},      {0, -2, 1}, {0, 0, 1.01},
    {0, 0, 1.03}, {0, 0, 0.97}, {8, 1, 1},   {8, 1, 1.01}, {-5, -1, 0.99},
};

/* How far the worst corner is off by BEND. */
static double worst_of(const struct pair *pair, struct bend bend)
{
    return fabs(bend.rows) + pair->width / 2.0 * fabs(sin(bend.roll_deg * M_PI / 180)) +
           pair->height / 2.0 * fabs(bend.scale - 1);
}

static void expect_near(const struct pair *pair, struct bend bend, const char *what, double got, double expected,
                        double tolerance)
{
    if (!(fabs(got - expected) <= tolerance))
        fail_msg("%s bent by %g rows, %g degrees, scale %g: %s is %g, expected %g to within %g", pair->name, bend.rows,
                 bend.roll_deg, bend.scale, what, got, expected, tolerance);
}

/* The pairs themselves are rectified to half a row and a third of a degree. */
static void check_bend(const struct pair *pair, struct bend bend)
{
    const double worst = worst_of(pair, bend);
    struct plx_alignment_info info;

    bend_right(pair, bend);
    const int flagged = look(pair, &info);
    assert_true(info.patches >= PLX_ALIGNMENT_OFFSETS / 2);
    expect_near(pair, bend, "epipolar_error_px", (double)info.epipolar_error_px, bend.rows, 0.5 + 0.05 * fabs(bend.rows));
    expect_near(pair, bend, "max_epipolar_error_px", (double)info.max_epipolar_error_px, worst, 1 + 0.1 * worst);
    expect_near(pair, bend, "pitch_rad", (double)info.pitch_rad, atan(bend.rows / pair->width), 0.002);
    if (worst >= 2 || worst <= 1) { /* between these slopes may be held back */
        expect_near(pair, bend, "roll in degrees", (double)info.roll_rad * 180 / M_PI, bend.roll_deg,
                    0.15 + 0.1 * fabs(bend.roll_deg));
        expect_near(pair, bend, "scale", (double)info.scale, bend.scale, 0.005);
    }
    if ((worst >= 2.5 || fabs(bend.rows) >= 2) && flagged == FRAMES)
        fail_msg("%s bent by %g rows, %g degrees, scale %g has no flag", pair->name, bend.rows, bend.roll_deg, bend.scale);
    if (worst <= 1 && flagged < FRAMES)
        fail_msg("%s bent by %g rows only has a flag", pair->name, bend.rows);
}

static void free_pair(struct pair *pair)
{
    for (int eye = 0; eye < PLX_EYES; eye++)
        free(pair->pixels[eye]);
}

static void real_pairs_are_measured_however_they_are_bent(void **state)
{
    (void)state;
    int pairs = 0;

    for (size_t i = FIRST_PAIR; i < PAIRS; i++) {
        struct pair pair;
        if (!read_pair(real[i].directory, real[i].disparities, &pair))
            continue;
        for (size_t k = 0; k < sizeof bends / sizeof *bends; k += BEND_STEP)
            check_bend(&pair, bends[k]);
        free_pair(&pair);
        pairs++;
    }
    if (pairs == 0) {
        print_message("    skipped: no data in %s\n", PLX_TEST_DATA);
        skip();
    }
    print_message("    %d pairs, each bent in %zu ways\n", pairs, (sizeof bends / sizeof *bends + BEND_STEP - 1) / BEND_STEP);
}

static void good_real_pairs_have_no_flag(void **state)
{
    (void)state;
    int pairs = 0;

    for (int i = 0; i < 200 && pairs < GOOD_PAIRS; i++) {
        char directory[64];
        struct pair pair;
        struct plx_alignment_info info;
        snprintf(directory, sizeof directory, "kitti_dev/%06d", i);
        if (!read_pair(directory, 128, &pair))
            continue;
        bend_right(&pair, (struct bend){0, 0, 1});
        assert_int_equal(look(&pair, &info), FRAMES);
        free_pair(&pair);
        pairs++;
    }
    if (pairs == 0) {
        print_message("    skipped: no data in %s\n", PLX_TEST_DATA);
        skip();
    }
    print_message("    %d pairs without a flag\n", pairs);
}

/* --- made pairs -------------------------------------------------------------------------------------------------- */

#define WIDTH 320
#define HEIGHT 240

static uint8_t made[PLX_EYES][HEIGHT * WIDTH];
static struct pair made_pair = {"made", WIDTH, HEIGHT, 64, {made[PLX_LEFT], made[PLX_RIGHT]}};

static void synthetic_scenes_are_measured_however_they_are_bent(void **state)
{
    (void)state;
    struct plx_scene scene;

    plx_scene_demo(WIDTH, HEIGHT, 1, &scene);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const struct plx_image image = {made[eye], WIDTH, HEIGHT, WIDTH, PLX_U8};
        assert_int_equal(plx_scene_render(&scene, 0, 0, (enum plx_eye)eye, 10000, 1, &image), 0);
    }
    for (size_t k = 0; k < sizeof bends / sizeof *bends; k += BEND_STEP)
        check_bend(&made_pair, bends[k]);
}

static int noise(uint64_t *random, int levels)
{
    return levels ? (int)(scratch_random(random) % (unsigned)(2 * levels + 1)) - levels : 0;
}

/* A chessboard, a wall of bricks, a facade of like windows: each repeats itself within reach of the search. */
static int repeating(int kind, int x, int y)
{
    static uint8_t window[20][24];
    uint64_t random = 7;

    if (window[0][0] == 0)
        for (size_t i = 0; i < sizeof window; i++)
            window[i / 24][i % 24] = (uint8_t)(40 + scratch_random(&random) % 160);
    switch (kind) {
    case 0:
        return (x / 16 + y / 16) % 2 ? 200 : 60;
    case 1:
        return y % 10 < 2 || (x + y / 10 % 2 * 12) % 24 < 2 ? 180 : 90;
    default:
        return window[y % 20][x % 24];
    }
}

static void pictures_that_repeat_themselves_raise_no_flag(void **state)
{
    (void)state;
    uint64_t random = scratch_seed();

    for (int kind = 0; kind < 3; kind++)
        for (int levels = 0; levels <= 8; levels += NOISE_STEP) {
            struct plx_alignment_info info;
            for (int i = 0; i < HEIGHT * WIDTH; i++)
                for (int eye = 0; eye < PLX_EYES; eye++)
                    made[eye][i] = (uint8_t)(repeating(kind, i % WIDTH + eye * 9, i / WIDTH) + noise(&random, levels));
            bend_right(&made_pair, (struct bend){0, 0, 1});
            if (look(&made_pair, &info) < FRAMES)
                fail_msg("pattern %d with noise of %d levels has a flag, rows %g; PLX_TEST_SEED=%llu", kind, levels,
                         (double)info.epipolar_error_px, (unsigned long long)scratch_seed());
        }
}

static void pictures_that_show_nothing_are_not_measured(void **state)
{
    (void)state;
    uint64_t random = scratch_seed();
    struct plx_alignment_info info;

    for (int levels = 0; levels <= 4; levels += 2) {
        for (int i = 0; i < HEIGHT * WIDTH; i++)
            for (int eye = 0; eye < PLX_EYES; eye++)
                made[eye][i] = (uint8_t)(100 + noise(&random, levels));
        bend_right(&made_pair, (struct bend){0, 0, 1});
        assert_int_equal(look(&made_pair, &info), FRAMES);
        assert_int_equal(info.patches, 0);
    }
}

/* Black pixels are those that rectification found outside of the raw image. The border of the mask is at the same row in both
 * pictures, wherever the picture's own rows are. */
static void patches_with_masked_pixels_are_not_measured(void **state)
{
    (void)state;
    uint64_t random = scratch_seed();
    struct plx_alignment_info info;

    for (int masked = 0; masked < 2; masked++) {
        for (int i = 0; i < HEIGHT * WIDTH; i++)
            made[PLX_LEFT][i] = made[PLX_RIGHT][i] = (uint8_t)(40 + scratch_random(&random) % 160);
        for (int i = 0; masked && i < HEIGHT * WIDTH; i++)
            if (i % WIDTH % 24 == 0) /* every patch has such a column */
                made[PLX_LEFT][i] = made[PLX_RIGHT][i] = 0;
        bend_right(&made_pair, (struct bend){0, 0, 1});
        assert_int_equal(look(&made_pair, &info), FRAMES);
        if (masked)
            assert_int_equal(info.patches, 0);
        else
            assert_true(info.patches >= PLX_ALIGNMENT_OFFSETS / 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_pairs_are_measured_however_they_are_bent),
        cmocka_unit_test(good_real_pairs_have_no_flag),
        cmocka_unit_test(synthetic_scenes_are_measured_however_they_are_bent),
        cmocka_unit_test(pictures_that_repeat_themselves_raise_no_flag),
        cmocka_unit_test(pictures_that_show_nothing_are_not_measured),
        cmocka_unit_test(patches_with_masked_pixels_are_not_measured),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
