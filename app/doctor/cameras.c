/* SPDX-License-Identifier: Apache-2.0 */
/* The configured cameras, as a start of the service would open them. */
#include <math.h>
#include <stdio.h>

#include <parallax/error.h>

#include "app/doctor/check.h"
#include "app/engine/setup.h"

#define SAME_RATE 0.01 /* relative difference of rates that count as equal: 29.97 is 30 */

static const char *const eye_name[PLX_EYES] = {"left", "right"};

static void describe(const struct plx_config *config, int eye, const struct plx_v4l2_inspection *camera,
                     struct doctor_finding *finding)
{
    const double wanted_hz = config->source.rate_hz;
    char rate[32] = "an unknown rate";

    doctor_find(finding, DOCTOR_GOOD, "%s: %s (driver %s)", eye_name[eye], camera->node, camera->driver);
    if (camera->format[0] == '\0') {
        doctor_find(finding, DOCTOR_UNKNOWN, "only the start of the service can show its format");
        return;
    }
    if (camera->rate_hz > 0)
        snprintf(rate, sizeof rate, "%.4g Hz", camera->rate_hz);
    doctor_find(finding, DOCTOR_GOOD, "%s %d x %d at %s", camera->format, camera->width, camera->height, rate);
    if (wanted_hz > 0 && camera->rate_hz > 0 && fabs(camera->rate_hz / wanted_hz - 1) > SAME_RATE) {
        doctor_find(finding, DOCTOR_DOUBTFUL, "source.rate_hz is %.4g", wanted_hz);
        doctor_advise(finding, "choose a rate that the camera has: parallax cameras");
    }
}

/* The service delivers fresh pictures of this camera, whatever this user may open. */
static bool service_has(const struct doctor_subject *subject, int eye)
{
    const uint32_t lost = eye == PLX_LEFT ? PLX_HEALTH_CAMERA_LOST_LEFT : PLX_HEALTH_CAMERA_LOST_RIGHT;
    return subject->status.fresh && !(subject->status.health & lost);
}

static void judge_error(const struct doctor_subject *subject, int eye, int error, const struct plx_error_message *message,
                        struct doctor_finding *finding)
{
    if ((error == PLX_ERR_PERMISSION || error == PLX_ERR_BUSY) && service_has(subject, eye)) {
        doctor_find(finding, DOCTOR_GOOD, "%s: the service has it; for this user: %s", eye_name[eye], message->text);
        return;
    }
    doctor_find(finding, error == PLX_ERR_BUSY ? DOCTOR_DOUBTFUL : DOCTOR_BAD, "%s: %s", eye_name[eye], message->text);
    if (error == PLX_ERR_PERMISSION)
        doctor_advise(finding, "join the group video, then log in again: sudo usermod -aG video $USER");
    else if (error == PLX_ERR_LOST)
        doctor_advise(finding, "check its cable, and compare source.%s with what this prints: parallax cameras", eye_name[eye]);
    else if (error == PLX_ERR_BUSY)
        doctor_advise(finding, "end the other program; to find it: sudo fuser -v /dev/video*");
    else
        doctor_advise(finding, "choose what the camera offers: parallax cameras");
}

void doctor_check_cameras(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    const struct plx_config *config = &subject->config;

    if (!doctor_knows_config(subject, finding) || !doctor_uses_cameras(subject, finding))
        return;
    const struct plx_v4l2_options options = plx_setup_camera_options(config);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        struct plx_v4l2_inspection camera;
        struct plx_error_message message = {""};
        if (eye == PLX_RIGHT && config->source.cameras.camera[eye][0] == '\0') /* the left camera gives both */
            continue;
        const int result = plx_v4l2_inspect(&options, eye, &camera, &message);
        if (result < 0)
            judge_error(subject, eye, result, &message, finding);
        else
            describe(config, eye, &camera, finding);
    }
}
