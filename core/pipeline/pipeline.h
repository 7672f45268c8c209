/* SPDX-License-Identifier: Apache-2.0 */
/* The stages of a frame in order: raw pair in, published frame out. Used by the engine and by `parallax run`. */
#ifndef PLX_CORE_PIPELINE_PIPELINE_H
#define PLX_CORE_PIPELINE_PIPELINE_H

#include <stdbool.h>

#include <parallax/frame.h>

#include "core/colour/colour.h"
#include "core/drift/learner.h"
#include "core/geometry/calibration.h"
#include "core/geometry/mount.h"
#include "core/ground/obstacles.h"
#include "core/pipeline/stages.h"
#include "core/tracks/tracks.h"
#include "core/verdict/map.h"
#include "core/verdict/verdict.h"
#include "core/verdict/zones.h"

struct plx_pipeline_params {
    struct plx_match match;
    int prefilter_width, prefilter_height; /* odd sizes; 1, 1 = off */
    bool prefilter_gaussian;               /* else box */
    bool refine;                           /* false: speckle, dense, confidence and temporal are off together */
    bool dense, confidence;
    struct plx_colour_params colour;
    bool right; /* publish the rectified right image too (PLX_PLANE_RIGHT), for recording */
    struct plx_speckle speckle;
    struct plx_temporal temporal;
    bool ground, stixels, obstacles;
    enum plx_motion_source motion;
    enum plx_correction_mode correction; /* whether and how the calibration is corrected */
    int ground_tolerance;                /* 1/16 px */
    struct plx_obstacle_params obstacle;
    struct plx_track_params track;
    struct plx_mount mount;
    struct plx_map_params map;
    struct plx_verdict_params verdict;
    struct plx_zone_list zones; /* judged in each frame; without a map there are none */
};

/*
 * A pipeline is made for rectified frames, from a calibration, or for raw frames, without one. Raw frames hold both pictures as
 * captured, in 8-bit grey (PLX_PLANE_LEFT and PLX_PLANE_RIGHT), and their histograms; their calibration is all zeros, they have
 * no disparity, ground and obstacles, and they bear PLX_HEALTH_NOT_CALIBRATED.
 */
struct plx_pipeline;

void plx_pipeline_params_default(struct plx_pipeline_params *ret_params);

/* The ranges of its own fields; match has plx_match_parameters. */
extern const struct plx_parameters plx_pipeline_parameters;

/* RANGE, with the parameter in *ret_error (NULL is fine). WIDTH, HEIGHT: the rectified size. */
int plx_pipeline_params_check(const struct plx_pipeline_params *params, int width, int height,
                              struct plx_parameter_error *ret_error);

/* Bytes of one frame (header and planes, page-aligned planes) for these parameters, and its plane table. */
uint32_t plx_pipeline_layout(const struct plx_pipeline_params *params, int width, int height,
                             struct plx_plane ret_plane[PLX_PLANE_COUNT]);

/* The same for raw frames; WIDTH, HEIGHT: of one eye. */
uint32_t plx_pipeline_layout_raw(int width, int height, struct plx_plane ret_plane[PLX_PLANE_COUNT]);

/* A view of one plane of FRAME by its own table, which must be right: a frame of this process. Data NULL where it is off. */
struct plx_image plx_pipeline_plane(struct plx_frame *frame, enum plx_plane_id id);

/* STAGES and CALIBRATION (checked and rectified) stay the caller's; stages must outlive the pipeline. */
int plx_pipeline_create(struct plx_stages *stages, const struct plx_pipeline_params *params,
                        const struct plx_stereo_calibration *calibration, struct plx_pipeline **ret_pipeline,
                        struct plx_error_message *message);

/* For raw frames; WIDTH, HEIGHT: of one eye. */
int plx_pipeline_create_raw(struct plx_stages *stages, int width, int height, struct plx_pipeline **ret_pipeline,
                            struct plx_error_message *message);
void plx_pipeline_destroy(struct plx_pipeline *pipeline);

/* Before the first frame: WORKER runs the learner's jobs, and no frame waits for one; the correction that it wants is in force
 * from the first frame on. Without it the calling thread runs them, and the same pictures always give the same frames. Raw
 * frames have no jobs. WORKER's context must outlive the last frame. The error of the backend. */
int plx_pipeline_use_worker(struct plx_pipeline *pipeline, const struct plx_correction_worker *worker);

/* What a pipeline goes on from; zeros: from nothing. */
struct plx_pipeline_state {
    uint32_t last_track;           /* the largest track number so far */
    struct plx_motion_info motion; /* the last frame's */
    bool single;                   /* pictures of one camera that are no sequence, each with a pipeline of its own */
    struct plx_learned learned;    /* about the calibration, from single pictures */
};

/* Before the first frame: goes on from STATE, of a pipeline with the same calibration. What is switched off ignores its part.
 * The error of the backend. */
int plx_pipeline_restore(struct plx_pipeline *pipeline, const struct plx_pipeline_state *state);

/* After the frame of a pipeline of a single picture, without a worker: what it learned, for that of the next picture. */
void plx_pipeline_save(struct plx_pipeline *pipeline, struct plx_pipeline_state *ret_state);

/* The next pair's right capture time minus left. What moves meanwhile is no evidence of the calibration. */
void plx_pipeline_set_skew(struct plx_pipeline *pipeline, int64_t skew_ns);

/* Odometry of the robot, as plx_motion_set_prior; ignored where motion is switched off. */
void plx_pipeline_set_prior(struct plx_pipeline *pipeline, const struct plx_motion_hint *hint);

/* Fills FRAME: planes, motion, ground, obstacles, stage times, sizes, calibration. FRAME is header and planes in one block of
 * plx_pipeline_layout or plx_pipeline_layout_raw bytes, shared memory of the backend. CAPTURE_NS, the left capture time,
 * drives motion and tracks; the caller fills what it knows of capture, state and sequence, and completes the frame. Each stage
 * marks its begin in the calling thread's heartbeat (core/base/heartbeat.h); with a GPU the last stage's mark also covers the
 * wait for the whole frame. */
int plx_pipeline_process(struct plx_pipeline *pipeline, const struct plx_raw raw[PLX_EYES], int64_t capture_ns,
                         struct plx_frame *frame);

/* The zones, and what the camera can see of them; the pipeline's own. NULL: there are none. */
const struct plx_zones *plx_pipeline_zones(const struct plx_pipeline *pipeline);

/* Completes FRAME, once, after plx_pipeline_process: adds HEALTH, flags of the caller, and decides the verdict by all of them.
 * PERIOD_NS: from pair to pair; 0: not known. Without it the verdict is stop. */
void plx_pipeline_complete(const struct plx_pipeline *pipeline, uint32_t health, int64_t period_ns, struct plx_frame *frame);

#endif
