/* SPDX-License-Identifier: Apache-2.0 */
#include "app/backend.h"

#include <parallax/error.h>

#include "core/checks/health_table.h"
#include "cpu/cpu.h"
#include "gpu/gpu.h"

static int open_cpu(const struct plx_limits *limits, struct plx_stages **ret_stages, struct plx_error_message *message)
{
    int result = plx_cpu_create(limits, ret_stages);
    if (result < 0)
        plx_fail(message, result, "the CPU backend for %d x %d pixels: %s", limits->width, limits->height,
                 plx_strerror(result));
    return result;
}

int plx_backend_open(enum plx_backend_kind kind, enum plx_gpu_memory memory, const struct plx_limits *limits,
                     struct plx_stages **ret_stages, struct plx_error_message *note, struct plx_error_message *message)
{
    struct plx_error_message reason = {""};

    if (note)
        *note = reason;
    if (kind == PLX_BACKEND_CPU)
        return open_cpu(limits, ret_stages, message);
    const int before = plx_heartbeat_busy(PLX_WATCHED_GPU);
    int result = plx_gpu_create_memory(limits, memory, ret_stages, &reason);
    plx_heartbeat_busy(before);
    if (result == 0)
        return 0;
    const bool is_absent = result == PLX_ERR_NOT_FOUND;
    if (kind == PLX_BACKEND_GPU)
        return plx_fail(message, is_absent ? PLX_ERR_UNSUPPORTED : result, "backend is gpu, but %s; set backend to cpu or auto",
                        reason.text);
    if (note && is_absent)
        plx_fail(note, result, "no NVIDIA GPU here: computing on the CPU"); /* no fault: CUDA's words are for the report */
    else if (note)
        plx_fail(note, result, "backend is auto, and the CPU works: %s", reason.text);
    return open_cpu(limits, ret_stages, message);
}
