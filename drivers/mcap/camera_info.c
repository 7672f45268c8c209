/* SPDX-License-Identifier: Apache-2.0 */
#include "drivers/mcap/camera_info.h"

#include <math.h>
#include <string.h>

#include <parallax/error.h>

static const char *const eye_name[PLX_EYES] = {"left", "right"};

bool plx_info_is_empty(const struct ros_camera_info *info, bool rectified)
{
    return info->p[0] == 0 || (!rectified && info->k[0] == 0);
}

/* INFO as of a camera that gives the pictures themselves, without region and binning. Those are in pixels of the full picture;
 * first the region is cut out, then its pixels are binned. */
static struct ros_camera_info of_pictures(const struct ros_camera_info *info)
{
    struct ros_camera_info result = *info;
    const struct ros_region_of_interest *roi = &info->roi;
    const double by_x = info->binning_x > 1 ? info->binning_x : 1, by_y = info->binning_y > 1 ? info->binning_y : 1;
    result.width = (uint32_t)((roi->width > 0 ? roi->width : info->width) / by_x);
    result.height = (uint32_t)((roi->height > 0 ? roi->height : info->height) / by_y);
    result.k[0] = info->k[0] / by_x;
    result.k[2] = (info->k[2] - roi->x_offset) / by_x;
    result.k[4] = info->k[4] / by_y;
    result.k[5] = (info->k[5] - roi->y_offset) / by_y;
    result.p[0] = info->p[0] / by_x;
    result.p[2] = (info->p[2] - roi->x_offset) / by_x;
    result.p[3] = info->p[3] / by_x;
    result.p[5] = info->p[5] / by_y;
    result.p[6] = (info->p[6] - roi->y_offset) / by_y;
    return result;
}

static int read_distortion(const struct ros_camera_info *info, const char *eye, struct plx_camera *camera,
                           struct plx_error_message *error)
{
    static const struct {
        const char *name;
        enum plx_distortion model;
    } models[] = {{"plumb_bob", PLX_DISTORTION_PLUMB_BOB},
                  {"rational_polynomial", PLX_DISTORTION_RATIONAL},
                  {"equidistant", PLX_DISTORTION_EQUIDISTANT}};
    const uint32_t most = sizeof camera->k / sizeof *camera->k;
    uint32_t used = 0;

    for (uint32_t i = 0; i < info->d.count; i++)
        if (info->d.data[i] != 0)
            used = i + 1;
    for (size_t i = 0; i < sizeof models / sizeof *models && used > 0; i++)
        if (strcmp(models[i].name, info->distortion_model) == 0)
            camera->model = models[i].model;
    if (used > most)
        return plx_fail(error, PLX_ERR_UNSUPPORTED,
                        "%s camera_info: coefficient %u of the distortion is not 0; Parallax has no thin prism and no tilted "
                        "sensor: calibrate without them",
                        eye, used);
    if (used > 0 && camera->model == PLX_DISTORTION_NONE)
        return plx_fail(error, PLX_ERR_UNSUPPORTED,
                        "%s camera_info: distortion model \"%.32s\"; expected plumb_bob, rational_polynomial or equidistant",
                        eye, info->distortion_model);
    memcpy(camera->k, info->d.data, used * sizeof *camera->k);
    return 0;
}

static int read_eye(const struct ros_camera_info *info, enum plx_eye eye, bool rectified,
                    struct plx_stereo_calibration *calibration, struct plx_error_message *error)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double *p = info->p, *k = info->k;
    struct plx_camera *camera = &calibration->camera[eye];
    struct plx_error_message why;

    const int result = plx_projection_check_shift(p, eye, &why);
    if (result < 0)
        return plx_fail(error, result, "%s camera_info: P: %s", eye_name[eye], why.text);
    memcpy(calibration->projection[eye], p, sizeof info->p);
    memcpy(calibration->rectification[eye], rectified ? identity : info->r, sizeof identity);
    *camera = (struct plx_camera){.width = (int)info->width, .height = (int)info->height};
    camera->fx = rectified ? p[0] : k[0];
    camera->fy = rectified ? p[5] : k[4];
    camera->cx = rectified ? p[2] : k[2];
    camera->cy = rectified ? p[6] : k[5];
    return rectified ? 0 : read_distortion(info, eye_name[eye], camera, error);
}

int plx_info_calibration(const struct ros_camera_info info[PLX_EYES], int width, int height, bool rectified,
                         struct plx_stereo_calibration *ret_calibration, struct plx_error_message *error)
{
    struct plx_stereo_calibration result = {.rectified = true, .rectified_width = width, .rectified_height = height};
    for (int eye = 0; eye < PLX_EYES; eye++) {
        if (plx_info_is_empty(&info[eye], rectified))
            return plx_fail(
                error, PLX_ERR_RANGE,
                "%s camera_info: K and P begin with %g and %g; expected focal lengths: the camera was not calibrated",
                eye_name[eye], info[eye].k[0], info[eye].p[0]);
        const struct ros_camera_info own = of_pictures(&info[eye]);
        if ((int)own.width != width || (int)own.height != height)
            return plx_fail(error, PLX_ERR_RANGE,
                            "%s camera_info: is for pictures of %u x %u pixels (%u x %u, binned by %u and %u, region %u x %u); "
                            "expected %d x %d",
                            eye_name[eye], own.width, own.height, info[eye].width, info[eye].height, info[eye].binning_x,
                            info[eye].binning_y, info[eye].roi.width, info[eye].roi.height, width, height);
        const int failed = read_eye(&own, eye, rectified, &result, error);
        if (failed < 0)
            return failed;
    }
    plx_calibration_recover_pose(&result);
    const int failed = plx_calibration_check(&result, error);
    if (failed == 0)
        *ret_calibration = result;
    return failed;
}
