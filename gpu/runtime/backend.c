/* SPDX-License-Identifier: Apache-2.0 */
/* The backend: its operations, the device that it runs on, and what CUDA's errors mean. */
#include <stdio.h>
#include <stdlib.h>

#include "gpu/internal.h"

static int meaning(cudaError_t error)
{
    switch (error) {
    case cudaSuccess:
        return 0;
    case cudaErrorMemoryAllocation:
    case cudaErrorLaunchOutOfResources:
        return PLX_ERR_NOMEM;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorDevicesUnavailable:
        return PLX_ERR_UNSUPPORTED;
    default: /* what is sticky in CUDA, or a bug: nothing that this process can mend */
        return PLX_ERR_LOST;
    }
}

int plx_gpu_error(struct plx_gpu *gpu, cudaError_t error, const char *call)
{
    if (error == cudaSuccess)
        return 0;
    cudaGetLastError(); /* reported here, not by the next kernel's launch */
    if (gpu->base.message.text[0] != '\0')
        return meaning(error); /* what failed first is the reason */
    return plx_fail(&gpu->base.message, meaning(error), "the GPU failed: %s: %s", call, cudaGetErrorString(error));
}

static int totals_create(struct plx_gpu *gpu)
{
    return plx_gpu_alloc_local(&gpu->base, sizeof *gpu->totals, NULL, (void **)&gpu->totals);
}

static void totals_destroy(struct plx_gpu *gpu)
{
    plx_gpu_free(&gpu->base, gpu->totals);
}

/* In the order of creation; memory needs the streams, and to free it the recorded frames. */
static const struct {
    int (*create)(struct plx_gpu *gpu);
    void (*destroy)(struct plx_gpu *gpu); /* also what was not created, or in part */
} parts[] = {
    {plx_gpu_streams_create, plx_gpu_streams_destroy},
    {plx_gpu_frames_create, plx_gpu_frames_destroy},
    {plx_gpu_stage_clock_create, plx_gpu_stage_clock_destroy},
    {plx_gpu_sgm_create, plx_gpu_sgm_destroy},
    {plx_gpu_components_create, plx_gpu_components_destroy},
    {plx_gpu_regions_create, plx_gpu_regions_destroy},
    {plx_gpu_ground_create, plx_gpu_ground_destroy},
    {plx_gpu_columns_create, plx_gpu_columns_destroy},
    {plx_gpu_free_ground_create, plx_gpu_free_ground_destroy},
    {plx_gpu_segments_create, plx_gpu_segments_destroy},
    {totals_create, totals_destroy},
};
#define PARTS (int)(sizeof parts / sizeof parts[0])

static void destroy(struct plx_stages *self)
{
    if (!self)
        return;
    for (int i = PARTS - 1; i >= 0; i--)
        parts[i].destroy(plx_gpu(self));
    free(self);
}

#define STAGE(name) .name = plx_gpu_##name,
static const struct plx_stages_ops gpu_ops = {
    .name = "gpu",
    .destroy = destroy,
    .alloc = plx_gpu_alloc,
    .alloc_local = plx_gpu_alloc_local,
    .write_local = plx_gpu_write_local,
    .free = plx_gpu_free,
    .adopt = plx_gpu_adopt,
    .disown = plx_gpu_disown,
    .finish = plx_gpu_finish,
    .run_frame = plx_gpu_run_frame,
    PLX_STAGE_OPS(STAGE).image = {PLX_IMAGE_OPS(STAGE)},
};

/* True if ERROR of cudaGetDeviceCount means that there is nothing to compute on, and not a fault of what is there. Without any
 * driver CUDA says that the driver is too old. */
static bool is_absent(cudaError_t error)
{
    int driver = 0;
    return error == cudaErrorNoDevice ||
           (error == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0);
}

/* A device, and machine code for it in this program. */
static int find_device(struct plx_gpu *gpu, enum plx_gpu_memory memory)
{
    struct cudaDeviceProp device;
    int index = 0, count = 0;

    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess)
        return plx_fail(&gpu->base.message, is_absent(error) ? PLX_ERR_NOT_FOUND : PLX_ERR_UNSUPPORTED,
                        "there is no GPU that CUDA can use: %s", cudaGetErrorString(error));
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
        gpu->ops.copies_outputs = gpu->memory == PLX_GPU_MEMORY_COPIED;
    }
    if (result == 0 && !plx_gpu_has_machine_code(&gpu->programmatic_launch))
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

int plx_gpu_create_memory(const struct plx_limits *limits, enum plx_gpu_memory memory, struct plx_stages **ret_stages,
                          struct plx_error_message *message)
{
    struct plx_gpu *gpu = calloc(1, sizeof *gpu);
    if (!gpu)
        return plx_fail(message, PLX_ERR_NOMEM, "no memory for the GPU backend");

    gpu->ops = gpu_ops;
    gpu->base.ops = &gpu->ops;
    gpu->limits = *limits;
    gpu->schedule = -1;
    int result = find_device(gpu, memory);
    for (int i = 0; i < PARTS && result == 0; i++)
        result = parts[i].create(gpu);
    if (result < 0) {
        if (message)
            *message = gpu->base.message;
        destroy(&gpu->base);
        return result;
    }
    *ret_stages = &gpu->base;
    return 0;
}
