/* SPDX-License-Identifier: Apache-2.0 */
#include "config/zones.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>
#include <parallax/words.h>

#include "config/polygon.h"
#include "config/text.h"

#define MIN_AREA_M2 0.01
#define FASTEST_MPS 100.0
#define WHOLE 0.999 /* share of a zone: what is left is no cell of the map */

/* Where a zone is being read. */
struct reader {
    const struct plx_yaml *yaml;
    struct plx_error_message *message;
};

static const struct plx_zone initial_zone = {
    .min_height_m = 0.05,
    .max_height_m = 2,
    .max_speed_mps = FASTEST_MPS,
    .frames = 2,
    .clear_s = 0.5,
    .occupied = PLX_VERDICT_STOP,
    .unknown = PLX_VERDICT_STOP,
    .max_unknown = 0.3,
    .min_depth = 0.5,
};

/* --- one value ------------------------------------------------------------------------------------------------------------ */

static int refuse(const struct reader *reader, const struct plx_yaml_node *node, const char *what, const char *expected)
{
    char quoted[PLX_QUOTED_TEXT];
    if (node->kind != PLX_YAML_SCALAR)
        return plx_yaml_fail(reader->yaml, node, reader->message, PLX_ERR_FORMAT, "%s is a %s; expected %s", what,
                             node->kind == PLX_YAML_LIST ? "list" : "map", expected);
    return plx_yaml_fail(reader->yaml, node, reader->message, PLX_ERR_FORMAT, "%s is \"%s\"; expected %s", what,
                         plx_quote(node->text, quoted), expected);
}

static int read_number(const struct reader *reader, const struct plx_yaml_node *node, const char *what, double least,
                       double most, double *ret)
{
    double value;
    char expected[64];
    snprintf(expected, sizeof expected, "a number from %g to %g", least, most);
    if (node->kind != PLX_YAML_SCALAR || node->quoted || !plx_parse_real(node->text, &value) ||
        !(value >= least && value <= most))
        return refuse(reader, node, what, expected);
    *ret = value;
    return 0;
}

/* A list of two numbers, the second larger than the first. */
static int read_range(const struct reader *reader, const struct plx_yaml_node *node, const char *what, double least,
                      double most, double *ret_min, double *ret_max)
{
    double min = 0, max = 0;
    if (node->kind != PLX_YAML_LIST || node->count != 2)
        return refuse(reader, node, what, "a list of two numbers, such as [0, 1.5]");
    int result = read_number(reader, node->child, what, least, most, &min);
    if (result == 0)
        result = read_number(reader, node->child->next, what, least, most, &max);
    if (result == 0 && !(max > min))
        return refuse(reader, node->child->next, what, "a second number above the first");
    if (result == 0) {
        *ret_min = min;
        *ret_max = max;
    }
    return result;
}

/* "stop", "slow" and, for the key unknown, "go". */
static int read_demand(const struct reader *reader, const struct plx_yaml_node *node, const char *what,
                       enum plx_verdict_kind most, enum plx_verdict_kind *ret)
{
    for (uint32_t verdict = PLX_VERDICT_STOP; verdict <= most && node->kind == PLX_YAML_SCALAR; verdict++)
        if (strcmp(node->text, plx_verdict_word(verdict)) == 0) {
            *ret = (enum plx_verdict_kind)verdict;
            return 0;
        }
    return refuse(reader, node, what, most == PLX_VERDICT_GO ? "stop, slow or go" : "stop or slow");
}

static int read_name(const struct reader *reader, const struct plx_yaml_node *node, struct plx_zone *zone)
{
    if (node->kind != PLX_YAML_SCALAR || node->text[0] == '\0' || strlen(node->text) >= sizeof zone->name ||
        node->text[strspn(node->text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")] != '\0')
        return refuse(reader, node, "name", "1 to 23 letters, digits, _ and -");
    snprintf(zone->name, sizeof zone->name, "%s", node->text);
    return 0;
}

/* Refuses a polygon that is no simple one: what lies in it, and what is seen of it, would be a guess. */
static int check_shape(const struct reader *reader, const struct plx_yaml_node *node, const struct plx_zone *zone)
{
    struct plx_polygon_fault fault;
    const struct plx_yaml_node *place = node->child;

    if (!plx_polygon_find_fault(zone, &fault)) {
        const double area = plx_polygon_area(zone);
        return area >= MIN_AREA_M2 ? 0
                                   : plx_yaml_fail(reader->yaml, node, reader->message, PLX_ERR_RANGE,
                                                   "polygon has %.4f m2; expected %g or more", area, MIN_AREA_M2);
    }
    for (int i = 0; i < fault.second; i++)
        place = place->next;
    const float *a = zone->polygon[fault.first], *b = zone->polygon[fault.first + 1], *c = zone->polygon[fault.second],
                *d = zone->polygon[(fault.second + 1) % zone->points];
    if (fault.is_points)
        return plx_yaml_fail(reader->yaml, place, reader->message, PLX_ERR_RANGE,
                             "points %d and %d of polygon %s, [%g, %g]; expected each point once, in order around the zone: "
                             "the last edge leads back to the first point by itself",
                             fault.first + 1, fault.second + 1, fault.what, (double)c[0], (double)c[1]);
    return plx_yaml_fail(reader->yaml, place, reader->message, PLX_ERR_RANGE,
                         "two edges of polygon %s: from [%g, %g] to [%g, %g] and from [%g, %g] to [%g, %g]; expected the "
                         "points in order around the zone",
                         fault.what, (double)a[0], (double)a[1], (double)b[0], (double)b[1], (double)c[0], (double)c[1],
                         (double)d[0], (double)d[1]);
}

static int read_polygon(const struct reader *reader, const struct plx_yaml_node *node, struct plx_zone *zone)
{
    int result = 0;
    if (node->kind != PLX_YAML_LIST || node->count < 3 || node->count > PLX_ZONE_POINTS)
        return refuse(reader, node, "polygon",
                      "a list of 3 to 16 points, such as [[0.3, -0.4], [1.5, -0.4], [1.5, 0.4], [0.3, 0.4]]");
    zone->points = 0;
    for (const struct plx_yaml_node *point = node->child; point && result == 0; point = point->next, zone->points++) {
        double x = 0, y = 0;
        if (point->kind != PLX_YAML_LIST || point->count != 2)
            return refuse(reader, point, "a point of polygon", "a list of x (ahead) and y (to the left), metres");
        result = read_number(reader, point->child, "x of a point", -PLX_ZONE_REACH_M, PLX_ZONE_REACH_M, &x);
        if (result == 0)
            result = read_number(reader, point->child->next, "y of a point", -PLX_ZONE_REACH_M, PLX_ZONE_REACH_M, &y);
        if (result == 0 && hypot(x, y) > PLX_ZONE_REACH_M)
            return plx_yaml_fail(
                reader->yaml, point, reader->message, PLX_ERR_RANGE,
                "a point of polygon is %.2f m from the robot's base; expected at most %g m, as the map reaches", hypot(x, y),
                PLX_ZONE_REACH_M);
        zone->polygon[zone->points][0] = (float)x;
        zone->polygon[zone->points][1] = (float)y;
    }
    return result == 0 ? check_shape(reader, node, zone) : result;
}

/* --- one zone ------------------------------------------------------------------------------------------------------------- */

static int read_field(const struct reader *reader, const struct plx_yaml_node *node, struct plx_zone *zone)
{
    const char *key = node->key->text;
    double frames = 0;
    int result;

    if (strcmp(key, "name") == 0)
        return read_name(reader, node, zone);
    if (strcmp(key, "polygon") == 0)
        return read_polygon(reader, node, zone);
    if (strcmp(key, "height_m") == 0)
        return read_range(reader, node, key, 0, 5, &zone->min_height_m, &zone->max_height_m);
    if (strcmp(key, "speed_mps") == 0)
        return read_range(reader, node, key, 0, FASTEST_MPS, &zone->min_speed_mps, &zone->max_speed_mps);
    if (strcmp(key, "occupied") == 0)
        return read_demand(reader, node, key, PLX_VERDICT_SLOW, &zone->occupied);
    if (strcmp(key, "unknown") == 0)
        return read_demand(reader, node, key, PLX_VERDICT_GO, &zone->unknown);
    if (strcmp(key, "clear_s") == 0)
        return read_number(reader, node, key, 0, 60, &zone->clear_s);
    if (strcmp(key, "max_unknown") == 0)
        return read_number(reader, node, key, 0, 1, &zone->max_unknown);
    if (strcmp(key, "min_depth") == 0)
        return read_number(reader, node, key, 0, 1, &zone->min_depth);
    if (strcmp(key, "frames") != 0)
        return plx_yaml_fail(
            reader->yaml, node->key, reader->message, PLX_ERR_FORMAT,
            "unknown key \"%.40s\" of a zone; expected name, polygon, height_m, speed_mps, occupied, unknown, frames, "
            "clear_s, max_unknown or min_depth",
            key);
    result = read_number(reader, node, key, 1, PLX_ZONE_FRAMES - 1, &frames);
    if (result == 0 && frames != floor(frames))
        return refuse(reader, node, key, "a whole number");
    zone->frames = (int)frames;
    return result;
}

static int read_zone(const struct reader *reader, const struct plx_yaml_node *node, struct plx_zone *zone)
{
    int result = 0;
    if (node->kind != PLX_YAML_MAP)
        return refuse(reader, node, "a zone", "keys and values, such as name and polygon");
    *zone = initial_zone;
    for (const struct plx_yaml_node *field = node->child; field && result == 0; field = field->next)
        result = read_field(reader, field, zone);
    if (result == 0 && (zone->name[0] == '\0' || zone->points == 0))
        return plx_yaml_fail(reader->yaml, node, reader->message, PLX_ERR_FORMAT,
                             "a zone has no %s; expected a name and a polygon", zone->name[0] == '\0' ? "name" : "polygon");
    return result;
}

int plx_zones_parse(const struct plx_yaml *yaml, const struct plx_yaml_node *node, struct plx_zone_list *ret_list,
                    struct plx_error_message *message)
{
    const struct reader reader = {yaml, message};
    struct plx_zone_list list = {0};

    if (node->kind != PLX_YAML_LIST || node->count > PLX_MAX_ZONES)
        return refuse(&reader, node, "zones", "a list of at most 16 zones, each with a name and a polygon");
    for (const struct plx_yaml_node *child = node->child; child; child = child->next) {
        const int result = read_zone(&reader, child, &list.zone[list.count]);
        if (result < 0)
            return result;
        for (int i = 0; i < list.count; i++)
            if (strcmp(list.zone[i].name, list.zone[list.count].name) == 0)
                return plx_yaml_fail(yaml, child, message, PLX_ERR_FORMAT,
                                     "zone \"%s\" is there twice; expected each name once", list.zone[i].name);
        list.count++;
    }
    *ret_list = list;
    return 0;
}

int plx_zones_parse_text(const char *text, struct plx_zone_list *ret_list, struct plx_error_message *message)
{
    struct plx_yaml *yaml = NULL;
    int result = plx_yaml_parse("zones", text, &yaml, message);
    if (result < 0)
        return result;
    const struct plx_yaml_node *root = plx_yaml_root(yaml);
    result = root ? plx_zones_parse(yaml, root, ret_list, message)
                  : plx_fail(message, PLX_ERR_FORMAT, "zones is empty; expected a list, [] for none");
    plx_yaml_destroy(yaml);
    return result;
}

/* --- beside the robot ----------------------------------------------------------------------------------------------------- */

double plx_zone_share_in_robot(const struct plx_zone *zone, const struct plx_map_params *robot)
{
    return plx_polygon_share_in(zone, (const double[2]){-robot->back_m, -robot->width_m / 2},
                                (const double[2]){robot->front_m, robot->width_m / 2});
}

int plx_zones_find_in_robot(const struct plx_zone_list *list, const struct plx_map_params *robot)
{
    for (int i = 0; i < list->count; i++)
        if (plx_zone_share_in_robot(&list->zone[i], robot) > WHOLE)
            return i;
    return -1;
}

/* --- as text -------------------------------------------------------------------------------------------------------------- */

struct writer {
    char *text;
    size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void put(struct writer *writer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(writer->text + writer->used, writer->size - writer->used, format, args);
    va_end(args);
    writer->used += (size_t)length < writer->size - writer->used ? (size_t)length : writer->size - writer->used - 1;
}

/* The fewest digits that read back as the same number; of a float where IS_FLOAT. */
static void put_number(struct writer *writer, const char *before, double value, bool is_float)
{
    char digits[32];
    for (int count = 1; count <= 17; count++) {
        snprintf(digits, sizeof digits, "%.*g", count, value);
        if (is_float ? strtof(digits, NULL) == (float)value : strtod(digits, NULL) == value)
            break;
    }
    put(writer, "%s%s", before, digits);
}

static void put_range(struct writer *writer, const char *key, double min, double max)
{
    put(writer, ", %s: ", key);
    put_number(writer, "[", min, false);
    put_number(writer, ", ", max, false);
    put(writer, "]");
}

void plx_zones_print(const struct plx_zone_list *list, char *ret_text, size_t size)
{
    struct writer writer = {ret_text, size, 0};
    put(&writer, "[");
    for (int i = 0; i < list->count; i++) {
        const struct plx_zone *zone = &list->zone[i];
        put(&writer, "%s{name: \"%s\", polygon: [", i > 0 ? ", " : "", zone->name);
        for (int p = 0; p < zone->points; p++) {
            put_number(&writer, p > 0 ? ", [" : "[", (double)zone->polygon[p][0], true);
            put_number(&writer, ", ", (double)zone->polygon[p][1], true);
            put(&writer, "]");
        }
        put(&writer, "]");
        put_range(&writer, "height_m", zone->min_height_m, zone->max_height_m);
        put_range(&writer, "speed_mps", zone->min_speed_mps, zone->max_speed_mps);
        put(&writer, ", occupied: %s, unknown: %s, frames: %d", plx_verdict_word(zone->occupied),
            plx_verdict_word(zone->unknown), zone->frames);
        put_number(&writer, ", clear_s: ", zone->clear_s, false);
        put_number(&writer, ", max_unknown: ", zone->max_unknown, false);
        put_number(&writer, ", min_depth: ", zone->min_depth, false);
        put(&writer, "}");
    }
    put(&writer, "]");
}
