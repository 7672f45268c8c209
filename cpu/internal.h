/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of cpu/ share: the backend's state, and its stages by name. */
#ifndef PLX_CPU_INTERNAL_H
#define PLX_CPU_INTERNAL_H

#include "core/stages.h"
#include "cpu/pool.h"

struct plx_cpu {
    struct plx_stages base; /* first: a struct plx_stages * of this backend is a struct plx_cpu * */
    struct plx_limits limits;
    struct plx_pool *pool;
};

static inline struct plx_cpu *plx_cpu(struct plx_stages *self)
{
    return (struct plx_cpu *)self;
}

/* True if IMAGE is within the limits given at creation. */
static inline bool plx_cpu_holds(const struct plx_cpu *cpu, const struct plx_image *image)
{
    return image->width <= cpu->limits.width && image->height <= cpu->limits.height;
}

/* convert.c, histogram.c, rectify.c */
int plx_cpu_convert(struct plx_stages *self, const struct plx_raw *raw, const struct plx_image *grey);
int plx_cpu_histogram(struct plx_stages *self, const struct plx_image *grey, int bins, const struct plx_image *ret_bins);
int plx_cpu_rectify(struct plx_stages *self, const struct plx_image *src, const struct plx_remap *map,
                    const struct plx_image *dst, uint32_t *ret_masked);

#endif
