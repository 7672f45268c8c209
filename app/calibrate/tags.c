/* SPDX-License-Identifier: Apache-2.0 */
#include "app/calibrate/tags.h"

#include <stdlib.h>
#include <string.h>

#include <apriltag/apriltag.h>
#include <apriltag/tag36h11.h>

#include <parallax/error.h>

#include "app/calibrate/corner_points.h"

#define FAMILIES 2
#define KALIBR 1           /* the family with a border of two bits */
#define KALIBR_BORDER 0.2  /* width of a border, in sides of a tag */
#define REFINED 0.8        /* reach of the search for a corner, in widths of the border */
#define MAX_RADIUS 11      /* px, that a corner is refined by */
#define MIN_TAGS 4         /* then the picture shows how the grid lies */
#define MIN_SIDE 32        /* px of a picture: smaller ones show no grid */
#define MIN_AREA 1e-3      /* least area, in squares of the grid's step: else the tags lie in one line */
#define NUMBERS 587        /* tags of the family */
#define MAX_MISFIT 0.3     /* share of a tag's side: perspective makes less */
#define WRONG 3            /* times the misfit of another arrangement: the board is not arranged as told */
#define MANY_TAGS 9        /* with so many the arrangement and the gap are certain */
#define MAX_GAP_ERROR 0.06 /* share of the step from tag to tag; pictures show the step to 0.02 */
#define MAX_STRAY 0.25     /* share of tags whose numbers are not the board's */
#define DARK 0.5           /* from a tag's black to its white: the squares around a ChArUco board's tags are darker */

struct plx_tags {
    apriltag_detector_t *detector;
    apriltag_family_t *family[FAMILIES];
    int first;           /* number of the board's first tag */
    bool is_first_known; /* a board was placed by it */
    struct plx_tags_sighting seen;
};

struct found {
    int id;
    bool is_doubtful;
    double centre[2], corner[4][2]; /* against the clock, from any corner on */
};

/* Picture from grid: u = a[0] column + a[1] row + a[2], v likewise. */
struct layout {
    double u[3], v[3];
};

int plx_tags_create(struct plx_tags **ret_tags)
{
    struct plx_tags *tags = calloc(1, sizeof *tags);
    if (!tags)
        return PLX_ERR_NOMEM;
    tags->detector = apriltag_detector_create();
    for (int i = 0; i < FAMILIES; i++)
        tags->family[i] = tag36h11_create();
    if (!tags->detector || !tags->family[0] || !tags->family[KALIBR]) {
        plx_tags_destroy(tags);
        return PLX_ERR_NOMEM;
    }
    tags->family[KALIBR]->width_at_border += 2;
    tags->family[KALIBR]->total_width += 2;
    for (uint32_t bit = 0; bit < tags->family[KALIBR]->nbits; bit++) {
        tags->family[KALIBR]->bit_x[bit]++;
        tags->family[KALIBR]->bit_y[bit]++;
    }
    tags->detector->quad_decimate = 1;
    for (int i = 0; i < FAMILIES; i++)
        apriltag_detector_add_family_bits(tags->detector, tags->family[i], 1);
    *ret_tags = tags;
    return 0;
}

void plx_tags_destroy(struct plx_tags *tags)
{
    if (!tags)
        return;
    if (tags->detector)
        apriltag_detector_destroy(tags->detector);
    for (int i = 0; i < FAMILIES; i++)
        if (tags->family[i])
            tag36h11_destroy(tags->family[i]);
    free(tags);
}

/* libapriltag counts pixels from the corner of the first, we from its centre. */
static struct found from_detection(const apriltag_detection_t *detection)
{
    struct found tag = {.id = detection->id};
    for (int i = 0; i < 2; i++) {
        tag.centre[i] = detection->c[i] - 0.5;
        for (int k = 0; k < 4; k++)
            tag.corner[k][i] = detection->p[k][i] - 0.5;
    }
    return tag;
}

static bool is_at_one_place(const struct found *a, const struct found *b)
{
    return hypot(a->centre[0] - b->centre[0], a->centre[1] - b->centre[1]) <
           hypot(a->centre[0] - a->corner[0][0], a->centre[1] - a->corner[0][1]);
}

/* The tags in GREY, of FAMILY alone unless it is NULL, into FOUND [NUMBERS]. One tag may be read with both borders; a number at
 * two places is not known. Returns how many. */
static int detect(const struct plx_tags *tags, const struct plx_image *grey, const apriltag_family_t *family,
                  struct found *found)
{
    image_u8_t image = {.width = grey->width, .height = grey->height, .stride = (int32_t)grey->pitch, .buf = grey->data};
    zarray_t *detections = apriltag_detector_detect(tags->detector, &image);
    int count = 0, known = 0;
    for (int i = 0; i < zarray_size(detections); i++) {
        const apriltag_detection_t *detection;
        int same = 0;
        zarray_get(detections, i, &detection);
        if (detection->id >= NUMBERS || (family && detection->family != family))
            continue;
        const struct found tag = from_detection(detection);
        while (same < count && found[same].id != tag.id)
            same++;
        if (same == count)
            found[count++] = tag;
        else if (!is_at_one_place(&found[same], &tag))
            found[same].is_doubtful = true;
    }
    apriltag_detections_destroy(detections);
    for (int i = 0; i < count; i++)
        if (!found[i].is_doubtful)
            found[known++] = found[i];
    return known;
}

/* GREY with each pixel as bright as the brightest around it; tightly packed. */
static void brighten(const struct plx_image *grey, uint8_t *ret)
{
    for (int y = 0; y < grey->height; y++)
        for (int x = 0; x < grey->width; x++) {
            uint8_t most = 0;
            for (int v = y > 0 ? y - 1 : 0; v <= y + 1 && v < grey->height; v++)
                for (int u = x > 0 ? x - 1 : 0; u <= x + 1 && u < grey->width; u++) {
                    const uint8_t value = ((const uint8_t *)plx_row(grey, v))[u];
                    most = value > most ? value : most;
                }
            ret[y * grey->width + x] = most;
        }
}

/* Moves the corners to where the edges of tag and small square cross: no other edge is nearer than the border's width. */
static void refine(const struct plx_image *grey, const struct plx_board *board, struct found *tag)
{
    double side = INFINITY;
    for (int k = 0; k < 4; k++) {
        const double *here = tag->corner[k], *next = tag->corner[(k + 1) % 4];
        side = fmin(side, hypot(next[0] - here[0], next[1] - here[1]));
    }
    const int radius = (int)(REFINED * side * fmin(KALIBR_BORDER, board->gap_m / board->square_m));
    for (int k = 0; k < 4; k++)
        plx_corner_point_refine(grey, radius < 2 ? 2 : radius > MAX_RADIUS ? MAX_RADIUS : radius, tag->corner[k]);
}

/* Small black squares join the corners of Kalibr's tags, which blur makes one shape of: a white that has grown by a pixel parts
 * them. Their corners are those of a chessboard. Returns how many tags. */
static int detect_joined(const struct plx_tags *tags, const struct plx_image *grey, const struct plx_board *board,
                         struct found *found)
{
    uint8_t *data = malloc((size_t)grey->width * (size_t)grey->height);
    if (!data)
        return PLX_ERR_NOMEM;
    brighten(grey, data);
    const struct plx_image parted = {data, grey->width, grey->height, (size_t)grey->width, PLX_U8};
    const int count = detect(tags, &parted, tags->family[KALIBR], found);
    free(data);
    for (int i = 0; i < count; i++)
        refine(grey, board, &found[i]);
    return count;
}

/* The affine map that carries the grid's numbers to the tags' centres, by least squares, where rows have COLUMNS tags from
 * number FIRST on. False if they lie in one line. */
static bool fit(const struct found *found, int count, int columns, int first, struct layout *ret)
{
    double mean[4] = {0}, cc = 0, cr = 0, rr = 0, with[2][2] = {{0}};
    for (int i = 0; i < count; i++) {
        const double value[4] = {(found[i].id - first) % columns, (found[i].id - first) / columns, found[i].centre[0],
                                 found[i].centre[1]};
        for (int j = 0; j < 4; j++)
            mean[j] += value[j] / count;
    }
    for (int i = 0; i < count; i++) {
        const double column = (found[i].id - first) % columns - mean[0], row = (found[i].id - first) / columns - mean[1];
        cc += column * column;
        cr += column * row;
        rr += row * row;
        for (int j = 0; j < 2; j++) {
            with[j][0] += column * (found[i].centre[j] - mean[2 + j]);
            with[j][1] += row * (found[i].centre[j] - mean[2 + j]);
        }
    }
    const double determinant = cc * rr - cr * cr;
    if (!(determinant > 1e-9))
        return false;
    ret->u[0] = (rr * with[0][0] - cr * with[0][1]) / determinant;
    ret->u[1] = (cc * with[0][1] - cr * with[0][0]) / determinant;
    ret->u[2] = mean[2] - ret->u[0] * mean[0] - ret->u[1] * mean[1];
    ret->v[0] = (rr * with[1][0] - cr * with[1][1]) / determinant;
    ret->v[1] = (cc * with[1][1] - cr * with[1][0]) / determinant;
    ret->v[2] = mean[3] - ret->v[0] * mean[0] - ret->v[1] * mean[1];
    const double area = ret->u[0] * ret->v[1] - ret->u[1] * ret->v[0];
    return fabs(area) > MIN_AREA * (ret->u[0] * ret->u[0] + ret->v[0] * ret->v[0]);
}

/* By how many corners the tags are turned on the board, 0 .. 3, where DOWN is 1 if the numbers of the rows grow downwards. */
static int find_turn(const struct found *found, int count, const struct plx_board *board, const struct layout *layout, int down)
{
    const double half = board->square_m / (board->square_m + board->gap_m) / 2;
    double least = INFINITY;
    int best = 0;
    for (int turn = 0; turn < 4; turn++) {
        double sum = 0;
        for (int i = 0; i < count; i++)
            for (int k = 0; k < 4; k++) {
                const double across = k == 1 || k == 2 ? half : -half, along = (k < 2 ? half : -half) * down;
                const double *corner = found[i].corner[(k + turn) % 4];
                const double du = corner[0] - found[i].centre[0] - layout->u[0] * across - layout->u[1] * along;
                const double dv = corner[1] - found[i].centre[1] - layout->v[0] * across - layout->v[1] * along;
                sum += du * du + dv * dv;
            }
        if (sum < least) {
            least = sum;
            best = turn;
        }
    }
    return best;
}

/* --- how the tags are arranged ------------------------------------------------------------------------------------------ */

/* How far centres are from LAYOUT, root mean square, pixels. */
static double misfit(const struct found *found, int count, int columns, int first, const struct layout *layout)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        const int column = (found[i].id - first) % columns, row = (found[i].id - first) / columns;
        const double du = layout->u[0] * column + layout->u[1] * row + layout->u[2] - found[i].centre[0];
        const double dv = layout->v[0] * column + layout->v[1] * row + layout->v[2] - found[i].centre[1];
        sum += du * du + dv * dv;
    }
    return sqrt(sum / count);
}

static double mean_side(const struct found *found, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += hypot(found[i].corner[2][0] - found[i].corner[0][0], found[i].corner[2][1] - found[i].corner[0][1]);
    return sum / count / sqrt(2);
}

bool plx_tags_gap_fits(const struct plx_board *board, double gap)
{
    return fabs((1 + gap) / (1 + board->gap_m / board->square_m) - 1) < MAX_GAP_ERROR;
}

/* The number of tags in a row that fits best, wherever the numbers begin, and its misfit. */
static int find_columns(const struct found *found, int count, double *ret_misfit)
{
    int least = NUMBERS, best = 0;
    *ret_misfit = INFINITY;
    for (int i = 0; i < count; i++)
        least = found[i].id < least ? found[i].id : least;
    for (int columns = 2; columns <= PLX_BOARD_MAX_TAGS; columns++)
        for (int before = 0; before < columns; before++) { /* tags of the first row that are not seen */
            struct layout layout;
            const int first = least - before;
            const double here =
                fit(found, count, columns, first, &layout) ? misfit(found, count, columns, first, &layout) : INFINITY;
            if (here < *ret_misfit) {
                *ret_misfit = here;
                best = columns;
            }
        }
    return best;
}

/* Mean of GREY around X, Y; 255 outside of it. */
static double grey_at(const struct plx_image *grey, double x, double y)
{
    const int column = (int)lround(x), row = (int)lround(y);
    if (column < 0 || row < 0 || column >= grey->width || row >= grey->height)
        return 255;
    return ((const uint8_t *)plx_row(grey, row))[column];
}

/* True if what lies beside all four edges of TAG, beyond a white border, is dark: a square of a chessboard. */
static bool is_framed(const struct plx_image *grey, const struct found *tag)
{
    double black = 0, white = 0, around = 0;
    for (int k = 0; k < 4; k++) {
        const double *one = tag->corner[k], *other = tag->corner[(k + 1) % 4];
        const double u = (one[0] + other[0]) / 2 - tag->centre[0], v = (one[1] + other[1]) / 2 - tag->centre[1];
        double edge = 255, beyond = 0;
        for (double at = 0.85; at < 0.96; at += 0.05) /* in halves of a tag: its own border */
            edge = fmin(edge, grey_at(grey, tag->centre[0] + at * u, tag->centre[1] + at * v));
        for (double at = 2.1; at < 3.2; at += 0.25) /* squares are 1.25 to 2 tags wide */
            beyond = fmax(beyond, grey_at(grey, tag->centre[0] + at * u, tag->centre[1] + at * v));
        black += edge / 4;
        white = fmax(white, grey_at(grey, tag->centre[0] + 1.12 * u, tag->centre[1] + 1.12 * v));
        around = fmax(around, beyond);
    }
    return around < black + DARK * (white - black);
}

/* Keeps what the picture with the most tags shows. */
static void note_seen(struct plx_tags *tags, const struct plx_image *grey, const struct found *found, int count)
{
    struct plx_tags_sighting *seen = &tags->seen;
    double error;
    int framed = 0;
    if (count < MIN_TAGS || count <= seen->count)
        return;
    *seen = (struct plx_tags_sighting){.count = count, .min_id = NUMBERS, .gap = seen->gap};
    for (int i = 0; i < count; i++) {
        seen->min_id = found[i].id < seen->min_id ? found[i].id : seen->min_id;
        seen->max_id = found[i].id > seen->max_id ? found[i].id : seen->max_id;
        framed += is_framed(grey, &found[i]);
    }
    seen->is_charuco = 4 * framed > count; /* a tag at the board's edge has squares on three sides only */
    const int columns = find_columns(found, count, &error);
    if (count >= MANY_TAGS && error < MAX_MISFIT * mean_side(found, count))
        seen->columns = columns;
}

/* --- the board ------------------------------------------------------------------------------------------------------------ */

/* Leaves out the tags that are none of BOARD, and learns the number of its first one. Returns how many are left; 0: the numbers
 * are not the board's. */
static int keep_own(struct plx_tags *tags, const struct plx_board *board, struct found *found, int count)
{
    const int all = board->columns * board->rows;
    int least = NUMBERS, most = 0, own = 0;
    for (int i = 0; i < count; i++) {
        least = found[i].id < least ? found[i].id : least;
        most = found[i].id > most ? found[i].id : most;
    }
    if (!tags->is_first_known && count > 0)
        tags->first = most - least == all - 1 ? least : least / all == most / all ? least / all * all : tags->first;
    for (int i = 0; i < count; i++)
        if (found[i].id >= tags->first && found[i].id < tags->first + all)
            found[own++] = found[i];
    return own >= (1 - MAX_STRAY) * count ? own : 0;
}

/* Length of TAG's edges along its AXIS, 0 across and 1 along. */
static double edge_px(const struct found *tag, int turn, int axis)
{
    const double *a = tag->corner[(turn + axis) % 4], *b = tag->corner[(turn + axis + 1) % 4];
    const double *c = tag->corner[(turn + axis + 2) % 4], *d = tag->corner[(turn + axis + 3) % 4];
    return (hypot(a[0] - b[0], a[1] - b[1]) + hypot(c[0] - d[0], c[1] - d[1])) / 2;
}

/* From one tag to the next, in sides of a tag, by neighbours; 0: there are few. */
static double measure_gap(const struct found *found, int count, const struct plx_board *board, int first, int turn)
{
    double sum = 0;
    int pairs = 0;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) {
            const int id = found[i].id - first, next = found[j].id - first;
            const bool across = next == id + 1 && next % board->columns > 0;
            if (!across && next != id + board->columns)
                continue;
            const double step = hypot(found[j].centre[0] - found[i].centre[0], found[j].centre[1] - found[i].centre[1]);
            sum += 2 * step / (edge_px(&found[i], turn, !across) + edge_px(&found[j], turn, !across));
            pairs++;
        }
    return pairs >= MANY_TAGS ? sum / pairs - 1 : 0;
}

/* True if other rows than those of BOARD fit the tags much better. */
static bool is_arranged_otherwise(const struct found *found, int count, const struct plx_board *board, int first,
                                  const struct layout *layout)
{
    const double here = misfit(found, count, board->columns, first, layout);
    double best;
    if (count <= MIN_TAGS || here < MAX_MISFIT * mean_side(found, count))
        return false;
    find_columns(found, count, &best);
    return WRONG * best < here;
}

static int place(struct plx_tags *tags, struct found *found, int seen, const struct plx_board *board, double (*ret_corner)[2])
{
    struct layout layout;
    const int count = keep_own(tags, board, found, seen), first = tags->first;
    if (count < MIN_TAGS || !fit(found, count, board->columns, first, &layout) ||
        is_arranged_otherwise(found, count, board, first, &layout))
        return PLX_ERR_NOT_FOUND;
    const int down = layout.u[0] * layout.v[1] - layout.u[1] * layout.v[0] > 0 ? 1 : -1;
    const int turn = find_turn(found, count, board, &layout, down);
    const double gap = measure_gap(found, count, board, first, turn);
    tags->seen.gap = gap > 0 ? gap : tags->seen.gap;
    if (gap > 0 && !plx_tags_gap_fits(board, gap))
        return PLX_ERR_NOT_FOUND;
    for (int k = 0; k < plx_board_corners(board); k++)
        ret_corner[k][0] = ret_corner[k][1] = NAN;
    for (int i = 0; i < count; i++) {
        const int row = (found[i].id - first) / board->columns, column = (found[i].id - first) % board->columns;
        double(*corner)[2] = ret_corner + 4 * ((down > 0 ? row : board->rows - 1 - row) * board->columns + column);
        for (int k = 0; k < 4; k++)
            memcpy(corner[k], found[i].corner[(k + turn) % 4], sizeof corner[k]);
    }
    tags->is_first_known = true;
    return 0;
}

int plx_tags_find(struct plx_tags *tags, const struct plx_image *grey, const struct plx_board *board, double (*ret_corner)[2])
{
    if (grey->width < MIN_SIDE || grey->height < MIN_SIDE)
        return PLX_ERR_NOT_FOUND;
    struct found *found = malloc((size_t)2 * NUMBERS * sizeof *found); /* results of both ways to look */
    if (!found)
        return PLX_ERR_NOMEM;
    struct found *joined = found + NUMBERS;
    const int count = detect(tags, grey, NULL, found);
    const int others = count < board->columns * board->rows ? detect_joined(tags, grey, board, joined) : 0;
    note_seen(tags, grey, others > count ? joined : found, others > count ? others : count);
    const int result = others < 0       ? others
                       : others > count ? place(tags, joined, others, board, ret_corner)
                                        : place(tags, found, count, board, ret_corner);
    free(found);
    return result;
}

const struct plx_tags_sighting *plx_tags_seen(const struct plx_tags *tags)
{
    return &tags->seen;
}

int plx_tags_detect(struct plx_tags *tags, const struct plx_image *grey)
{
    if (grey->width < MIN_SIDE || grey->height < MIN_SIDE)
        return PLX_ERR_NOT_FOUND;
    struct found *found = malloc(NUMBERS * sizeof *found);
    if (!found)
        return PLX_ERR_NOMEM;
    const int count = detect(tags, grey, NULL, found);
    note_seen(tags, grey, found, count);
    free(found);
    return count < MIN_TAGS ? PLX_ERR_NOT_FOUND : 0;
}
