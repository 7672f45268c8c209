/* SPDX-License-Identifier: Apache-2.0 */
#include "app/backend.h"

#include <parallax/error.h>

#include "cpu/cpu.h"
#include "gpu/gpu.h"

static int open_cpu(const struct plx_limits *limits, struct plx_stages **ret_stages, struct plx_why *why)
{
    int result = plx_cpu_create(limits, ret_stages);
    if (result < 0)
        plx_fail(why, result, "the CPU backend for %d x %d pixels: %s", limits->width, limits->height, plx_strerror(result));
    return result;
}

/* The GPU's, if it has every stage of a frame. */
static int open_gpu(const struct plx_limits *limits, struct plx_stages **ret_stages, struct plx_why *why)
{
    int result = plx_gpu_create(limits, ret_stages, why);
    if (result < 0)
        return result;
    const struct plx_stages_ops *ops = (*ret_stages)->ops;
    if (ops->convert && ops->histogram && ops->rectify && ops->filter && ops->census && ops->sgm && ops->median && ops->check &&
        ops->fill && ops->speckle && ops->confidence && ops->temporal && ops->ground && ops->mask && ops->label && ops->regions)
        return 0;
    ops->destroy(*ret_stages);
    return plx_fail(why, PLX_ERR_UNSUPPORTED, "the GPU backend of this version lacks some of the stages");
}

int plx_backend_open(enum plx_backend_kind kind, const struct plx_limits *limits, struct plx_stages **ret_stages,
                     struct plx_why *note, struct plx_why *why)
{
    struct plx_why reason = {""};

    if (note)
        *note = reason;
    if (kind == PLX_BACKEND_CPU)
        return open_cpu(limits, ret_stages, why);
    int result = open_gpu(limits, ret_stages, &reason);
    if (result == 0)
        return 0;
    if (kind == PLX_BACKEND_GPU)
        return plx_fail(why, result, "backend is gpu, but %s; set backend to cpu or auto", reason.text);
    if (note)
        plx_fail(note, result, "backend is auto, and the CPU works: %s", reason.text);
    return open_cpu(limits, ret_stages, why);
}
