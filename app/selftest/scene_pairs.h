/* SPDX-License-Identifier: Apache-2.0 */
/* The fixture on which checks run whole frames of the demonstration scene: what goes wrong there becomes their outcome. */
#ifndef PLX_APP_SELFTEST_SCENE_PAIRS_H
#define PLX_APP_SELFTEST_SCENE_PAIRS_H

#include "app/selftest/check.h"
#include "app/selftest/fixture.h"

/* Grey pairs of an ideal camera and a pipeline for them on a backend of KIND. False if that cannot be, with OUTCOME saying why.
 */
bool scene_pairs_open(enum plx_backend_kind kind, int width, int height, const struct plx_pipeline_params *params,
                      struct fixture *ret, struct check_outcome *outcome);

/* Pair NUMBER through the pipeline; false on an error, which OUTCOME says. */
bool scene_pairs_run(struct fixture *fixture, int number, struct check_outcome *outcome);

#endif
