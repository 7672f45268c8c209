/* SPDX-License-Identifier: Apache-2.0 */
/* What the newest frame says about the cameras: losses, clocks, and how well they still fit the calibration. */
#include <stdlib.h>

#include "app/doctor/check.h"
#include "bridge/diagnostics_message.h"
#include "core/base/clock.h"
#include "core/base/words.h"

#define LOST_SHARE 0.001          /* share of the pictures: fewer may be lost while cameras start */
#define MAX_SKEW_NS PLX_NS_PER_MS /* a robot that turns by 1 rad/s then moves a point by less than 1 px at fx = 1000 px */

/* Flags whose cause is a camera, its cable or its driver. */
static const uint32_t camera_flags = PLX_HEALTH_CAMERA_LOST_LEFT | PLX_HEALTH_CAMERA_LOST_RIGHT | PLX_HEALTH_DROPPED |
                                     PLX_HEALTH_DESYNC | PLX_HEALTH_TIMESTAMP | PLX_HEALTH_FROZEN | PLX_HEALTH_BUFFER_ERROR;

static void judge_losses(const struct plx_frame *frame, struct doctor_finding *finding)
{
    const uint64_t left = frame->capture[PLX_LEFT].dropped, right = frame->capture[PLX_RIGHT].dropped;
    const double allowed = LOST_SHARE * (double)frame->sequence;
    const bool loses_left = (double)left > allowed, loses_right = (double)right > allowed;

    doctor_find(finding, loses_left || loses_right ? DOCTOR_DOUBTFUL : DOCTOR_GOOD,
                "%llu left and %llu right pictures lost, %llu frames published", (unsigned long long)left,
                (unsigned long long)right, (unsigned long long)frame->sequence);
    if (loses_left && loses_right)
        doctor_advise(finding,
                      "both cameras lose pictures: lower source.rate_hz, or give each camera a USB controller of its own");
    else if (loses_left || loses_right)
        doctor_advise(finding,
                      "only the %s camera loses pictures: exchange the cables; if the losses move to the other camera, it is "
                      "the cable",
                      loses_left ? "left" : "right");
}

void doctor_check_pictures(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    const struct plx_status *status = &subject->status;

    if (!doctor_uses_cameras(subject, finding) || !doctor_has_frame(subject, finding))
        return;
    judge_losses(&status->frame, finding);
    for (int bit = 0; bit < PLX_HEALTH_FLAGS; bit++)
        if (status->health & camera_flags & 1u << bit) {
            doctor_find(finding, DOCTOR_BAD, "%s", plx_health_words(bit));
            doctor_advise(finding, "%s", plx_health_advice(bit));
        }
}

void doctor_check_camera_clock(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    const struct plx_frame *frame = &subject->status.frame;

    if (!doctor_uses_cameras(subject, finding) || !doctor_has_frame(subject, finding))
        return;
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const uint32_t clock = frame->capture[eye].clock;
        doctor_find(finding, clock == PLX_CLOCK_REALTIME ? DOCTOR_DOUBTFUL : DOCTOR_GOOD, "%s %s",
                    eye == PLX_LEFT ? "left" : "right", plx_clock_word(clock));
        if (clock == PLX_CLOCK_REALTIME && eye == PLX_LEFT)
            doctor_advise(finding, "this clock jumps when the time of day is set: set it before the service starts");
    }
    const bool is_skewed = llabs((long long)frame->skew_ns) > MAX_SKEW_NS;
    doctor_find(finding, is_skewed ? DOCTOR_DOUBTFUL : DOCTOR_GOOD, "right %+.3f ms after left",
                (double)frame->skew_ns / PLX_NS_PER_MS);
    if (is_skewed)
        doctor_advise(finding, "trigger both cameras together: see cameras.md in /usr/share/doc/parallax");
}

void doctor_check_drift(const struct doctor_subject *subject, struct doctor_finding *finding)
{
    static struct plx_diagnostics diagnostics; /* large */
    const struct plx_frame *frame = &subject->status.frame;
    struct ros_diagnostic_array array;

    if (!doctor_has_frame(subject, finding))
        return;
    if (frame->source == PLX_SOURCE_SYNTHETIC) {
        doctor_find(finding, DOCTOR_NOT_APPLICABLE, "the pictures are simulated");
        return;
    }
    diagnostics.state = subject->status.state;
    diagnostics.drift = frame->drift;
    diagnostics.calibration = frame->calibration;
    plx_message_diagnostics(&diagnostics, 0, &array);
    const struct ros_diagnostic_status *drift = &diagnostics.status[1];
    const bool is_measured = frame->drift.matches > 0 && frame->drift.disparity_offset_deviation_px > 0;
    const bool is_off = drift->level == PLX_DIAGNOSTIC_WARN;
    doctor_find(finding, is_off ? DOCTOR_BAD : is_measured ? DOCTOR_GOOD : DOCTOR_UNKNOWN, "%s", drift->message);
    if (is_off)
        doctor_advise(finding, "to see proposed corrections: parallax calibration; to calibrate: parallax calibrate --help");
    else if (!is_measured)
        doctor_advise(finding, "drive for a minute past things with texture, then ask again");
}
