/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/files/calib_txt.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "drivers/files/file.h"
#include "drivers/files/recording.h"

#define MATRICES 4
#define NUMBERS 12
#define CAMERA_NUMBERS 9
#define SAME_PX 0.01 /* largest difference of values that rectified cameras share */

struct numbers {
    double p[MATRICES][NUMBERS]; /* row-major 3x4 */
    bool found[MATRICES];
    int unnamed;                             /* matrices without a name so far */
    double camera[PLX_EYES][CAMERA_NUMBERS]; /* Middlebury's, row-major 3x3 */
    bool found_camera[PLX_EYES];
    double baseline_mm; /* 0: none so far */
    bool raw;           /* the line PLX_KITTI_RAW was found */
    bool corrected;     /* likewise PLX_KITTI_CORRECTED */
};

/* COUNT numbers from TEXT on, which only blanks and SEPARATORS part; nothing may follow. */
static int read_numbers(const char *text, const char *separators, int count, double *ret_number, const char *path, int line,
                        struct plx_error_message *message)
{
    for (int i = 0; i < count; i++) {
        char *rest;
        text += strspn(text, separators);
        const double value = strtod(text, &rest);
        if (rest == text || !isfinite(value))
            return plx_fail(message, PLX_ERR_FORMAT, "%s:%d: expected %d numbers, a matrix; number %d is bad", path, line,
                            count, i + 1);
        ret_number[i] = value;
        text = rest;
    }
    if (text[strspn(text, separators)] != '\0')
        return plx_fail(message, PLX_ERR_FORMAT, "%s:%d: more than the %d numbers of a matrix", path, line, count);
    return 0;
}

/* The number of KITTI's matrix in LINE, and where its values begin; -1 for any other line. */
static int find_matrix(struct numbers *numbers, const char *line, const char **ret_values)
{
    int matrix, used = 0;
    *ret_values = line;
    if (sscanf(line, "P_rect_%2d:%n", &matrix, &used) == 1 && used > 0) {
        *ret_values = line + used;
        return matrix >= 0 && matrix < MATRICES ? matrix : -1;
    }
    if (line[0] == 'P' && isdigit((unsigned char)line[1])) {
        *ret_values = line + 2 + (line[2] == ':');
        return line[1] - '0' < MATRICES ? line[1] - '0' : -1;
    }
    if (isdigit((unsigned char)line[0]) || line[0] == '-' || line[0] == '+' || line[0] == '.')
        return numbers->unnamed < MATRICES ? numbers->unnamed++ : -1;
    return -1;
}

static int read_line(struct numbers *numbers, const char *line, const char *path, int number, struct plx_error_message *message)
{
    static const char blanks[] = " \t\r\n", brackets[] = " \t\r\n[];,";
    const char *values;
    line += strspn(line, blanks);
    if (strncmp(line, PLX_KITTI_RAW, strlen(PLX_KITTI_RAW)) == 0)
        numbers->raw = true;
    if (strncmp(line, PLX_KITTI_CORRECTED, strlen(PLX_KITTI_CORRECTED)) == 0)
        numbers->corrected = true;
    if (strncmp(line, "baseline=", 9) == 0)
        return read_numbers(line + 9, blanks, 1, &numbers->baseline_mm, path, number, message);
    for (int eye = 0; eye < PLX_EYES; eye++)
        if (strncmp(line, eye == PLX_LEFT ? "cam0=" : "cam1=", 5) == 0) {
            numbers->found_camera[eye] = true;
            return read_numbers(line + 5, brackets, CAMERA_NUMBERS, numbers->camera[eye], path, number, message);
        }
    const int matrix = find_matrix(numbers, line, &values);
    if (matrix < 0)
        return 0;
    numbers->found[matrix] = true;
    return read_numbers(values, blanks, NUMBERS, numbers->p[matrix], path, number, message);
}

static int read_file(const char *path, struct numbers *numbers, struct plx_error_message *message)
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
            result = read_line(numbers, number == 1 ? plx_without_bom(line) : line, path, number, message);
    }
    if (result == 0 && ferror(file))
        result = plx_fail(message, PLX_ERR_IO, "%s: cannot be read to its end", path);
    fclose(file);
    return result;
}

static int check_focal(double fx, double fy, const char *path, struct plx_error_message *message)
{
    if (fx > 0.0 && fy > 0.0)
        return 0;
    return plx_fail(message, PLX_ERR_RANGE, "%s: the focal lengths %g and %g px are not both above 0", path, fx, fy);
}

static int from_kitti(const struct numbers *numbers, int first, const char *path, struct plx_calibration_info *ret_info,
                      struct plx_error_message *message)
{
    if (!numbers->found[first] && !numbers->found[first + 1]) /* a file of one camera pair only */
        first = 0;
    for (int eye = 0; eye < PLX_EYES; eye++)
        if (!numbers->found[first + eye])
            return plx_fail(message, PLX_ERR_FORMAT, "%s: has P%d, but no P%d; expected both, 12 numbers each", path,
                            first + !eye, first + eye);
    const double *left = numbers->p[first], *right = numbers->p[first + 1];
    *ret_info = (struct plx_calibration_info){left[0], left[5], left[2], left[6], right[2], (left[3] - right[3]) / left[0]};
    if (check_focal(left[0], left[5], path, message) < 0)
        return PLX_ERR_RANGE;
    if (fabs(left[0] - right[0]) > SAME_PX || fabs(left[5] - right[5]) > SAME_PX || fabs(left[6] - right[6]) > SAME_PX)
        return plx_fail(message, PLX_ERR_RANGE, "%s: the cameras are not rectified: focal lengths or row centres differ", path);
    return 0;
}

static int from_middlebury(const struct numbers *numbers, const char *path, struct plx_calibration_info *ret_info,
                           struct plx_error_message *message)
{
    const double *left = numbers->camera[PLX_LEFT], *right = numbers->camera[PLX_RIGHT];
    if (!numbers->found_camera[PLX_LEFT] || !numbers->found_camera[PLX_RIGHT] || numbers->baseline_mm == 0)
        return plx_fail(message, PLX_ERR_FORMAT, "%s: expected cam0=, cam1= and baseline= as in the Middlebury datasets", path);
    if (check_focal(left[0], left[4], path, message) < 0)
        return PLX_ERR_RANGE;
    if (fabs(left[0] - right[0]) > SAME_PX || fabs(left[4] - right[4]) > SAME_PX || fabs(left[5] - right[5]) > SAME_PX)
        return plx_fail(message, PLX_ERR_RANGE, "%s: the cameras are not rectified: focal lengths or row centres differ", path);
    *ret_info = (struct plx_calibration_info){left[0], left[4], left[2], left[5], right[2], numbers->baseline_mm / 1000};
    return 0;
}

static int read_calibration(const char *path, int first, struct plx_calibration_info *ret_info, bool *ret_corrected,
                            struct plx_error_message *message)
{
    struct numbers numbers = {0};
    struct plx_calibration_info info = {0};
    int result = read_file(path, &numbers, message);
    if (result < 0)
        return result;
    if (numbers.raw)
        return plx_fail(message, PLX_ERR_UNSUPPORTED,
                        "%s: the pictures are not rectified (\"%s\"); name a calibration for them", path, PLX_KITTI_RAW);
    bool any = false;
    for (int i = 0; i < MATRICES; i++)
        any = any || numbers.found[i];
    if (any)
        result = from_kitti(&numbers, first, path, &info, message);
    else if (numbers.found_camera[PLX_LEFT] || numbers.found_camera[PLX_RIGHT])
        result = from_middlebury(&numbers, path, &info, message);
    else
        result =
            plx_fail(message, PLX_ERR_FORMAT,
                     "%s: no calibration in it; expected lines P0: and P1: as in KITTI, 12 numbers each, or cam0=, cam1= and "
                     "baseline= as in Middlebury; or take the file away, or name another calibration",
                     path);
    if (result < 0)
        return result;
    if (!(info.baseline_m > 0.0) || !isfinite(info.baseline_m))
        return plx_fail(message, PLX_ERR_RANGE, "%s: a baseline of %g m, expected the right camera to the right of the left",
                        path, info.baseline_m);
    if (plx_baseline_check(info.baseline_m, NULL) < 0)
        return plx_fail(message, PLX_ERR_RANGE,
                        "%s: the baseline is %g m; expected %g to %g m: correct the fourth numbers of P0, P1, or baseline=",
                        path, info.baseline_m, PLX_MIN_BASELINE_M, PLX_MAX_BASELINE_M);
    *ret_info = info;
    *ret_corrected = numbers.corrected;
    return 0;
}

int plx_calib_txt_read(const char *path, int first, struct plx_calibration_info *ret_info, struct plx_error_message *message)
{
    bool corrected;
    return read_calibration(path, first, ret_info, &corrected, message);
}

int plx_calib_txt_find(const char *directory, int first, int width, int height, struct plx_stereo_calibration *ret_calibration,
                       struct plx_error_message *message)
{
    static const char *const names[] = {"calib.txt", "calib_cam_to_cam.txt", "../calib_cam_to_cam.txt"};
    int result = PLX_ERR_NOT_FOUND;
    for (size_t i = 0; i < sizeof names / sizeof *names && result == PLX_ERR_NOT_FOUND; i++) {
        struct plx_calibration_info info;
        bool corrected;
        char *path = plx_layout_path(directory, "", names[i]);
        if (!path)
            return plx_fail(message, PLX_ERR_NOMEM, "%s: out of memory", directory);
        result = read_calibration(path, first, &info, &corrected, message);
        if (result == 0) {
            plx_calibration_pinhole(width, height, &info, ret_calibration);
            ret_calibration->corrected = corrected;
        }
        free(path);
    }
    return result;
}
