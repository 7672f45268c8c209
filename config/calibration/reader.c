/* SPDX-License-Identifier: Apache-2.0 */
#include "config/calibration/reader.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <parallax/error.h>

#include "config/text.h"
#include "core/geometry/matrix3.h"

static const char *name_of(const struct plx_yaml_node *node)
{
    return node->key ? node->key->text : "this";
}

void plx_reader_fail(struct plx_reader *reader, const struct plx_yaml_node *node, int error, const char *format, ...)
{
    char text[sizeof reader->message->text];
    va_list args;
    if (reader->error < 0)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    reader->error = plx_yaml_fail(reader->yaml, node, reader->message, error, "%s", text);
}

const struct plx_yaml_node *plx_need(struct plx_reader *reader, const struct plx_yaml_node *map, const char *key)
{
    const struct plx_yaml_node *node = reader->error < 0 ? NULL : plx_yaml_get(map, key);
    if (!node)
        plx_reader_fail(reader, map, PLX_ERR_FORMAT, "no key \"%s\" here; expected it in this kind of file", key);
    return node;
}

/* "5" or "4 to 5" */
static const char *span(int min_count, int max_count, char ret_text[32])
{
    if (min_count == max_count)
        snprintf(ret_text, 32, "%d", min_count);
    else
        snprintf(ret_text, 32, "%d to %d", min_count, max_count);
    return ret_text;
}

double plx_read_real(struct plx_reader *reader, const struct plx_yaml_node *node)
{
    char quoted[PLX_QUOTED_TEXT];
    double value = 0;
    if (reader->error < 0 || !node)
        return 0;
    if (node->kind != PLX_YAML_SCALAR)
        plx_reader_fail(reader, node, PLX_ERR_FORMAT, "a list or map; expected a number");
    else if (node->quoted || !plx_parse_real(node->text, &value))
        plx_reader_fail(reader, node, PLX_ERR_FORMAT, "\"%s\"; expected a finite number", plx_quote(node->text, quoted));
    return value;
}

int plx_read_list(struct plx_reader *reader, const struct plx_yaml_node *node, int min_count, int max_count, double *ret_value)
{
    char wanted[32];
    int count = 0;
    if (!node || reader->error < 0)
        return 0;
    if (node->kind != PLX_YAML_LIST)
        plx_reader_fail(reader, node, PLX_ERR_FORMAT, "%s is no list; expected a list of numbers", name_of(node));
    else if (node->count < min_count || node->count > max_count)
        plx_reader_fail(reader, node, PLX_ERR_FORMAT, "%s has %d numbers; expected %s", name_of(node), node->count,
                        span(min_count, max_count, wanted));
    for (const struct plx_yaml_node *child = node->child; child && reader->error == 0; child = child->next)
        ret_value[count++] = plx_read_real(reader, child);
    return count;
}

static int read_whole(struct plx_reader *reader, const struct plx_yaml_node *node, int min_value, int max_value)
{
    const double value = plx_read_real(reader, node);
    if (reader->error < 0)
        return 0;
    if (!(value >= min_value && value <= max_value) || value != floor(value)) {
        plx_reader_fail(reader, node, PLX_ERR_RANGE, "%s is %s; expected a whole number from %d to %d", name_of(node),
                        node->text, min_value, max_value);
        return 0;
    }
    return (int)value;
}

int plx_read_side(struct plx_reader *reader, const struct plx_yaml_node *node)
{
    return read_whole(reader, node, 1, PLX_MAX_SIDE);
}

/* A map with rows, cols and data. */
struct matrix {
    int rows, cols;
    const struct plx_yaml_node *data;
};

static struct matrix read_shape(struct plx_reader *reader, const struct plx_yaml_node *node)
{
    if (reader->error == 0 && node->kind != PLX_YAML_MAP)
        plx_reader_fail(reader, node, PLX_ERR_FORMAT, "%s is no matrix; expected a map with rows, cols and data",
                        name_of(node));
    const struct plx_yaml_node *rows = plx_need(reader, node, "rows"), *cols = plx_need(reader, node, "cols");
    struct matrix matrix = {.data = plx_need(reader, node, "data")};
    matrix.rows = read_whole(reader, rows, 0, PLX_YAML_MAX_NODES);
    matrix.cols = read_whole(reader, cols, 0, PLX_YAML_MAX_NODES);
    return matrix;
}

void plx_read_matrix(struct plx_reader *reader, const struct plx_yaml_node *node, int rows, int cols, double *ret_value)
{
    const struct matrix matrix = read_shape(reader, node);
    if (matrix.rows != rows || matrix.cols != cols)
        plx_reader_fail(reader, node, PLX_ERR_FORMAT, "%s is a %d x %d matrix; expected %d x %d", node ? name_of(node) : "",
                        matrix.rows, matrix.cols, rows, cols);
    plx_read_list(reader, matrix.data, rows * cols, rows * cols, ret_value);
}

int plx_read_vector(struct plx_reader *reader, const struct plx_yaml_node *node, int min_count, int max_count,
                    double *ret_value)
{
    const struct matrix matrix = read_shape(reader, node);
    const int rows = matrix.rows, cols = matrix.cols;
    char wanted[32];
    if (reader->error == 0 && ((rows != 1 && cols != 1) || rows > max_count || cols > max_count || rows * cols < min_count))
        plx_reader_fail(reader, node, PLX_ERR_FORMAT, "%s is a %d x %d matrix; expected one row or column of %s numbers",
                        name_of(node), rows, cols, span(min_count, max_count, wanted));
    return plx_read_list(reader, matrix.data, rows * cols, rows * cols, ret_value);
}

void plx_check_pinhole(struct plx_reader *reader, const struct plx_yaml_node *node, const double value[4],
                       struct plx_camera *camera)
{
    for (int i = 0; i < 2 && reader->error == 0; i++)
        if (!(value[i] > 0 && value[i] <= PLX_MAX_FOCAL_LENGTH))
            plx_reader_fail(reader, node, PLX_ERR_RANGE,
                            "the focal length %s in %s is %g; expected pixels, more than 0 and at most %g", i ? "fy" : "fx",
                            name_of(node), value[i], PLX_MAX_FOCAL_LENGTH);
    camera->fx = value[0];
    camera->fy = value[1];
    camera->cx = value[2];
    camera->cy = value[3];
}

void plx_read_camera_matrix(struct plx_reader *reader, const struct plx_yaml_node *node, struct plx_camera *camera)
{
    double m[9] = {0};
    plx_read_matrix(reader, node, 3, 3, m);
    if (reader->error == 0 && (m[1] != 0 || m[3] != 0 || m[6] != 0 || m[7] != 0 || m[8] != 1))
        plx_reader_fail(reader, node, PLX_ERR_RANGE, "%s is no camera matrix; expected fx 0 cx, 0 fy cy, 0 0 1 row by row",
                        name_of(node));
    plx_check_pinhole(reader, node, (const double[]){m[0], m[4], m[2], m[5]}, camera);
}

void plx_check_rotation(struct plx_reader *reader, const struct plx_yaml_node *node, const double rotation[9])
{
    if (reader->error == 0 && !plx_mat3_is_rotation(rotation, PLX_ROTATION_TOLERANCE))
        plx_reader_fail(reader, node, PLX_ERR_RANGE,
                        "%s is no rotation (rows off by %.2g, determinant %.2g); expected orthonormal rows", name_of(node),
                        plx_mat3_rotation_error(rotation), plx_mat3_determinant(rotation));
}

void plx_read_rotation(struct plx_reader *reader, const struct plx_yaml_node *node, double ret_rotation[9])
{
    plx_read_matrix(reader, node, 3, 3, ret_rotation);
    plx_check_rotation(reader, node, ret_rotation);
}

/* The likely unit of an implausible baseline by its value in metres, and the factor of calibration_scale that corrects it. */
static const struct {
    double min_m, max_m, scale;
    const char *text;
} units[] = {
    {PLX_MIN_BASELINE_M * 1e-3, PLX_MIN_BASELINE_M, 1e3, "it looks like metres divided by a thousand: calibration_scale: %g"},
    {PLX_MAX_BASELINE_M, 10, 0,
     "it looks like squares of the chessboard: give the side of one in metres as calibration_scale (0.025 for 25 mm)"},
    {10, PLX_MAX_BASELINE_M * 1e3, 1e-3, "it looks like millimetres: calibration_scale: %g"},
};

void plx_check_baseline(struct plx_reader *reader, const struct plx_yaml_node *node, double baseline)
{
    const double metres = baseline * reader->scale;
    struct plx_error_message hint = {"the unit is the metre"}, scaled = {""};
    if (reader->error < 0 || plx_baseline_check(metres, NULL) == 0)
        return;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (metres > units[i].min_m && metres <= units[i].max_m)
            snprintf(hint.text, sizeof hint.text, units[i].text, reader->scale * units[i].scale);
    if (reader->scale != 1)
        plx_say(&scaled, ", %g times calibration_scale %g", baseline, reader->scale);
    plx_reader_fail(reader, node, PLX_ERR_RANGE, "the baseline is %g m%s; expected %g to %g m; %s", metres, scaled.text,
                    PLX_MIN_BASELINE_M, PLX_MAX_BASELINE_M, hint.text);
}

/* The names of the distortion models in ROS, OpenCV and Kalibr, and how many coefficients each model takes. */
static const struct model {
    const char *name;
    enum plx_distortion model;
    int min_count, max_count; /* more than 8: OpenCV's thin prism and tilt, which must be 0 */
} models[] = {
    {"none", PLX_DISTORTION_NONE, 0, 14},          {"plumb_bob", PLX_DISTORTION_PLUMB_BOB, 4, 5},
    {"radtan", PLX_DISTORTION_PLUMB_BOB, 4, 5},    {"rational_polynomial", PLX_DISTORTION_RATIONAL, 8, 14},
    {"rational", PLX_DISTORTION_RATIONAL, 8, 14},  {"equidistant", PLX_DISTORTION_EQUIDISTANT, 4, 4},
    {"fisheye", PLX_DISTORTION_EQUIDISTANT, 4, 4}, {"radial-tangential", PLX_DISTORTION_PLUMB_BOB, 4, 5},
};

static const struct model *find_model(const struct plx_yaml_node *node, int count)
{
    const char *name = node ? node->text : count <= 5 ? "plumb_bob" : "rational_polynomial";
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strcmp(models[i].name, name) == 0)
            return &models[i];
    return NULL;
}

void plx_read_distortion(struct plx_reader *reader, const struct plx_yaml_node *name, const struct plx_yaml_node *node,
                         plx_read_numbers *read, struct plx_camera *camera)
{
    char quoted[PLX_QUOTED_TEXT], wanted[32];
    double value[14];
    const int count = read(reader, node, 0, 14, value);
    const struct model *model = reader->error < 0 ? NULL : find_model(name, count);
    const int used = model && model->model == PLX_DISTORTION_NONE ? 0 : 8;
    if (!model)
        plx_reader_fail(reader, name, PLX_ERR_UNSUPPORTED,
                        "distortion model \"%s\"; expected plumb_bob, rational_polynomial, equidistant or none",
                        name ? plx_quote(name->text, quoted) : "");
    else if (count < model->min_count || count > model->max_count)
        plx_reader_fail(reader, node, PLX_ERR_FORMAT, "%s has %d coefficients; expected %s for %s", name_of(node), count,
                        span(model->min_count, model->max_count, wanted), model->name);
    for (int i = used; i < count && reader->error == 0; i++)
        if (value[i] != 0)
            plx_reader_fail(reader, node, PLX_ERR_UNSUPPORTED, "coefficient %d of %s is %g; expected 0 (%s)", i + 1,
                            name_of(node), value[i],
                            used ? "thin prism and tilted sensors are not supported" : "the model is none");
    if (reader->error < 0 || !model)
        return;
    camera->model = model->model;
    memset(camera->k, 0, sizeof camera->k);
    for (int i = 0; i < count && i < used; i++)
        camera->k[i] = value[i];
}
