/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU backend: the stages of core/stages.h in CUDA C, the same bits as cpu/. */
#ifndef PLX_GPU_GPU_H
#define PLX_GPU_GPU_H

#include "core/stages.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Creates the backend on the current CUDA device, with its streams and all of its scratch memory. Stages run one after the
 * other on a stream of its own and are complete after ops->finish; a CUDA call that fails gives LOST or NOMEM there or earlier,
 * and stages->why names it. Errors: UNSUPPORTED (built without CUDA, no driver, no device, a device of another architecture),
 * NOMEM, RANGE; WHY says which. Destroy with (*ret)->ops->destroy.
 */
int plx_gpu_create(const struct plx_limits *limits, struct plx_stages **ret_stages, struct plx_why *why);

#ifdef __cplusplus
}
#endif
#endif
