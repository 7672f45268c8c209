/* SPDX-License-Identifier: Apache-2.0 */
#include "app/selftest/scene_pairs.h"

#include <parallax/error.h>

bool scene_pairs_open(enum plx_backend_kind kind, int width, int height, const struct plx_pipeline_params *params,
                      struct stand *ret, struct check_outcome *outcome)
{
    const struct stand_kind stand_kind = {width, height, PLX_FORMAT_GREY, false, *params, NULL};
    const struct plx_limits limits = stand_limits(&stand_kind);
    struct plx_stages *stages;
    struct plx_error_message message;

    if (!check_backend(kind, &limits, &stages, outcome))
        return false;
    if (stand_open(stages, &stand_kind, ret, &message) == 0)
        return true;
    check_fail(outcome, "no pipeline: %s", message.text);
    return false;
}

bool scene_pairs_run(struct stand *stand, int number, struct check_outcome *outcome)
{
    const int result = stand_run(stand, number);
    if (result < 0)
        check_fail(outcome, "frame %d: %s. %s", number, plx_strerror(result), stand->stages->message.text);
    return result == 0;
}
