/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of a pipeline's frames: of all steps that there are, those that its parameters ask for, and the images between them.
 */
#ifndef PLX_CORE_PIPELINE_PLAN_H
#define PLX_CORE_PIPELINE_PLAN_H

#include "core/base/image.h"
#include "core/pipeline/step.h"

struct plx_pipeline_params;

/* Everything that steps hand on. An image has the rectified size, unless a comment says otherwise. */
enum plx_image_id {
    PLX_IMAGE_NONE,
    PLX_IMAGE_PLANES,                                         /* from here: the planes of the frame, by their own numbers */
    PLX_IMAGE_GREY_LEFT = PLX_IMAGE_PLANES + PLX_PLANE_COUNT, /* U8, as captured: the size of that camera */
    PLX_IMAGE_GREY_RIGHT,
    PLX_IMAGE_CHECKSUMS,   /* U64 [2][64], of the captured pictures: a row for each eye */
    PLX_IMAGE_COLOUR,      /* RGB, as captured: the size of the left camera */
    PLX_IMAGE_COLOUR_SUMS, /* U64 [PLX_COLOUR_SUMS][plx_colour_sum_columns] */
    PLX_IMAGE_STEPS,       /* U32 [4][plx_sharpness_columns]: two rows for each eye */
    PLX_IMAGE_PYRAMIDS,    /* memory of two, from frame to frame: of the newest left image, and of the key image */
    PLX_IMAGE_CORNERS,     /* U128, struct plx_corner_cell */
    PLX_IMAGE_FLOW,        /* struct plx_flow_found [PLX_MAX_CORNERS] as U8 [1][bytes] */
    PLX_IMAGE_SMOOTH_LEFT, /* U8, after the prefilter */
    PLX_IMAGE_SMOOTH_RIGHT,
    PLX_IMAGE_CENSUS_LEFT, /* U32, or U64 */
    PLX_IMAGE_CENSUS_RIGHT,
    PLX_IMAGE_GRADIENT_LEFT, /* U16; without data if they are not matched */
    PLX_IMAGE_GRADIENT_RIGHT,
    PLX_IMAGE_CANDIDATES_LEFT, /* U16, as struct plx_candidates */
    PLX_IMAGE_CANDIDATES_RIGHT,
    PLX_IMAGE_CANDIDATES_RAW,
    PLX_IMAGE_CANDIDATES_S1,
    PLX_IMAGE_CANDIDATES_S2,
    PLX_IMAGE_FACED,       /* U16, the left ones after the step of facing surfaces */
    PLX_IMAGE_KNOWN,       /* U8, the left image, 0 where nothing can be known */
    PLX_IMAGE_MEDIAN_LEFT, /* U16 disparities from here on */
    PLX_IMAGE_MEDIAN_RIGHT,
    PLX_IMAGE_CHECKED,
    PLX_IMAGE_DESPECKLED,
    PLX_IMAGE_STABLE,  /* after the temporal filter: ground, stixels and obstacles read it, for local means join what is far
                          away and little apart in depth */
    PLX_IMAGE_HISTORY, /* the temporal filter's, from frame to frame; invalid at first */
    PLX_IMAGE_MEAN,    /* local means */
    PLX_IMAGE_DENSE_MEDIAN,
    PLX_IMAGE_DENSE_CHECKED,
    PLX_IMAGE_DENSE_DESPECKLED,
    PLX_IMAGE_DENSE_FILLED,
    PLX_IMAGE_DENSE_SMOOTH,
    PLX_IMAGE_GROUND, /* struct plx_ground as U8 [1][bytes] */
    PLX_IMAGE_MASK,   /* U8 */
    PLX_IMAGE_OPENED,
    PLX_IMAGE_CLOSED,
    PLX_IMAGE_REGIONS, /* U32 numbers of regions */
    PLX_IMAGES
};

#define PLX_IMAGE(plane) (PLX_IMAGE_PLANES + PLX_PLANE_##plane)

#define PLX_MAX_STEPS 64

struct plx_plan {
    struct plx_step step[PLX_MAX_STEPS]; /* place after place */
    int beside_after[PLX_MAX_BESIDE];    /* as in struct plx_frame_run */
    int first[PLX_STEP_PLACES + 1];      /* the first step of each place; the last: how many steps there are */
    struct {
        int completed_by;      /* the backend's last step that writes it, counted from that place's first; -1: none */
        int beside;            /* the first step beside that reads it, counted likewise; -1: none */
        bool is_used, for_cpu; /* by any step; by one on the CPU */
    } image[PLX_IMAGES];
};

/* What decides which steps and planes frames have. */
struct plx_frame_kind {
    const struct plx_pipeline_params *params;
    bool raw;                /* frames without a calibration: pictures and histograms only */
    bool identity[PLX_EYES]; /* published as captured: convert writes where rectify would */
};

/* A step as the table has it, for every kind of frame. */
struct plx_step_row {
    struct plx_step step;
    bool (*when)(const struct plx_frame_kind *kind); /* false: the frame has no such step */
    bool (*acts)(const struct plx_frame_kind *kind); /* NULL: always; false: its first outputs are its first inputs */
};

/* steps.c: the table, place after place, in each in the order in which steps run. */
extern const struct plx_step_row plx_step_table[];
extern const int plx_step_rows;

void plx_plan_make(const struct plx_frame_kind *kind, struct plx_plan *ret_plan);

/* Whether frames of KIND have the plane ID: what a step writes, but for the right image, which is published on demand. */
bool plx_plan_has_plane(const struct plx_frame_kind *kind, enum plx_plane_id id);

static inline int plx_plan_steps(const struct plx_plan *plan, enum plx_step_place place)
{
    return plan->first[place + 1] - plan->first[place];
}

#endif
