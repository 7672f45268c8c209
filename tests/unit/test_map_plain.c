/* SPDX-License-Identifier: Apache-2.0 */
/* The map beside a plain one that never rolls: random mounts, ways, scans and stixels, every cell of every frame. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/geometry/mount.h"
#include "core/motion/pose.h"
#include "core/verdict/map.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"

#define WIDTH 322 /* the last column is narrower */
#define HEIGHT 200
#define COLUMNS ((WIDTH + PLX_COLUMN_WIDTH - 1) / PLX_COLUMN_WIDTH)
#define FX 180.0
#define FY 190.0
#define CX 150.25
#define CY 95.75
#define BASELINE 0.12
#define PLAIN 540      /* cells of the plain map, in each direction: the ways never leave it */
#define WINDOW 100     /* cells from the robot to the border of the map */
#define UNSURE_PX 0.02 /* the map's float arithmetic may round differently */

enum sight { NOTHING, FREE, LOW, DROP, THING };

struct plain_cell {
    int evidence, foot, top;
    bool drop, moving, lost, unsure;
    int64_t seen_ns; /* -1: never */
};

struct plain_sight {
    enum sight sight;
    int foot, top;
    bool moving, exact, in_view, unsure;
};

struct base {
    double x, y, yaw;
};

static struct {
    uint64_t random;
    struct plx_map_params params;
    struct plx_local_map *map;
    struct plx_frame frame;
    struct plx_scan scan[COLUMNS];
    struct plx_stixel stixel[COLUMNS][PLX_COLUMN_STIXELS];
    struct plx_cell out[PLX_MAP_CELLS][PLX_MAP_CELLS];
    int64_t capture_ns;

    bool is_doubtful; /* the motion of the frame */
    bool started, remembers, had_motion;
    int64_t placed_ns;
    uint32_t breaks;
    struct base base;
    struct plx_pose camera_then;
    struct plain_cell cell[PLAIN][PLAIN];
    struct plain_sight sight[PLAIN][PLAIN];
    int compared, kind[5]; /* cells of each kind, so that no seed tests nothing */
} t;

/* --- random frames -------------------------------------------------------------------------------------------------------- */

static double between(double low, double high)
{
    return low + (high - low) * random_below(&t.random, 1000001) / 1e6;
}

static bool happens(double probability)
{
    return between(0, 1) < probability;
}

static struct plx_obstacle some_obstacle(uint32_t label)
{
    return (struct plx_obstacle){.label = label,
                                 .moving = happens(0.6),
                                 .nearest_m = (float)between(0.5, 6),
                                 .nearest_sigma_m = happens(0.3) ? 0 : (float)between(0, 0.1)};
}

static void look_elsewhere(void)
{
    double free_m = 3;
    int stixels = 0;
    uint16_t known = PLX_SCAN_KNOWN;
    for (int x = 0; x < COLUMNS; x++) {
        if (happens(0.15)) {
            free_m = between(0.6, 5.5);
            known = (uint16_t)(happens(0.1) ? 0 : PLX_SCAN_KNOWN);
            known |= (uint16_t)(happens(0.3) ? PLX_SCAN_DROP : happens(0.3) ? PLX_SCAN_RISE : 0);
            stixels = happens(0.4) ? (int)random_below(&t.random, PLX_COLUMN_STIXELS + 1) : 0;
        }
        t.scan[x] = (struct plx_scan){.free = (uint16_t)(16 * FX * BASELINE / free_m), .known = known};
        if (happens(0.03) && !(known & (PLX_SCAN_DROP | PLX_SCAN_RISE)))
            t.scan[x].free = PLX_SCAN_NOTHING_FREE;
        memset(t.stixel[x], 0, sizeof t.stixel[x]);
        for (int i = 0; i < stixels; i++) {
            const int y = (int)random_below(&t.random, HEIGHT), foot = (int)random_below(&t.random, 1500) - 200;
            t.stixel[x][i] = (struct plx_stixel){.y0 = (uint16_t)(y / 2),
                                                 .y1 = (uint16_t)y,
                                                 .disparity = (uint16_t)(16 * FX * BASELINE / between(0.5, 6)),
                                                 .foot_mm = (int16_t)foot,
                                                 .top_mm = (int16_t)(foot + (int)random_below(&t.random, 5000)),
                                                 .label = (uint16_t)random_below(&t.random, 10)};
            if (happens(0.1))
                t.stixel[x][i].label = happens(0.5) ? 0xFFFF : PLX_MAX_OBSTACLES;
        }
    }
    t.frame.obstacle_count = random_below(&t.random, 6);
    const uint32_t label = random_below(&t.random, 9);
    for (uint32_t i = 0; i < t.frame.obstacle_count; i++)
        t.frame.obstacle[i] = some_obstacle((label + i) % 9);
    t.frame.obstacle[t.frame.obstacle_count] = (struct plx_obstacle){.label = 9, .moving = 1}; /* beyond the list */
    if (t.frame.obstacle_count > 0 && happens(0.3))
        t.frame.obstacle[0] = some_obstacle(happens(0.5) ? PLX_MAX_OBSTACLES : PLX_MAX_OBSTACLES + 44);
}

static void mount_anew(void)
{
    const struct plx_mount mount = {.x_m = between(-0.3, 0.3),
                                    .y_m = between(-0.3, 0.3),
                                    .z_m = between(0.4, 0.8),
                                    .roll_deg = between(-8, 8),
                                    .pitch_deg = between(-3, 50),
                                    .yaw_deg = between(-60, 60)};
    plx_mount_info(&mount, &t.frame.ground, &t.frame.mount);
}

/* --- the plain map -------------------------------------------------------------------------------------------------------- */

static struct plx_pose pose_of(const struct base *base)
{
    const double c = cos(base->yaw), s = sin(base->yaw);
    return (struct plx_pose){{c, -s, 0, s, c, 0, 0, 0, 1}, {base->x, base->y, 0}};
}

/* The camera's motion, as ego-motion measures it, of a robot that was at THEN and is at t.base now. */
static struct plx_pose camera_motion(const struct base *then, const struct base *now)
{
    struct plx_pose map_then = pose_of(then), map_now = pose_of(now), motion;
    plx_pose_compose(&map_then, &t.camera_then, &map_then);
    plx_pose_compose(&map_now, &t.frame.mount.base_from_left, &map_now);
    plx_pose_invert(&map_then, &motion);
    plx_pose_compose(&motion, &map_now, &motion);
    return motion;
}

/* Everything, but for things where KEEP says so. */
static void forget_all(bool keep)
{
    for (int row = 0; row < PLAIN; row++)
        for (int column = 0; column < PLAIN; column++) {
            struct plain_cell *cell = &t.cell[row][column];
            if (!keep)
                *cell = (struct plain_cell){.seen_ns = -1, .lost = t.had_motion};
            else if (cell->evidence < 4)
                *cell = (struct plain_cell){.seen_ns = -1, .lost = true, .unsure = cell->unsure};
        }
}

/* Cells have numbers, from the middle of the plain map on. */
static int cell_at(double metres)
{
    return (int)floor(metres / PLX_MAP_CELL_M) + PLAIN / 2;
}

/* A border so near that rounding decides. */
static bool is_near_border(double metres)
{
    const double cells = metres / PLX_MAP_CELL_M;
    return fabs(cells - round(cells)) < 1e-9;
}

static bool is_in_window(int row, int column)
{
    const int y = row - cell_at(t.base.y), x = column - cell_at(t.base.x);
    return x >= -WINDOW && x < WINDOW && y >= -WINDOW && y < WINDOW;
}

static struct plain_sight *sight_at(const double base[3], bool *ret_unsure)
{
    const struct plx_pose map_from_base = pose_of(&t.base);
    double point[3];
    plx_pose_apply(&map_from_base, base, point);
    const int row = cell_at(point[1]), column = cell_at(point[0]);
    *ret_unsure = is_near_border(point[0]) || is_near_border(point[1]);
    return is_in_window(row, column) ? &t.sight[row][column] : NULL;
}

static void see_ground(const struct plx_pose *left_from_map, int row, int column)
{
    const double cell[3] = {(column - PLAIN / 2 + 0.5) * PLX_MAP_CELL_M, (row - PLAIN / 2 + 0.5) * PLX_MAP_CELL_M, 0};
    double point[3];
    plx_pose_apply(left_from_map, cell, point);
    struct plain_sight *sight = &t.sight[row][column];
    if (fabs(point[2]) < 1e-3)
        sight->unsure = true;
    if (point[2] <= 0)
        return;
    /* The edges of pixels: the first one begins at -0.5. */
    const double u = FX * point[0] / point[2] + CX + 0.5, v = FY * point[1] / point[2] + CY + 0.5;
    const double disparity = 16 * FX * BASELINE / point[2];
    if (u < -1 || v < -1 || u > WIDTH + 1 || v > HEIGHT + 1)
        return;
    const double border = fmin(fmin(fabs(v), fabs(v - HEIGHT)), fmin(fabs(u - WIDTH), fabs(u - 4 * round(u / 4))));
    sight->unsure = sight->unsure || border < UNSURE_PX;
    if (u < 0 || v < 0 || u >= WIDTH || v >= HEIGHT)
        return;
    sight->unsure = sight->unsure || fabs(point[2] - (double)t.frame.blind_within_m) < 1e-3;
    sight->in_view = point[2] >= (double)t.frame.blind_within_m;
    const struct plx_scan *scan = &t.scan[(int)floor(u / 4)];
    sight->unsure = sight->unsure || fabs(disparity - scan->free) < 0.01;
    if ((scan->known & PLX_SCAN_KNOWN) && scan->free != 0xFFFF && disparity >= scan->free)
        sight->sight = FREE;
}

/* From the edge of the free ground on, away from the camera: a drop for 15 cm, something low of 10 cm for 10 cm. */
static void see_end(int x)
{
    const struct plx_pose *base_from_left = &t.frame.mount.base_from_left;
    const bool drop = t.scan[x].known & PLX_SCAN_DROP;
    const double z = 16 * FX * BASELINE / t.scan[x].free, side = (4 * x + 1.5 - CX) / FX * z;
    double upper[3], lower[3], base[3];
    plx_pose_apply(base_from_left, (double[3]){side, 0, z}, upper);
    plx_pose_apply(base_from_left, (double[3]){side, 1, z}, lower);
    const double share = upper[2] / (upper[2] - lower[2]); /* where the line between both meets the ground */
    for (int i = 0; i < 3; i++)
        base[i] = upper[i] + share * (lower[i] - upper[i]);
    const double *camera = base_from_left->translation;
    const double way = hypot(base[0] - camera[0], base[1] - camera[1]);
    for (double behind = 0; behind < (drop ? 3 * PLX_MAP_CELL_M : 2 * PLX_MAP_CELL_M); behind += PLX_MAP_CELL_M / 2) {
        bool unsure;
        const double point[3] = {base[0] + behind * (base[0] - camera[0]) / way, base[1] + behind * (base[1] - camera[1]) / way,
                                 0};
        struct plain_sight *sight = sight_at(point, &unsure);
        if (!sight)
            continue;
        sight->unsure = sight->unsure || unsure;
        if (sight->sight < (drop ? DROP : LOW))
            *sight = (struct plain_sight){.sight = drop ? DROP : LOW, .top = drop ? 0 : 5, .unsure = unsure};
    }
}

static int height_of(int mm)
{
    return mm < 0 ? 0 : mm > 5100 ? 255 : mm / 20;
}

static const struct plx_obstacle *obstacle_of(uint32_t label)
{
    for (uint32_t i = 0; i < t.frame.obstacle_count; i++)
        if (t.frame.obstacle[i].label == label && label > 0 && label <= PLX_MAX_OBSTACLES)
            return &t.frame.obstacle[i];
    return NULL;
}

/* The standard deviation of the distance Z of a part of OBSTACLE, m; INFINITY: not known. */
static double sigma_of(const struct plx_obstacle *obstacle, double z)
{
    if (!obstacle || obstacle->nearest_sigma_m <= 0)
        return (double)INFINITY;
    return (double)obstacle->nearest_sigma_m * z * z / pow((double)obstacle->nearest_m, 2);
}

/* Points no farther than half a cell apart, from one edge of the column to the other. */
static void see_thing(int x, const struct plx_stixel *stixel)
{
    const double z = 16 * FX * BASELINE / stixel->disparity, row = 0.5 * (stixel->y0 + stixel->y1);
    const int foot = height_of(stixel->foot_mm), top = height_of(stixel->top_mm);
    const int steps = (int)(4 * z / FX / (PLX_MAP_CELL_M / 2)) + 1;
    const struct plx_obstacle *obstacle = obstacle_of(stixel->label);
    const double sigma = sigma_of(obstacle, z);
    for (int i = 0; i <= steps; i++) {
        bool unsure;
        double base[3];
        plx_pose_apply(&t.frame.mount.base_from_left,
                       (double[3]){(4 * (x + (double)i / steps) - 0.5 - CX) / FX * z, (row - CY) / FY * z, z}, base);
        base[2] = 0;
        struct plain_sight *sight = sight_at(base, &unsure);
        if (!sight)
            continue;
        if (sight->sight != THING)
            *sight = (struct plain_sight){.sight = THING, .foot = foot, .top = top};
        sight->foot = foot < sight->foot ? foot : sight->foot;
        sight->top = top > sight->top ? top : sight->top;
        sight->moving = sight->moving || (obstacle && obstacle->moving);
        sight->exact = sight->exact || sigma <= PLX_MAP_CELL_M;
        sight->unsure = sight->unsure || unsure || fabs(sigma - PLX_MAP_CELL_M) < 1e-9;
    }
}

static void weigh(struct plain_cell *cell, const struct plain_sight *sight, int row, int column)
{
    cell->unsure = cell->unsure || sight->unsure;
    if (sight->sight == NOTHING)
        return;
    cell->seen_ns = t.capture_ns;
    if (sight->sight == FREE) {
        cell->lost = cell->lost || cell->evidence > 0;
        if (!t.remembers)
            cell->evidence = -3;
        else if (cell->evidence > 0)
            cell->evidence = cell->evidence > 4 ? cell->evidence - 4 : 0;
        else if (cell->evidence > -3)
            cell->evidence--;
        if (cell->evidence == -3)
            cell->lost = false;
        return;
    }
    const bool drop = sight->sight == DROP, is_new = cell->evidence < 4 || cell->drop != drop;
    const int x = column - cell_at(t.base.x), y = row - cell_at(t.base.y);
    const int hit = sight->sight == LOW ? 2 : sight->exact || x * x + y * y <= 60 * 60 ? 6 : 4;
    cell->evidence = cell->evidence + hit > 15 ? 15 : cell->evidence + hit;
    cell->drop = drop;
    cell->moving = sight->moving;
    cell->foot = is_new || sight->foot <= cell->foot ? sight->foot : cell->foot + 1;
    cell->top = is_new || sight->top >= cell->top ? sight->top : cell->top - 1;
}

/* Places the robot; MOTION: as the map has it for this frame. */
static void place(struct plx_motion_info *motion)
{
    const struct base then = t.base;
    struct base next = then;
    if (motion->valid && happens(0.5)) {
        const double far = happens(0.1) ? 3 : 0.2;
        next = (struct base){then.x + between(-far, far), then.y + between(-far, far), then.yaw + between(-0.4, 0.9)};
        if (happens(0.05)) /* often farther than the window reaches */
            next.x = then.x > 0 ? between(-8, -6) : between(6, 8);
        if (happens(0.05))
            next.y = then.y > 0 ? between(-8, -6) : between(6, 8);
        if (fabs(next.x) > 8 || fabs(next.y) > 8)
            next = (struct base){between(-1, 1), between(-1, 1), next.yaw};
    }
    motion->motion = camera_motion(&then, &next);
    const bool continues =
        t.started && motion->source != PLX_MOTION_NONE && motion->breaks == t.breaks && t.capture_ns > t.placed_ns;
    const bool moves = continues && motion->valid && !t.is_doubtful;
    if (moves)
        t.base = next;
    t.had_motion = t.had_motion || moves;
    t.remembers = continues && (moves || t.capture_ns - t.placed_ns <= PLX_NS_PER_S / 2);
    if (!t.remembers)
        forget_all(t.started && t.had_motion && t.capture_ns > t.placed_ns);
    if (motion->valid || !t.remembers)
        t.camera_then = t.frame.mount.base_from_left;
    if (moves || !t.remembers) {
        t.placed_ns = t.capture_ns;
        t.breaks = motion->breaks;
    }
    t.started = true;
}

/* After how long without a look CELL is forgotten, seconds. */
static double memory_of(const struct plain_cell *cell, const struct plain_sight *sight)
{
    if (cell->evidence <= 0)
        return t.params.memory_s;
    if (!sight->in_view)
        return cell->moving ? t.params.memory_s : INFINITY;
    if (!t.remembers)
        return 0;
    return cell->moving ? 0.5 : t.params.memory_s;
}

static void update_plain(void)
{
    memset(t.sight, 0, sizeof t.sight);
    const int middle_x = cell_at(t.base.x), middle_y = cell_at(t.base.y);
    struct plx_pose map_from_left = pose_of(&t.base), left_from_map;
    plx_pose_compose(&map_from_left, &t.frame.mount.base_from_left, &map_from_left);
    plx_pose_invert(&map_from_left, &left_from_map);
    if (!(t.frame.blind & (PLX_BLIND_NO_PICTURE | PLX_BLIND_NO_GROUND))) {
        for (int row = middle_y - WINDOW; row < middle_y + WINDOW; row++)
            for (int column = middle_x - WINDOW; column < middle_x + WINDOW; column++)
                see_ground(&left_from_map, row, column);
        for (int x = 0; x < COLUMNS; x++)
            if (t.scan[x].known & (PLX_SCAN_DROP | PLX_SCAN_RISE))
                see_end(x);
        for (int x = 0; x < COLUMNS; x++)
            for (int i = 0; i < PLX_COLUMN_STIXELS && t.stixel[x][i].disparity > 0; i++)
                see_thing(x, &t.stixel[x][i]);
    }
    const double c = cos(t.base.yaw), s = sin(t.base.yaw);
    for (int row = 0; row < PLAIN; row++)
        for (int column = 0; column < PLAIN; column++) {
            struct plain_cell *cell = &t.cell[row][column];
            if (!is_in_window(row, column)) {
                *cell = (struct plain_cell){.seen_ns = -1};
                continue;
            }
            weigh(cell, &t.sight[row][column], row, column);
            if (cell->seen_ns >= 0 &&
                (double)(t.capture_ns - cell->seen_ns) > memory_of(cell, &t.sight[row][column]) * PLX_NS_PER_S)
                *cell = (struct plain_cell){.seen_ns = -1, .lost = cell->lost || cell->evidence > 0, .unsure = cell->unsure};
            const double x = (column - PLAIN / 2 + 0.5) * PLX_MAP_CELL_M - t.base.x,
                         y = (row - PLAIN / 2 + 0.5) * PLX_MAP_CELL_M - t.base.y;
            const double ahead = c * x + s * y, left = c * y - s * x;
            if (ahead <= t.params.front_m && ahead >= -t.params.back_m && fabs(left) <= t.params.width_m / 2)
                *cell = (struct plain_cell){.evidence = -3, .seen_ns = t.capture_ns};
        }
}

/* --- both ----------------------------------------------------------------------------------------------------------------- */

static void compare_cell(const struct plain_cell *cell, const struct plx_cell *out, int row, int column)
{
    if (cell->unsure)
        return;
    const bool occupied = cell->evidence >= 4;
    const int kind = occupied                           ? (cell->drop ? PLX_CELL_DROP : PLX_CELL_OCCUPIED)
                     : cell->lost || cell->evidence > 0 ? PLX_CELL_LOST
                     : cell->evidence > -3              ? PLX_CELL_UNKNOWN
                                                        : PLX_CELL_FREE;
    const int64_t age = (t.capture_ns - cell->seen_ns + 125 * PLX_NS_PER_MS - 1) / (125 * PLX_NS_PER_MS);
    const int expected_age = cell->seen_ns < 0 || age > 255 ? 255 : (int)age;
    if (out->kind != kind || out->age != expected_age || out->foot != (occupied ? cell->foot : 0) ||
        out->top != (occupied ? cell->top : 0))
        fail_msg("row %d, column %d: kind %d, age %d, %d to %d; expected kind %d, age %d, %d to %d", row, column, out->kind,
                 out->age, out->foot, out->top, kind, expected_age, occupied ? cell->foot : 0, occupied ? cell->top : 0);
    t.compared++;
    t.kind[kind]++;
}

static void next(void)
{
    const struct plx_image scan = {t.scan, COLUMNS, 1, sizeof t.scan, PLX_U64},
                           stixels = {t.stixel, PLX_COLUMN_STIXELS, COLUMNS, sizeof t.stixel[0], PLX_U128},
                           cells = {t.out, PLX_MAP_CELLS, PLX_MAP_CELLS, sizeof t.out[0], PLX_U32};
    struct plx_motion_info *motion = &t.frame.motion;
    if (happens(0.3))
        look_elsewhere();
    if (happens(0.2))
        mount_anew();
    motion->source = happens(0.03) ? PLX_MOTION_NONE : PLX_MOTION_VISUAL;
    motion->valid = happens(0.85);
    t.is_doubtful = happens(0.1);
    motion->breaks += happens(0.03);
    t.frame.blind = happens(0.05) ? PLX_BLIND_NO_PICTURE : happens(0.05) ? PLX_BLIND_NO_GROUND : 0;
    t.capture_ns += happens(0.03) ? -PLX_NS_PER_S : (1 + random_below(&t.random, 350)) * PLX_NS_PER_MS;
    place(motion);
    plx_local_map_update(t.map, &t.frame, t.is_doubtful, &scan, &stixels, t.capture_ns, &cells, &t.frame.map);
    const struct plx_map_info *info = &t.frame.map;
    assert_int_equal(info->valid, 1);
    assert_int_equal(info->remembers, t.remembers);
    assert_true(fabs(info->x_m - t.base.x) < 1e-9 && fabs(info->y_m - t.base.y) < 1e-9);
    assert_true(fabs(info->yaw_rad) <= acos(-1) && fabs(remainder(info->yaw_rad - t.base.yaw, 2 * acos(-1))) < 1e-9);
    t.base = (struct base){info->x_m, info->y_m, info->yaw_rad}; /* rounded alike */
    assert_int_equal(info->origin_x, cell_at(t.base.x) - PLAIN / 2 - WINDOW);
    assert_int_equal(info->origin_y, cell_at(t.base.y) - PLAIN / 2 - WINDOW);
    update_plain();
    for (int row = 0; row < PLX_MAP_CELLS; row++)
        for (int column = 0; column < PLX_MAP_CELLS; column++) {
            const int y = info->origin_y + row + PLAIN / 2, x = info->origin_x + column + PLAIN / 2;
            compare_cell(&t.cell[y][x], &t.out[row][column], row, column);
        }
}

static void every_cell_is_that_of_the_plain_map(void **state)
{
    (void)state;
    t.random = test_seed();
    for (int run = 0; run < 6; run++) {
        t.params = (struct plx_map_params){.enabled = true,
                                           .memory_s = 0.5 * (1 + run), /* whole milliseconds */
                                           .front_m = between(0, 0.8),
                                           .back_m = between(0, 0.8),
                                           .width_m = between(0, 1.6)};
        assert_int_equal(plx_local_map_create(&t.params, &t.map), 0);
        t.frame = (struct plx_frame){.width = WIDTH, .height = HEIGHT, .calibration = {FX, FY, CX, CY, CX, BASELINE}};
        t.frame.blind_within_m = run % 2 ? (float)between(0.5, 0.9) : 0;
        t.started = t.had_motion = false;
        t.capture_ns = 1000 * PLX_NS_PER_S;
        t.base = (struct base){0, 0, 0};
        mount_anew();
        t.camera_then = t.frame.mount.base_from_left;
        look_elsewhere();
        for (int i = 0; i < 40; i++)
            next();
        plx_local_map_destroy(t.map);
    }
    print_message("    %d cells: %d unknown, %d free, %d occupied, %d drops, %d lost\n", t.compared, t.kind[PLX_CELL_UNKNOWN],
                  t.kind[PLX_CELL_FREE], t.kind[PLX_CELL_OCCUPIED], t.kind[PLX_CELL_DROP], t.kind[PLX_CELL_LOST]);
    assert_true(t.kind[PLX_CELL_FREE] > 10000 && t.kind[PLX_CELL_OCCUPIED] > 10000 && t.kind[PLX_CELL_DROP] > 1000 &&
                t.kind[PLX_CELL_LOST] > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_cell_is_that_of_the_plain_map)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
