/* SPDX-License-Identifier: Apache-2.0 */
/* The table of a frame's steps, and how those of the backend call its stages. */
#include "core/pipeline/internal.h"

/* --- when there is a step, and when it acts --------------------------------------------------------------------------------
 */

static bool always(const struct plx_frame_kind *kind)
{
    (void)kind;
    return true;
}

static bool is_rectified(const struct plx_frame_kind *kind)
{
    return !kind->raw;
}

static bool warps_left(const struct plx_frame_kind *kind)
{
    return !kind->identity[PLX_LEFT];
}

static bool warps_right(const struct plx_frame_kind *kind)
{
    return !kind->identity[PLX_RIGHT];
}

static bool has_colour(const struct plx_frame_kind *kind)
{
    return !kind->raw && kind->params->colour.enabled;
}

static bool prefilters(const struct plx_frame_kind *kind)
{
    return kind->params->prefilter_width > 1 || kind->params->prefilter_height > 1;
}

static bool masks_repeats(const struct plx_frame_kind *kind)
{
    return kind->params->match.repeats;
}

static bool has_median_left(const struct plx_frame_kind *kind)
{
    return kind->params->match.median_left != PLX_MEDIAN_NONE;
}

static bool has_median_right(const struct plx_frame_kind *kind)
{
    return kind->params->match.median_right != PLX_MEDIAN_NONE;
}

static bool removes_speckles(const struct plx_frame_kind *kind)
{
    return kind->params->refine && kind->params->speckle.max_size > 0;
}

static bool filters_over_time(const struct plx_frame_kind *kind)
{
    return kind->params->refine && kind->params->temporal.max_step > 0;
}

static bool steps_facing(const struct plx_frame_kind *kind)
{
    return kind->params->match.facing;
}

static bool takes_means(const struct plx_frame_kind *kind)
{
    return kind->params->match.local_mean;
}

static bool has_dense(const struct plx_frame_kind *kind)
{
    return kind->params->refine && kind->params->dense;
}

static bool compares_with_dense(const struct plx_frame_kind *kind)
{
    return kind->params->match.cross_validate && has_dense(kind);
}

/* About the dense disparity; else about the strict one. */
static bool has_dense_confidence(const struct plx_frame_kind *kind)
{
    return has_dense(kind) && kind->params->confidence;
}

static bool has_strict_confidence(const struct plx_frame_kind *kind)
{
    return kind->params->refine && kind->params->confidence && !has_dense(kind);
}

static bool has_ground(const struct plx_frame_kind *kind)
{
    return kind->params->ground;
}

static bool has_stixels(const struct plx_frame_kind *kind)
{
    return kind->params->stixels;
}

static bool has_map(const struct plx_frame_kind *kind)
{
    return kind->params->stixels && kind->params->map.enabled;
}

static bool has_obstacles(const struct plx_frame_kind *kind)
{
    return kind->params->obstacles;
}

/* Obstacles made of stixels; else of connected regions. */
static bool has_segments(const struct plx_frame_kind *kind)
{
    return has_obstacles(kind) && has_stixels(kind) && kind->params->obstacle.method == PLX_OBSTACLES_OF_STIXELS;
}

static bool has_regions(const struct plx_frame_kind *kind)
{
    return has_obstacles(kind) && !has_segments(kind);
}

static bool has_dense_segments(const struct plx_frame_kind *kind)
{
    return has_segments(kind) && has_dense(kind);
}

static bool has_strict_segments(const struct plx_frame_kind *kind)
{
    return has_segments(kind) && !has_dense(kind);
}

static bool measures_strict(const struct plx_frame_kind *kind)
{
    return has_obstacles(kind) && !has_dense_segments(kind);
}

static bool has_motion(const struct plx_frame_kind *kind)
{
    return kind->params->motion == PLX_MOTION_VISUAL;
}

/* --- steps of the backend --------------------------------------------------------------------------------------------------
 */

static const struct plx_image *in(const struct plx_frame_context *context, const struct plx_step *step, int i)
{
    return &context->image[step->in[i]];
}

static const struct plx_image *out(const struct plx_frame_context *context, const struct plx_step *step, int i)
{
    return &context->image[step->out[i]];
}

static int convert(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    int result = 0;

    for (int eye = 0; eye < PLX_EYES && result == 0; eye++)
        result = context->ops->convert(context->stages, &context->raw[eye], out(context, step, eye));
    return result;
}

static int checksum(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    int result = 0;

    for (int eye = 0; eye < PLX_EYES && result == 0; eye++) {
        const struct plx_image sums = plx_eye_rows(out(context, step, 0), eye);
        result = context->ops->checksum(context->stages, &context->raw[eye], &sums);
    }
    return result;
}

static int histogram(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    int result = 0;

    for (int eye = 0; eye < PLX_EYES && result == 0; eye++) {
        const struct plx_image bins = plx_eye_rows(out(context, step, 0), eye);
        result = context->ops->histogram(context->stages, in(context, step, eye), PLX_HISTOGRAM_BINS, &bins);
    }
    return result;
}

static int colour(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    return context->ops->colour(context->stages, &context->raw[PLX_LEFT], &context->pipeline->development,
                                out(context, step, 0));
}

static int colour_sums(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    return context->ops->colour_sums(context->stages, &context->raw[PLX_LEFT], &context->pipeline->development,
                                     out(context, step, 0));
}

static int rectify_colour(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    return context->ops->rectify(context->stages, in(context, step, 0), &context->pipeline->map[PLX_LEFT],
                                 out(context, step, 0), NULL);
}

static int rectify(const struct plx_frame_context *context, const struct plx_step *step, enum plx_eye eye)
{
    struct plx_pipeline *pipeline = context->pipeline;

    return context->ops->rectify(context->stages, in(context, step, 0), &pipeline->map[eye], out(context, step, 0),
                                 &pipeline->results->masked[eye]);
}

static int rectify_left(const struct plx_step *step, void *argument)
{
    return rectify(argument, step, PLX_LEFT);
}

static int rectify_right(const struct plx_step *step, void *argument)
{
    return rectify(argument, step, PLX_RIGHT);
}

static int sharpness(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    int result = 0;

    for (int eye = 0; eye < PLX_EYES && result == 0; eye++) {
        const struct plx_image steps = plx_eye_rows(out(context, step, 0), eye);
        result = context->ops->sharpness(context->stages, in(context, step, eye), &steps);
    }
    return result;
}

/* Searches patches of the left image in the right one; plx_alignment_update evaluates the matches after the frame. */
static int match_rows(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    struct plx_pipeline *pipeline = context->pipeline;
    struct plx_image patch, strip;
    int result = 0;

    for (int i = 0; i < PLX_ALIGNMENT_MATCHES && result == 0; i++)
        if (plx_alignment_patch(&pipeline->alignment, i, in(context, step, 0), in(context, step, 1), &patch, &strip))
            result = context->ops->image.match_template(context->stages, &strip, &patch, &pipeline->results->match[i]);
    return result;
}

void plx_pipeline_pyramids(const struct plx_frame_context *context, struct plx_pyramid ret[2])
{
    const struct plx_image *memory = &context->image[PLX_IMAGE_PYRAMIDS];

    for (int i = 0; i < 2; i++)
        plx_pyramid_lay_out(plx_row(memory, i * (memory->height / 2)), context->pipeline->width, context->pipeline->height,
                            &ret[i]);
}

static int pyramid(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    struct plx_pyramid pyramids[2];

    plx_pipeline_pyramids(context, pyramids);
    return context->ops->pyramid(context->stages, in(context, step, 0), &context->pipeline->results->flow, pyramids);
}

static int flow(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    struct plx_pyramid pyramids[2];

    plx_pipeline_pyramids(context, pyramids);
    return context->ops->flow(context->stages, pyramids, &context->pipeline->results->flow, out(context, step, 0)->data);
}

static int corners(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    return context->ops->corners(context->stages, in(context, step, 0), out(context, step, 0));
}

static int corner_disparities(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    return context->ops->corner_disparities(context->stages, in(context, step, 0), &context->pipeline->results->flow,
                                            out(context, step, 0), out(context, step, 1)->data);
}

static int prefilter(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    int result = 0;

    for (int eye = 0; eye < PLX_EYES && result == 0; eye++)
        result =
            context->ops->filter(context->stages, in(context, step, eye), &context->pipeline->filter, out(context, step, eye));
    return result;
}

static int census(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    int result = 0;

    for (int eye = 0; eye < PLX_EYES && result == 0; eye++) {
        const struct plx_features features = {*out(context, step, eye), *out(context, step, PLX_EYES + eye)};
        result = context->ops->census(context->stages, in(context, step, eye), &context->params->match, &features);
    }
    return result;
}

static int sgm(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    const struct plx_features left = {*in(context, step, 0), *in(context, step, 2)},
                              right = {*in(context, step, 1), *in(context, step, 3)};
    const struct plx_candidates candidates = {*out(context, step, 0), *out(context, step, 1), *out(context, step, 2),
                                              *out(context, step, 3), *out(context, step, 4)};

    return context->ops->sgm(context->stages, &left, &right, in(context, step, 4), &context->params->match, &candidates);
}

static int repeats(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    return context->ops->repeats(context->stages, in(context, step, 0), out(context, step, 0));
}

static int median(const struct plx_frame_context *context, const struct plx_step *step, enum plx_median kind)
{
    return context->ops->median(context->stages, in(context, step, 0), kind, out(context, step, 0));
}

static int median_left(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    return median(context, step, context->params->match.median_left);
}

static int median_right(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    return median(context, step, context->params->match.median_right);
}

static int median_3x3(const struct plx_step *step, void *argument)
{
    return median(argument, step, PLX_MEDIAN_3X3);
}

static int median_valid(const struct plx_step *step, void *argument)
{
    return median(argument, step, PLX_MEDIAN_VALID_5X5);
}

static int check(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    return context->ops->check(context->stages, in(context, step, 0), in(context, step, 1), in(context, step, 2),
                               &context->params->match, out(context, step, 0));
}

static int speckle(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    return context->ops->speckle(context->stages, in(context, step, 0), &context->params->speckle, out(context, step, 0));
}

static int temporal(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    return context->ops->temporal(context->stages, in(context, step, 0), &context->params->temporal, in(context, step, 1),
                                  out(context, step, 0));
}

static int facing(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    return context->ops->facing(context->stages, in(context, step, 0), in(context, step, 1), in(context, step, 2),
                                &context->params->match, out(context, step, 0));
}

static int local_mean(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    return context->ops->local_mean(context->stages, in(context, step, 0), out(context, step, 0));
}

static int fill(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    return context->ops->fill(context->stages, in(context, step, 0), out(context, step, 0), out(context, step, 1));
}

static int cross_validate(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    return context->ops->cross_validate(context->stages, in(context, step, 0), in(context, step, 1), in(context, step, 2),
                                        in(context, step, 3), out(context, step, 0));
}

static int confidence(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    const struct plx_candidates candidates = {
        .raw = *in(context, step, 0), .s1 = *in(context, step, 1), .s2 = *in(context, step, 2)};

    return context->ops->confidence(context->stages, &candidates, in(context, step, 3), in(context, step, 4),
                                    in(context, step, 5), &context->params->match, out(context, step, 0));
}

static int ground(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    struct plx_pipeline *pipeline = context->pipeline;

    return context->ops->ground(context->stages, in(context, step, 0), &pipeline->ground_params, &pipeline->results->prior,
                                out(context, step, 0)->data);
}

static int stixels(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    return context->ops->stixels(context->stages, in(context, step, 0), in(context, step, 1)->data,
                                 &context->pipeline->columns_params, out(context, step, 0), out(context, step, 1));
}

static int free_ground(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    return context->ops->free_ground(context->stages, in(context, step, 0), in(context, step, 1)->data,
                                     &context->pipeline->columns_params, &context->pipeline->calibration,
                                     out(context, step, 0));
}

static int segments(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    struct plx_pipeline *pipeline = context->pipeline;

    return context->ops->segments(context->stages, in(context, step, 0), in(context, step, 1)->data, &pipeline->segments_params,
                                  &pipeline->results->predictions, out(context, step, 0), out(context, step, 1),
                                  &pipeline->results->region_count);
}

static int mask(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    return context->ops->mask(context->stages, in(context, step, 0), in(context, step, 1)->data,
                              &context->pipeline->columns_params.mask, out(context, step, 0));
}

static int open_mask(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    const int size = context->params->obstacle.open_size;
    return context->ops->image.morphology(context->stages, PLX_OPEN, in(context, step, 0), size, size, out(context, step, 0));
}

static int close_mask(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    const int size = context->params->obstacle.close_size;
    return context->ops->image.morphology(context->stages, PLX_CLOSE, in(context, step, 0), size, size, out(context, step, 0));
}

static int label(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    const struct plx_label_params params = {.max_step = context->params->obstacle.max_step,
                                            .min_area = context->params->obstacle.min_area};

    return context->ops->label(context->stages, in(context, step, 0), in(context, step, 1), &params, out(context, step, 0),
                               &context->pipeline->results->region_count);
}

static int regions(const struct plx_step *step, void *argument)
{
    const struct plx_frame_context *context = argument;
    struct plx_results *results = context->pipeline->results;
    const struct plx_region_input input = {in(context, step, 0), in(context, step, 1), in(context, step, 2),
                                           in(context, step, 3), context->params->match.min_disparity};

    return context->ops->regions(context->stages, &input, &results->region_count, results->regions, out(context, step, 0));
}

/* --- the table -------------------------------------------------------------------------------------------------------------
 */

#define I(name) PLX_IMAGE_##name

/* clang-format off */
const struct plx_step_row plx_step_table[] = {
    /* name, stage, place, changes, function, what it reads, what it writes; when there is such a step; when it acts */
    {{"correction", PLX_NO_STAGE, PLX_STEP_BEFORE, false, plx_step_correction, {0}, {0}}, is_rectified, NULL},
    {{"ground prior", PLX_NO_STAGE, PLX_STEP_BEFORE, false, plx_step_ground_prior, {0}, {0}}, has_ground, NULL},
    {{"expected corners", PLX_NO_STAGE, PLX_STEP_BEFORE, false, plx_step_expect_corners, {0}, {0}}, has_motion, NULL},
    {{"develop", PLX_NO_STAGE, PLX_STEP_BEFORE, false, plx_step_develop, {0}, {0}}, has_colour, NULL},
    {{"predicted boxes", PLX_NO_STAGE, PLX_STEP_BEFORE, false, plx_step_predict, {0}, {0}}, has_segments, NULL},

    {{"convert", PLX_STAGE_CONVERT, PLX_STEP_BACKEND, true, convert,
      {0}, {I(GREY_LEFT), I(GREY_RIGHT)}}, always, NULL},
    {{"checksum", PLX_STAGE_CONVERT, PLX_STEP_BACKEND, true, checksum, {0}, {I(CHECKSUMS)}}, always, NULL},
    {{"colour", PLX_STAGE_COLOUR, PLX_STEP_BACKEND, true, colour, {0}, {I(COLOUR)}}, has_colour, NULL},
    {{"colour sums", PLX_STAGE_COLOUR, PLX_STEP_BACKEND, true, colour_sums, {0}, {I(COLOUR_SUMS)}}, has_colour, NULL},
    {{"rectify colour", PLX_STAGE_COLOUR, PLX_STEP_BACKEND, false, rectify_colour,
      {I(COLOUR)}, {PLX_IMAGE(COLOUR)}}, has_colour, warps_left},
    {{"histogram", PLX_STAGE_HISTOGRAM, PLX_STEP_BACKEND, false, histogram,
      {I(GREY_LEFT), I(GREY_RIGHT)}, {PLX_IMAGE(HISTOGRAM)}}, always, NULL},
    {{"rectify left", PLX_STAGE_RECTIFY, PLX_STEP_BACKEND, false, rectify_left,
      {I(GREY_LEFT)}, {PLX_IMAGE(LEFT)}}, always, warps_left},
    {{"rectify right", PLX_STAGE_RECTIFY, PLX_STEP_BACKEND, false, rectify_right,
      {I(GREY_RIGHT)}, {PLX_IMAGE(RIGHT)}}, always, warps_right},
    {{"sharpness", PLX_STAGE_RECTIFY, PLX_STEP_BACKEND, false, sharpness,
      {PLX_IMAGE(LEFT), PLX_IMAGE(RIGHT)}, {I(STEPS)}}, is_rectified, NULL},
    {{"match rows", PLX_STAGE_RECTIFY, PLX_STEP_BACKEND, true, match_rows,
      {PLX_IMAGE(LEFT), PLX_IMAGE(RIGHT)}, {0}}, is_rectified, NULL},
    {{"pyramid", PLX_STAGE_MOTION, PLX_STEP_BACKEND, false, pyramid,
      {PLX_IMAGE(LEFT)}, {I(PYRAMIDS)}}, has_motion, NULL},
    {{"flow", PLX_STAGE_MOTION, PLX_STEP_BACKEND, false, flow,
      {I(PYRAMIDS)}, {I(FLOW)}}, has_motion, NULL},
    {{"corners", PLX_STAGE_MOTION, PLX_STEP_BACKEND, false, corners,
      {PLX_IMAGE(LEFT)}, {I(CORNERS)}}, has_motion, NULL},
    {{"prefilter", PLX_STAGE_PREFILTER, PLX_STEP_BACKEND, false, prefilter,
      {PLX_IMAGE(LEFT), PLX_IMAGE(RIGHT)}, {I(SMOOTH_LEFT), I(SMOOTH_RIGHT)}}, is_rectified, prefilters},
    {{"census", PLX_STAGE_CENSUS, PLX_STEP_BACKEND, false, census,
      {I(SMOOTH_LEFT), I(SMOOTH_RIGHT)}, {I(CENSUS_LEFT), I(CENSUS_RIGHT), I(GRADIENT_LEFT), I(GRADIENT_RIGHT)}},
     is_rectified, NULL},
    {{"sgm", PLX_STAGE_SGM, PLX_STEP_BACKEND, false, sgm,
      {I(CENSUS_LEFT), I(CENSUS_RIGHT), I(GRADIENT_LEFT), I(GRADIENT_RIGHT), I(SMOOTH_LEFT)},
      {I(CANDIDATES_LEFT), I(CANDIDATES_RIGHT), I(CANDIDATES_RAW), I(CANDIDATES_S1), I(CANDIDATES_S2)}}, is_rectified, NULL},

    {{"repeats", PLX_STAGE_CHECK, PLX_STEP_BACKEND, false, repeats,
      {PLX_IMAGE(LEFT)}, {I(KNOWN)}}, is_rectified, masks_repeats},
    {{"facing", PLX_STAGE_CHECK, PLX_STEP_BACKEND, false, facing,
      {I(CANDIDATES_LEFT), I(SMOOTH_LEFT), I(SMOOTH_RIGHT)}, {I(FACED)}}, is_rectified, steps_facing},
    {{"median left", PLX_STAGE_CHECK, PLX_STEP_BACKEND, false, median_left,
      {I(FACED)}, {I(MEDIAN_LEFT)}}, is_rectified, has_median_left},
    {{"median right", PLX_STAGE_CHECK, PLX_STEP_BACKEND, false, median_right,
      {I(CANDIDATES_RIGHT)}, {I(MEDIAN_RIGHT)}}, is_rectified, has_median_right},
    {{"check", PLX_STAGE_CHECK, PLX_STEP_BACKEND, false, check,
      {I(MEDIAN_LEFT), I(MEDIAN_RIGHT), I(KNOWN)}, {I(CHECKED)}}, is_rectified, NULL},

    {{"speckle", PLX_STAGE_REFINE, PLX_STEP_BACKEND, false, speckle,
      {I(CHECKED)}, {I(DESPECKLED)}}, is_rectified, removes_speckles},
    {{"temporal", PLX_STAGE_REFINE, PLX_STEP_BACKEND, false, temporal,
      {I(DESPECKLED), I(HISTORY)}, {I(STABLE), I(HISTORY)}}, is_rectified, filters_over_time},
    {{"local mean", PLX_STAGE_REFINE, PLX_STEP_BACKEND, false, local_mean,
      {I(STABLE)}, {I(MEAN)}}, is_rectified, takes_means},
    /* The dense disparity starts from the candidates again: a smaller median keeps details, which the fill then spreads. */
    {{"dense median", PLX_STAGE_REFINE, PLX_STEP_BACKEND, false, median_3x3,
      {I(FACED)}, {I(DENSE_MEDIAN)}}, has_dense, NULL},
    {{"dense check", PLX_STAGE_REFINE, PLX_STEP_BACKEND, false, check,
      {I(DENSE_MEDIAN), I(MEDIAN_RIGHT), I(KNOWN)}, {I(DENSE_CHECKED)}}, has_dense, NULL},
    {{"dense speckle", PLX_STAGE_REFINE, PLX_STEP_BACKEND, false, speckle,
      {I(DENSE_CHECKED)}, {I(DENSE_DESPECKLED)}}, has_dense, removes_speckles},
    {{"fill", PLX_STAGE_REFINE, PLX_STEP_BACKEND, false, fill,
      {I(DENSE_DESPECKLED)}, {I(DENSE_FILLED), PLX_IMAGE(FILLED)}}, has_dense, NULL},
    {{"smooth", PLX_STAGE_REFINE, PLX_STEP_BACKEND, false, median_valid,
      {I(DENSE_FILLED)}, {I(DENSE_SMOOTH)}}, has_dense, NULL},
    {{"dense mean", PLX_STAGE_REFINE, PLX_STEP_BACKEND, false, local_mean,
      {I(DENSE_SMOOTH)}, {PLX_IMAGE(DENSE)}}, has_dense, takes_means},
    {{"cross-validate", PLX_STAGE_REFINE, PLX_STEP_BACKEND, false, cross_validate,
      {I(MEAN), PLX_IMAGE(DENSE), I(CANDIDATES_RAW), I(KNOWN)}, {PLX_IMAGE(DISPARITY)}}, is_rectified, compares_with_dense},
    /* at once, and of that stage: motion waits for it, and not for what is copied at the end of a stage */
    {{"corner disparities", PLX_STAGE_REFINE, PLX_STEP_BACKEND, false, corner_disparities,
      {PLX_IMAGE(DISPARITY), I(CORNERS), I(FLOW)}, {I(CORNERS), I(FLOW)}}, has_motion, NULL},
    {{"confidence", PLX_STAGE_REFINE, PLX_STEP_BACKEND, false, confidence,
      {I(CANDIDATES_RAW), I(CANDIDATES_S1), I(CANDIDATES_S2), I(CHECKED), PLX_IMAGE(DENSE), I(KNOWN)}, {PLX_IMAGE(CONFIDENCE)}},
     has_dense_confidence, NULL},
    {{"confidence", PLX_STAGE_REFINE, PLX_STEP_BACKEND, false, confidence,
      {I(CANDIDATES_RAW), I(CANDIDATES_S1), I(CANDIDATES_S2), I(CHECKED), PLX_IMAGE(DISPARITY), I(KNOWN)},
      {PLX_IMAGE(CONFIDENCE)}}, has_strict_confidence, NULL},

    {{"ground", PLX_STAGE_GROUND, PLX_STEP_BACKEND, false, ground,
      {I(STABLE)}, {I(GROUND)}}, has_ground, NULL},
    {{"stixels", PLX_STAGE_STIXELS, PLX_STEP_BACKEND, false, stixels,
      {I(STABLE), I(GROUND)}, {PLX_IMAGE(SCAN), PLX_IMAGE(STIXELS)}}, has_stixels, NULL},
    {{"free ground", PLX_STAGE_STIXELS, PLX_STEP_BACKEND, false, free_ground,
      {PLX_IMAGE(DISPARITY), I(GROUND), PLX_IMAGE(SCAN)}, {PLX_IMAGE(SCAN)}}, has_stixels, NULL},
    {{"segments", PLX_STAGE_OBSTACLES, PLX_STEP_BACKEND, false, segments,
      {PLX_IMAGE(DENSE), I(GROUND), PLX_IMAGE(STIXELS)}, {PLX_IMAGE(STIXELS), I(REGIONS)}}, has_dense_segments, NULL},
    {{"segments", PLX_STAGE_OBSTACLES, PLX_STEP_BACKEND, false, segments,
      {I(STABLE), I(GROUND), PLX_IMAGE(STIXELS)}, {PLX_IMAGE(STIXELS), I(REGIONS)}}, has_strict_segments, NULL},
    {{"mask", PLX_STAGE_OBSTACLES, PLX_STEP_BACKEND, false, mask,
      {I(STABLE), I(GROUND)}, {I(MASK)}}, has_regions, NULL},
    {{"open mask", PLX_STAGE_OBSTACLES, PLX_STEP_BACKEND, false, open_mask,
      {I(MASK)}, {I(OPENED)}}, has_regions, NULL},
    {{"close mask", PLX_STAGE_OBSTACLES, PLX_STEP_BACKEND, false, close_mask,
      {I(OPENED)}, {I(CLOSED)}}, has_regions, NULL},
    {{"label", PLX_STAGE_OBSTACLES, PLX_STEP_BACKEND, false, label,
      {I(CLOSED), I(STABLE)}, {I(REGIONS)}}, has_regions, NULL},
    {{"regions", PLX_STAGE_OBSTACLES, PLX_STEP_BACKEND, false, regions,
      {I(REGIONS), PLX_IMAGE(DENSE), PLX_IMAGE(LEFT), PLX_IMAGE(RIGHT)}, {PLX_IMAGE(LABELS)}}, has_dense_segments, NULL},
    {{"regions", PLX_STAGE_OBSTACLES, PLX_STEP_BACKEND, false, regions,
      {I(REGIONS), I(STABLE), PLX_IMAGE(LEFT), PLX_IMAGE(RIGHT)}, {PLX_IMAGE(LABELS)}}, measures_strict, NULL},

    {{"check pictures", PLX_NO_STAGE, PLX_STEP_BESIDE, false, plx_step_check_pictures,
      {PLX_IMAGE(HISTOGRAM), I(CHECKSUMS)}, {0}}, always, NULL},
    {{"check sharpness", PLX_NO_STAGE, PLX_STEP_BESIDE, false, plx_step_check_sharpness,
      {I(STEPS)}, {0}}, is_rectified, NULL},
    {{"white balance", PLX_NO_STAGE, PLX_STEP_BESIDE, false, plx_step_white_balance,
      {I(COLOUR_SUMS)}, {0}}, has_colour, NULL},
    {{"motion", PLX_STAGE_MOTION, PLX_STEP_BESIDE, false, plx_step_motion,
      {I(CORNERS), I(FLOW)}, {0}}, has_motion, NULL},
    {{"drift", PLX_NO_STAGE, PLX_STEP_BESIDE, false, plx_step_drift,
      {PLX_IMAGE(LEFT), PLX_IMAGE(RIGHT), PLX_IMAGE(DISPARITY)}, {0}}, is_rectified, NULL},

    {{"geometry", PLX_STAGE_TRACKS, PLX_STEP_AFTER, false, plx_step_geometry,
      {I(GROUND)}, {0}}, is_rectified, NULL},
    {{"obstacles", PLX_STAGE_TRACKS, PLX_STEP_AFTER, false, plx_step_obstacles,
      {PLX_IMAGE(STIXELS), PLX_IMAGE(LABELS), PLX_IMAGE(DISPARITY), PLX_IMAGE(CONFIDENCE)}, {0}}, has_obstacles, NULL},
    {{"tracks", PLX_STAGE_TRACKS, PLX_STEP_AFTER, false, plx_step_tracks, {0}, {0}}, has_obstacles, NULL},
    {{"alignment", PLX_NO_STAGE, PLX_STEP_AFTER, false, plx_step_alignment, {PLX_IMAGE(LEFT)}, {0}}, is_rectified, NULL},
    {{"mount", PLX_NO_STAGE, PLX_STEP_AFTER, false, plx_step_mount, {0}, {0}}, is_rectified, NULL},
    {{"blindness", PLX_NO_STAGE, PLX_STEP_AFTER, false, plx_step_blindness, {0}, {0}}, always, NULL},
    {{"map", PLX_STAGE_MAP, PLX_STEP_AFTER, false, plx_step_map,
      {PLX_IMAGE(SCAN), PLX_IMAGE(STIXELS)}, {PLX_IMAGE(MAP)}}, has_map, NULL},
    {{"zones", PLX_STAGE_MAP, PLX_STEP_AFTER, false, plx_step_zones,
      {PLX_IMAGE(MAP), PLX_IMAGE(SCAN)}, {0}}, is_rectified, NULL},
};
/* clang-format on */

const int plx_step_rows = sizeof plx_step_table / sizeof plx_step_table[0];
