/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU backend: the stages of core/pipeline/stages.h in CUDA C, the same bits as cpu/. */
#ifndef PLX_GPU_GPU_H
#define PLX_GPU_GPU_H

#ifdef __cplusplus
extern "C" {
#endif

struct plx_error_message;
struct plx_limits;
struct plx_match;
struct plx_stages;

/* Memory that both processors reach. */
enum plx_gpu_memory {
    PLX_GPU_MEMORY_AUTO,    /* by the device's attributes, see gpu/runtime/memory.c */
    PLX_GPU_MEMORY_MAPPED,  /* pinned and mapped; stages write frames in place */
    PLX_GPU_MEMORY_MANAGED, /* managed, moved by the driver; stages write frames in place */
    PLX_GPU_MEMORY_COPIED   /* pinned; stages work in the GPU's own, frames are copied out */
};

/* Creates the backend on the current CUDA device, with its streams and all of its scratch memory. A CUDA call that fails gives
 * LOST or NOMEM at once or at the end of the frame, and stages->message names it. Errors: NOT_FOUND (no driver or no device),
 * UNSUPPORTED (built without CUDA, too old a driver, a device of another architecture or without MEMORY), NOMEM, RANGE; MESSAGE
 * says which. Destroy with (*ret)->ops->destroy. */
int plx_gpu_create_memory(const struct plx_limits *limits, enum plx_gpu_memory memory, struct plx_stages **ret_stages,
                          struct plx_error_message *message);

static inline int plx_gpu_create(const struct plx_limits *limits, struct plx_stages **ret_stages,
                                 struct plx_error_message *message)
{
    return plx_gpu_create_memory(limits, PLX_GPU_MEMORY_AUTO, ret_stages, message);
}

/* How stage sgm is launched: one of these. Each gives the same bits; which is the fastest depends on the GPU and the image.
 * The backend chooses unless plx_gpu_set_schedule does. */
#define PLX_GPU_SCHEDULES 3
const char *plx_gpu_schedule_name(int schedule); /* NULL if there is none */

/* From now on CHOICE; by itself again if it is below 0. ARG if there is none. STAGES is this backend's. */
int plx_gpu_set_schedule(struct plx_stages *stages, int schedule);

struct plx_gpu_plan {
    int schedule;
    int warps;    /* warps for the lines of the image, */
    int resident; /* and how many of them the GPU holds at once, at most */
    double waste; /* share of the places of those warps that have no pixel */
};

/* What it does with pictures of this size. */
void plx_gpu_plan(const struct plx_stages *stages, int width, int height, const struct plx_match *match,
                  struct plx_gpu_plan *ret_plan);

/* The GPU, e.g. "NVIDIA H200, 132 multiprocessors". Lives as long as STAGES. */
const char *plx_gpu_device(const struct plx_stages *stages);

#ifdef __cplusplus
}
#endif
#endif
