/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/gpu.h"

#include <stdio.h>
#include <stdlib.h>

#include "gpu/internal.h"

static void destroy(struct plx_stages *self)
{
    if (!self)
        return;
    struct plx_gpu *gpu = plx_gpu(self);
    plx_gpu_recordings_destroy(gpu);
    plx_gpu_sgm_destroy(gpu);
    plx_gpu_components_destroy(gpu);
    plx_gpu_regions_destroy(gpu);
    plx_gpu_ground_destroy(gpu);
    plx_gpu_free(self, gpu->totals);
    plx_gpu_uploads_destroy(gpu);
    plx_gpu_lanes_destroy(gpu);
    free(gpu);
}

static int begin(struct plx_stages *self)
{
    struct plx_gpu *gpu = plx_gpu(self);
    gpu->base.message.text[0] = '\0';
    plx_gpu_recording_abandon(gpu);
    return 0;
}

/* Errors of kernels that failed while they ran come here. */
static int finish(struct plx_stages *self)
{
    struct plx_gpu *gpu = plx_gpu(self);

    plx_gpu_recording_abandon(gpu);
    int result = plx_gpu_lanes_join(gpu);
    for (int i = 0; result < 0 && i < PLX_LANES; i++)
        cudaStreamSynchronize(gpu->lanes.stream[i]); /* at least nothing runs any more */
    if (result == 0)
        result = PLX_CUDA(gpu, cudaStreamSynchronize(gpu->stream));
    const int uploaded = plx_gpu_uploads_join(gpu);
    return result < 0 ? result : uploaded;
}

static bool busy(struct plx_stages *self)
{
    const cudaError_t error = cudaStreamQuery(plx_gpu(self)->stream);
    if (error != cudaSuccess)
        cudaGetLastError(); /* "not ready" is kept as though it were an error; a true one comes again at finish */
    return error == cudaErrorNotReady;
}

static const struct plx_stages_ops gpu_ops = {
    .name = "gpu",
    .destroy = destroy,
    .alloc = plx_gpu_alloc,
    .alloc_local = plx_gpu_alloc_local,
    .free = plx_gpu_free,
    .adopt = plx_gpu_adopt,
    .disown = plx_gpu_disown,
    .copy = plx_gpu_copy,
    .begin = begin,
    .finish = finish,
    .replay = plx_gpu_replay,
    .queue = plx_gpu_queue,
    .forget = plx_gpu_forget,
    .busy = busy,
    .upload = plx_gpu_upload,
    .lane = plx_gpu_lane,
    .census = plx_gpu_census,
    .sgm = plx_gpu_sgm,
    .median = plx_gpu_median,
    .check = plx_gpu_left_right_check,
    .fill = plx_gpu_fill,
    .confidence = plx_gpu_confidence,
    .speckle = plx_gpu_speckle,
    .ground = plx_gpu_ground,
    .mask = plx_gpu_mask,
    .label = plx_gpu_label,
    .regions = plx_gpu_regions,
    .convert = plx_gpu_convert,
    .histogram = plx_gpu_histogram,
    .rectify = plx_gpu_rectify,
    .filter = plx_gpu_filter,
    .temporal = plx_gpu_temporal,
    .image =
        {
            .binary = plx_gpu_binary,
            .invert = plx_gpu_invert,
            .threshold = plx_gpu_threshold,
            .morphology = plx_gpu_morphology,
            .affine = plx_gpu_affine,
            .sum = plx_gpu_sum,
            .match_template = plx_gpu_match_template,
        },
};

/* A device, and machine code for it in this program. */
static int find_device(struct plx_gpu *gpu, enum plx_gpu_memory memory)
{
    struct cudaDeviceProp device;
    int index = 0, count = 0;

    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess)
        return plx_fail(&gpu->base.message, PLX_ERR_UNSUPPORTED, "there is no GPU that CUDA can use: %s",
                        cudaGetErrorString(error));
    int result = PLX_CUDA(gpu, cudaGetDevice(&index));
    if (result == 0)
        result = PLX_CUDA(gpu, cudaGetDeviceProperties(&device, index));
    if (result == 0) {
        gpu->integrated = device.integrated;
        gpu->multiprocessors = device.multiProcessorCount;
        gpu->adopts = device.canUseHostPointerForRegisteredMem;
        gpu->shared_bytes = (int)device.sharedMemPerMultiprocessor;
        gpu->shared_bytes_block = (int)device.sharedMemPerBlockOptin;
        gpu->shared_reserved = (int)device.reservedSharedMemPerBlock;
        snprintf(gpu->device, sizeof gpu->device, "%s, %d multiprocessors", device.name, device.multiProcessorCount);
        result = plx_gpu_memory_choose(memory, &device, &gpu->memory, &gpu->base.message);
        if (gpu->memory != PLX_GPU_MEMORY_COPIED) {
            gpu->ops.copy = NULL;
            gpu->ops.busy = NULL;
            gpu->ops.upload = NULL;
        }
    }
    if (result == 0 && !plx_gpu_has_machine_code(&gpu->follows))
        return plx_fail(&gpu->base.message, PLX_ERR_UNSUPPORTED,
                        "%s has compute capability %d.%d, for which this program holds no machine code; build it with "
                        "-DCMAKE_CUDA_ARCHITECTURES=%d%d",
                        device.name, device.major, device.minor, device.major, device.minor);
    return result;
}

const char *plx_gpu_device(const struct plx_stages *stages)
{
    return ((const struct plx_gpu *)stages)->device;
}

int plx_gpu_create(const struct plx_limits *limits, struct plx_stages **ret_stages, struct plx_error_message *message)
{
    return plx_gpu_create_memory(limits, PLX_GPU_MEMORY_AUTO, ret_stages, message);
}

int plx_gpu_create_memory(const struct plx_limits *limits, enum plx_gpu_memory memory, struct plx_stages **ret_stages,
                          struct plx_error_message *message)
{
    struct plx_gpu *gpu = calloc(1, sizeof *gpu);
    if (!gpu)
        return plx_fail(message, PLX_ERR_NOMEM, "no memory for the GPU backend");

    gpu->ops = gpu_ops;
    gpu->base.ops = &gpu->ops;
    gpu->limits = *limits;
    gpu->choice = -1;
    int result = find_device(gpu, memory);
    if (result == 0)
        result = plx_gpu_lanes_create(gpu);
    if (result == 0)
        result = plx_gpu_uploads_create(gpu);
    if (result == 0)
        result = plx_gpu_recordings_create(gpu);
    if (result == 0)
        result = plx_gpu_sgm_create(gpu);
    if (result == 0)
        result = plx_gpu_components_create(gpu);
    if (result == 0)
        result = plx_gpu_regions_create(gpu);
    if (result == 0)
        result = plx_gpu_ground_create(gpu);
    if (result == 0)
        result = plx_gpu_alloc_local(&gpu->base, sizeof *gpu->totals, (void **)&gpu->totals);
    if (result < 0)
        goto fail;
    *ret_stages = &gpu->base;
    return 0;

fail:
    if (message)
        *message = gpu->base.message;
    destroy(&gpu->base);
    return result;
}
