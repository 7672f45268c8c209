/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU backend: every stage of core/pipeline/stages.h in portable C and SIMD, on a fixed pool of threads. */
#ifndef PLX_CPU_CPU_H
#define PLX_CPU_CPU_H

#include "core/pipeline/stages.h"

/* Creates the backend with its threads and scratch memory. Errors: NOMEM, RANGE. Destroy with (*ret)->ops->destroy. */
int plx_cpu_create(const struct plx_limits *limits, struct plx_stages **ret_stages);

#endif
