/* SPDX-License-Identifier: Apache-2.0 */
#include "config/calibration_formats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <parallax/error.h>

#include "config/text.h"

static const char *name_of(const struct plx_yaml_node *node)
{
    return node->key ? node->key->text : "this";
}

int plx_need(const struct plx_reader *reader, const struct plx_yaml_node *map, const char *key,
             const struct plx_yaml_node **ret_node)
{
    *ret_node = plx_yaml_get(map, key);
    if (!*ret_node)
        return plx_yaml_fail(reader->yaml, map, reader->message, PLX_ERR_FORMAT,
                             "no key \"%s\" here; expected it in this kind of file", key);
    return 0;
}

/* "5" or "4 to 5" */
static const char *span(int least, int most, char ret_text[32])
{
    if (least == most)
        snprintf(ret_text, 32, "%d", least);
    else
        snprintf(ret_text, 32, "%d to %d", least, most);
    return ret_text;
}

static int read_number(const struct plx_reader *reader, const struct plx_yaml_node *node, double *ret_value)
{
    char quoted[PLX_QUOTED_TEXT];
    if (node->kind != PLX_YAML_SCALAR)
        return plx_yaml_fail(reader->yaml, node, reader->message, PLX_ERR_FORMAT, "a list or map; expected a number");
    if (node->quoted || !plx_parse_real(node->text, ret_value))
        return plx_yaml_fail(reader->yaml, node, reader->message, PLX_ERR_FORMAT, "\"%s\"; expected a finite number",
                             plx_quote(node->text, quoted));
    return 0;
}

int plx_read_list(const struct plx_reader *reader, const struct plx_yaml_node *node, int least, int most, double *ret_value,
                  int *ret_count)
{
    char wanted[32];
    if (node->kind != PLX_YAML_LIST)
        return plx_yaml_fail(reader->yaml, node, reader->message, PLX_ERR_FORMAT, "%s is no list; expected a list of numbers",
                             name_of(node));
    if (node->count < least || node->count > most)
        return plx_yaml_fail(reader->yaml, node, reader->message, PLX_ERR_FORMAT, "%s has %d numbers; expected %s",
                             name_of(node), node->count, span(least, most, wanted));
    *ret_count = 0;
    for (const struct plx_yaml_node *child = node->child; child; child = child->next) {
        int result = read_number(reader, child, &ret_value[(*ret_count)++]);
        if (result < 0)
            return result;
    }
    return 0;
}

static int read_whole(const struct plx_reader *reader, const struct plx_yaml_node *node, int least, int most, int *ret_value)
{
    double value = 0;
    int result = read_number(reader, node, &value);
    if (result < 0)
        return result;
    if (!(value >= least && value <= most) || value != floor(value))
        return plx_yaml_fail(reader->yaml, node, reader->message, PLX_ERR_RANGE,
                             "%s is %s; expected a whole number from %d to %d", name_of(node), node->text, least, most);
    *ret_value = (int)value;
    return 0;
}

int plx_read_side(const struct plx_reader *reader, const struct plx_yaml_node *node, int *ret_side)
{
    return read_whole(reader, node, 1, PLX_MAX_SIDE, ret_side);
}

/* The shape of a map with rows, cols and data. */
static int read_shape(const struct plx_reader *reader, const struct plx_yaml_node *node, int *ret_rows, int *ret_cols,
                      const struct plx_yaml_node **ret_data)
{
    const struct plx_yaml_node *rows, *cols;
    if (node->kind != PLX_YAML_MAP)
        return plx_yaml_fail(reader->yaml, node, reader->message, PLX_ERR_FORMAT,
                             "%s is no matrix; expected a map with rows, cols and data", name_of(node));
    int result = plx_need(reader, node, "rows", &rows);
    if (result == 0)
        result = plx_need(reader, node, "cols", &cols);
    if (result == 0)
        result = plx_need(reader, node, "data", ret_data);
    if (result == 0)
        result = read_whole(reader, rows, 0, PLX_YAML_MAX_NODES, ret_rows);
    if (result == 0)
        result = read_whole(reader, cols, 0, PLX_YAML_MAX_NODES, ret_cols);
    return result;
}

int plx_read_matrix(const struct plx_reader *reader, const struct plx_yaml_node *node, int rows, int cols, double *ret_value)
{
    const struct plx_yaml_node *data = NULL;
    int has_rows = 0, has_cols = 0, count;
    int result = read_shape(reader, node, &has_rows, &has_cols, &data);
    if (result < 0)
        return result;
    if (has_rows != rows || has_cols != cols)
        return plx_yaml_fail(reader->yaml, node, reader->message, PLX_ERR_FORMAT, "%s is a %d x %d matrix; expected %d x %d",
                             name_of(node), has_rows, has_cols, rows, cols);
    return plx_read_list(reader, data, rows * cols, rows * cols, ret_value, &count);
}

int plx_read_vector(const struct plx_reader *reader, const struct plx_yaml_node *node, int least, int most, double *ret_value,
                    int *ret_count)
{
    const struct plx_yaml_node *data = NULL;
    char wanted[32];
    int rows = 0, cols = 0;
    int result = read_shape(reader, node, &rows, &cols, &data);
    if (result < 0)
        return result;
    if ((rows != 1 && cols != 1) || rows > most || cols > most || rows * cols < least)
        return plx_yaml_fail(reader->yaml, node, reader->message, PLX_ERR_FORMAT,
                             "%s is a %d x %d matrix; expected one row or column of %s numbers", name_of(node), rows, cols,
                             span(least, most, wanted));
    return plx_read_list(reader, data, rows * cols, rows * cols, ret_value, ret_count);
}

int plx_check_pinhole(const struct plx_reader *reader, const struct plx_yaml_node *node, const double value[4],
                      struct plx_camera *camera)
{
    for (int i = 0; i < 2; i++)
        if (!(value[i] > 0 && value[i] <= PLX_MAX_FOCAL_LENGTH))
            return plx_yaml_fail(reader->yaml, node, reader->message, PLX_ERR_RANGE,
                                 "the focal length %s in %s is %g; expected pixels, more than 0 and at most %g",
                                 i ? "fy" : "fx", name_of(node), value[i], PLX_MAX_FOCAL_LENGTH);
    camera->fx = value[0];
    camera->fy = value[1];
    camera->cx = value[2];
    camera->cy = value[3];
    return 0;
}

int plx_read_camera_matrix(const struct plx_reader *reader, const struct plx_yaml_node *node, struct plx_camera *camera)
{
    double m[9] = {0};
    int result = plx_read_matrix(reader, node, 3, 3, m);
    if (result < 0)
        return result;
    if (m[1] != 0 || m[3] != 0 || m[6] != 0 || m[7] != 0 || m[8] != 1)
        return plx_yaml_fail(reader->yaml, node, reader->message, PLX_ERR_RANGE,
                             "%s is no camera matrix; expected fx 0 cx, 0 fy cy, 0 0 1 row by row", name_of(node));
    return plx_check_pinhole(reader, node, (const double[]){m[0], m[4], m[2], m[5]}, camera);
}

int plx_check_rotation(const struct plx_reader *reader, const struct plx_yaml_node *node, const double rotation[9])
{
    const double *r = rotation;
    double worst = 0;
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++) {
            double dot = r[3 * i] * r[3 * j] + r[3 * i + 1] * r[3 * j + 1] + r[3 * i + 2] * r[3 * j + 2];
            worst = fmax(worst, fabs(dot - (i == j)));
        }
    double determinant =
        r[0] * (r[4] * r[8] - r[5] * r[7]) - r[1] * (r[3] * r[8] - r[5] * r[6]) + r[2] * (r[3] * r[7] - r[4] * r[6]);
    if (!(worst <= PLX_ROTATION_TOLERANCE) || !(determinant > 0))
        return plx_yaml_fail(reader->yaml, node, reader->message, PLX_ERR_RANGE,
                             "%s is no rotation (rows off by %.2g, determinant %.2g); expected orthonormal rows", name_of(node),
                             worst, determinant);
    return 0;
}

/* What a length in metres that is no baseline looks like, and what would make it one. */
static const struct {
    double min_m, max_m, scale;
    const char *text;
} units[] = {
    {PLX_MIN_BASELINE_M * 1e-3, PLX_MIN_BASELINE_M, 1e3, "it looks like metres divided by a thousand: calibration_scale: %g"},
    {PLX_MAX_BASELINE_M, 10, 0,
     "it looks like squares of the chessboard: give the side of one in metres as calibration_scale (0.025 for 25 mm)"},
    {10, PLX_MAX_BASELINE_M * 1e3, 1e-3, "it looks like millimetres: calibration_scale: %g"},
};

int plx_check_baseline(const struct plx_reader *reader, const struct plx_yaml_node *node, double baseline)
{
    const double metres = baseline * reader->scale;
    struct plx_error_message hint = {"the unit is the metre"}, scaled = {""};
    if (plx_baseline_check(metres, NULL) == 0)
        return 0;
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (metres > units[i].min_m && metres <= units[i].max_m)
            snprintf(hint.text, sizeof hint.text, units[i].text, reader->scale * units[i].scale);
    if (reader->scale != 1)
        plx_fail(&scaled, 0, ", %g times calibration_scale %g", baseline, reader->scale);
    return plx_yaml_fail(reader->yaml, node, reader->message, PLX_ERR_RANGE, "the baseline is %g m%s; expected %g to %g m; %s",
                         metres, scaled.text, PLX_MIN_BASELINE_M, PLX_MAX_BASELINE_M, hint.text);
}

int plx_read_rotation(const struct plx_reader *reader, const struct plx_yaml_node *node, double ret_rotation[9])
{
    int result = plx_read_matrix(reader, node, 3, 3, ret_rotation);
    return result < 0 ? result : plx_check_rotation(reader, node, ret_rotation);
}

/* What people call the models, and how many coefficients each takes. */
static const struct model {
    const char *name;
    enum plx_distortion model;
    int least, most; /* more than 8: thin prism and tilt, which must be 0 */
} models[] = {
    {"none", PLX_DISTORTION_NONE, 0, 14},          {"plumb_bob", PLX_DISTORTION_PLUMB_BOB, 4, 5},
    {"radtan", PLX_DISTORTION_PLUMB_BOB, 4, 5},    {"rational_polynomial", PLX_DISTORTION_RATIONAL, 8, 14},
    {"rational", PLX_DISTORTION_RATIONAL, 8, 14},  {"equidistant", PLX_DISTORTION_EQUIDISTANT, 4, 4},
    {"fisheye", PLX_DISTORTION_EQUIDISTANT, 4, 4},
};

static const struct model *find_model(const struct plx_yaml_node *node, int count)
{
    const char *name = node ? node->text : count <= 5 ? "plumb_bob" : "rational_polynomial";
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strcmp(models[i].name, name) == 0)
            return &models[i];
    return NULL;
}

int plx_set_distortion(const struct plx_reader *reader, const struct plx_yaml_node *node, const struct plx_yaml_node *place,
                       const double *value, int count, struct plx_camera *camera)
{
    char quoted[PLX_QUOTED_TEXT], wanted[32];
    const struct model *model = find_model(node, count);
    if (!model)
        return plx_yaml_fail(reader->yaml, node, reader->message, PLX_ERR_UNSUPPORTED,
                             "distortion model \"%s\"; expected plumb_bob, rational_polynomial, equidistant or none",
                             plx_quote(node->text, quoted));
    if (count < model->least || count > model->most)
        return plx_yaml_fail(reader->yaml, place, reader->message, PLX_ERR_FORMAT, "%s has %d coefficients; expected %s for %s",
                             name_of(place), count, span(model->least, model->most, wanted), model->name);
    const int used = model->model == PLX_DISTORTION_NONE ? 0 : 8;
    for (int i = used; i < count; i++)
        if (value[i] != 0)
            return plx_yaml_fail(reader->yaml, place, reader->message, PLX_ERR_UNSUPPORTED,
                                 "coefficient %d of %s is %g; expected 0 (%s)", i + 1, name_of(place), value[i],
                                 used ? "thin prism and tilted sensors are not supported" : "the model is none");
    camera->model = model->model;
    memset(camera->k, 0, sizeof camera->k);
    for (int i = 0; i < count && i < used; i++)
        camera->k[i] = value[i];
    return 0;
}
