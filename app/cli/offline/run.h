/* SPDX-License-Identifier: Apache-2.0 */
/* `parallax run`: its options, its state, and the result of one pair. */
#ifndef PLX_APP_CLI_OFFLINE_RUN_H
#define PLX_APP_CLI_OFFLINE_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include <cjson/cJSON.h>

#include "app/cli/offline/local_pipeline.h"
#include "app/cli/offline/pairs.h"
#include "app/cli/progress.h"
#include "app/evaluate/evaluate.h"
#include "app/evaluate/sureness.h"
#include "app/options.h"
#include "config/config.h"

struct plx_run_options {
    int max_disparity, paths; /* 0: of the configuration */
    const char *output, *mask, *calibration;
    const char *ground_truth; /* --gt */
    const char *truth_kind;   /* --truth: "lidar" or "poses" */
    bool raw, no_refine, obstacles, json;
    double truth_scale;
    struct plx_option_list set;
};

struct plx_run {
    struct plx_run_options options;
    struct plx_config config;
    struct plx_pairs pairs;
    const struct plx_pair *pair;         /* the one being worked on */
    bool single;                         /* two files were named */
    const char *directory;               /* NULL for two files */
    bool calibrated;                     /* with a calibration, so that metres are right */
    struct plx_local_pipeline *pipeline; /* used for the last pair; NULL before the first */
    int width, height;                   /* image size of PIPELINE */
    struct plx_run_learned *learned;     /* [learned_count] of pairs that are no sequence */
    int learned_count;
    struct plx_progress progress;
};

/* What the pairs with CALIBRATION showed of it. */
struct plx_run_learned {
    struct plx_stereo_calibration calibration;
    struct plx_pipeline_state state;
};

/* One pair in memory. */
struct plx_pair_images {
    struct plx_image left, right; /* U8 */
    struct plx_image truth;       /* U16; data NULL where there is none */
    struct plx_image mask;        /* U8, likewise */
};

struct plx_pair_result {
    struct plx_frame *frame; /* the pipeline's own, until the next pair */
    double seconds;          /* processing time from grey images to the complete frame */
    bool evaluated;
    struct plx_accuracy accuracy;
    bool is_sure; /* SURENESS is known: the frame has confidence and a dense disparity */
    struct plx_sureness sureness;
};

/* What a run does with one pair in memory. Returns an exit code. */
typedef int plx_pair_work(struct plx_run *run, const struct plx_pair *pair, const struct plx_pair_images *images,
                          void *context);

/* Loads the pairs one after the other, with the ground truth and mask that the options ask for and that exist, and calls WORK.
 * Shows the progress. Ends at the first exit code that is not OK, and returns it. */
int plx_run_each_pair(struct plx_run *run, plx_pair_work *work, void *context);

/* Creates run->pipeline for WIDTH x HEIGHT and PARAMS. */
int plx_run_prepare(struct plx_run *run, int width, int height, const struct plx_pipeline_params *params,
                    struct plx_error_message *message);

/* Runs run->pipeline on IMAGES. */
int plx_run_images(struct plx_run *run, const struct plx_pair_images *images, int64_t capture_ns,
                   struct plx_pair_result *ret_result, struct plx_error_message *message);

/* Pairs of one calibration are of one camera: after a pair keeps what run->pipeline learned of its calibration, and before a
 * pair, with a new run->pipeline, goes on from there. Nothing for pairs without a calibration. NOMEM. */
int plx_run_keep_learned(struct plx_run *run);
int plx_run_continue_learned(struct plx_run *run);

/* FORMAT if the ground truth of IMAGES has another size than FRAME. */
int plx_run_check_truth(const struct plx_frame *frame, const struct plx_pair_images *images, struct plx_error_message *message);

/* Compares DISPARITY, of FRAME, with the ground truth of IMAGES. FORMAT if the sizes differ, or nothing can be compared. */
int plx_pair_evaluate(const struct plx_run *run, const struct plx_frame *frame, const struct plx_image *disparity,
                      const struct plx_pair_images *images, struct plx_accuracy *ret_accuracy,
                      struct plx_error_message *message);

/* Adds what FRAME says of its errors, and the truth, to SUM. False if the frame has no confidence or no dense disparity. */
bool plx_pair_sureness(const struct plx_run *run, struct plx_frame *frame, const struct plx_pair_images *images,
                       struct plx_sureness *sum);

/* Checks --output and --raw. SINGLE: two files were named. Returns an exit code. */
int plx_run_output_check(const struct plx_run_options *options, bool single);
/* Checks that a .ply has its calibration, after plx_run_prepare. Returns an exit code. */
int plx_run_output_prepare(const struct plx_run *run);
/* Writes the file of --output for PAIR, whose result is FRAME. */
int plx_run_output(const struct plx_run *run, const struct plx_pair *pair, struct plx_frame *frame,
                   struct plx_error_message *message);

/* Prints the error as one line and returns its exit code. CONFIGURING: FORMAT means a wrong configuration, not a damaged file.
 */
int plx_run_fail(int error, bool configuring, const struct plx_error_message *message);

/* The table: its head, a line for each pair (with obstacles, if asked for), and the mean of COUNT rates. */
void plx_report_head(bool evaluated);
void plx_report_pair(const struct plx_run *run, const struct plx_pair *pair, const struct plx_pair_result *result);
void plx_report_mean(const struct plx_error_rates *rates, int count);
cJSON *plx_report_json(const struct plx_run *run, const struct plx_pair *pair, const struct plx_pair_result *result);

/* The accuracy columns of a line. */
void plx_report_rates_head(void);
void plx_report_rates(const struct plx_error_rates *rates);
cJSON *plx_report_rates_json(const struct plx_error_rates *rates);

/* How sure the disparities of WHAT are, and how right. */
void plx_report_sureness(const char *what, const struct plx_sureness *sureness);
cJSON *plx_report_sureness_json(const struct plx_sureness *sureness);

/* Runs every pair that has ground truth with both presets and prints the accuracy table. Returns an exit code. */
int plx_run_accuracy_table(struct plx_run *run);

/* Compares obstacles and ground of every pair with LiDAR and prints the measures. Returns an exit code. */
int plx_run_lidar_table(struct plx_run *run);
/* Compares the motion of the left camera in the sequence DIRECTORY with its poses.txt and prints it. Returns an exit code. */
int plx_run_motion_table(struct plx_run *run, const char *directory);

#endif
