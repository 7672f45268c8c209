/* SPDX-License-Identifier: Apache-2.0 */
/* Oracles of labelling, speckle filter and regions: flood fill, sorting, counting. */
#ifndef PLX_ORACLE_COMPONENTS_H
#define PLX_ORACLE_COMPONENTS_H

#include "core/base/image.h"
#include "core/ground/obstacles.h"

/* As the stage `label`. */
void oracle_label(const struct plx_image *mask, const struct plx_image *disparity, const struct plx_label_params *params,
                  const struct plx_image *ret_labels, uint32_t *ret_count);

/* As the stage `speckle`. */
void oracle_speckle(const struct plx_image *src, int max_size, int max_step, const struct plx_image *dst);

/* As the stage `regions`, one region after the other. */
void oracle_regions(const struct plx_region_input *in, uint32_t count, struct plx_region *ret_regions,
                    const struct plx_image *ret_published);

#endif
