/* SPDX-License-Identifier: Apache-2.0 */
/* Oracle of the stage free_ground, in plain loops that follow docs/stages.md and share no code with core/ or cpu/. Arguments
 * are as in core/pipeline/stages.h and are not checked. */
#ifndef PLX_ORACLE_FREE_GROUND_H
#define PLX_ORACLE_FREE_GROUND_H

#include "core/ground/columns.h"

void oracle_free_ground(const struct plx_image *disparity, const struct plx_ground *ground,
                        const struct plx_columns_params *params, const struct plx_calibration_info *calibration,
                        const struct plx_image *scan);

#endif
