/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax tune`: measures the schedules of the matching on this GPU and keeps the fastest. */
#include "app/tune.h"

#include <stdio.h>

#include <parallax/error.h>

#include "app/cli/commands.h"
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

static void print_times(const struct plx_stages *stages, const struct plx_tune_conditions *conditions, const double *ms,
                        int best)
{
    struct plx_gpu_plan plan;

    plx_gpu_plan(stages, conditions->width, conditions->height, conditions->match, &plan);
    printf("%s; %d x %d, %d disparities, %d paths: %d warps for the path kernels, %d resident at once, %.2f %% of the threads "
           "idle\n",
           conditions->device, conditions->width, conditions->height, conditions->match->disparities, conditions->match->paths,
           plan.warps, plan.resident, plan.waste * 100);
    for (int schedule = 0; schedule < PLX_GPU_SCHEDULES; schedule++)
        printf("  %-18s %8.3f ms%s%s\n", plx_gpu_schedule_name(schedule), ms[schedule], schedule == best ? "  fastest" : "",
               schedule == plan.schedule ? "  default" : "");
}

static int measure(const struct tune_options *options, struct plx_stages *stages, const struct plx_match *match,
                   struct plx_error_message *message)
{
    const struct plx_tune_conditions conditions = {plx_gpu_device(stages), options->width, options->height, match};
    double ms[PLX_GPU_SCHEDULES];
    int best = 0;

    int result = plx_gpu_tune(stages, conditions.width, conditions.height, match, ms);
    if (result < 0)
        return plx_fail(message, result, "cannot measure: %s",
                        *stages->message.text ? stages->message.text : plx_strerror(result));
    for (int schedule = 1; schedule < PLX_GPU_SCHEDULES; schedule++)
        best = ms[schedule] < ms[best] ? schedule : best;
    print_times(stages, &conditions, ms, best);
    result = plx_tune_save(options->output, &conditions, best, ms[best], message);
    if (result == 0)
        printf("written to %s; the service uses it from its next start on\n", options->output);
    return result;
}

static int tune(const struct tune_options *options, const struct plx_match *match, struct plx_error_message *message)
{
    const struct plx_limits limits = {.width = options->width, .height = options->height, .disparities = match->disparities};
    struct plx_stages *stages;

    int result = plx_gpu_create(&limits, &stages, message);
    if (result < 0)
        return result;
    result = measure(options, stages, match, message);
    stages->ops->destroy(stages);
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
        .about =
            "Measures which schedule of the matching is the fastest on this GPU, and keeps it for the service. The results are "
            "the same bits with every schedule. Stop the service first, or its load distorts the times.",
        .option = table};
    static struct plx_config config; /* large */
    struct plx_error_message message = {""};

    plx_parse_command_line(&line, argc, argv, NULL);
    const struct plx_config_source source = {options.config, options.set.item, options.set.count};
    int result = plx_config_read(&source, &config, &message);
    if (result == 0)
        result = tune(&options, &config.pipeline.match, &message);
    return result == 0 ? PLX_EXIT_OK : plx_exit_error(NAME, plx_exit_code(result), "%s", message.text);
}
