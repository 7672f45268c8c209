/* SPDX-License-Identifier: Apache-2.0 */
/* Oracles of the stages ground and mask, in plain loops that follow docs/stages.md sentence by sentence and share no code with
 * core/ or cpu/. Arguments are as in core/pipeline/stages.h and are not checked. */
#ifndef PLX_ORACLE_GROUND_H
#define PLX_ORACLE_GROUND_H

#include "core/base/image.h"
#include "core/ground/ground.h"

void oracle_ground(const struct plx_image *disparity, const struct plx_ground_params *params,
                   const struct plx_ground_prior *prior, struct plx_ground *ret_ground);
void oracle_mask(const struct plx_image *disparity, const struct plx_ground *ground, const struct plx_mask_params *params,
                 const struct plx_image *ret_mask);

#endif
