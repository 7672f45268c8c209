/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax status` as text. */
#include "app/cli/live/status.h"

#include <stdio.h>

#include "app/cli/frame_text.h"
#include "core/clock.h"
#include "core/text.h"
#include "gpu/gpu.h"

static const double degrees = 57.29577951308232; /* of a radian */

const char *plx_schedule_name(uint32_t schedule)
{
    const int choice = (int)(schedule & 0xFFFF) - 1;
    const char *name = plx_gpu_schedule_name(choice);
    return choice < 0 ? NULL : name ? name : "unknown";
}

static void print_service(const struct plx_status *status)
{
    char faults[PLX_FAULTS_TEXT];
    const char *schedule = plx_schedule_name(status->schedule);
    plx_status_faults(status, faults);
    printf("state         %s\n", plx_state_word(status->state));
    printf("faults        %s\n", faults);
    if (*status->reason)
        printf("reason        %s\n", status->reason);
    printf("restarts      %u of the engine\n", status->restarts);
    if (schedule && status->health & PLX_HEALTH_NOT_CALIBRATED) /* raw frames are not matched */
        puts("backend       gpu");
    else if (schedule)
        printf("backend       gpu, matching %s, %s\n", schedule,
               status->schedule >> 16 ? "as parallax tune measured" : "chosen by the service");
    else
        puts("backend       cpu");
}

static void print_age(const struct plx_status *status)
{
    char age[PLX_DURATION_TEXT];
    plx_duration_text(status->age_ns, age, sizeof age);
    if (!status->any)
        puts("age           no picture yet");
    else
        printf("age           %s%s\n", age, status->fresh ? "" : ": OLD, the lines below describe this old picture");
}

void plx_status_print_age(const struct plx_status *status)
{
    char age[PLX_DURATION_TEXT];
    plx_duration_text(plx_age_ns(&status->frame), age, sizeof age);
    if (status->any)
        printf("no frames, the last picture is %s old", age);
    else
        fputs("no frames", stdout);
}

static void print_capture(const struct plx_frame *frame)
{
    static const char *const name[PLX_EYES] = {"left camera", "right camera"};
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const struct plx_capture_info *capture = &frame->capture[eye];
        printf("%-13s exposure %.2f ms, gain %.2f, %llu dropped", name[eye], capture->exposure_us / 1e3, (double)capture->gain,
               (unsigned long long)capture->dropped);
        if (capture->memory != PLX_MEMORY_NONE)
            printf(", memory %s, clock %s %+.6f s", plx_memory_words(capture->memory), plx_clock_word(capture->clock),
                   (double)capture->clock_offset_ns / PLX_NS_PER_S);
        putchar('\n');
    }
}

static void print_ground(const struct plx_ground_info *ground)
{
    if (ground->valid)
        printf("ground        %.2f m below the camera, pitch %.1f deg, roll %.1f deg\n", (double)ground->camera_height_m,
               (double)ground->pitch_rad * degrees, (double)ground->roll_rad * degrees);
    else
        puts("ground        not found");
}

static void print_geometry(const struct plx_frame *frame)
{
    const struct plx_calibration_info *calibration = &frame->calibration;
    char rows[PLX_ALIGNMENT_TEXT];

    printf("picture       %u x %u, ", frame->width, frame->height);
    if (plx_frame_is_raw(frame)) {
        puts("raw\ncalibration   not calibrated");
        return;
    }
    printf("disparities %d to %d px\n", frame->min_disparity, frame->min_disparity + (int)frame->disparities - 1);
    printf("calibration   focal length %.2f px, centre %.2f, %.2f, baseline %.4f m\n", calibration->fx, calibration->cx,
           calibration->cy, calibration->baseline_m);
    plx_alignment_text(&frame->alignment, rows, sizeof rows);
    printf("rows          %s\n", rows);
}

/* The pictures, which may be old. */
static void print_picture(const struct plx_frame *frame, bool fresh)
{
    printf("%s %llu of epoch %llu, %llu pairs skipped\n", fresh ? "frame        " : "last frame   ",
           (unsigned long long)frame->sequence, (unsigned long long)frame->epoch, (unsigned long long)frame->pairs_skipped);
    printf("source        %s\n", plx_source_word(frame->source));
    print_geometry(frame);
    print_capture(frame);
    printf("skew          %.3f ms\n", (double)frame->skew_ns / PLX_NS_PER_MS);
}

/* Ground and obstacles of a fresh frame; a raw one has none. */
static void print_world(const struct plx_frame *frame)
{
    const struct plx_obstacle *sorted[PLX_MAX_OBSTACLES];

    if (plx_frame_is_raw(frame)) {
        puts("obstacles     not searched: not calibrated");
        return;
    }
    print_ground(&frame->ground);
    int count = plx_obstacles_by_distance(frame, sorted);
    printf("obstacles     %d\n", count);
    for (int i = 0; i < count; i++) {
        char text[PLX_OBSTACLE_TEXT];
        plx_obstacle_text(sorted[i], true, text, sizeof text);
        printf("  %s\n", text);
    }
}

void plx_status_print_text(const struct plx_status *status)
{
    print_service(status);
    fputs("rate          ", stdout);
    plx_frame_stats_print_rates(&status->stats);
    putchar('\n');
    print_age(status);
    if (status->any)
        print_picture(&status->frame, status->fresh);
    if (!status->fresh) {
        puts("obstacles     unknown: there is no fresh picture");
        return;
    }
    fputs("stages, ms   ", stdout);
    plx_frame_stats_print_stage_times(&status->stats, status->schedule != 0);
    print_world(&status->frame);
}
