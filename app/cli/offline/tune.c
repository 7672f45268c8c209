/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax tune`: measures whole frames with each schedule of the matching on this GPU and keeps the fastest. */
#include "app/tune.h"

#include <stdio.h>

#include <parallax/error.h>

#include "app/cli/commands.h"
#include "app/cli/offline/tune_frames.h"
#include "app/exit.h"
#include "app/options.h"
#include "config/config.h"
#include "gpu/gpu.h"

#define NAME "parallax tune"

struct tune_options {
    const char *config, *output;
    struct plx_option_list set;
    int width, height;
};

static void print_times(const struct plx_stages *stages, const struct plx_tune_conditions *conditions,
                        const struct fixture_kind *kind, const struct plx_tune_time *time)
{
    const int fastest = plx_tune_fastest(time);
    struct plx_gpu_plan plan;

    plx_gpu_plan(stages, conditions->width, conditions->height, conditions->match, &plan);
    printf("%s; %d x %d, %d disparities, %d paths: %d warps for the path kernels, %d resident at once, %.2f %% of the threads "
           "idle\n",
           conditions->device, conditions->width, conditions->height, conditions->match->disparities, conditions->match->paths,
           plan.warps, plan.resident, plan.waste * 100);
    printf("median of %d frames %s ego-motion, and of stage sgm in them:\n", PLX_TUNE_FRAMES,
           kind->params.motion != PLX_MOTION_NONE ? "with" : "without");
    for (int schedule = 0; schedule < PLX_GPU_SCHEDULES; schedule++) {
        if (!time[schedule].runs)
            printf("  %-18s not for this matching\n", plx_gpu_schedule_name(schedule));
        else
            printf("  %-18s %8.3f ms, sgm %8.3f ms%s%s\n", plx_gpu_schedule_name(schedule), time[schedule].frame_ms,
                   time[schedule].sgm_ms, schedule == fastest ? "  fastest" : "", schedule == plan.schedule ? "  default" : "");
    }
}

static int measure(const struct tune_options *options, const struct fixture_kind *kind, struct fixture *fixture,
                   struct plx_error_message *message)
{
    const struct plx_tune_conditions conditions = {plx_gpu_device(fixture->stages), options->width, options->height,
                                                   &kind->params.match};
    struct plx_tune_time time[PLX_GPU_SCHEDULES];

    int result = plx_tune_frames(fixture, kind, time, message);
    if (result < 0)
        return result;
    const int fastest = plx_tune_fastest(time);
    if (fastest < 0)
        return plx_fail(message, PLX_ERR_UNSUPPORTED, "no schedule runs on this GPU");
    print_times(fixture->stages, &conditions, kind, time);
    result = plx_tune_save(options->output, &conditions, fastest, time[fastest].frame_ms, message);
    if (result == 0)
        printf("written to %s; the service uses it from its next start on\n", options->output);
    return result;
}

/* Frames as the service of CONFIG has them: its memory, its pipeline, rectified from pictures of the same size. */
static int tune(const struct tune_options *options, const struct plx_config *config, struct plx_error_message *message)
{
    const struct fixture_kind kind = {options->width, options->height, PLX_FORMAT_GREY, true, config->pipeline, NULL};
    struct plx_limits limits = fixture_limits(&kind);
    struct plx_stages *stages;
    struct fixture fixture;

    limits.threads = config->threads;
    int result = plx_gpu_create_memory(&limits, config->gpu_memory, &stages, message);
    if (result < 0)
        return result;
    result = plx_config_check_pipeline(&config->pipeline, options->width, options->height, message);
    if (result < 0) {
        stages->ops->destroy(stages);
        return result;
    }
    result = fixture_open(stages, &kind, &fixture, message);
    if (result < 0)
        return result;
    result = measure(options, &kind, &fixture, message);
    fixture_close(&fixture);
    return result;
}

int plx_command_tune(int argc, char **argv)
{
    struct tune_options options = {.output = PLX_TUNE_FILE, .width = 640, .height = 480};
    const struct plx_option table[] = {
        PLX_OPTION("config", "FILE", options.config, "reads this configuration (default: every key at its default)"),
        PLX_OPTION("set", "KEY=VALUE", options.set, "sets a configuration key after reading FILE; may be repeated"),
        PLX_OPTION("width", "PIXELS", options.width, "width of the rectified pictures (default: 640)", .min = 1,
                   .max = PLX_MAX_SIDE),
        PLX_OPTION("height", "PIXELS", options.height, "height of the rectified pictures (default: 480)", .min = 1,
                   .max = PLX_MAX_SIDE),
        PLX_OPTION("output", "FILE", options.output,
                   "writes this file (default: " PLX_TUNE_FILE ", where the service looks for it)"),
        {0},
    };
    const struct plx_command_line line = {
        .program = NAME,
        .about = "Measures with which schedule of the matching whole frames are the fastest on this GPU, and keeps it for the "
                 "service. "
                 "The results are the same bits with every schedule. Stop the service first, or its load distorts the times.",
        .option = table};
    static struct plx_config config; /* large */
    struct plx_error_message message = {""};

    plx_parse_command_line(&line, argc, argv, NULL);
    const struct plx_config_source source = {options.config, options.set.item, options.set.count};
    int result = plx_config_read(&source, &config, &message);
    if (result == 0)
        result = tune(&options, &config, &message);
    return result == 0 ? PLX_EXIT_OK : plx_exit_error(NAME, plx_exit_code(result), "%s", message.text);
}
