/* SPDX-License-Identifier: Apache-2.0 */
#include "core/verdict/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/base/clock.h"
#include "core/geometry/stereo.h"
#include "core/motion/pose.h"

#define SIDE PLX_MAP_CELLS
#define CELLS (SIDE * SIDE)
#define KNOWN_OCCUPIED 4 /* evidence from which a cell is occupied, ... */
#define KNOWN_FREE (-3)  /* ... and down to which it is free: three looks */
#define MAX_EVIDENCE 15  /* a thing that went away is gone after three looks */
#define HIT_EXACT 6
#define HIT 4         /* one look makes an unknown cell occupied, two a free one */
#define HIT_LOW 2     /* a thing without a stixel may be a match by chance: two looks, or four */
#define NEAR_CELLS 60 /* so near every look counts as exact: posts and drops have no obstacle that states a deviation */
#define FREED 4       /* what a look as free takes from positive evidence */
#define BLIND_BREAK_NS (PLX_NS_PER_S / 2)   /* without motion for so long, nothing is remembered */
#define MOVING_MEMORY_MS 500                /* cells under something that moves */
#define DROP_DEPTH_M (3.0 * PLX_MAP_CELL_M) /* so far behind its edge a drop is entered */
#define LOW_DEPTH_M (2.0 * PLX_MAP_CELL_M)  /* and something low */
#define LOW_MM 100                          /* height of that: all that is known is that it is not much more */
#define OUTLINE_STEP_M (PLX_MAP_CELL_M / 2) /* between points of a thing */
#define HEIGHT_MM (PLX_CELL_HEIGHT_M * 1000)

enum look { NOT_LOOKED, LOOKED_FREE, LOOKED_LOW, LOOKED_DROP, LOOKED_THING }; /* a later one wins */

struct cell {
    int8_t evidence; /* KNOWN_FREE .. MAX_EVIDENCE */
    uint8_t is_drop, is_moving;
    uint8_t is_lost;   /* as PLX_CELL_LOST, until it is known again */
    uint8_t foot, top; /* as struct plx_cell */
    uint32_t seen_ms;  /* since the map began, from 1; 0: never */
};

/* How a frame sees a cell. */
struct sight {
    uint8_t look, is_moving, is_exact, foot, top;
    uint8_t in_view; /* set for a cell that is not looked at: the picture shows its place, or what hides it */
};

/* A position on the ground. */
struct place {
    double x, y, yaw;
};

struct plx_local_map {
    struct plx_map_params params;
    int64_t start_ns;              /* first frame; 0: there was none */
    int64_t placed_ns;             /* last frame whose place was known; 0: it is lost */
    uint32_t breaks;               /* breaks in the motion then */
    struct plx_pose placed_camera; /* base_from_left in the last frame with a motion */
    struct place placed;           /* the base then, in axes of the map */
    struct place base;             /* the same now */
    bool remembers;
    bool had_motion; /* since it began, here or in the map before: so there is memory to lose */
    int origin_x, origin_y;
    struct cell cell[CELLS];
    struct sight sight[CELLS];
};

int plx_local_map_create(const struct plx_map_params *params, struct plx_local_map **ret_map)
{
    struct plx_local_map *map = calloc(1, sizeof *map);
    if (!map)
        return PLX_ERR_NOMEM;
    map->params = *params;
    map->origin_x = map->origin_y = -SIDE / 2;
    *ret_map = map;
    return 0;
}

void plx_local_map_destroy(struct plx_local_map *map)
{
    free(map);
}

/* --- where the robot is --------------------------------------------------------------------------------------------------- */

static int cell_of(double metres)
{
    return (int)floor(metres / PLX_MAP_CELL_M);
}

/* Moves the window so that the robot is at its middle. Cells keep their content. */
static void roll(struct plx_local_map *map)
{
    const int x = cell_of(map->base.x) - SIDE / 2, y = cell_of(map->base.y) - SIDE / 2;
    const int dx = x - map->origin_x, dy = y - map->origin_y;
    if (dx == 0 && dy == 0)
        return;
    map->origin_x = x;
    map->origin_y = y;
    if (abs(dx) >= SIDE || abs(dy) >= SIDE) {
        memset(map->cell, 0, sizeof map->cell);
        return;
    }
    const int kept = SIDE - abs(dx), from = dx > 0 ? dx : 0, to = dx > 0 ? 0 : -dx;
    for (int i = 0; i < SIDE; i++) {
        const int row = dy > 0 ? i : SIDE - 1 - i, source = row + dy; /* no row is read after it was written */
        struct cell *cell = &map->cell[row * SIDE];
        if (source < 0 || source >= SIDE) {
            memset(cell, 0, SIDE * sizeof *cell);
            continue;
        }
        memmove(cell + to, &map->cell[source * SIDE + from], (size_t)kept * sizeof *cell);
        memset(dx > 0 ? cell + kept : cell, 0, (size_t)(SIDE - kept) * sizeof *cell);
    }
}

/* Adds the motion then_from_now of the camera to the place of the base. */
static struct place moved(const struct plx_local_map *map, const struct plx_pose *motion, const struct plx_pose *camera)
{
    struct plx_pose move, left_from_base;
    struct place place = map->placed;

    plx_pose_invert(camera, &left_from_base);
    plx_pose_compose(&map->placed_camera, motion, &move);
    plx_pose_compose(&move, &left_from_base, &move); /* the base's move */
    const double c = cos(place.yaw), s = sin(place.yaw);
    place.x += c * move.translation[0] - s * move.translation[1];
    place.y += s * move.translation[0] + c * move.translation[1];
    place.yaw = remainder(place.yaw + atan2(move.rotation[3], move.rotation[0]), 2 * acos(-1));
    return place;
}

static bool is_occupied(const struct cell *cell)
{
    return cell->evidence >= KNOWN_OCCUPIED;
}

/* Where the robot has gone is not known. KEEP: what stood somewhere is taken to stand there still; all else is lost. Without
 * motion since the start there is nothing to lose, and nothing to keep. */
static void lose_memory(struct plx_local_map *map, bool keep)
{
    for (int i = 0; i < CELLS; i++)
        if (!(keep && map->had_motion && is_occupied(&map->cell[i])))
            map->cell[i] = (struct cell){.is_lost = map->had_motion};
}

static void place(struct plx_local_map *map, const struct plx_frame *frame, bool is_doubtful, int64_t capture_ns)
{
    const struct plx_motion_info *motion = &frame->motion;
    const struct plx_pose *camera = &frame->mount.base_from_left;
    const bool continues =
        map->placed_ns > 0 && motion->source != PLX_MOTION_NONE && motion->breaks == map->breaks && capture_ns > map->placed_ns;
    const bool moves = continues && motion->valid && !is_doubtful;

    if (moves)
        map->base = moved(map, &motion->motion, camera); /* else where it was: it has gone a few centimetres */
    map->had_motion = map->had_motion || moves;
    map->remembers = continues && (moves || capture_ns - map->placed_ns <= BLIND_BREAK_NS);
    if (!map->remembers)
        lose_memory(map, capture_ns > map->placed_ns); /* the times of another life would be older */
    if (motion->valid || !map->remembers) {
        map->placed = map->base;
        map->placed_camera = *camera;
    }
    if (moves || !map->remembers) {
        map->placed_ns = capture_ns;
        map->breaks = motion->breaks;
    }
    roll(map);
}

/* --- what a frame sees ---------------------------------------------------------------------------------------------------- */

struct view {
    const struct plx_calibration_info *calibration;
    const struct plx_pose *base_from_left;
    double c, s;         /* cosine and sine of the base's yaw */
    double scale;        /* disparity times depth, 1/16 px m */
    float max_disparity; /* 1/16 px: nothing nearer is seen */
    int width, height;
};

/* The sight of the cell at X, Y of the robot's base, or NULL outside of the map. */
static struct sight *sight_at(struct plx_local_map *map, const struct view *view, double x, double y)
{
    const int column = cell_of(map->base.x + view->c * x - view->s * y) - map->origin_x;
    const int row = cell_of(map->base.y + view->s * x + view->c * y) - map->origin_y;
    return column >= 0 && column < SIDE && row >= 0 && row < SIDE ? &map->sight[row * SIDE + column] : NULL;
}

/* Looks at one row of cells as ground: free are those before the end of the free ground of their column. */
static void look_at_row(struct plx_local_map *map, const struct view *view, const struct plx_scan *scan, int row)
{
    const struct plx_calibration_info *lens = view->calibration;
    const double *r = view->base_from_left->rotation, *t = view->base_from_left->translation;
    const double map_x = (map->origin_x + 0.5) * PLX_MAP_CELL_M - map->base.x,
                 map_y = (map->origin_y + row + 0.5) * PLX_MAP_CELL_M - map->base.y;
    const double x = view->c * map_x + view->s * map_y - t[0], y = view->c * map_y - view->s * map_x - t[1];
    const double step_x = view->c * PLX_MAP_CELL_M, step_y = -view->s * PLX_MAP_CELL_M;
    float first[3], step[3], u[SIDE], v[SIDE], disparity[SIDE];

    for (int i = 0; i < 3; i++) { /* in axes of the camera */
        first[i] = (float)(r[i] * x + r[3 + i] * y - r[6 + i] * t[2]);
        step[i] = (float)(r[i] * step_x + r[3 + i] * step_y);
    }
    const float fx = (float)lens->fx, fy = (float)lens->fy, cx = (float)lens->cx + 0.5F, cy = (float)lens->cy + 0.5F;
    const float scale = (float)view->scale;
    for (int i = 0; i < SIDE; i++) {
        const float n = (float)i, z = first[2] + n * step[2], inverse = 1 / z;
        u[i] = (first[0] + n * step[0]) * inverse * fx + cx;
        v[i] = (first[1] + n * step[1]) * inverse * fy + cy;
        disparity[i] = scale * inverse;
    }
    struct sight *sight = &map->sight[row * SIDE];
    const float width = (float)view->width, height = (float)view->height;
    for (int i = 0; i < SIDE; i++) {
        if (!(disparity[i] > 0 && u[i] >= 0 && u[i] < width && v[i] >= 0 && v[i] < height))
            continue;
        sight[i].in_view = disparity[i] <= view->max_disparity;
        const struct plx_scan *column = &scan[(int)u[i] / PLX_COLUMN_WIDTH];
        if ((column->known & PLX_SCAN_KNOWN) && column->free != PLX_SCAN_NOTHING_FREE && disparity[i] >= (float)column->free)
            sight[i] = (struct sight){.look = LOOKED_FREE};
    }
}

static uint8_t height_of(int mm)
{
    const double height = mm / HEIGHT_MM;
    return (uint8_t)(height < 0 ? 0 : height > 255 ? 255 : height);
}

/* The obstacles by their labels; NULL for a label without one. */
static void find_obstacles(const struct plx_frame *frame, const struct plx_obstacle *ret_obstacle[PLX_MAX_OBSTACLES + 1])
{
    memset(ret_obstacle, 0, (PLX_MAX_OBSTACLES + 1) * sizeof *ret_obstacle);
    for (uint32_t i = 0; i < frame->obstacle_count; i++)
        if (frame->obstacle[i].label <= PLX_MAX_OBSTACLES)
            ret_obstacle[frame->obstacle[i].label] = &frame->obstacle[i];
    ret_obstacle[0] = NULL; /* tracks that are lost */
}

/* True if OBSTACLE says that the standard deviation of its part at DEPTH_M is at most a cell. It grows with the square. */
static bool is_exact_at(const struct plx_obstacle *obstacle, double depth_m)
{
    const double sigma_m = (double)obstacle->nearest_sigma_m, farther = depth_m / (double)obstacle->nearest_m;
    return sigma_m > 0 && sigma_m * farther * farther <= PLX_MAP_CELL_M;
}

static void see_thing(struct sight *sight, const struct plx_stixel *stixel, bool is_moving, bool is_exact)
{
    const uint8_t foot = height_of(stixel->foot_mm), top = height_of(stixel->top_mm);
    const bool is_first = sight->look != LOOKED_THING;
    *sight = (struct sight){
        .look = LOOKED_THING,
        .is_moving = (uint8_t)(is_moving || (!is_first && sight->is_moving)),
        .is_exact = (uint8_t)(is_exact || (!is_first && sight->is_exact)),
        .foot = is_first || foot < sight->foot ? foot : sight->foot,
        .top = is_first || top > sight->top ? top : sight->top,
    };
}

/* Enters a stixel of image column COLUMN, over its width, at the height of its middle. OBSTACLE: its own, or NULL. */
static void look_at_stixel(struct plx_local_map *map, const struct view *view, const struct plx_stixel *stixel, int column,
                           const struct plx_obstacle *obstacle)
{
    const struct plx_calibration_info *lens = view->calibration;
    const double z = view->scale / stixel->disparity;
    const double y = ((stixel->y0 + stixel->y1) / 2.0 - lens->cy) / lens->fy * z;
    const double left = column * PLX_COLUMN_WIDTH - 0.5 - lens->cx, width = PLX_COLUMN_WIDTH * plx_pixel_width(lens, z);
    const int steps = (int)(width / OUTLINE_STEP_M) + 1;
    const bool moves = obstacle && obstacle->moving, exact = obstacle && is_exact_at(obstacle, z);

    for (int i = 0; i <= steps; i++) {
        const double camera[3] = {left / lens->fx * z + width * i / steps, y, z};
        double base[3];
        plx_pose_apply(view->base_from_left, camera, base);
        struct sight *sight = sight_at(map, view, base[0], base[1]);
        if (sight)
            see_thing(sight, stixel, moves, exact);
    }
}

/* Enters what ends the free ground of a column, a drop or something low, and a little behind it. */
static void look_at_end(struct plx_local_map *map, const struct view *view, const struct plx_scan *scan, int column)
{
    const struct plx_calibration_info *lens = view->calibration;
    const double *r = view->base_from_left->rotation, *t = view->base_from_left->translation;
    const double z = view->scale / scan->free, x = (column * PLX_COLUMN_WIDTH + 1.5 - lens->cx) / lens->fx * z;
    const double edge[3] = {x, -(r[6] * x + r[8] * z + t[2]) / r[7], z}; /* on the ground */
    const bool is_drop = scan->known & PLX_SCAN_DROP;
    const struct sight seen = {.look = is_drop ? LOOKED_DROP : LOOKED_LOW, .top = is_drop ? 0 : LOW_MM / HEIGHT_MM};
    double base[3];

    plx_pose_apply(view->base_from_left, edge, base);
    const double ahead_x = base[0] - t[0], ahead_y = base[1] - t[1], length = hypot(ahead_x, ahead_y);
    for (double behind = 0; behind < (is_drop ? DROP_DEPTH_M : LOW_DEPTH_M); behind += OUTLINE_STEP_M) {
        struct sight *sight = sight_at(map, view, base[0] + behind * ahead_x / length, base[1] + behind * ahead_y / length);
        if (sight && sight->look < seen.look)
            *sight = seen;
    }
}

static void observe(struct plx_local_map *map, const struct plx_frame *frame, const struct plx_image *scan,
                    const struct plx_image *stixels)
{
    const double scale = plx_depth_scale_m(&frame->calibration);
    const struct view view = {
        .calibration = &frame->calibration,
        .base_from_left = &frame->mount.base_from_left,
        .c = cos(map->base.yaw),
        .s = sin(map->base.yaw),
        .scale = scale,
        .max_disparity = frame->blind_within_m > 0 ? (float)scale / frame->blind_within_m : INFINITY,
        .width = (int)frame->width,
        .height = (int)frame->height,
    };
    const struct plx_scan *columns = scan->data;
    const struct plx_obstacle *obstacle[PLX_MAX_OBSTACLES + 1];

    find_obstacles(frame, obstacle);
    for (int row = 0; row < SIDE; row++)
        look_at_row(map, &view, columns, row);
    for (int x = 0; x < scan->width; x++)
        if (columns[x].known & (PLX_SCAN_DROP | PLX_SCAN_RISE))
            look_at_end(map, &view, &columns[x], x);
    for (int x = 0; x < stixels->height; x++) {
        const struct plx_stixel *stixel = plx_row(stixels, x);
        for (int i = 0; i < PLX_COLUMN_STIXELS && stixel[i].disparity > 0; i++)
            look_at_stixel(map, &view, &stixel[i], x, stixel[i].label <= PLX_MAX_OBSTACLES ? obstacle[stixel[i].label] : NULL);
    }
}

/* --- what remains of it --------------------------------------------------------------------------------------------------- */

static void see_free(struct cell *cell, bool remembers)
{
    if (!remembers)
        cell->evidence = KNOWN_FREE; /* there is no second look */
    else if (cell->evidence > 0) {
        cell->evidence = (int8_t)(cell->evidence > FREED ? cell->evidence - FREED : 0);
        cell->is_lost = true; /* it is free once it was seen so */
    } else if (cell->evidence > KNOWN_FREE)
        cell->evidence--;
}

/* A cell's extent widens at once, and narrows by one unit a look. */
static void see_occupied(struct cell *cell, const struct sight *sight, int hit)
{
    const bool is_drop = sight->look == LOOKED_DROP, is_new = cell->evidence < KNOWN_OCCUPIED || cell->is_drop != is_drop;
    cell->evidence = (int8_t)(cell->evidence + hit < MAX_EVIDENCE ? cell->evidence + hit : MAX_EVIDENCE);
    cell->is_drop = is_drop;
    cell->is_moving = sight->is_moving;
    cell->foot = is_new || sight->foot < cell->foot + 1 ? sight->foot : (uint8_t)(cell->foot + 1);
    cell->top = is_new || sight->top > cell->top - 1 ? sight->top : (uint8_t)(cell->top - 1);
}

/* What a look as SIGHT, not as free, adds to the evidence of cell INDEX. */
static int hit_of(const struct sight *sight, int index)
{
    const int x = index % SIDE - SIDE / 2, y = index / SIDE - SIDE / 2;
    if (sight->look == LOOKED_LOW)
        return HIT_LOW;
    return sight->is_exact || x * x + y * y <= NEAR_CELLS * NEAR_CELLS ? HIT_EXACT : HIT;
}

static void weigh(struct plx_local_map *map, uint32_t now_ms)
{
    for (int i = 0; i < CELLS; i++) {
        const struct sight *sight = &map->sight[i];
        struct cell *cell = &map->cell[i];
        if (sight->look == NOT_LOOKED)
            continue;
        cell->seen_ms = now_ms;
        if (sight->look == LOOKED_FREE)
            see_free(cell, map->remembers);
        else
            see_occupied(cell, sight, hit_of(sight, i));
        cell->is_lost = cell->is_lost && cell->evidence > KNOWN_FREE;
    }
}

/* For how long a cell is remembered that something stands in, or may. Out of view, what stands is never forgotten. */
static uint32_t thing_memory_ms(const struct plx_local_map *map, const struct cell *cell, bool in_view)
{
    const uint32_t memory_ms = (uint32_t)(map->params.memory_s * 1000);
    if (!in_view)
        return cell->is_moving ? memory_ms : UINT32_MAX;
    if (!map->remembers)
        return 0; /* the robot moves by nobody knows how much: what is in view is where this frame shows it */
    return cell->is_moving ? MOVING_MEMORY_MS : memory_ms;
}

static void forget(const struct plx_local_map *map, uint32_t now_ms, bool in_view, struct cell *cell)
{
    const uint32_t memory_ms = (uint32_t)(map->params.memory_s * 1000);
    const bool is_thing = cell->evidence > 0;
    if (cell->seen_ms > 0 && now_ms - cell->seen_ms > (is_thing ? thing_memory_ms(map, cell, in_view) : memory_ms))
        *cell = (struct cell){.is_lost = is_thing || cell->is_lost};
}

/* Where the robot itself stands is free. */
static void cut_robot(struct plx_local_map *map, uint32_t now_ms)
{
    const struct plx_map_params *robot = &map->params;
    const double reach = fmax(robot->front_m, robot->back_m) + robot->width_m / 2;
    const double c = cos(map->base.yaw), s = sin(map->base.yaw);
    const int cells = (int)(reach / PLX_MAP_CELL_M) + 1;

    for (int row = SIDE / 2 - cells; row <= SIDE / 2 + cells; row++)
        for (int column = SIDE / 2 - cells; column <= SIDE / 2 + cells; column++) {
            const double x = (map->origin_x + column + 0.5) * PLX_MAP_CELL_M - map->base.x,
                         y = (map->origin_y + row + 0.5) * PLX_MAP_CELL_M - map->base.y;
            const double ahead = c * x + s * y, aside = c * y - s * x;
            if (ahead <= robot->front_m && ahead >= -robot->back_m && fabs(aside) <= robot->width_m / 2)
                map->cell[row * SIDE + column] = (struct cell){.evidence = KNOWN_FREE, .seen_ms = now_ms};
        }
}

static uint8_t kind_of(const struct cell *cell)
{
    if (is_occupied(cell))
        return cell->is_drop ? PLX_CELL_DROP : PLX_CELL_OCCUPIED;
    if (cell->is_lost || cell->evidence > 0)
        return PLX_CELL_LOST;
    return cell->evidence <= KNOWN_FREE ? PLX_CELL_FREE : PLX_CELL_UNKNOWN;
}

static struct plx_cell published(const struct cell *cell, uint32_t now_ms)
{
    const uint32_t unit_ms = (uint32_t)(PLX_CELL_AGE_S * 1000), age = (now_ms - cell->seen_ms + unit_ms - 1) / unit_ms;
    return (struct plx_cell){
        .kind = kind_of(cell),
        .age = (uint8_t)(cell->seen_ms == 0 || age > UINT8_MAX ? UINT8_MAX : age),
        .foot = is_occupied(cell) ? cell->foot : 0,
        .top = is_occupied(cell) ? cell->top : 0,
    };
}

/* True where nothing was ever seen nor lost: most cells. */
static bool is_untouched(const struct cell *cell)
{
    return cell->seen_ms == 0 && cell->evidence == 0 && !cell->is_lost;
}

/* Forgets what is old, and publishes the rest. */
static void write_cells(struct plx_local_map *map, uint32_t now_ms, const struct plx_image *cells)
{
    const struct cell untouched = {0};
    const struct plx_cell unknown = published(&untouched, now_ms);
    for (int row = 0; row < SIDE; row++) {
        struct cell *cell = &map->cell[row * SIDE];
        const struct sight *sight = &map->sight[row * SIDE];
        struct plx_cell *out = plx_row(cells, row);
        for (int i = 0; i < SIDE; i++) {
            out[i] = unknown;
            if (is_untouched(&cell[i]))
                continue;
            forget(map, now_ms, sight[i].in_view, &cell[i]);
            out[i] = published(&cell[i], now_ms);
        }
    }
}

void plx_local_map_continue(struct plx_local_map *map)
{
    map->had_motion = true;
}

void plx_local_map_update(struct plx_local_map *map, const struct plx_frame *frame, bool is_doubtful,
                          const struct plx_image *scan, const struct plx_image *stixels, int64_t capture_ns,
                          const struct plx_image *cells, struct plx_map_info *ret_info)
{
    const double *r = frame->mount.base_from_left.rotation;
    const bool is_placed = r[0] != 0 || r[3] != 0 || r[6] != 0; /* else there is neither mount nor ground */

    *ret_info = (struct plx_map_info){0};
    if (!is_placed) {
        map->placed_ns = 0;
        for (int row = 0; row < SIDE; row++)
            memset(plx_row(cells, row), 0, SIDE * sizeof(struct plx_cell));
        return;
    }
    if (map->start_ns == 0)
        map->start_ns = capture_ns;
    place(map, frame, is_doubtful, capture_ns);
    memset(map->sight, 0, sizeof map->sight);
    const uint32_t now_ms = (uint32_t)((capture_ns - map->start_ns) / PLX_NS_PER_MS) + 1;
    if (!(frame->blind & (PLX_BLIND_NO_PICTURE | PLX_BLIND_NO_GROUND))) {
        observe(map, frame, scan, stixels);
        weigh(map, now_ms);
    }
    cut_robot(map, now_ms);
    write_cells(map, now_ms, cells);
    *ret_info = (struct plx_map_info){
        .valid = 1,
        .remembers = map->remembers,
        .origin_x = map->origin_x,
        .origin_y = map->origin_y,
        .x_m = map->base.x,
        .y_m = map->base.y,
        .yaw_rad = map->base.yaw,
    };
}
