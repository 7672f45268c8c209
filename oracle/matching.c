/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/matching.h"

#include "oracle/oracle.h"

const char *const matching_names[MATCHING_PLANES] = {
    [MATCHING_CENSUS_LEFT] = "left census",
    [MATCHING_CENSUS_RIGHT] = "right census",
    [MATCHING_GRADIENT_LEFT] = "left gradient",
    [MATCHING_GRADIENT_RIGHT] = "right gradient",
    [MATCHING_CANDIDATE_LEFT] = "left winner",
    [MATCHING_CANDIDATE_RIGHT] = "right winner",
    [MATCHING_CANDIDATE_RAW] = "raw winner",
    [MATCHING_WIN_S1] = "S1",
    [MATCHING_WIN_S2] = "S2",
    [MATCHING_MEDIAN_LEFT] = "left median",
    [MATCHING_MEDIAN_RIGHT] = "right median",
    [MATCHING_CHECKED] = "check",
    [MATCHING_DENSE] = "fill",
    [MATCHING_FILLED] = "filled",
    [MATCHING_CONFIDENCE] = "confidence",
};

enum plx_type matching_type(const struct plx_match *match, enum matching_plane plane)
{
    switch (plane) {
    case MATCHING_CENSUS_LEFT:
    case MATCHING_CENSUS_RIGHT:
        return match->census == PLX_CENSUS_FULL_9X7 ? PLX_U64 : PLX_U32;
    case MATCHING_GRADIENT_LEFT:
    case MATCHING_GRADIENT_RIGHT:
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
                                   plane[MATCHING_CANDIDATE_RAW], plane[MATCHING_WIN_S1], plane[MATCHING_WIN_S2]};
}

int matching_run(struct plx_stages *s, const struct plx_image grey[PLX_EYES], const struct plx_match *m,
                 const struct plx_image p[MATCHING_PLANES])
{
    const struct plx_features left = features(p, PLX_LEFT), right = features(p, PLX_RIGHT);
    const struct plx_candidates w = candidates(p);
    const int results[] = {
        s->ops->census(s, &grey[PLX_LEFT], m, &left),
        s->ops->census(s, &grey[PLX_RIGHT], m, &right),
        s->ops->sgm(s, &left, &right, &grey[PLX_LEFT], m, &w),
        s->ops->median(s, &p[MATCHING_CANDIDATE_LEFT], m->median_left, &p[MATCHING_MEDIAN_LEFT]),
        s->ops->median(s, &p[MATCHING_CANDIDATE_RIGHT], m->median_right, &p[MATCHING_MEDIAN_RIGHT]),
        s->ops->check(s, &p[MATCHING_MEDIAN_LEFT], &p[MATCHING_MEDIAN_RIGHT], &grey[PLX_LEFT], m, &p[MATCHING_CHECKED]),
        s->ops->fill(s, &p[MATCHING_CHECKED], &p[MATCHING_DENSE], &p[MATCHING_FILLED]),
        s->ops->confidence(s, &w, &p[MATCHING_CHECKED], m, &p[MATCHING_CONFIDENCE]),
    };
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (results[i] < 0)
            return results[i];
    return 0;
}

void matching_oracle(const struct plx_image grey[PLX_EYES], const struct plx_match *m,
                     const struct plx_image p[MATCHING_PLANES])
{
    const struct plx_features left = features(p, PLX_LEFT), right = features(p, PLX_RIGHT);
    const struct plx_candidates w = candidates(p);
    oracle_census(&grey[PLX_LEFT], m, &left);
    oracle_census(&grey[PLX_RIGHT], m, &right);
    oracle_sgm(&left, &right, &grey[PLX_LEFT], m, &w);
    oracle_median(&p[MATCHING_CANDIDATE_LEFT], m->median_left, &p[MATCHING_MEDIAN_LEFT]);
    oracle_median(&p[MATCHING_CANDIDATE_RIGHT], m->median_right, &p[MATCHING_MEDIAN_RIGHT]);
    oracle_check(&p[MATCHING_MEDIAN_LEFT], &p[MATCHING_MEDIAN_RIGHT], &grey[PLX_LEFT], m, &p[MATCHING_CHECKED]);
    oracle_fill(&p[MATCHING_CHECKED], &p[MATCHING_DENSE], &p[MATCHING_FILLED]);
    oracle_confidence(&w, &p[MATCHING_CHECKED], m, &p[MATCHING_CONFIDENCE]);
}
