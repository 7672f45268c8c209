/* SPDX-License-Identifier: Apache-2.0 */
#include "app/selftest/scene_pairs.h"

#include <parallax/error.h>

bool scene_pairs_open(enum plx_backend_kind kind, int width, int height, const struct plx_pipeline_params *params,
                      struct fixture *ret, struct check_outcome *outcome)
{
    const struct fixture_kind fixture_kind = {width, height, PLX_FORMAT_GREY, false, *params, NULL};
    const struct plx_limits limits = fixture_limits(&fixture_kind);
    struct plx_stages *stages;
    struct plx_error_message message;

    if (!check_backend(kind, &limits, &stages, outcome))
        return false;
    if (fixture_open(stages, &fixture_kind, ret, &message) == 0)
        return true;
    check_fail(outcome, "no pipeline: %s", message.text);
    return false;
}

bool scene_pairs_run(struct fixture *fixture, int number, struct check_outcome *outcome)
{
    const int result = fixture_run(fixture, number);
    if (result < 0)
        check_fail(outcome, "frame %d: %s. %s", number, plx_strerror(result), fixture->stages->message.text);
    return result == 0;
}
