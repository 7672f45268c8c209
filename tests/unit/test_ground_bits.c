/* SPDX-License-Identifier: Apache-2.0 */
/* Stage ground beside the plain scalar oracle: random cameras and keys, odd sizes, pitch unlike width, any number of threads,
 * every instruction set. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>
#include <parallax/frame.h>

#include "core/ground/fit.h"
#include "cpu/cpu.h"
#include "cpu/internal.h"
#include "oracle/ground.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"

#define CASES 120 /* each size with each content */
#define STEPS 50  /* steps of each sweep */

static struct plx_stages *stages[PLX_ISA_COUNT + 1]; /* one of each instruction set, then the best with three threads */

static int set_up(void **state)
{
    (void)state;
    struct plx_limits limits = {640, 720, 256, 1};
    for (int isa = 0; isa < PLX_ISA_COUNT; isa++)
        if (plx_isa_kernels((enum plx_isa)isa) && plx_cpu_create_isa(&limits, (enum plx_isa)isa, &stages[isa]) < 0)
            return -1;
    limits.threads = 3;
    return plx_cpu_create(&limits, &stages[PLX_ISA_COUNT]);
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i <= PLX_ISA_COUNT; i++)
        if (stages[i])
            stages[i]->ops->destroy(stages[i]);
    return 0;
}

/* WALL: a wall on the ground. BOXES have other disparities among theirs. */
enum content { INVALID, ZERO, EQUAL, WHITE, NOISE, WILD, SPARSE, PLANE, BOXES, WALL, CONTENTS };
static const char *const names[] = {"all invalid", "all zero", "all equal", "all 65534", "noise",
                                    "any 16 bits", "sparse",   "plane",     "boxes",     "wall"};

static const int sizes[][2] = {{1, 1},   {1, 513}, {513, 1},  {2, 2},    {2, 7},     {7, 2},
                               {7, 513}, {513, 7}, {65, 129}, {160, 97}, {513, 487}, {9, 719}};

#define SIZES ((int)(sizeof sizes / sizeof *sizes))

static double between(uint64_t *seed, double low, double high)
{
    return low + (high - low) * (double)random_below(seed, 1 << 20) / (1 << 20);
}

static struct plx_ground_params random_params(uint64_t *seed, int width, int height)
{
    const int side = width > height ? width : height;
    const double fx = side * between(seed, 0.4, 1.6), cx = width * between(seed, 0.3, 0.7);
    const int top = (int)(height * between(seed, -1, 0.5));
    return (struct plx_ground_params){
        .enabled = random_below(seed, 30) > 0,
        .disparities = 64 << random_below(seed, 3),
        .min_disparity = (int)random_below(seed, 3) * 7 - 7,
        .tolerance = (int)random_below(seed, 2) * (int)random_below(seed, 100),
        .horizon_min = top,
        .horizon_max = top + (random_below(seed, 6) ? (int)(height * between(seed, 0, 1.5)) : 0),
        .calibration = {fx, fx * between(seed, 0.9, 1.1), cx, height * between(seed, 0.3, 0.6),
                        cx + (random_below(seed, 2) ? between(seed, -9, 9) : 0), between(seed, 0.05, 0.6)},
    };
}

/* What earlier frames may say: nothing, a plane to hold, limits, or both. */
static struct plx_ground_prior random_prior(uint64_t *seed, const struct plx_ground_params *p, int height)
{
    struct plx_ground_prior prior = {.slope_max = 0};
    if (random_below(seed, 2)) {
        const double camera = between(seed, 0.1, 2), slope = 16 * p->calibration.baseline_m / camera * 65536;
        const double horizon = between(seed, 0, height);
        prior.held = (struct plx_ground){(int64_t)(slope * between(seed, -0.1, 0.1)),
                                         (int64_t)slope,
                                         (int64_t)(-slope * horizon),
                                         (int32_t)(camera * 1e6),
                                         PLX_GROUND_HELD,
                                         0,
                                         0};
    }
    if (random_below(seed, 2)) {
        const double camera = between(seed, 0.1, 2);
        prior.height_min_um = (int32_t)(camera * 0.75e6);
        prior.height_max_um = (int32_t)(camera * 1.25e6);
        prior.slope_min = plx_ground_slope(p, camera * 1.25);
        prior.slope_max = plx_ground_slope(p, camera * 0.75);
    }
    return prior;
}

/* The disparity of pixel (x, y) in a scene of HEIGHT rows; PLANE = {a, b, c}, 1/16 px. */
static int value_of(uint64_t *seed, enum content content, const struct plx_ground_params *p, const double plane[3], int x,
                    int y, int height)
{
    const double here = plane[0] * x + plane[1] * y + plane[2] + random_normal(seed) * 4;
    const int least = y > height / 4 && y < height * 3 / 4 && x % 90 < 20 ? 200 + x / 90 * 40 : 0;
    switch (content) {
    case ZERO:
        return 0;
    case EQUAL:
    case WALL:
        return content == WALL && here > 320 ? (int)here : 320;
    case WHITE:
        return 65534;
    case NOISE:
        return (int)random_below(seed, (uint32_t)p->disparities * 16);
    case WILD:
        return (int)random_below(seed, 65536);
    case SPARSE:
        return random_below(seed, 40) ? (int)PLX_DISPARITY_INVALID : (int)here;
    case PLANE:
        return (int)here;
    case BOXES:
        return random_below(seed, 9) ? here > least ? (int)here : least : (int)random_below(seed, 1024);
    default:
        return PLX_DISPARITY_INVALID;
    }
}

static void draw(uint64_t *seed, enum content content, const struct plx_ground_params *p, const struct plx_image *disparity)
{
    const int height = disparity->height;
    const double horizon = p->horizon_min + (p->horizon_max - p->horizon_min) * between(seed, 0.1, 0.9);
    const double slope = 16 * p->calibration.baseline_m / between(seed, 0.1, 2), roll = between(seed, -0.1, 0.1) * slope;
    const double infinity = 16 * (p->calibration.cx - p->calibration.cx_right - p->min_disparity);
    const double plane[3] = {roll, slope, infinity - horizon * slope - roll * disparity->width / 2};

    for (int y = 0; y < height; y++)
        for (int x = 0; x < disparity->width; x++) {
            const int value = value_of(seed, content, p, plane, x, y, height);
            ((uint16_t *)plx_row(disparity, y))[x] =
                (uint16_t)(value < 0 || value > 65535 ? (int)PLX_DISPARITY_INVALID : value);
        }
}

static bool same(const struct plx_ground *p, const struct plx_ground *q)
{
    return p->a == q->a && p->b == q->b && p->c == q->c && p->camera_height_um == q->camera_height_um && p->valid == q->valid &&
           p->pixels == q->pixels && p->inliers == q->inliers;
}

static void print(const char *whose, const struct plx_ground *g)
{
    print_error("%-8s a %lld, b %lld, c %lld, height %d um, valid %d, pixels %d, inliers %d\n", whose, (long long)g->a,
                (long long)g->b, (long long)g->c, g->camera_height_um, g->valid, g->pixels, g->inliers);
}

/* Demands of each backend what the oracle says; true if it is ground. */
static bool compare(const struct plx_image *disparity, const struct plx_ground_params *params,
                    const struct plx_ground_prior *prior, const char *what)
{
    struct plx_ground want, got;

    oracle_ground(disparity, params, prior, &want);
    for (int i = 0; i <= PLX_ISA_COUNT; i++) {
        if (!stages[i])
            continue;
        memset(&got, 0x5A, sizeof got);
        assert_int_equal(stages[i]->ops->ground(stages[i], disparity, params, prior, &got), 0);
        if (!same(&got, &want)) {
            print("oracle", &want);
            print("stage", &got);
            fail_msg("%s, %d x %d, backend %d, PLX_TEST_SEED=%llu", what, disparity->width, disparity->height, i,
                     (unsigned long long)test_seed());
        }
    }
    return want.valid == PLX_GROUND_FOUND;
}

static bool compare_case(uint64_t *seed, int number)
{
    const int *size = sizes[number % SIZES];
    const enum content content = (enum content)(number / SIZES % CONTENTS);
    const struct plx_ground_params params = random_params(seed, size[0], size[1]);
    struct plx_image disparity = test_image_new(size[0], size[1], PLX_U16, (int)random_below(seed, 5));

    draw(seed, content, &params, &disparity);
    const struct plx_ground_prior prior = random_prior(seed, &params, size[1]);
    const bool found = compare(&disparity, &params, &prior, names[content]);
    test_image_free(&disparity);
    return found;
}

static void same_bits_as_the_oracle(void **state)
{
    (void)state;
    uint64_t seed = test_seed();
    int found = 0;
    for (int i = 0; i < CASES; i++)
        found += compare_case(&seed, i);
    print_message("ground in %d of %d cases\n", found, CASES);
    assert_in_range(found, 1, CASES - 1);
}

/* One number of a scene that crosses a limit of what is accepted as ground. */
enum sweep { BAND, OUTLIERS, PIXELS, LOW, HIGH, PITCH, TURN, LOWER, HIGHER, SWEEPS };
static const struct {
    const char *name;
    double from, to; /* on one side of the limit, on the other */
} sweeps[SWEEPS] = {
    [BAND] = {"rows with ground", 2, 80},
    [OUTLIERS] = {"outliers", 0.5, 1},
    [PIXELS] = {"pixels", 100, 500},
    [LOW] = {"camera height, m", 0.012, 0.03},
    [HIGH] = {"camera height, m", 5.5, 6.5},
    [PITCH] = {"pitch, rad", 0.95, 1.15},
    [TURN] = {"pitch after 0.1, rad", 0.1, 0.3},
    [LOWER] = {"height after 1 m, m", 0.6, 1},
    [HIGHER] = {"height after 1 m, m", 1, 1.5},
};

/* A camera over clean ground: 160 x 120, focal length 100 px, as SWEEP says where VALUE lies. */
static void draw_sweep(uint64_t *seed, enum sweep sweep, double value, const struct plx_calibration_info *c,
                       const struct plx_image *disparity)
{
    const double camera = sweep == LOW || sweep == HIGH || sweep == LOWER || sweep == HIGHER ? value : 1;
    const double pitch = sweep == PITCH || sweep == TURN ? value : 0.1;
    const double scale = 16 * c->baseline_m / camera;

    for (int y = 0; y < disparity->height; y++)
        for (int x = 0; x < disparity->width; x++) {
            const double d = scale * (sin(pitch) * c->fy + cos(pitch) * (y - c->cy));
            const int index = (disparity->height - y) * disparity->width - x - 1; /* from the last pixel */
            const bool gone = d < 0 || d > 1023 || (sweep == BAND && abs(y - 90) > value / 2) ||
                              (sweep == PIXELS && (index % 20 > 0 || index / 20 >= value));
            const bool wild = sweep == OUTLIERS && random_below(seed, 1000) < value * 1000;
            ((uint16_t *)plx_row(disparity, y))[x] = (uint16_t)(gone   ? PLX_DISPARITY_INVALID
                                                                : wild ? random_below(seed, 1024)
                                                                       : (uint32_t)(d + 0.5));
        }
}

/* Earlier frames saw a ground 1 m below the camera, pitch 0.1; any line may be tried. */
static struct plx_ground_prior prior_of_1_m(const struct plx_ground_params *p)
{
    const double scale = 16 * 65536 * p->calibration.baseline_m;
    return (struct plx_ground_prior){
        .held = {0, (int64_t)(scale * cos(0.1)),
                 (int64_t)(scale * (sin(0.1) * p->calibration.fy - cos(0.1) * p->calibration.cy)), 1000000, PLX_GROUND_HELD, 0,
                 0},
        .height_min_um = 750000,
        .height_max_um = 1250000,
    };
}

static void same_bits_at_the_limits(void **state)
{
    (void)state;
    const struct plx_ground_params params = {.enabled = true,
                                             .disparities = 64,
                                             .tolerance = 12,
                                             .horizon_min = -200,
                                             .horizon_max = 60,
                                             .calibration = {100, 100, 80, 40, 80, 0.12}};
    struct plx_image disparity = test_image_new(160, 120, PLX_U16, 1);
    uint64_t seed = test_seed();

    for (enum sweep sweep = 0; sweep < SWEEPS; sweep++) {
        int found = 0;
        for (int i = 0; i < STEPS; i++) {
            struct plx_ground_params p = params;
            const struct plx_ground_prior prior = sweep < TURN ? (struct plx_ground_prior){.slope_max = 0} : prior_of_1_m(&p);
            if (sweep == LOW)
                p.calibration.baseline_m = 0.002;
            draw_sweep(&seed, sweep, sweeps[sweep].from + (sweeps[sweep].to - sweeps[sweep].from) * i / STEPS, &p.calibration,
                       &disparity);
            found += compare(&disparity, &p, &prior, sweeps[sweep].name);
        }
        print_message("%s from %g to %g: ground in %d of %d\n", sweeps[sweep].name, sweeps[sweep].from, sweeps[sweep].to, found,
                      STEPS);
        assert_in_range(found, 1, STEPS - 1); /* the limit was crossed */
    }
    test_image_free(&disparity);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_as_the_oracle),
        cmocka_unit_test(same_bits_at_the_limits),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
