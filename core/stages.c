/* SPDX-License-Identifier: Apache-2.0 */
#include "core/stages.h"

#include <parallax/error.h>

static bool fits(const struct plx_image *image, const struct plx_image *grey, enum plx_type type)
{
    return plx_image_ok(image, type) && plx_same_size(image, grey);
}

static bool features_fit(const struct plx_features *features, const struct plx_image *grey, const struct plx_match *match)
{
    return fits(&features->census, grey, match->census == PLX_CENSUS_FULL_9X7 ? PLX_U64 : PLX_U32) &&
           (match->gradient_cap == 0 || fits(&features->gradient, grey, PLX_U8));
}

int plx_census_check(const struct plx_image *grey, const struct plx_match *match, const struct plx_features *features)
{
    const int result = plx_match_check(match, NULL);
    if (result < 0)
        return result;
    return plx_image_ok(grey, PLX_U8) && features_fit(features, grey, match) ? 0 : PLX_ERR_ARG;
}

int plx_sgm_check(const struct plx_features *left, const struct plx_features *right, const struct plx_image *left_grey,
                  const struct plx_match *match, const struct plx_candidates *candidates)
{
    const struct plx_image *const wanted[] = {&candidates->left, &candidates->right, &candidates->raw, &candidates->s1,
                                              &candidates->s2};
    int result = plx_census_check(left_grey, match, left);

    if (result == 0)
        result = features_fit(right, left_grey, match) ? 0 : PLX_ERR_ARG;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0] && result == 0; i++)
        result = fits(wanted[i], left_grey, PLX_U16) ? 0 : PLX_ERR_ARG;
    return result;
}
