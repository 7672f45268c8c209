/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax run`: runs the pipeline of the service on pairs in files. */
#include "app/cli/offline/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "app/cli/commands.h"
#include "app/evaluate/steadiness.h"
#include "app/exit.h"
#include "app/view/export.h"
#include "app/view/json.h"
#include "core/base/clock.h"

/* True if --truth asks for KIND. */
static bool is_truth_kind(const struct plx_run_options *options, const char *kind)
{
    return options->truth_kind && strcmp(options->truth_kind, kind) == 0;
}

/* Defaults, then --set, then the options that set a key. */
static int configure(struct plx_run *run, struct plx_error_message *message)
{
    const struct plx_run_options *options = &run->options;
    struct plx_config *config = &run->config;
    plx_config_default(config);
    config->pipeline.stixels = options->obstacles || is_truth_kind(options, "lidar") || is_truth_kind(options, "poses");
    config->pipeline.ground = config->pipeline.obstacles = config->pipeline.stixels;
    for (int i = 0; i < options->set.count; i++) {
        int result = plx_config_set(config, options->set.item[i], message);
        if (result < 0)
            return result;
    }
    if (options->max_disparity > 0)
        config->pipeline.match.disparities = options->max_disparity;
    if (options->paths > 0)
        config->pipeline.match.paths = options->paths;
    if (options->no_refine)
        config->pipeline.refine = false;
    if (options->calibration) {
        if (strlen(options->calibration) >= sizeof config->calibration)
            return plx_fail(message, PLX_ERR_RANGE, "--calibration: the path is too long");
        snprintf(config->calibration, sizeof config->calibration, "%s", options->calibration);
    }
    return plx_config_check(config, message);
}

/* Runs one pair, whose images are loaded. A sequence keeps the pipeline of its first pair. Returns an exit code. */
static int run_pair(struct plx_run *run, const struct plx_pair *pair, const struct plx_pair_images *images,
                    struct plx_pair_result *ret_result)
{
    const int width = images->left.width, height = images->left.height;
    struct plx_error_message message = {""};
    if (!run->pairs.sequence || !run->pipeline || run->width != width || run->height != height) {
        int result = plx_run_prepare(run, width, height, &run->config.pipeline, &message);
        if (result < 0)
            return plx_run_fail(result, true, &message);
        result = plx_run_continue_learned(run);
        if (result < 0)
            return plx_exit_error("parallax run", plx_exit_code(result), "%s", plx_strerror(result));
        const int exit_code = plx_run_output_prepare(run);
        if (exit_code != PLX_EXIT_OK)
            return exit_code;
    }
    int result = plx_run_images(run, images, (int64_t)llround(pair->time_s * PLX_NS_PER_S), ret_result, &message);
    if (result == 0 && plx_run_keep_learned(run) < 0)
        result = plx_fail(&message, PLX_ERR_NOMEM, "%s", plx_strerror(PLX_ERR_NOMEM));
    if (result == 0 && images->truth.data) {
        const struct plx_image disparity = plx_pipeline_plane(ret_result->frame, PLX_PLANE_DISPARITY);
        result = plx_pair_evaluate(run, ret_result->frame, &disparity, images, &ret_result->accuracy, &message);
        ret_result->evaluated = result == 0;
        ret_result->is_sure = result == 0 && plx_pair_sureness(run, ret_result->frame, images, &ret_result->sureness);
    }
    if (result < 0)
        return plx_run_fail(result, false, &message);
    if (run->options.output && plx_run_output(run, pair, ret_result->frame, &message) < 0)
        return plx_exit_error("parallax run", PLX_EXIT_CANNOT_WRITE, "%s", message.text);
    return PLX_EXIT_OK;
}

/* The results of all pairs. */
struct collected {
    cJSON *list;                   /* with --json; else NULL, and lines are printed */
    struct plx_error_rates *rates; /* errors of the pairs with ground truth */
    int rate_count;
    struct plx_sureness sureness; /* sum over the pairs that have it */
    int sure_count;
    bool head_printed;                 /* the head line of the table */
    struct plx_steadiness *steadiness; /* measures the list of a sequence; NULL: not asked for */
    int frames;                        /* in it */
};

/* Adds FRAME, whose motion is that of the pipeline. A sequence without distances has no steps and no speeds. */
static int add_steadiness(const struct plx_run *run, struct collected *collected, const struct plx_frame *frame)
{
    const struct plx_motion_info *motion = &frame->motion;
    if (!run->options.obstacles || run->options.json || !run->pairs.sequence || !run->calibrated)
        return 0;
    if (!collected->steadiness && plx_steadiness_create(&collected->steadiness) < 0)
        return PLX_ERR_NOMEM;
    collected->frames++;
    return plx_steadiness_add(collected->steadiness, frame, motion->valid ? &motion->motion : NULL);
}

static int process(struct plx_run *run, const struct plx_pair *pair, const struct plx_pair_images *images, void *context)
{
    struct collected *collected = context;
    struct plx_pair_result done = {.evaluated = false};
    const int exit_code = run_pair(run, pair, images, &done);
    if (exit_code != PLX_EXIT_OK)
        return exit_code;
    if (done.evaluated)
        plx_accuracy_rates(&done.accuracy, &collected->rates[collected->rate_count++]);
    if (done.is_sure) {
        plx_sureness_join(&done.sureness, &collected->sureness);
        collected->sure_count++;
    }
    if (add_steadiness(run, collected, done.frame) < 0)
        return plx_exit_error("parallax run", PLX_EXIT_OS, "%s", plx_strerror(PLX_ERR_NOMEM));
    if (collected->list) {
        cJSON_AddItemToArray(collected->list, plx_report_json(run, pair, &done));
        return PLX_EXIT_OK;
    }
    plx_progress_end(&run->progress);
    if (!collected->head_printed)
        plx_report_head(run->options.ground_truth);
    collected->head_printed = true;
    plx_report_pair(run, pair, &done);
    return PLX_EXIT_OK;
}

static int process_all(struct plx_run *run)
{
    const struct plx_run_options *options = &run->options;
    struct plx_error_message message = {""};
    if (!run->single && options->output && plx_make_directories(options->output, &message) < 0)
        return plx_exit_error("parallax run", PLX_EXIT_CANNOT_WRITE, "%s", message.text);
    struct collected collected = {.list = options->json ? cJSON_CreateArray() : NULL,
                                  .rates = calloc((size_t)run->pairs.count, sizeof *collected.rates)};
    if (!collected.rates)
        return plx_exit_error("parallax run", PLX_EXIT_OS, "%s", plx_strerror(PLX_ERR_NOMEM));

    const int exit_code = plx_run_each_pair(run, process, &collected);
    if (exit_code == PLX_EXIT_OK && collected.list)
        plx_json_print(collected.list);
    else
        cJSON_Delete(collected.list);
    if (exit_code == PLX_EXIT_OK && !options->json && collected.rate_count > 1)
        plx_report_mean(collected.rates, collected.rate_count);
    if (exit_code == PLX_EXIT_OK && !options->json && collected.sure_count > 0)
        plx_report_sureness("all pixels with ground truth", &collected.sureness);
    if (exit_code == PLX_EXIT_OK && collected.frames > 1)
        plx_steadiness_print(collected.steadiness);
    plx_steadiness_destroy(collected.steadiness);
    if (exit_code == PLX_EXIT_OK && !options->json && options->obstacles && !run->calibrated)
        puts("Without a calibration there are no distances; name one with --calibration.");
    free(collected.rates);
    return exit_code;
}

static int find_pairs(struct plx_run *run, const char *const word[PLX_MAX_WORDS], struct plx_error_message *message)
{
    run->single = word[1] != NULL;
    if (run->single)
        return plx_pairs_single(word[0], word[1], &run->pairs, message);
    if (plx_bag_files_exist(word[0])) {
        const struct plx_bag_options bag = {.path = word[0],
                                            .topic = {run->config.source.topic[PLX_LEFT], run->config.source.topic[PLX_RIGHT]}};
        return plx_pairs_bag(&bag, &run->pairs, message);
    }
    run->directory = word[0];
    return plx_pairs_find(word[0], &run->pairs, message);
}

/* Returns an exit code. */
static int execute(struct plx_run *run, const char *const word[PLX_MAX_WORDS])
{
    const struct plx_run_options *options = &run->options;
    struct plx_error_message message = {""};
    const int exit_code = plx_run_output_check(options, word[1] != NULL);
    if (exit_code != PLX_EXIT_OK)
        return exit_code;
    if (options->mask && !options->ground_truth)
        return plx_exit_error("parallax run", PLX_EXIT_USAGE, "--mask needs ground truth to compare with; add --gt FILE");
    if (options->truth_kind && !is_truth_kind(options, "lidar") && !is_truth_kind(options, "poses"))
        return plx_exit_error("parallax run", PLX_EXIT_USAGE, "--truth %s: expected lidar or poses", options->truth_kind);
    if (options->truth_kind && word[1])
        return plx_exit_error("parallax run", PLX_EXIT_USAGE, "--truth needs a directory of pairs, not two pictures");
    if (is_truth_kind(options, "poses") && options->ground_truth)
        return plx_exit_error("parallax run", PLX_EXIT_USAGE, "--truth poses compares poses, not pictures; leave out --gt");
    if (options->truth_kind && options->output)
        return plx_exit_error("parallax run", PLX_EXIT_USAGE, "--truth compares and writes no file; leave out --output");
    int result = configure(run, &message);
    if (result < 0)
        return plx_run_fail(result, true, &message);
    result = find_pairs(run, word, &message);
    if (result < 0)
        return plx_run_fail(result, false, &message);
    if (run->pairs.note.text[0] != '\0')
        plx_exit_error("parallax run", PLX_EXIT_OK, "%s", run->pairs.note.text); /* no failure */
    if (options->truth_kind)
        return is_truth_kind(options, "lidar") ? plx_run_lidar_table(run) : plx_run_motion_table(run, word[0]);
    if (!run->single && options->ground_truth && !options->output && options->set.count == 0)
        return plx_run_accuracy_table(run);
    return process_all(run);
}

static void parse(int argc, char **argv, struct plx_run_options *options, const char *ret_word[PLX_MAX_WORDS])
{
    const struct plx_option table[] = {
        PLX_OPTION("max-disparity", "N", options->max_disparity, "searches 64, 128 (default) or 256 disparities",
                   .choice = {64, 128, 256}),
        PLX_OPTION("paths", "N", options->paths, "aggregates along 4 or 8 (default) paths", .choice = {4, 8}),
        PLX_OPTION("output", "FILE", options->output,
                   "writes a file by its ending: .png (disparity x 256, 16 bits, 0 = invalid), .pfm (disparity, floats) or "
                   ".ply (points in metres); for DIR a directory with NAME.png for each pair"),
        PLX_OPTION("raw", NULL, options->raw, "writes the published values instead: x 16, 65535 = invalid"),
        PLX_OPTION("gt", "FILE", options->ground_truth,
                   "compares with ground truth, a 16-bit PNG, 0 = unknown; for DIR the file's name in the folder of each "
                   "pair (gt.png), or for a sequence a directory with files named as the left pictures"),
        PLX_OPTION("gt-scale", "S", options->truth_scale,
                   "value of the ground truth for a disparity of one pixel (default: 256)", .min = 0.001, .max = 65536),
        PLX_OPTION("mask", "FILE", options->mask, "compares only where this picture is 255; for DIR as --gt"),
        PLX_OPTION("truth", "KIND", options->truth_kind,
                   "lidar: compares obstacles and ground with LiDAR, gt.png (or --gt) and calib.txt in the folder of each "
                   "pair; poses: compares the motion of the left camera with the poses.txt of the sequence DIR"),
        PLX_OPTION("no-refine", NULL, options->no_refine,
                   "leaves out speckle filter, dense output, confidence and temporal filter"),
        PLX_OPTION("obstacles", NULL, options->obstacles, "lists the obstacles"),
        PLX_OPTION(
            "calibration", "FILE", options->calibration,
            "rectifies with FILE, and gives obstacles in metres (default: calib.txt in the folder of the pair or in DIR)"),
        PLX_OPTION("set", "KEY=VALUE", options->set, "sets a configuration key, such as match=classic; may be repeated"),
        PLX_OPTION("json", NULL, options->json, "prints JSON"),
        {0},
    };
    const struct plx_command_line line = {
        .program = "parallax run",
        .words = "LEFT RIGHT\nDIR\nFILE.mcap",
        .about =
            "Computes the disparity of stereo pairs with the pipeline of the service, in this process. DIR holds image_0/ and "
            "image_1/ (KITTI), left/ and right/, or a folder with left.png and right.png for each pair; PNG, JPEG or PGM. "
            "FILE.mcap holds pictures of ROS 2, of the topics source.left_topic and source.right_topic. For DIR with --gt, and "
            "without --set and --output, `run` measures both presets and prints their accuracy "
            "beside that of other programs.",
        .option = table,
        .min_words = 1,
        .max_words = 2};
    plx_parse_command_line(&line, argc, argv, ret_word);
}

int plx_command_run(int argc, char **argv)
{
    struct plx_run_options options = {.truth_scale = 256};
    const char *word[PLX_MAX_WORDS];

    parse(argc, argv, &options, word);
    struct plx_run *run = calloc(1, sizeof *run); /* large */
    if (!run)
        return plx_exit_error("parallax run", PLX_EXIT_OS, "%s", plx_strerror(PLX_ERR_NOMEM));
    run->options = options;
    const int exit_code = execute(run, word);
    plx_pairs_destroy(&run->pairs);
    plx_local_pipeline_destroy(run->pipeline);
    free(run->learned);
    free(run);
    return exit_code;
}
