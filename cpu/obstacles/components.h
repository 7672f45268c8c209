/* SPDX-License-Identifier: Apache-2.0 */
/* Connected components of an image by runs and union-find: what labelling and the speckle filter share. */
#ifndef PLX_CPU_OBSTACLES_COMPONENTS_H
#define PLX_CPU_OBSTACLES_COMPONENTS_H

#include <stdint.h>

#include "core/image.h"

struct plx_run {
    uint16_t x0, x1; /* columns x0 .. x1 - 1 */
};

/* Runs are numbered in raster order; the root of a component is its first run, so it begins with the component's first pixel.
 */
struct plx_components {
    uint32_t *row;       /* [height + 1] first run of each row */
    struct plx_run *run; /* [row[height]] */
    uint32_t *root;      /* of each run */
    uint32_t *area;      /* of each root, pixels; 0 for other runs */
    uint32_t *order[2];  /* scratch of sorting, as many as there can be runs */
};

enum plx_connectivity { PLX_CONNECT_4, PLX_CONNECT_8 };

/* Memory for images of up to WIDTH x HEIGHT pixels. Errors: NOMEM. */
int plx_components_create(int width, int height, struct plx_components **ret_components);
void plx_components_destroy(struct plx_components *components);

/* Finds the components of the pixels that have a disparity and, if MASK is not NULL, a mask that is not 0; neighbours belong
 * together if their disparities differ by no more than MAX_STEP. */
void plx_components_find(struct plx_components *components, const struct plx_image *mask, const struct plx_image *disparity,
                         int max_step, enum plx_connectivity connectivity);

#endif
