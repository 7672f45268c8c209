/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/files/recording.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include <parallax/error.h>

#include "core/calibration.h"
#include "drivers/files/file.h"

/* --- the layout --------------------------------------------------------------------------------------------------- */

#define ONE_LAYOUT "name a directory with only one of them, such as one with links to these folders"

const char *const plx_layout_eye[PLX_EYES] = {"left", "right"};

static const struct plx_layout layouts[] = {
    {{"image_0", "image_1"}, 0},
    {{"image_2", "image_3"}, 2},
    {{"left", "right"}, 0},
    {{"", ""}, 0},
};

bool plx_layout_is_picture(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && dot != name &&
           (strcasecmp(dot, ".png") == 0 || strcasecmp(dot, ".pgm") == 0 || strcasecmp(dot, ".jpg") == 0 ||
            strcasecmp(dot, ".jpeg") == 0);
}

char *plx_layout_path(const char *directory, const char *folder, const char *name)
{
    char *path;
    return asprintf(&path, "%s/%s%s%s", directory, folder, *folder && *name ? "/" : "", name) < 0 ? NULL : path;
}

static bool is_folder(const char *directory, const char *name)
{
    struct stat status;
    char *path = plx_layout_path(directory, name, "");
    bool yes = path && stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    free(path);
    return yes;
}

/* True if there are pictures of both eyes in DIRECTORY itself. */
static bool is_flat(const char *directory)
{
    bool seen[PLX_EYES] = {false};
    DIR *folder = opendir(directory);
    if (!folder)
        return false;
    for (const struct dirent *entry; (entry = readdir(folder));)
        for (int eye = 0; eye < PLX_EYES; eye++)
            seen[eye] |= plx_layout_is_picture(entry->d_name) &&
                         strncmp(entry->d_name, plx_layout_eye[eye], strlen(plx_layout_eye[eye])) == 0;
    closedir(folder);
    return seen[PLX_LEFT] && seen[PLX_RIGHT];
}

int plx_layout_find(const char *directory, const struct plx_layout **ret_layout, struct plx_error_message *message)
{
    const struct plx_layout *found = NULL, *layout = layouts;
    for (; *layout->folder[PLX_LEFT]; layout++) {
        bool left = is_folder(directory, layout->folder[PLX_LEFT]), right = is_folder(directory, layout->folder[PLX_RIGHT]);
        if (left != right)
            return plx_fail(message, PLX_ERR_NOT_FOUND, "%s: has %s/ but no %s/, expected both", directory,
                            layout->folder[left ? PLX_LEFT : PLX_RIGHT], layout->folder[left ? PLX_RIGHT : PLX_LEFT]);
        if (left && found)
            return plx_fail(message, PLX_ERR_FORMAT, "%s: holds both %s/ with %s/ and %s/ with %s/; " ONE_LAYOUT, directory,
                            found->folder[PLX_LEFT], found->folder[PLX_RIGHT], layout->folder[PLX_LEFT],
                            layout->folder[PLX_RIGHT]);
        if (left)
            found = layout;
    }
    if (found && is_flat(directory))
        return plx_fail(message, PLX_ERR_FORMAT, "%s: holds both %s/ with %s/ and left* with right* pictures; " ONE_LAYOUT,
                        directory, found->folder[PLX_LEFT], found->folder[PLX_RIGHT]);
    *ret_layout = found ? found : layout;
    return 0;
}

const char *plx_layout_left_folder(const char *directory)
{
    for (const struct plx_layout *layout = layouts; *layout->folder[PLX_LEFT]; layout++)
        if (is_folder(directory, layout->folder[PLX_LEFT]))
            return layout->folder[PLX_LEFT];
    return NULL;
}

/* --- calib.txt: projections of rectified cameras ------------------------------------------------------------------ */

#define MATRICES 4
#define NUMBERS 12
#define SAME_PX 0.01 /* largest difference of values that rectified cameras share */

struct projections {
    double p[MATRICES][NUMBERS]; /* row-major 3x4 */
    bool found[MATRICES];
    bool raw;    /* the line PLX_KITTI_RAW was found */
    int unnamed; /* matrices without a name so far */
};

/* Returns the number of the matrix in LINE, and where its values begin; -1 for any other line. */
static int find_matrix(struct projections *projections, const char *line, const char **ret_numbers)
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
    int matrix = find_matrix(projections, line, &text);
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
        result = plx_fail(message, PLX_ERR_IO, "%s: cannot be read to its end", path);
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
        return plx_fail(message, PLX_ERR_NOT_FOUND,
                        "%s: no projection matrices P0 and P1, expected 12 numbers each as in KITTI", path);

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
