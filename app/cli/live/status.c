/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax status`: reads the service once, and prints text. */
#include <stdio.h>

#include <parallax/error.h>

#include "app/cli/commands.h"
#include "app/cli/live/connection.h"
#include "app/exit.h"
#include "app/tune.h"
#include "app/view/frame_text.h"
#include "app/view/json.h"
#include "app/view/status.h"
#include "app/view/verdict.h"
#include "core/base/clock.h"
#include "core/base/text.h"

/* --- as text ---------------------------------------------------------------------------------------------------------- */

static void print_service(const struct plx_status *status)
{
    char faults[PLX_FAULTS_TEXT];
    const char *schedule = plx_tune_schedule_name(status->schedule);
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
               plx_tune_is_measured(status->schedule) ? "as parallax tune measured" : "chosen by the service");
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
               (double)ground->pitch_rad * PLX_DEGREES_PER_RAD, (double)ground->roll_rad * PLX_DEGREES_PER_RAD);
    else
        puts("ground        not found");
}

static void print_mount(const struct plx_mount_info *mount)
{
    if (mount->known)
        printf("mount         %.2f m above the ground, pitch %.1f deg, roll %.1f deg; at x %.2f, y %.2f m, yaw %.1f deg\n",
               (double)mount->z_m, (double)mount->pitch_rad * PLX_DEGREES_PER_RAD,
               (double)mount->roll_rad * PLX_DEGREES_PER_RAD, (double)mount->x_m, (double)mount->y_m,
               (double)mount->yaw_rad * PLX_DEGREES_PER_RAD);
    else
        puts("mount         not known (keys mount.*)");
}

static void print_geometry(const struct plx_frame *frame)
{
    const struct plx_calibration_info *calibration = &frame->calibration;
    char rows[PLX_ALIGNMENT_TEXT], drift[PLX_DRIFT_TEXT], offset[PLX_OFFSET_TEXT], correction[PLX_CORRECTION_TEXT];

    printf("picture       %u x %u, ", frame->width, frame->height);
    if (plx_frame_is_raw(frame)) {
        puts("raw\ncalibration   not calibrated");
        return;
    }
    printf("disparities %d to %d px, blind within %.2f m\n", frame->min_disparity,
           frame->min_disparity + (int)frame->disparities - 1, (double)frame->blind_within_m);
    printf("calibration   focal length %.2f px, centre %.2f, %.2f, baseline %.4f m\n", calibration->fx, calibration->cx,
           calibration->cy, calibration->baseline_m);
    plx_alignment_text(&frame->alignment, rows, sizeof rows);
    printf("rows          %s\n", rows);
    plx_drift_text(&frame->drift, drift, sizeof drift);
    printf("drift         %s\n", drift);
    plx_offset_text(frame, offset, sizeof offset);
    printf("offset        %s\n", offset);
    plx_correction_text(&frame->correction, correction, sizeof correction);
    printf("correction    %s\n", correction);
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

/* Ground, motion and obstacles of a fresh frame; a raw one has none. */
static void print_world(const struct plx_status *status)
{
    const struct plx_frame *frame = &status->frame;
    const struct plx_obstacle *sorted[PLX_MAX_OBSTACLES];
    char motion[PLX_MOTION_TEXT], free_ahead[PLX_FREE_TEXT], drop[PLX_DROP_TEXT], blind[PLX_BLIND_SENTENCE];

    plx_blind_sentence(frame->blind, blind, sizeof blind);
    if (plx_frame_is_raw(frame)) {
        printf("obstacles     unknown: %s\n", blind);
        return;
    }
    print_ground(&frame->ground);
    print_mount(&frame->mount);
    plx_motion_text(&frame->motion, motion, sizeof motion);
    printf("motion        %s\n", motion);
    if (plx_has_scan(frame)) {
        plx_free_text(status->free_m, free_ahead, sizeof free_ahead);
        printf("free ahead    %s\n", free_ahead);
        plx_drop_text(&status->drop, drop, sizeof drop);
        printf("drop          %s\n", drop);
    }
    if (frame->blind) {
        printf("obstacles     unknown: %s\n", blind);
        return;
    }
    int count = plx_obstacles_by_distance(frame, sorted);
    printf("obstacles     %d\n", count);
    plx_obstacles_print(sorted, count, true, "  ", "\n");
}

/* With zones only: without, it is always stop. */
static void print_verdict(const struct plx_status *status)
{
    const struct plx_zone_info *zones = status->frame.zone;
    char text[PLX_VERDICT_TEXT];

    if (zones[0].points == 0)
        return;
    plx_verdict_text(&status->verdict, text, sizeof text);
    printf("verdict       %s\n", text);
    for (int i = 0; i < PLX_MAX_ZONES && zones[i].points > 0 && status->fresh; i++) {
        plx_zone_text(&zones[i], text, sizeof text);
        printf("  %s\n", text);
    }
}

static void print_text(const struct plx_status *status)
{
    print_service(status);
    print_verdict(status);
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
    plx_frame_stats_print_stage_times(&status->stats);
    print_world(status);
}

/* --- the command ------------------------------------------------------------------------------------------------------ */

#define MEASURE_NS PLX_NS_PER_S

/* Waits for a fresh frame, then reads the frames of one second. An error if the last one is not fresh. */
static int measure(struct plx_connection *connection, struct plx_status *status)
{
    struct plx_frame *frame = &status->frame;
    struct plx_frame_stats stats = {.frames = 0};
    int result = plx_connection_next_header(connection, PLX_FRESH_FRAME_MS, frame);
    const int64_t end = plx_now_ns() + MEASURE_NS;
    for (int64_t remaining_ms = 1; result == 0 && remaining_ms > 0;) {
        plx_frame_stats_add(&stats, frame);
        /* A rate needs two frames. */
        remaining_ms = stats.frames < 2 ? PLX_FRESH_FRAME_MS : (end - plx_now_ns()) / PLX_NS_PER_MS;
        if (remaining_ms > 0 && plx_connection_next_header(connection, (int)remaining_ms, frame) < 0)
            break;
    }
    if (result == 0 && !plx_is_fresh(frame)) /* a single late frame is no failure */
        result = plx_connection_next_header(connection, PLX_FRESH_FRAME_MS, frame);
    status->any = status->fresh = result == 0;
    if (result == 0) {
        status->stats = stats;
        status->free_m = connection->free_m;
        status->drop = connection->drop;
    }
    return result;
}

static int read_status(struct plx_connection *connection, struct plx_status *status)
{
    int result = measure(connection, status);
    if (result == 0 || result == PLX_ERR_TIMEOUT || result == PLX_ERR_LOST)
        result = plx_status_read(connection->client, status);
    if (result == 0 && status->state == PLX_STATE_STOPPED)
        result = PLX_ERR_LOST;
    if (result == 0 && !status->any)
        status->any = plx_last_header(connection->client, &status->frame) == 0;
    status->age_ns = status->any ? plx_age_ns(&status->frame) : INT64_MAX;
    return result;
}

static int show_status(struct plx_connection *connection, void *context)
{
    static struct plx_status status; /* large */
    const bool *json = context;
    const int result = read_status(connection, &status);
    if (result == 0 && *json)
        plx_json_print(plx_status_json(&status));
    else if (result == 0)
        print_text(&status);
    if (result == 0 && status.fresh)
        return PLX_EXIT_OK;
    return plx_connection_fail(connection, result < 0 ? result : PLX_ERR_TIMEOUT);
}

int plx_command_status(int argc, char **argv)
{
    const char *socket = NULL;
    bool json = false;
    const struct plx_option options[] = {
        PLX_SOCKET_OPTION(socket),
        PLX_OPTION("json", NULL, json, "prints JSON"),
        {0},
    };
    const struct plx_command_line line = {
        .program = "parallax status",
        .about =
            "Shows what the service is doing: state, faults, rate, age and latency of the picture, calibration, ground and "
            "obstacles. It looks at the frames of one second. The exit code is 69 without a service, or if no fresh picture "
            "comes within 3 s; `status` then marks the last picture as OLD and leaves out ground and obstacles.",
        .option = options};

    plx_parse_command_line(&line, argc, argv, NULL);
    return plx_connection_run(line.program, socket, show_status, &json);
}
