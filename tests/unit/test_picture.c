/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults of the picture itself: frozen, dark, overexposed, unequal, misaligned. Each is flagged in its time, and good noisy
 * pictures never are: `test_picture 100000` checks 100,000 of them (default: 20,000, and 1,000 with a sanitizer).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/image.h"
#include "core/checks/alignment.h"
#include "core/checks/picture_check.h"
#include "cpu/cpu.h"
#include "drivers/synthetic/scene.h"
#include "drivers/synthetic/texture.h"
#include "tests/cmocka.h"
#include "tests/sanitizer.h"
#include "tests/scratch.h"

#define WIDTH 96
#define HEIGHT 64
#define DISPARITIES 16
#define LIMIT 300                           /* width of the backend, */
#define MAX_HEIGHT 384                      /* and its height */
#define SETTLED (4 * PLX_ALIGNMENT_OFFSETS) /* frames after which every check has seen enough */

static uint64_t good_frames = SANITIZED ? 1000 : 20000;

/* --- a pair of cameras ------------------------------------------------------------------------------------------- */

struct cameras {
    int x, y;             /* where in the texture they look */
    int disparity, shift; /* the right eye's; shift: rows */
    int gain[PLX_EYES];   /* percent */
    int noise;            /* 0 none; 1, 2, 3, 4: standard deviation 0.5, 1, 2, 4 levels */
    uint64_t random;
};

/* State and inputs of the checks. */
struct checks {
    struct plx_frozen_check frozen[PLX_EYES];
    struct plx_brightness_check brightness;
    struct plx_alignment alignment;
    struct plx_alignment_info info;
    struct plx_stages *stages;
    uint8_t picture[PLX_EYES][HEIGHT][WIDTH];
    uint32_t bins[PLX_EYES][1 + PLX_FROZEN_CHECK_TILES][PLX_HISTOGRAM_BINS];
};

static struct checks checks;

static struct cameras steady_cameras(void)
{
    return (struct cameras){.x = 100, .y = 60, .disparity = 5, .gain = {100, 100}, .noise = 3, .random = scratch_seed()};
}

static int noise(struct cameras *cameras)
{
    static const struct {
        uint64_t bits;
        int scale, mean;
    } level[] = {{0, 1, 0}, {1, 1, 0}, {0xF, 1, 2}, {0xFFFF, 1, 8}, {0xFFFF, 2, 16}}; /* binomial: as good as normal */
    const uint64_t bits = (cameras->random ^= cameras->random << 13, cameras->random ^= cameras->random >> 7,
                           cameras->random ^= cameras->random << 17);
    return __builtin_popcountll(bits & level[cameras->noise].bits) * level[cameras->noise].scale - level[cameras->noise].mean;
}

static void take(struct cameras *cameras)
{
    const uint8_t *tile = plx_texture_tile();

    for (int eye = 0; eye < PLX_EYES; eye++)
        for (int y = 0; y < HEIGHT; y++) {
            const int row = (cameras->y + y + eye * cameras->shift) & (PLX_TEXTURE_SIDE - 1);
            for (int x = 0; x < WIDTH; x++) {
                const int column = (cameras->x + x + eye * cameras->disparity) & (PLX_TEXTURE_SIDE - 1);
                const int value = tile[row * PLX_TEXTURE_STRIDE + column] * cameras->gain[eye] / 100 + noise(cameras);
                checks.picture[eye][y][x] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
            }
        }
}

static int begin(void **state)
{
    const struct plx_limits limits = {.width = LIMIT, .height = MAX_HEIGHT, .disparities = 64, .threads = 1};
    (void)state;
    memset(&checks, 0, sizeof checks);
    plx_alignment_init(&checks.alignment, WIDTH, HEIGHT, WIDTH, 0, DISPARITIES);
    return plx_cpu_create(&limits, &checks.stages);
}

static int end(void **state)
{
    (void)state;
    checks.stages->ops->destroy(checks.stages);
    return 0;
}

static bool is_frozen(struct plx_frozen_check *check, const struct plx_raw *raw, const struct plx_image *bins)
{
    uint64_t sum[PLX_CHECKSUM_TILES];
    const struct plx_image sums = {sum, PLX_CHECKSUM_TILES, 1, sizeof sum, PLX_U64};
    assert_int_equal(checks.stages->ops->checksum(checks.stages, raw, &sums), 0);
    return plx_frozen_check_update(check, sum, bins);
}

/* The flags of the pair in checks.picture. */
static uint32_t look(void)
{
    const struct plx_stages_ops *ops = checks.stages->ops;
    struct plx_template_match found[PLX_ALIGNMENT_MATCHES];
    struct plx_image image[PLX_EYES], patch, strip, plane = {checks.bins, 256, 2 * (1 + PLX_FROZEN_CHECK_TILES), 1024, PLX_U32};
    uint32_t health = 0;

    for (int eye = 0; eye < PLX_EYES; eye++) {
        const struct plx_image bins = {checks.bins[eye], 256, 1 + PLX_FROZEN_CHECK_TILES, 1024, PLX_U32};
        const struct plx_raw raw = {.data = checks.picture[eye],
                                    .bytes = WIDTH * HEIGHT,
                                    .width = WIDTH,
                                    .height = HEIGHT,
                                    .pitch = WIDTH,
                                    .format = PLX_FORMAT_GREY,
                                    .eye_width = WIDTH};
        image[eye] = (struct plx_image){checks.picture[eye], WIDTH, HEIGHT, WIDTH, PLX_U8};
        assert_int_equal(ops->histogram(checks.stages, &image[eye], PLX_HISTOGRAM_BINS, &bins), 0);
        if (is_frozen(&checks.frozen[eye], &raw, &bins))
            health |= PLX_HEALTH_FROZEN;
    }
    for (int i = 0; i < PLX_ALIGNMENT_MATCHES; i++)
        if (plx_alignment_patch(&checks.alignment, i, &image[PLX_LEFT], &image[PLX_RIGHT], &patch, &strip))
            assert_int_equal(ops->image.match_template(checks.stages, &strip, &patch, &found[i]), 0);
    if (plx_alignment_update(&checks.alignment, &image[PLX_LEFT], found, &checks.info))
        health |= PLX_HEALTH_MISALIGNED;
    return health | plx_brightness_check_update(&checks.brightness, &plane);
}

static uint32_t take_and_look(struct cameras *cameras)
{
    take(cameras);
    return look();
}

/* Good pairs of RIG until every check has settled. */
static void settle(struct cameras *cameras)
{
    for (int i = 0; i < SETTLED; i++)
        assert_int_equal(take_and_look(cameras), 0);
}

/* --- good pictures ----------------------------------------------------------------------------------------------- */

#define SCENE_FRAMES 250 /* one scene, then another */

static void choose_scene(struct cameras *cameras, uint64_t *random)
{
    cameras->x = (int)(scratch_random(random) % PLX_TEXTURE_SIDE);
    cameras->y = (int)(scratch_random(random) % PLX_TEXTURE_SIDE);
    cameras->disparity = (int)(scratch_random(random) % DISPARITIES);
    cameras->noise = 1 + (int)(scratch_random(random) % 4);
    cameras->gain[PLX_LEFT] = 40 + (int)(scratch_random(random) % 90);
    cameras->gain[PLX_RIGHT] = cameras->gain[PLX_LEFT] * (92 + (int)(scratch_random(random) % 17)) / 100; /* lenses differ */
}

static void good_noisy_pictures_raise_no_flag(void **state)
{
    (void)state;
    struct cameras cameras = steady_cameras();
    uint64_t random = scratch_seed();
    int speed = 0;

    for (uint64_t frame = 0; frame < good_frames; frame++) {
        if (frame % SCENE_FRAMES == 0) {
            choose_scene(&cameras, &random);
            speed = (int)(scratch_random(&random) % 2) * 3; /* the robot stops, or moves */
        }
        cameras.x += speed;
        const uint32_t health = take_and_look(&cameras);
        if (health)
            fail_msg("good frame %llu has flags 0x%x; PLX_TEST_SEED=%llu", (unsigned long long)frame, health,
                     (unsigned long long)scratch_seed());
    }
    assert_int_equal(checks.alignment.offsets, PLX_ALIGNMENT_OFFSETS); /* they were looked at, not passed over */
    print_message("    no flag in %llu good frames\n", (unsigned long long)good_frames);
}

/* --- faults ------------------------------------------------------------------------------------------------------ */

static void a_picture_that_comes_again_is_frozen_at_once(void **state)
{
    (void)state;
    struct cameras cameras = steady_cameras();

    settle(&cameras);
    for (int i = 0; i < 3; i++)
        assert_int_equal(look(), PLX_HEALTH_FROZEN);
    assert_int_equal(take_and_look(&cameras), 0);
    take(&cameras); /* one eye alone */
    look();
    static uint8_t kept[HEIGHT][WIDTH];
    memcpy(kept, checks.picture[PLX_RIGHT], sizeof kept);
    take(&cameras);
    memcpy(checks.picture[PLX_RIGHT], kept, sizeof kept);
    assert_int_equal(look(), PLX_HEALTH_FROZEN);
}

/* A driver that hangs may hand out its last buffers in turn. */
static void pictures_that_come_in_turn_are_frozen(void **state)
{
    (void)state;
    static uint8_t kept[PLX_FROZEN_CHECK_PICTURES][PLX_EYES][HEIGHT][WIDTH];

    for (int count = 2; count <= PLX_FROZEN_CHECK_PICTURES; count++) {
        struct cameras cameras = steady_cameras();
        settle(&cameras);
        for (int i = 0; i < count; i++) {
            assert_int_equal(take_and_look(&cameras), 0);
            memcpy(kept[i], checks.picture, sizeof kept[i]);
        }
        for (int frame = 0; frame < 3 * count; frame++) {
            memcpy(checks.picture, kept[frame % count], sizeof kept[0]);
            assert_int_equal(look(), PLX_HEALTH_FROZEN);
        }
        assert_int_equal(take_and_look(&cameras), 0);
    }
}

static void parts_that_come_in_turn_are_frozen_after_some_frames(void **state)
{
    (void)state;
    static uint8_t kept[PLX_FROZEN_CHECK_PICTURES][HEIGHT][WIDTH];

    for (int count = 2; count <= PLX_FROZEN_CHECK_PICTURES; count++) {
        struct cameras cameras = steady_cameras();
        settle(&cameras);
        for (int i = 0; i < count; i++) {
            assert_int_equal(take_and_look(&cameras), 0);
            memcpy(kept[i], checks.picture[PLX_LEFT], sizeof kept[i]);
        }
        for (int frame = 1; frame <= PLX_FROZEN_CHECK_REPEATS + 2; frame++) {
            take(&cameras);
            memcpy(checks.picture[PLX_LEFT][HEIGHT / 2], kept[(frame - 1) % count][HEIGHT / 2], sizeof kept[0] / 2);
            assert_int_equal(look(), frame >= PLX_FROZEN_CHECK_REPEATS ? PLX_HEALTH_FROZEN : 0);
        }
        assert_int_equal(take_and_look(&cameras), 0);
    }
}

/* A robot at rest: nothing but the noise differs between the pictures. */
static void a_scene_at_rest_with_noise_is_not_frozen(void **state)
{
    (void)state;
    struct plx_scene scene;
    struct plx_scene_renderer *renderer;
    plx_scene_demo(WIDTH, HEIGHT, scratch_seed(), &scene);
    scene.noise = 1;
    assert_int_equal(plx_scene_renderer_create(&scene, &renderer), 0);

    for (uint32_t frame = 0; frame < 500; frame++) {
        for (int eye = 0; eye < PLX_EYES; eye++) {
            const struct plx_image image = {checks.picture[eye], WIDTH, HEIGHT, WIDTH, PLX_U8};
            assert_int_equal(plx_scene_renderer_draw(renderer, 0, frame, (enum plx_eye)eye, 10000, 1, &image), 0);
        }
        assert_int_equal(look() & PLX_HEALTH_FROZEN, 0);
    }
    assert_int_equal(look() & PLX_HEALTH_FROZEN, PLX_HEALTH_FROZEN); /* its pictures were judged */
    plx_scene_renderer_destroy(renderer);
}

/* A transfer that stops half way leaves the rows below as they were; a stuck tile is the smallest part that counts. */
static void a_part_that_comes_again_is_frozen_after_some_frames(void **state)
{
    (void)state;
    static const struct {
        int x, y, width, height;
    } part[] = {{0, HEIGHT / 2, WIDTH, HEIGHT / 2}, {WIDTH / 8, HEIGHT / 4, WIDTH / 8, HEIGHT / 8}};
    static uint8_t kept[HEIGHT][WIDTH];

    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
        struct cameras cameras = steady_cameras();
        settle(&cameras);
        memcpy(kept, checks.picture[PLX_LEFT], sizeof kept);
        for (int frame = 1; frame <= PLX_FROZEN_CHECK_REPEATS + 2; frame++) {
            cameras.x += 3;
            take(&cameras);
            for (int y = part[i].y; y < part[i].y + part[i].height; y++)
                memcpy(&checks.picture[PLX_LEFT][y][part[i].x], &kept[y][part[i].x], (size_t)part[i].width);
            assert_int_equal(look() & PLX_HEALTH_FROZEN, frame >= PLX_FROZEN_CHECK_REPEATS ? PLX_HEALTH_FROZEN : 0);
        }
        assert_int_equal(take_and_look(&cameras), 0);
    }
}

static void light_faults_are_flagged_when_they_last(void **state)
{
    (void)state;
    static const struct {
        int gain[PLX_EYES];
        uint32_t health;
    } fault[] = {
        {{2, 2}, PLX_HEALTH_DARK},
        {{2, 100}, PLX_HEALTH_DARK | PLX_HEALTH_BRIGHTNESS_MISMATCH}, /* one lens is covered */
        {{1000, 1000}, PLX_HEALTH_OVEREXPOSED},
        {{70, 100}, PLX_HEALTH_BRIGHTNESS_MISMATCH},
        {{100, 70}, PLX_HEALTH_BRIGHTNESS_MISMATCH},
    };
    for (size_t i = 0; i < sizeof fault / sizeof fault[0]; i++) {
        struct cameras cameras = steady_cameras();
        settle(&cameras);
        memcpy(cameras.gain, fault[i].gain, sizeof cameras.gain);
        for (int frame = 1; frame <= 3 * PLX_BRIGHTNESS_CHECK_FRAMES; frame++)
            assert_int_equal(take_and_look(&cameras), frame >= PLX_BRIGHTNESS_CHECK_FRAMES ? fault[i].health : 0);
        cameras.gain[PLX_LEFT] = cameras.gain[PLX_RIGHT] = 100;
        assert_int_equal(take_and_look(&cameras), 0);
    }
}

/* A covered sensor that clips to black repeats itself, and is dark, not frozen. */
static void blackness_is_dark_and_not_frozen(void **state)
{
    (void)state;
    struct cameras cameras = steady_cameras();

    settle(&cameras);
    memset(checks.picture, 0, sizeof checks.picture);
    for (int frame = 1; frame <= 3 * PLX_BRIGHTNESS_CHECK_FRAMES; frame++)
        assert_int_equal(look(), frame >= PLX_BRIGHTNESS_CHECK_FRAMES ? PLX_HEALTH_DARK : 0);
}

static void rows_that_are_off_by_two_are_flagged(void **state)
{
    (void)state;
    for (int shift = -3; shift <= 3; shift++) {
        struct cameras cameras = steady_cameras();
        int frame = 0;
        settle(&cameras);
        cameras.shift = shift;
        for (; frame < SETTLED && !(take_and_look(&cameras) & PLX_HEALTH_MISALIGNED); frame++)
            cameras.x += 3;
        if (abs(shift) >= PLX_ALIGNMENT_ROWS)
            assert_in_range(frame, 1, 2 * PLX_ALIGNMENT_OFFSETS - 1);
        else
            assert_int_equal(frame, SETTLED);
        cameras.shift = 0;
        for (frame = 0; frame < 2 * PLX_ALIGNMENT_OFFSETS; frame++) /* then the bent time of the cameras is forgotten */
            take_and_look(&cameras);
    }
}

/* --- every format and size --------------------------------------------------------------------------------------- */

/* Buffers of exactly the bytes they need, so that a sanitizer sees a byte too many. */
static void freeze_reads_every_format_at_odd_sizes(void **state)
{
    (void)state;
    static const int sizes[][2] = {{4, 2}, {7, 2}, {4, 7}, {9, 17}, {513, 61}};
    uint64_t random = scratch_seed();

    memset(checks.bins, 0, sizeof checks.bins);
    for (int tile = 0; tile < PLX_FROZEN_CHECK_TILES; tile++)
        checks.bins[0][1 + tile][100] = 1; /* all tiles are bright enough */
    for (int format = 0; format < PLX_FORMAT_COUNT; format++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            const struct plx_image bins = {checks.bins[0], 256, 1 + PLX_FROZEN_CHECK_TILES, 1024, PLX_U32};
            const int width = sizes[i][0], height = sizes[i][1], eye = width / 2;
            const size_t row = plx_raw_row_bytes((enum plx_format)format, width), pitch = row + row % 2;
            const size_t rows = plx_raw_rows((enum plx_format)format, height);
            uint8_t *data = malloc(pitch * (rows - 1) + row);
            assert_non_null(data);
            for (size_t byte = 0; byte < pitch * (rows - 1) + row; byte++)
                data[byte] = (uint8_t)scratch_random(&random);
            const struct plx_raw raw = {.data = data,
                                        .bytes = pitch * (rows - 1) + row,
                                        .width = width,
                                        .height = height,
                                        .pitch = pitch,
                                        .format = (enum plx_format)format,
                                        .eye_x = eye,
                                        .eye_width = width - eye};
            struct plx_frozen_check frozen = {0};
            struct plx_error_message message;
            if (plx_raw_check(&raw, &message) < 0)
                fail_msg("%s", message.text);
            assert_false(is_frozen(&frozen, &raw, &bins));
            assert_true(is_frozen(&frozen, &raw, &bins));
            data[plx_raw_row_bytes((enum plx_format)format, width) - 1] ^= 1; /* the last pixel of the first row */
            assert_false(is_frozen(&frozen, &raw, &bins));
            free(data);
        }
}

/* Where the parts of a picture have 16 rows, any of them tells a live picture; where they have more, every part has 16 that do.
 */
static void every_row_that_is_read_tells_a_live_picture(void **state)
{
    (void)state;
    enum { SIDE = 64, STEPS = 3 };
    static uint8_t data[STEPS * 16 * PLX_HISTOGRAM_TILES][SIDE];
    uint64_t random = scratch_seed();

    memset(checks.bins, 0, sizeof checks.bins);
    for (int tile = 0; tile < PLX_FROZEN_CHECK_TILES; tile++)
        checks.bins[0][1 + tile][100] = 1; /* all tiles are bright enough */
    for (size_t i = 0; i < sizeof data; i++)
        data[i / SIDE][i % SIDE] = (uint8_t)scratch_random(&random);
    for (int step = 1; step <= STEPS; step++) {
        const int height = step * 16 * PLX_HISTOGRAM_TILES;
        const struct plx_image bins = {checks.bins[0], 256, 1 + PLX_FROZEN_CHECK_TILES, 1024, PLX_U32};
        const struct plx_raw raw = {.data = data,
                                    .bytes = (size_t)height * SIDE,
                                    .width = SIDE,
                                    .height = height,
                                    .pitch = SIDE,
                                    .format = PLX_FORMAT_GREY,
                                    .eye_width = SIDE};
        int live = 0;
        for (int y = 0; y < height; y++) {
            struct plx_frozen_check frozen = {0};
            assert_false(is_frozen(&frozen, &raw, &bins));
            data[y][y % SIDE] ^= 1;
            live += !is_frozen(&frozen, &raw, &bins);
        }
        assert_int_equal(live, 16 * PLX_HISTOGRAM_TILES);
    }
}

/* For as long as it lasts: a minute at 30 pairs/s here. */
static void a_part_stays_frozen(void **state)
{
    (void)state;
    enum { SIDE = 64 };
    static uint8_t data[SIDE][SIDE];
    const struct plx_image bins = {checks.bins[0], 256, 1 + PLX_FROZEN_CHECK_TILES, 1024, PLX_U32};
    const struct plx_raw raw = {.data = data,
                                .bytes = sizeof data,
                                .width = SIDE,
                                .height = SIDE,
                                .pitch = SIDE,
                                .format = PLX_FORMAT_GREY,
                                .eye_width = SIDE};
    struct plx_frozen_check frozen = {0};

    memset(checks.bins, 0, sizeof checks.bins);
    memset(data, 100, sizeof data);
    for (int tile = 0; tile < PLX_FROZEN_CHECK_TILES; tile++)
        checks.bins[0][1 + tile][100] = 1; /* all tiles are bright enough */
    for (int frame = 0; frame < 1800; frame++) {
        for (int y = 0; y < SIDE; y++) /* all but the tiles of the first column change */
            for (int x = SIDE / PLX_HISTOGRAM_TILES; x < SIDE; x++)
                data[y][x] = (uint8_t)(frame + x * y % 7 + (frame >> 8) * (x % 3));
        const bool again = is_frozen(&frozen, &raw, &bins);
        if (again != (frame >= PLX_FROZEN_CHECK_REPEATS))
            fail_msg("frame %d: %s", frame, again ? "frozen already" : "no longer frozen");
    }
}

static void images_too_small_for_a_patch_are_let_alone(void **state)
{
    (void)state;
    struct plx_alignment alignment;
    struct plx_alignment_info info;
    struct plx_image patch, strip, image = {checks.picture, 40, 40, 40, PLX_U8};

    plx_alignment_init(&alignment, 40, 40, 40, 0, DISPARITIES);
    assert_false(plx_alignment_patch(&alignment, 0, &image, &image, &patch, &strip));
    assert_false(plx_alignment_update(&alignment, &image, NULL, &info));
    plx_alignment_init(&alignment, WIDTH, HEIGHT, WIDTH, 90, DISPARITIES); /* nothing can be that near */
    assert_false(plx_alignment_patch(&alignment, 0, &image, &image, &patch, &strip));
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(good_noisy_pictures_raise_no_flag),
        TEST(a_picture_that_comes_again_is_frozen_at_once),
        TEST(pictures_that_come_in_turn_are_frozen),
        TEST(parts_that_come_in_turn_are_frozen_after_some_frames),
        TEST(a_scene_at_rest_with_noise_is_not_frozen),
        TEST(a_part_that_comes_again_is_frozen_after_some_frames),
        TEST(light_faults_are_flagged_when_they_last),
        TEST(blackness_is_dark_and_not_frozen),
        TEST(rows_that_are_off_by_two_are_flagged),
        TEST(freeze_reads_every_format_at_odd_sizes),
        TEST(every_row_that_is_read_tells_a_live_picture),
        TEST(images_too_small_for_a_patch_are_let_alone),
        TEST(a_part_stays_frozen),
    };
    const char *faults = getenv("PLX_FAULTS"); /* ./dev test faults */
    if (faults && strcmp(faults, "full") == 0)
        good_frames = 100000;
    if (argc > 1)
        good_frames = strtoull(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
