/* SPDX-License-Identifier: Apache-2.0 */
/* A calibration as OpenCV FileStorage YAML. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <parallax/error.h>

#include "config/config.h"
#include "config/replace.h"

static void write_matrix(FILE *out, const char *name, int rows, int cols, const double *value)
{
    fprintf(out, "%s: !!opencv-matrix\n   rows: %d\n   cols: %d\n   dt: d\n   data: [ ", name, rows, cols);
    for (int i = 0; i < rows * cols; i++)
        fprintf(out, "%s%.17g", i == 0 ? "" : i % 4 == 0 ? ",\n       " : ", ", value[i]);
    fputs(" ]\n", out);
}

static void write_camera(FILE *out, enum plx_eye eye, const struct plx_camera *camera)
{
    static const struct {
        const char *name;
        int count;
    } model[] = {
        [PLX_DISTORTION_NONE] = {"none", 5},
        [PLX_DISTORTION_PLUMB_BOB] = {"plumb_bob", 5},
        [PLX_DISTORTION_RATIONAL] = {"rational_polynomial", 8},
        [PLX_DISTORTION_EQUIDISTANT] = {"equidistant", 4},
    };
    const double matrix[9] = {camera->fx, 0, camera->cx, 0, camera->fy, camera->cy, 0, 0, 1};
    write_matrix(out, eye == PLX_LEFT ? "M1" : "M2", 3, 3, matrix);
    write_matrix(out, eye == PLX_LEFT ? "D1" : "D2", 1, model[camera->model].count, camera->k);
    fprintf(out, "distortion_model%d: %s\n", (int)eye + 1, model[camera->model].name);
}

static void write_all(FILE *out, const struct plx_stereo_calibration *calibration)
{
    const struct plx_camera *left = &calibration->camera[PLX_LEFT];
    fprintf(out, "%%YAML:1.0\n---\nimage_width: %d\nimage_height: %d\n", left->width, left->height);
    for (int eye = 0; eye < PLX_EYES; eye++)
        write_camera(out, eye, &calibration->camera[eye]);
    write_matrix(out, "R", 3, 3, calibration->rotation);
    write_matrix(out, "T", 3, 1, calibration->translation);
    if (calibration->rectified_width < 1)
        return;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        write_matrix(out, eye == PLX_LEFT ? "R1" : "R2", 3, 3, calibration->rectification[eye]);
        write_matrix(out, eye == PLX_LEFT ? "P1" : "P2", 3, 4, calibration->projection[eye]);
    }
    fprintf(out, "rectified_width: %d\nrectified_height: %d\n", calibration->rectified_width, calibration->rectified_height);
}

int plx_calibration_write(FILE *out, const char *path, const struct plx_stereo_calibration *calibration,
                          struct plx_error_message *message)
{
    const struct plx_camera *left = &calibration->camera[PLX_LEFT], *right = &calibration->camera[PLX_RIGHT];
    if (left->width != right->width || left->height != right->height)
        return plx_fail(message, PLX_ERR_UNSUPPORTED,
                        "%s: the form has one size for both cameras, which are %d x %d and %d x %d", path, left->width,
                        left->height, right->width, right->height);
    write_all(out, calibration);
    return 0;
}

static int write_device(const char *path, const struct plx_stereo_calibration *calibration, struct plx_error_message *message)
{
    FILE *out = fopen(path, "we");
    if (!out)
        return plx_fail(message, plx_error_of_errno(errno), "%s: cannot be written: %s", path, strerror(errno));
    const int result = plx_calibration_write(out, path, calibration, message);
    const bool failed = ferror(out) != 0;
    if (fclose(out) != 0 || failed)
        return plx_fail(message, PLX_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
    return result;
}

int plx_calibration_save(const char *path, const struct plx_stereo_calibration *calibration, struct plx_error_message *message)
{
    struct plx_replacement replacement;
    struct stat like = {.st_mode = 0644, .st_uid = geteuid(), .st_gid = getegid()}, there;
    /* A device, such as /dev/stdout, is written, not replaced. Anything else is replaced: a link is not followed. */
    if (lstat(path, &there) == 0 && !S_ISREG(there.st_mode) && (!S_ISLNK(there.st_mode) || strncmp(path, "/dev/", 5) == 0))
        return write_device(path, calibration, message);
    if (lstat(path, &there) == 0 && S_ISREG(there.st_mode))
        like = there;
    int result = plx_replacement_begin(path, &replacement, message);
    if (result < 0)
        return result;
    result = plx_calibration_write(replacement.file, path, calibration, message);
    if (result == 0)
        return plx_replacement_finish(&replacement, &like, message);
    plx_replacement_cancel(&replacement);
    return result;
}
