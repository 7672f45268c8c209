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

#endif
