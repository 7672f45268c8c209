/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a frame: a table that says which function works on which images, and where. The pipeline makes it once; backends
 * walk it. */
#ifndef PLX_CORE_PIPELINE_STEP_H
#define PLX_CORE_PIPELINE_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <parallax/frame.h>

struct plx_stages;

#define PLX_STEP_IMAGES 6            /* the most that a step reads, and the most that it writes */
#define PLX_MAX_BESIDE 8             /* steps beside */
#define PLX_NO_STAGE PLX_STAGE_COUNT /* the time of such a step counts for no stage */

/* Where and when a step runs, in this order. */
enum plx_step_place {
    PLX_STEP_BEFORE,  /* on the CPU, before the frame's first image */
    PLX_STEP_BACKEND, /* calls of stages */
    PLX_STEP_BESIDE,  /* on the CPU, as soon as its images are there: beside the stages of a backend that works elsewhere */
    PLX_STEP_AFTER,   /* on the CPU, when the backend is done */
    PLX_STEP_PLACES
};

struct plx_step {
    const char *name; /* "speckle"; static storage */
    enum plx_stage stage;
    enum plx_step_place place;
    bool changes; /* arguments of its stage calls differ from frame to frame */
    /* Makes the step's calls. CONTEXT is what run_frame was given. 0 or a negative plx_error. */
    int (*run)(const struct plx_step *step, void *context);
    uint8_t in[PLX_STEP_IMAGES], out[PLX_STEP_IMAGES]; /* enum plx_image_id (core/pipeline/plan.h); 0: none */
};

/* An image in local memory that run_frame copies to shared memory. */
struct plx_output {
    int step;   /* that completes it: its index in the run */
    int beside; /* the first of the steps beside that reads it; -1: none */
    const void *from;
    void *to;
    size_t bytes;
};

/* The steps of one frame that a backend runs. */
struct plx_frame_run {
    const struct plx_step *step; /* first those of PLX_STEP_BACKEND, then those of PLX_STEP_BESIDE */
    int backend_steps, beside_steps;
    const int *beside_after; /* [beside_steps], ascending: so many steps of the backend complete what that step reads */
    void *context;
    const void *key; /* frames with one key make the same calls, but for the arguments of steps that change */
    const struct plx_output *output;
    int outputs;
    uint32_t *ret_stage_us; /* [PLX_STAGE_COUNT], is added to: how much longer the frame took because of each stage, us */
};

/* Marks the stage of STEP in the calling thread's heartbeat, and runs the step. */
int plx_step_run(const struct plx_step *step, void *context);

/* Runs steps in order, until one fails, and adds the time of each to its stage. */
int plx_steps_run(const struct plx_step *step, int steps, void *context, uint32_t *ret_stage_us);

/* The run_frame (core/pipeline/stages.h) of a backend whose calls are complete when they return. */
int plx_run_frame_in_order(struct plx_stages *stages, const struct plx_frame_run *run);

#endif
