/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/matching.h"

#include "oracle/oracle.h"

const char *const matching_names[MATCHING_PLANES] = {
    [MATCHING_CENSUS_LEFT] = "left census",
    [MATCHING_CENSUS_RIGHT] = "right census",
    [MATCHING_GRADIENT_LEFT] = "left gradient",
    [MATCHING_GRADIENT_RIGHT] = "right gradient",
    [MATCHING_CANDIDATE_LEFT] = "left candidate",
    [MATCHING_CANDIDATE_RIGHT] = "right candidate",
    [MATCHING_CANDIDATE_RAW] = "raw candidate",
    [MATCHING_S1] = "S1",
    [MATCHING_S2] = "S2",
    [MATCHING_FACED] = "step of facing surfaces",
    [MATCHING_MEDIAN_LEFT] = "left median",
    [MATCHING_MEDIAN_RIGHT] = "right median",
    [MATCHING_DISTINCT] = "left image without repeats",
    [MATCHING_CHECKED] = "left-right check",
    [MATCHING_LOCAL_MEAN] = "local means of the strict disparity",
    [MATCHING_STRICT] = "strict disparity",
    [MATCHING_DENSE_MEDIAN] = "median of the dense disparity",
    [MATCHING_DENSE_CHECKED] = "check of the dense disparity",
    [MATCHING_DENSE_FILLED] = "fill of the dense disparity",
    [MATCHING_FILLED] = "filled",
    [MATCHING_DENSE_SMOOTH] = "last median of the dense disparity",
    [MATCHING_DENSE] = "dense disparity",
    [MATCHING_CONFIDENCE] = "confidence",
};

enum {
    CENSUS_LEFT,
    CENSUS_RIGHT,
    SGM,
    FACING,
    MEDIAN_RIGHT,
    REPEATS,
    DENSE_MEDIAN,
    DENSE_CHECK,
    DENSE_FILL,
    DENSE_SMOOTH,
    DENSE_EVEN,
    MEDIAN_LEFT,
    CHECK,
    EVEN,
    AGREE,
    CONFIDENCE
};

/* The right median comes first, because both disparities need it. A GPU runs the refining calls beside those that follow. */
const struct matching_call matching_calls[MATCHING_CALLS] = {
    [CENSUS_LEFT] = {MATCHING_GROUP_CENSUS, PLX_STAGE_CENSUS, false},
    [CENSUS_RIGHT] = {MATCHING_GROUP_CENSUS, PLX_STAGE_CENSUS, false},
    [SGM] = {MATCHING_GROUP_SGM, PLX_STAGE_SGM, false},
    [FACING] = {MATCHING_GROUP_FACING, PLX_STAGE_CHECK, true},
    [MEDIAN_RIGHT] = {MATCHING_GROUP_MEDIAN, PLX_STAGE_CHECK, false},
    [REPEATS] = {MATCHING_GROUP_CHECK, PLX_STAGE_CHECK, true},
    [DENSE_MEDIAN] = {MATCHING_GROUP_MEDIAN, PLX_STAGE_REFINE, true},
    [DENSE_CHECK] = {MATCHING_GROUP_CHECK, PLX_STAGE_REFINE, true},
    [DENSE_FILL] = {MATCHING_GROUP_FILL, PLX_STAGE_REFINE, true},
    [DENSE_SMOOTH] = {MATCHING_GROUP_FILL, PLX_STAGE_REFINE, true},
    [DENSE_EVEN] = {MATCHING_GROUP_LOCAL_MEAN, PLX_STAGE_REFINE, true},
    [MEDIAN_LEFT] = {MATCHING_GROUP_MEDIAN, PLX_STAGE_CHECK, false},
    [CHECK] = {MATCHING_GROUP_CHECK, PLX_STAGE_CHECK, false},
    [EVEN] = {MATCHING_GROUP_LOCAL_MEAN, PLX_STAGE_REFINE, true},
    [AGREE] = {MATCHING_GROUP_LOCAL_MEAN, PLX_STAGE_REFINE, true},
    [CONFIDENCE] = {MATCHING_GROUP_CONFIDENCE, PLX_STAGE_REFINE, true},
};

enum plx_type matching_type(const struct plx_match *match, enum matching_plane plane)
{
    switch (plane) {
    case MATCHING_CENSUS_LEFT:
    case MATCHING_CENSUS_RIGHT:
        return match->census == PLX_CENSUS_FULL_9X7 ? PLX_U64 : PLX_U32;
    case MATCHING_DISTINCT:
    case MATCHING_FILLED:
    case MATCHING_CONFIDENCE:
        return PLX_U8;
    default:
        return PLX_U16;
    }
}

static struct plx_features features(const struct plx_image *plane, enum plx_eye eye)
{
    return (struct plx_features){plane[MATCHING_CENSUS_LEFT + eye], plane[MATCHING_GRADIENT_LEFT + eye]};
}

static struct plx_candidates candidates(const struct plx_image *plane)
{
    return (struct plx_candidates){plane[MATCHING_CANDIDATE_LEFT], plane[MATCHING_CANDIDATE_RIGHT],
                                   plane[MATCHING_CANDIDATE_RAW], plane[MATCHING_S1], plane[MATCHING_S2]};
}

/* The left image, 0 where nothing can be known. */
static const struct plx_image *known(const struct plx_match *m, const struct plx_image *left, const struct plx_image *p)
{
    return m->repeats ? &p[MATCHING_DISTINCT] : left;
}

/* The left candidates that the medians read. */
static const struct plx_image *faced(const struct plx_match *m, const struct plx_image *p)
{
    return m->facing ? &p[MATCHING_FACED] : &p[MATCHING_CANDIDATE_LEFT];
}

/* A copy unless ON. */
static int local_mean(struct plx_stages *s, bool on, const struct plx_image *src, const struct plx_image *dst)
{
    return on ? s->ops->local_mean(s, src, dst) : s->ops->median(s, src, PLX_MEDIAN_NONE, dst);
}

int matching_run_call(struct plx_stages *s, int number, const struct plx_image grey[PLX_EYES], const struct plx_match *m,
                      const struct plx_image p[MATCHING_PLANES])
{
    const struct plx_features left = features(p, PLX_LEFT), right = features(p, PLX_RIGHT);
    const struct plx_candidates found = candidates(p);

    switch (number) {
    case CENSUS_LEFT:
        return s->ops->census(s, &grey[PLX_LEFT], m, &left);
    case CENSUS_RIGHT:
        return s->ops->census(s, &grey[PLX_RIGHT], m, &right);
    case SGM:
        return s->ops->sgm(s, &left, &right, &grey[PLX_LEFT], m, &found);
    case FACING:
        return s->ops->facing(s, &p[MATCHING_CANDIDATE_LEFT], &grey[PLX_LEFT], &grey[PLX_RIGHT], m, &p[MATCHING_FACED]);
    case MEDIAN_RIGHT:
        return s->ops->median(s, &p[MATCHING_CANDIDATE_RIGHT], m->median_right, &p[MATCHING_MEDIAN_RIGHT]);
    case REPEATS:
        return s->ops->repeats(s, &grey[PLX_LEFT], &p[MATCHING_DISTINCT]);
    case DENSE_MEDIAN:
        return s->ops->median(s, faced(m, p), PLX_MEDIAN_3X3, &p[MATCHING_DENSE_MEDIAN]);
    case DENSE_CHECK:
        return s->ops->check(s, &p[MATCHING_DENSE_MEDIAN], &p[MATCHING_MEDIAN_RIGHT], known(m, &grey[PLX_LEFT], p), m,
                             &p[MATCHING_DENSE_CHECKED]);
    case DENSE_FILL:
        return s->ops->fill(s, &p[MATCHING_DENSE_CHECKED], &p[MATCHING_DENSE_FILLED], &p[MATCHING_FILLED]);
    case DENSE_SMOOTH:
        return s->ops->median(s, &p[MATCHING_DENSE_FILLED], PLX_MEDIAN_VALID_5X5, &p[MATCHING_DENSE_SMOOTH]);
    case DENSE_EVEN:
        return local_mean(s, m->local_mean, &p[MATCHING_DENSE_SMOOTH], &p[MATCHING_DENSE]);
    case MEDIAN_LEFT:
        return s->ops->median(s, faced(m, p), m->median_left, &p[MATCHING_MEDIAN_LEFT]);
    case CHECK:
        return s->ops->check(s, &p[MATCHING_MEDIAN_LEFT], &p[MATCHING_MEDIAN_RIGHT], known(m, &grey[PLX_LEFT], p), m,
                             &p[MATCHING_CHECKED]);
    case EVEN:
        return local_mean(s, m->local_mean, &p[MATCHING_CHECKED], &p[MATCHING_LOCAL_MEAN]);
    case AGREE:
        if (!m->cross_validate)
            return s->ops->median(s, &p[MATCHING_LOCAL_MEAN], PLX_MEDIAN_NONE, &p[MATCHING_STRICT]);
        return s->ops->cross_validate(s, &p[MATCHING_LOCAL_MEAN], &p[MATCHING_DENSE], &p[MATCHING_CANDIDATE_RAW],
                                      known(m, &grey[PLX_LEFT], p), &p[MATCHING_STRICT]);
    default:
        return s->ops->confidence(s, &found, &p[MATCHING_CHECKED], &p[MATCHING_DENSE], known(m, &grey[PLX_LEFT], p), m,
                                  &p[MATCHING_CONFIDENCE]);
    }
}

int matching_run(struct plx_stages *stages, const struct plx_image grey[PLX_EYES], const struct plx_match *match,
                 const struct plx_image plane[MATCHING_PLANES])
{
    int result = 0;
    for (int i = 0; i < MATCHING_CALLS && result == 0; i++)
        result = matching_run_call(stages, i, grey, match, plane);
    return result;
}

static void oracle_local_mean_or_copy(bool on, const struct plx_image *src, const struct plx_image *dst)
{
    if (on)
        oracle_local_mean(src, dst);
    else
        oracle_median(src, PLX_MEDIAN_NONE, dst);
}

void matching_oracle(const struct plx_image grey[PLX_EYES], const struct plx_match *m,
                     const struct plx_image p[MATCHING_PLANES])
{
    const struct plx_features left = features(p, PLX_LEFT), right = features(p, PLX_RIGHT);
    const struct plx_candidates found = candidates(p);

    oracle_census(&grey[PLX_LEFT], m, &left);
    oracle_census(&grey[PLX_RIGHT], m, &right);
    oracle_sgm(&left, &right, &grey[PLX_LEFT], m, &found);
    oracle_facing(&p[MATCHING_CANDIDATE_LEFT], &grey[PLX_LEFT], &grey[PLX_RIGHT], m, &p[MATCHING_FACED]);
    oracle_median(faced(m, p), m->median_left, &p[MATCHING_MEDIAN_LEFT]);
    oracle_median(&p[MATCHING_CANDIDATE_RIGHT], m->median_right, &p[MATCHING_MEDIAN_RIGHT]);
    oracle_repeats(&grey[PLX_LEFT], &p[MATCHING_DISTINCT]);
    oracle_check(&p[MATCHING_MEDIAN_LEFT], &p[MATCHING_MEDIAN_RIGHT], known(m, &grey[PLX_LEFT], p), m, &p[MATCHING_CHECKED]);
    oracle_local_mean_or_copy(m->local_mean, &p[MATCHING_CHECKED], &p[MATCHING_LOCAL_MEAN]);
    oracle_median(faced(m, p), PLX_MEDIAN_3X3, &p[MATCHING_DENSE_MEDIAN]);
    oracle_check(&p[MATCHING_DENSE_MEDIAN], &p[MATCHING_MEDIAN_RIGHT], known(m, &grey[PLX_LEFT], p), m,
                 &p[MATCHING_DENSE_CHECKED]);
    oracle_fill(&p[MATCHING_DENSE_CHECKED], &p[MATCHING_DENSE_FILLED], &p[MATCHING_FILLED]);
    oracle_median(&p[MATCHING_DENSE_FILLED], PLX_MEDIAN_VALID_5X5, &p[MATCHING_DENSE_SMOOTH]);
    oracle_local_mean_or_copy(m->local_mean, &p[MATCHING_DENSE_SMOOTH], &p[MATCHING_DENSE]);
    if (m->cross_validate)
        oracle_cross_validate(&p[MATCHING_LOCAL_MEAN], &p[MATCHING_DENSE], &p[MATCHING_CANDIDATE_RAW],
                              known(m, &grey[PLX_LEFT], p), &p[MATCHING_STRICT]);
    else
        oracle_median(&p[MATCHING_LOCAL_MEAN], PLX_MEDIAN_NONE, &p[MATCHING_STRICT]);
    oracle_confidence(&found, &p[MATCHING_CHECKED], &p[MATCHING_DENSE], known(m, &grey[PLX_LEFT], p), m,
                      &p[MATCHING_CONFIDENCE]);
}
