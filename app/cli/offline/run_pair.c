/* SPDX-License-Identifier: Apache-2.0 */
/* The pairs of a run: loads, runs and evaluates them. */
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "app/cli/offline/run.h"
#include "app/exit.h"
#include "core/base/clock.h"
#include "drivers/files/calib_txt.h"
#include "drivers/files/picture.h"

int plx_run_fail(int error, bool configuring, const struct plx_error_message *message)
{
    int exit_code = configuring && error == PLX_ERR_FORMAT ? PLX_EXIT_CONFIG : plx_exit_code(error);
    return plx_exit_error("parallax run", exit_code, "%s", message->text);
}

/* Reads the file that GIVEN names for PAIR, of the size of LEFT; nothing if a directory has no such file. */
static int load_optional(const struct plx_run *run, const struct plx_pair *pair, const char *given, enum plx_type type,
                         const struct plx_image *left, struct plx_image *ret_image, struct plx_error_message *message)
{
    if (!given)
        return 0;
    char *found = run->single ? NULL : plx_pair_file(pair, given);
    const char *path = run->single ? given : found;
    struct plx_image image = {.data = NULL};
    int result = path ? plx_picture_read(path, type, &image, message) : 0;
    if (result == 0 && path && !plx_same_size(&image, left))
        result = plx_fail(message, PLX_ERR_FORMAT, "%s: %dx%d pixels, expected %dx%d as in %s", path, image.width, image.height,
                          left->width, left->height, pair->left);
    free(found);
    if (result < 0)
        free(image.data);
    else
        *ret_image = image;
    return result;
}

static void unload(struct plx_pair_images *images)
{
    free(images->left.data);
    free(images->right.data);
    free(images->truth.data);
    free(images->mask.data);
    *images = (struct plx_pair_images){.left = {.data = NULL}};
}

/* Loads all images of PAIR, or none. Errors with a sentence. */
static int load(const struct plx_run *run, const struct plx_pair *pair, struct plx_pair_images *ret_images,
                struct plx_error_message *message)
{
    struct plx_pair_images images = {.left = {.data = NULL}};
    int result = plx_pair_load(&run->pairs, (int)(pair - run->pairs.item), &images.left, &images.right, message);
    if (result == 0)
        result = load_optional(run, pair, run->options.ground_truth, PLX_U16, &images.left, &images.truth, message);
    if (result == 0)
        result = load_optional(run, pair, run->options.mask, PLX_U8, &images.left, &images.mask, message);
    if (result < 0)
        unload(&images);
    else
        *ret_images = images;
    return result;
}

int plx_run_each_pair(struct plx_run *run, plx_pair_work *work, void *context)
{
    const int count = run->pairs.count;
    int exit_code = PLX_EXIT_OK;

    plx_progress_begin(&run->progress);
    for (int i = 0; i < count && exit_code == PLX_EXIT_OK; i++) {
        struct plx_pair_images images;
        struct plx_error_message message = {""};
        int result = load(run, &run->pairs.item[i], &images, &message);
        if (result < 0)
            return plx_run_fail(result, false, &message);
        run->pair = &run->pairs.item[i];
        exit_code = work(run, run->pair, &images, context);
        unload(&images);
        plx_progress_step(&run->progress, (uint64_t)i + 1, (uint64_t)count);
    }
    plx_progress_end(&run->progress);
    return exit_code;
}

/* --calibration, else the key, else calib.txt of the pair's folder or of the directory. NOT_FOUND if there is none. */
static int find_calibration(const struct plx_run *run, int width, int height, struct plx_stereo_calibration *ret_calibration,
                            struct plx_error_message *message)
{
    const struct plx_config *config = &run->config;
    const struct plx_calibration_options options = {
        .alpha = config->rectify_alpha, .scale = config->calibration_scale, .width = width, .height = height};
    if (strcmp(config->calibration, PLX_CALIBRATION_NONE) == 0)
        return plx_fail(message, PLX_ERR_UNSUPPORTED,
                        "calibration is none, but only rectified pairs can be matched; "
                        "name a calibration with --calibration, or leave the key empty if the pairs are rectified");
    if (config->calibration[0])
        return plx_calibration_read(config->calibration, &options, ret_calibration, message);
    if (run->single)
        return PLX_ERR_NOT_FOUND;
    if (run->pairs.bag)
        return plx_bag_calibration(run->pairs.bag, ret_calibration, message);
    const char *directory = run->pair->folder ? run->pair->folder : run->directory;
    const int result = plx_calib_txt_find(directory, run->pairs.first_projection, width, height, ret_calibration, message);
    return result == PLX_ERR_NOT_FOUND ? plx_calibration_read_beside(directory, &options, ret_calibration, message) : result;
}

int plx_run_prepare(struct plx_run *run, int width, int height, const struct plx_pipeline_params *params,
                    struct plx_error_message *message)
{
    struct plx_stereo_calibration calibration;
    int result = find_calibration(run, width, height, &calibration, message);
    if (result < 0 && (result != PLX_ERR_NOT_FOUND || run->config.calibration[0]))
        return result;
    run->calibrated = result == 0;
    for (int eye = 0; run->calibrated && eye < PLX_EYES; eye++)
        if (calibration.camera[eye].width != width || calibration.camera[eye].height != height)
            return plx_fail(
                message, PLX_ERR_RANGE,
                "the calibration is for pictures of %dx%d pixels, but these have %dx%d; give pictures of that size, "
                "or calibrate with pictures of this one",
                calibration.camera[eye].width, calibration.camera[eye].height, width, height);
    plx_local_pipeline_destroy(run->pipeline);
    run->pipeline = NULL;
    run->width = width;
    run->height = height;
    return plx_local_pipeline_create(width, height, params, run->calibrated ? &calibration : NULL, &run->config, &run->pipeline,
                                     message);
}

int plx_run_images(struct plx_run *run, const struct plx_pair_images *images, int64_t capture_ns,
                   struct plx_pair_result *ret_result, struct plx_error_message *message)
{
    struct plx_pair_result done = {.evaluated = false};
    int64_t start = plx_now_ns();
    int result = plx_local_pipeline_process(run->pipeline, &images->left, &images->right, capture_ns, &done.frame);
    if (result < 0)
        return plx_fail(message, result, "matching: %s", plx_strerror(result));
    done.seconds = (double)(plx_now_ns() - start) / PLX_NS_PER_S;
    *ret_result = done;
    return 0;
}

int plx_run_check_truth(const struct plx_frame *frame, const struct plx_pair_images *images, struct plx_error_message *message)
{
    const int width = (int)frame->width, height = (int)frame->height;
    if (images->truth.width == width && images->truth.height == height)
        return 0;
    return plx_fail(message, PLX_ERR_FORMAT, "the ground truth has %dx%d pixels, expected %dx%d as in the rectified picture",
                    images->truth.width, images->truth.height, width, height);
}

bool plx_pair_sureness(const struct plx_run *run, struct plx_frame *frame, const struct plx_pair_images *images,
                       struct plx_sureness *sum)
{
    const struct plx_image *mask = images->mask.data ? &images->mask : NULL;
    return plx_sureness_add(frame, &images->truth, run->options.truth_scale, mask, sum) == 0;
}

int plx_pair_evaluate(const struct plx_run *run, const struct plx_frame *frame, const struct plx_image *disparity,
                      const struct plx_pair_images *images, struct plx_accuracy *ret_accuracy,
                      struct plx_error_message *message)
{
    struct plx_accuracy accuracy;
    const bool masked = images->mask.data;
    int result = plx_run_check_truth(frame, images, message);
    if (result < 0)
        return result;
    result = plx_evaluate(disparity, frame->min_disparity, &images->truth, run->options.truth_scale,
                          masked ? &images->mask : NULL, &accuracy);
    if (result < 0)
        return plx_fail(message, result, "comparing with the ground truth: %s", plx_strerror(result));
    if (accuracy.counted == 0)
        return plx_fail(message, PLX_ERR_FORMAT, "the ground truth has no known pixel%s; expected values above 0",
                        masked ? " where the mask is 255" : "");
    *ret_accuracy = accuracy;
    return 0;
}
