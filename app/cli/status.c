/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax status`: what the service is doing, once. */
#include <stdio.h>

#include <parallax/error.h>
#include <parallax/region.h>

#include "app/cli/commands.h"
#include "app/cli/json.h"
#include "app/cli/meter.h"
#include "app/cli/obstacle_text.h"
#include "app/cli/online.h"
#include "app/cli/raw.h"
#include "app/exit.h"
#include "core/clock.h"
#include "core/words.h"
#include "gpu/gpu.h"

#define FIRST_FRAME_MS 3000
#define MEASURE_NS PLX_NS_PER_S

static const double degrees = 57.29577951308232; /* of a radian */

/* Waits for a frame, then looks at those of a second. *ret_frame is the last. The error of the first wait. */
static int measure(struct plx_online *online, struct plx_frame *ret_frame, struct plx_meter *ret_meter)
{
    int result = plx_online_header(online, FIRST_FRAME_MS, ret_frame);
    if (result < 0)
        return result;
    *ret_meter = (struct plx_meter){.frames = 0};
    const int64_t end = plx_now_ns() + MEASURE_NS;
    do {
        plx_meter_add(ret_meter, ret_frame);
        int64_t left_ms = ret_meter->frames < 2 ? FIRST_FRAME_MS : (end - plx_now_ns()) / PLX_NS_PER_MS; /* a rate needs two */
        if (left_ms <= 0 || plx_online_header(online, (int)left_ms, ret_frame) < 0)
            break;
    } while (true);
    return 0;
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

/* The way in which the GPU computes; NULL on the CPU. */
static const char *launch_name(uint32_t launch)
{
    const int choice = (int)(launch & 0xFFFF) - 1;
    const char *name = plx_gpu_choice_name(choice);
    return choice < 0 ? NULL : name ? name : "unknown";
}

static void print_backend(uint32_t launch)
{
    const char *name = launch_name(launch);
    if (name)
        printf("backend       gpu, matching %s, %s\n", name, launch >> 16 ? "as parallax tune measured" : "chosen by itself");
    else
        puts("backend       cpu");
}

/* What a raw frame does not have. */
static void print_scene(const struct plx_frame *frame)
{
    const struct plx_obstacle *sorted[PLX_MAX_OBSTACLES];

    if (plx_frame_is_raw(frame)) {
        puts("obstacles     none looked for: not calibrated");
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

static void print_picture(const struct plx_frame *frame)
{
    const struct plx_calibration_info *calibration = &frame->calibration;

    printf("picture       %u x %u, ", frame->width, frame->height);
    if (plx_frame_is_raw(frame)) {
        puts("raw\ncalibration   not calibrated");
        return;
    }
    printf("disparities %d to %d px\n", frame->min_disparity, frame->min_disparity + (int)frame->disparities - 1);
    printf("calibration   focal length %.2f px, centre %.2f, %.2f, baseline %.4f m\n", calibration->fx, calibration->cx,
           calibration->cy, calibration->baseline_m);
}

static void print_text(const struct plx_frame *frame, const struct plx_meter *meter, struct plx_client *client)
{
    char faults[512], reason[PLX_REASON_BYTES];
    plx_health_sentence(frame->health, faults, sizeof faults);
    printf("state         %s\n", plx_state_word(frame->state));
    printf("faults        %s\n", faults);
    if (plx_reason(client, reason, sizeof reason) == 0 && *reason)
        printf("reason        %s\n", reason);
    printf("restarts      %u of the engine\n", plx_restarts(client));
    print_backend(plx_launch(client));
    fputs("rate          ", stdout);
    plx_meter_print_rates(meter);
    putchar('\n');
    printf("frame         %llu of epoch %llu, %llu pairs skipped\n", (unsigned long long)frame->sequence,
           (unsigned long long)frame->epoch, (unsigned long long)frame->pairs_skipped);
    print_picture(frame);
    print_capture(frame);
    printf("skew          %.3f ms\n", (double)frame->skew_ns / PLX_NS_PER_MS);
    fputs("stages, ms   ", stdout);
    plx_meter_print_parts(meter, plx_launch(client) != 0);
    print_scene(frame);
}

/* NUMBER, or null where there is nothing that it would be of. */
static cJSON *number_if(bool there, double number)
{
    return there ? cJSON_CreateNumber(number) : cJSON_CreateNull();
}

static cJSON *calibration_json(const struct plx_frame *frame)
{
    const struct plx_calibration_info *calibration = &frame->calibration;
    if (plx_frame_is_raw(frame))
        return cJSON_CreateNull();
    cJSON *item = cJSON_CreateObject();
    cJSON_AddItemToObject(item, "fx", plx_json_number(calibration->fx, 6));
    cJSON_AddItemToObject(item, "fy", plx_json_number(calibration->fy, 6));
    cJSON_AddItemToObject(item, "cx", plx_json_number(calibration->cx, 6));
    cJSON_AddItemToObject(item, "cy", plx_json_number(calibration->cy, 6));
    cJSON_AddItemToObject(item, "cx_right", plx_json_number(calibration->cx_right, 6));
    cJSON_AddItemToObject(item, "baseline_m", plx_json_number(calibration->baseline_m, 6));
    return item;
}

static cJSON *capture_json(const struct plx_capture_info *capture)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddNumberToObject(item, "exposure_us", capture->exposure_us);
    cJSON_AddItemToObject(item, "gain", plx_json_number((double)capture->gain, 4));
    cJSON_AddNumberToObject(item, "dropped", (double)capture->dropped);
    cJSON_AddStringToObject(item, "memory", plx_memory_word(capture->memory));
    cJSON_AddStringToObject(item, "clock", plx_clock_word(capture->clock));
    cJSON_AddItemToObject(item, "clock_offset_s", plx_json_number((double)capture->clock_offset_ns / PLX_NS_PER_S, 9));
    return item;
}

static cJSON *ground_json(const struct plx_ground_info *ground)
{
    if (!ground->valid)
        return cJSON_CreateNull();
    cJSON *item = cJSON_CreateObject();
    cJSON_AddItemToObject(item, "camera_height_m", plx_json_number((double)ground->camera_height_m, 4));
    cJSON_AddItemToObject(item, "pitch_rad", plx_json_number((double)ground->pitch_rad, 5));
    cJSON_AddItemToObject(item, "roll_rad", plx_json_number((double)ground->roll_rad, 5));
    return item;
}

static void print_json(const struct plx_frame *frame, const struct plx_meter *meter, struct plx_client *client)
{
    cJSON *item = cJSON_CreateObject();
    cJSON_AddStringToObject(item, "state", plx_state_word(frame->state));
    cJSON_AddItemToObject(item, "health", plx_json_health(frame->health));
    char reason[PLX_REASON_BYTES] = "";
    plx_reason(client, reason, sizeof reason);
    cJSON_AddStringToObject(item, "reason", reason);
    cJSON_AddNumberToObject(item, "engine_restarts", plx_restarts(client));
    const char *launch = launch_name(plx_launch(client));
    cJSON_AddItemToObject(item, "gpu_launch", launch ? cJSON_CreateString(launch) : cJSON_CreateNull());
    cJSON_AddItemToObject(item, "rate_hz", plx_json_number(plx_meter_rate_hz(meter), 3));
    cJSON_AddItemToObject(item, "latency_ms", plx_json_number(plx_meter_latency_ms(meter), 3));
    cJSON_AddNumberToObject(item, "epoch", (double)frame->epoch);
    cJSON_AddNumberToObject(item, "sequence", (double)frame->sequence);
    cJSON_AddNumberToObject(item, "pairs_skipped", (double)frame->pairs_skipped);
    cJSON_AddNumberToObject(item, "width", frame->width);
    cJSON_AddNumberToObject(item, "height", frame->height);
    cJSON_AddItemToObject(item, "min_disparity", number_if(!plx_frame_is_raw(frame), frame->min_disparity));
    cJSON_AddItemToObject(item, "disparities", number_if(!plx_frame_is_raw(frame), frame->disparities));
    cJSON_AddItemToObject(item, "calibration", calibration_json(frame));
    cJSON_AddItemToObject(item, "left", capture_json(&frame->capture[PLX_LEFT]));
    cJSON_AddItemToObject(item, "right", capture_json(&frame->capture[PLX_RIGHT]));
    cJSON_AddItemToObject(item, "skew_ms", plx_json_number((double)frame->skew_ns / PLX_NS_PER_MS, 6));
    cJSON_AddItemToObject(item, "ground", ground_json(&frame->ground));
    cJSON_AddItemToObject(item, "stage_us", plx_json_stages(frame->stage_us));
    cJSON_AddItemToObject(item, "obstacles", plx_json_obstacles(frame, true));
    plx_json_print(item);
}

int plx_command_status(int argc, char **argv)
{
    const char *socket = NULL;
    bool json = false;
    const struct plx_option table[] = {
        PLX_SOCKET_OPTION(socket),
        {.name = "json", .kind = PLX_OPTION_FLAG, .value = &json, .help = "print JSON"},
    };
    const struct plx_usage usage = {
        .command = "status",
        .synopsis = "[options]",
        .about = "Says what the service is doing: state, faults, rate, latency, picture, calibration, ground and obstacles. It "
                 "looks\n"
                 "at the frames of one second. Exit code 69 if there is no service, or it gives no frames.",
        .option = table,
        .option_count = sizeof table / sizeof *table};
    int exit_code;
    struct plx_online online;
    if (!plx_online_begin(&usage, argc, argv, &socket, NULL, &online, &exit_code))
        return exit_code;
    static struct plx_frame frame; /* large */
    struct plx_meter meter;
    int result = measure(&online, &frame, &meter);
    if (result < 0)
        exit_code = plx_online_fail(&online, result);
    else if (json)
        print_json(&frame, &meter, online.client);
    else
        print_text(&frame, &meter, online.client);
    plx_online_close(&online);
    return exit_code;
}
