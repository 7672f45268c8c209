/* SPDX-License-Identifier: Apache-2.0 */
/* Oracle of the stage stixels, in plain loops that follow docs/stages.md and share no code with core/ or cpu/. Arguments are
 * as in core/pipeline/stages.h and are not checked. */
#ifndef PLX_ORACLE_COLUMNS_H
#define PLX_ORACLE_COLUMNS_H

#include "core/ground/columns.h"

void oracle_columns(const struct plx_image *disparity, const struct plx_ground *ground, const struct plx_columns_params *params,
                    const struct plx_image *ret_scan, const struct plx_image *ret_stixels);

#endif
