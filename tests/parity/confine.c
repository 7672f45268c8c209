/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/parity/confine.h"

#include <stdio.h>
#include <stdlib.h>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "gpu/internal.h"

/* The driver's entry NAME, without linking it. */
static void *driver(const char *name)
{
    enum cudaDriverEntryPointQueryResult found;
    void *entry = NULL;
    if (cudaGetDriverEntryPointByVersion(name, &entry, 12040, cudaEnableDefault, &found) != cudaSuccess || !entry) {
        fprintf(stderr, "the driver has no %s\n", name);
        exit(1);
    }
    return entry;
}

/* NOLINTNEXTLINE(bugprone-macro-parentheses): a type */
#define DRIVER(name) ((__typeof__(&name))driver(#name))

static void must_driver(CUresult result, const char *call)
{
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "%s failed: %d\n", call, result);
        exit(1);
    }
}

int confine(int count)
{
    unsigned groups = 1;
    CUdevResource all, some, rest;
    CUdevResourceDesc description;
    CUgreenCtx green;
    CUcontext context;

    if (count == 0)
        return 0;
    cudaFree(NULL);
    must_driver(DRIVER(cuDeviceGetDevResource)(0, &all, CU_DEV_RESOURCE_TYPE_SM), "cuDeviceGetDevResource");
    must_driver(DRIVER(cuDevSmResourceSplitByCount)(&some, &groups, &all, &rest, 0, (unsigned)count),
                "cuDevSmResourceSplitByCount");
    must_driver(DRIVER(cuDevResourceGenerateDesc)(&description, &some, 1), "cuDevResourceGenerateDesc");
    must_driver(DRIVER(cuGreenCtxCreate)(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM), "cuGreenCtxCreate");
    must_driver(DRIVER(cuCtxFromGreenCtx)(&context, green), "cuCtxFromGreenCtx");
    must_driver(DRIVER(cuCtxSetCurrent)(context), "cuCtxSetCurrent");
    printf("on %u multiprocessors\n", some.sm.smCount);
    return (int)some.sm.smCount;
}

void confine_stages(struct plx_stages *stages, int count)
{
    struct plx_gpu *gpu = plx_gpu(stages);

    if (count == 0)
        return;
    gpu->lines_resident = gpu->lines_resident / gpu->multiprocessors * count;
    gpu->multiprocessors = count;
}
