/* SPDX-License-Identifier: Apache-2.0 */
/* Oracle of the stage segments, in plain loops that follow docs/stages.md and share no code with core/ or cpu/. Arguments are
 * as in core/pipeline/stages.h and are not checked. */
#ifndef PLX_ORACLE_SEGMENTS_H
#define PLX_ORACLE_SEGMENTS_H

#include "core/ground/segments.h"

void oracle_segments(const struct plx_image *disparity, const struct plx_ground *ground,
                     const struct plx_segments_params *params, const struct plx_predictions *predictions,
                     const struct plx_image *stixels, const struct plx_image *ret_labels, uint32_t *ret_count);

#endif
