/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/files/kitti.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/calibration.h"
#include "drivers/files/file.h"

#define MATRICES 4
#define NUMBERS 12
#define SAME_PX 0.01 /* largest difference of what rectified cameras share */

struct projections {
    double p[MATRICES][NUMBERS]; /* row-major 3x4 */
    bool found[MATRICES];
    bool raw;    /* a line says that the pictures are not rectified */
    int unnamed; /* matrices without a name so far */
};

/* Which matrix LINE holds, and where its numbers begin; -1 for another kind of line. */
static int recognise(struct projections *projections, const char *line, const char **ret_numbers)
{
    *ret_numbers = line;
    if (line[0] == 'P' && isdigit((unsigned char)line[1])) {
        *ret_numbers = line + 2 + (line[2] == ':');
        return line[1] - '0' < MATRICES ? line[1] - '0' : -1;
    }
    if (isdigit((unsigned char)line[0]) || line[0] == '-' || line[0] == '+' || line[0] == '.')
        return projections->unnamed < MATRICES ? projections->unnamed++ : -1;
    return -1;
}

static int read_line(struct projections *projections, const char *line, const char *path, int number,
                     struct plx_error_message *message)
{
    const char *text;
    line += strspn(line, " \t");
    if (strncmp(line, PLX_KITTI_RAW, strlen(PLX_KITTI_RAW)) == 0)
        projections->raw = true;
    int matrix = recognise(projections, line, &text);
    if (matrix < 0)
        return 0;
    for (int i = 0; i < NUMBERS; i++) {
        char *rest;
        double value = strtod(text, &rest);
        if (rest == text || !isfinite(value))
            return plx_fail(message, PLX_ERR_FORMAT, "%s:%d: expected %d numbers, a 3x4 projection matrix; number %d is bad",
                            path, number, NUMBERS, i + 1);
        projections->p[matrix][i] = value;
        text = rest;
    }
    if (text[strspn(text, " \t\r\n")] != '\0')
        return plx_fail(message, PLX_ERR_FORMAT, "%s:%d: more than the %d numbers of a 3x4 projection matrix", path, number,
                        NUMBERS);
    projections->found[matrix] = true;
    return 0;
}

static int read_file(const char *path, struct projections *projections, struct plx_error_message *message)
{
    FILE *file;
    char line[2048];
    int result = plx_file_open(path, &file, message);
    if (result < 0)
        return result;
    for (int number = 1; result == 0 && fgets(line, sizeof line, file); number++) {
        if (!strchr(line, '\n') && !feof(file))
            result = plx_fail(message, PLX_ERR_FORMAT, "%s:%d: the line is too long for a calibration", path, number);
        else
            result = read_line(projections, line, path, number, message);
    }
    if (result == 0 && ferror(file))
        result = plx_fail(message, PLX_ERR_IO, "%s: reading failed", path);
    fclose(file);
    return result;
}

int plx_kitti_calibration(const char *path, int first, struct plx_calibration_info *ret_info, struct plx_error_message *message)
{
    struct projections projections = {0};
    int result = read_file(path, &projections, message);
    if (result < 0)
        return result;
    if (projections.raw)
        return plx_fail(message, PLX_ERR_UNSUPPORTED,
                        "%s: the pictures are not rectified (\"%s\"); name a calibration for them", path, PLX_KITTI_RAW);
    if (!projections.found[first + 1]) /* a file of one camera pair only */
        first = 0;
    if (!projections.found[first] || !projections.found[first + 1])
        return plx_fail(message, PLX_ERR_NOT_FOUND, "%s: no projection matrices P0 and P1 of KITTI's form", path);

    const double *left = projections.p[first], *right = projections.p[first + 1];
    const double fx = left[0], fy = left[5], baseline = (left[3] - right[3]) / fx;
    if (!(fx > 0.0) || !(fy > 0.0))
        return plx_fail(message, PLX_ERR_RANGE, "%s: the focal lengths %g and %g px are not both above 0", path, fx, fy);
    if (fabs(fx - right[0]) > SAME_PX || fabs(fy - right[5]) > SAME_PX || fabs(left[6] - right[6]) > SAME_PX)
        return plx_fail(message, PLX_ERR_RANGE, "%s: the cameras are not rectified: focal lengths or row centres differ", path);
    if (!(baseline > 0.0) || !isfinite(baseline))
        return plx_fail(message, PLX_ERR_RANGE, "%s: a baseline of %g m, expected the right camera to the right of the left",
                        path, baseline);
    if (plx_baseline_check(baseline, NULL) < 0)
        return plx_fail(message, PLX_ERR_RANGE,
                        "%s: the baseline is %g m; expected %g to %g m: correct the fourth numbers of P0, P1", path, baseline,
                        PLX_MIN_BASELINE_M, PLX_MAX_BASELINE_M);
    *ret_info = (struct plx_calibration_info){fx, fy, left[2], left[6], right[2], baseline};
    return 0;
}
