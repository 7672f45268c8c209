/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/parity/confine.h"

#include <stdio.h>
#include <stdlib.h>

#include "gpu/internal.h"

/* The driver's entry NAME, without linking it. */
static void *driver(const char *name)
{
    enum cudaDriverEntryPointQueryResult found;
    void *entry = NULL;
    if (cudaGetDriverEntryPointByVersion(name, &entry, 12050, cudaEnableDefault, &found) != cudaSuccess || !entry) {
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

/* A green context on the multiprocessors of RESOURCE. */
static CUcontext context_on(CUdevResource *resource, CUgreenCtx *ret_green)
{
    CUdevResourceDesc description;
    CUcontext context;
    must_driver(DRIVER(cuDevResourceGenerateDesc)(&description, resource, 1), "cuDevResourceGenerateDesc");
    must_driver(DRIVER(cuGreenCtxCreate)(ret_green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM), "cuGreenCtxCreate");
    must_driver(DRIVER(cuCtxFromGreenCtx)(&context, *ret_green), "cuCtxFromGreenCtx");
    return context;
}

static CUdevResource rest; /* sm.smCount 0: not confined */

int confine(int count)
{
    unsigned groups = 1;
    CUdevResource all, some;
    CUgreenCtx green;

    if (count == 0)
        return 0;
    cudaFree(NULL);
    must_driver(DRIVER(cuDeviceGetDevResource)(0, &all, CU_DEV_RESOURCE_TYPE_SM), "cuDeviceGetDevResource");
    must_driver(DRIVER(cuDevSmResourceSplitByCount)(&some, &groups, &all, &rest, 0, (unsigned)count),
                "cuDevSmResourceSplitByCount");
    must_driver(DRIVER(cuCtxSetCurrent)(context_on(&some, &green)), "cuCtxSetCurrent");
    printf("on %u multiprocessors\n", some.sm.smCount);
    return (int)some.sm.smCount;
}

bool confine_rest(struct confined_rest *ret_rest)
{
    CUgreenCtx green;
    CUstream stream;
    if (rest.sm.smCount == 0)
        return false;
    ret_rest->context = context_on(&rest, &green);
    must_driver(DRIVER(cuGreenCtxStreamCreate)(&stream, green, CU_STREAM_NON_BLOCKING, 0), "cuGreenCtxStreamCreate");
    ret_rest->stream = stream;
    ret_rest->multiprocessors = (int)rest.sm.smCount;
    return true;
}

void confine_enter(struct confined_rest *rest_entered)
{
    must_driver(DRIVER(cuCtxGetCurrent)(&rest_entered->own), "cuCtxGetCurrent");
    must_driver(DRIVER(cuCtxSetCurrent)(rest_entered->context), "cuCtxSetCurrent");
}

void confine_leave(struct confined_rest *rest_left)
{
    must_driver(DRIVER(cuCtxSetCurrent)(rest_left->own), "cuCtxSetCurrent");
}

void confine_stages(struct plx_stages *stages, int count)
{
    struct plx_gpu *gpu = plx_gpu(stages);

    if (count == 0)
        return;
    gpu->lines_resident = gpu->lines_resident / gpu->multiprocessors * count;
    gpu->multiprocessors = count;
}
