/* SPDX-License-Identifier: Apache-2.0 */
/* Oracle of the stage records, in plain loops that follow docs/stages.md and share no code with core/ or cpu/. Arguments are
 * as in core/pipeline/stages.h and are not checked. */
#ifndef PLX_ORACLE_RECORDS_H
#define PLX_ORACLE_RECORDS_H

#include "core/ground/records.h"

void oracle_records(const struct plx_image *disparity, const struct plx_ground *ground, const struct plx_records_params *params,
                    const struct plx_predictions *predictions, const struct plx_image *stixels,
                    const struct plx_image *ret_labels, uint32_t *ret_count);

#endif
