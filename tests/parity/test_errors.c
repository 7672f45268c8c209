/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of a CUDA call that fails. The linker leads every call of the runtime here (--wrap, see CMakeLists.txt); the
 * n-th one is refused, for every n of one life: backend, adopted slot, pipeline, a frame that is recorded, a frame that is
 * replayed, the end. Each time there must be either an error with a reason or the CPU's very frames, and nothing left over; and
 * a frame that is replayed may make nothing and launch nothing but its graph.
 */
#include <cuda_runtime_api.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "app/selftest/fixture.h"
#include "cpu/cpu.h"
#include "gpu/gpu.h"
#include "tests/parity/parity.h"

#define FRAMES 2
#define SKIPPED 77

/* --- the runtime, with one call that fails --------------------------------------------------------------------------- */

static struct {
    long calls, refuse;      /* so far; number of the one that fails, from 1 */
    const char *only;        /* or every call of this name does */
    cudaError_t error, last; /* what it returns; what cudaGetLastError is to say */
    const char *refused;     /* its name */
    long alive, made;        /* allocations, streams, events, graphs: now, and ever */
    long launches;           /* kernels and graphs */
} runtime;

static bool refuses(const char *name)
{
    runtime.calls++;
    runtime.launches += strstr(name, "Launch") != NULL;
    if (runtime.calls != runtime.refuse && !(runtime.only && strcmp(runtime.only, name) == 0))
        return false;
    runtime.refused = name;
    runtime.last = runtime.error;
    return true;
}

#define DECLARE(name, parameters)                                                                                              \
    cudaError_t __real_##name parameters;                                                                                      \
    cudaError_t __wrap_##name parameters;

/* A call; CHANGE is how many more things are alive when it has worked. */
#define CALL(change, name, parameters, arguments)                                                                              \
    DECLARE(name, parameters)                                                                                                  \
    cudaError_t __wrap_##name parameters                                                                                       \
    {                                                                                                                          \
        if (refuses(#name))                                                                                                    \
            return runtime.error;                                                                                              \
        const cudaError_t error = __real_##name arguments;                                                                     \
        runtime.alive += error == cudaSuccess ? (change) : 0;                                                                  \
        runtime.made += error == cudaSuccess ? (change) : 0;                                                                   \
        return error;                                                                                                          \
    }

/* One that releases, does so, and tells of an error that came before, as CUDA's do. */
#define RELEASE(name, parameters, arguments)                                                                                   \
    DECLARE(name, parameters)                                                                                                  \
    cudaError_t __wrap_##name parameters                                                                                       \
    {                                                                                                                          \
        const bool refused = refuses(#name);                                                                                   \
        const cudaError_t error = __real_##name arguments;                                                                     \
        runtime.alive -= error == cudaSuccess;                                                                                 \
        return refused ? runtime.error : error;                                                                                \
    }

CALL(0, cudaGetDeviceCount, (int *count), (count))
CALL(0, cudaDriverGetVersion, (int *version), (version))
CALL(0, cudaGetDevice, (int *device), (device))
CALL(0, cudaGetDeviceProperties, (struct cudaDeviceProp * prop, int device), (prop, device))
CALL(0, cudaDeviceGetAttribute, (int *value, enum cudaDeviceAttr attr, int device), (value, attr, device))
CALL(0, cudaFuncGetAttributes, (struct cudaFuncAttributes * attributes, const void *function), (attributes, function))
CALL(0, cudaFuncSetAttribute, (const void *function, enum cudaFuncAttribute attribute, int value), (function, attribute, value))
CALL(0, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
     (int *blocks, const void *function, int threads, size_t shared, unsigned flags),
     (blocks, function, threads, shared, flags))
CALL(0, cudaPointerGetAttributes, (struct cudaPointerAttributes * attributes, const void *data), (attributes, data))
CALL(1, cudaMalloc, (void **data, size_t bytes), (data, bytes))
CALL(1, cudaHostAlloc, (void **data, size_t bytes, unsigned flags), (data, bytes, flags))
CALL(1, cudaMallocManaged, (void **data, size_t bytes, unsigned flags), (data, bytes, flags))
CALL(1, cudaHostRegister, (void *data, size_t bytes, unsigned flags), (data, bytes, flags))
CALL(1, cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags), (stream, flags))
CALL(1, cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags), (event, flags))
CALL(0, cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream))
CALL(0, cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags), (stream, event, flags))
CALL(0, cudaStreamQuery, (cudaStream_t stream), (stream))
CALL(0, cudaStreamSynchronize, (cudaStream_t stream), (stream))
CALL(0, cudaStreamBeginCapture, (cudaStream_t stream, enum cudaStreamCaptureMode mode), (stream, mode))
CALL(1, cudaGraphInstantiate, (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags), (exec, graph, flags))
CALL(0, cudaGraphLaunch, (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream))
CALL(0, cudaMemsetAsync, (void *data, int value, size_t bytes, cudaStream_t stream), (data, value, bytes, stream))
CALL(0, cudaMemcpyAsync, (void *dst, const void *src, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream),
     (dst, src, bytes, kind, stream))
CALL(0, cudaMemcpy2DAsync,
     (void *dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t width, size_t height, enum cudaMemcpyKind kind,
      cudaStream_t stream),
     (dst, dst_pitch, src, src_pitch, width, height, kind, stream))
CALL(0, cudaLaunchKernelExC, (const cudaLaunchConfig_t *config, const void *function, void **arguments),
     (config, function, arguments))
RELEASE(cudaFree, (void *data), (data))
RELEASE(cudaFreeHost, (void *data), (data))
RELEASE(cudaHostUnregister, (void *data), (data))
RELEASE(cudaStreamDestroy, (cudaStream_t stream), (stream))
RELEASE(cudaEventDestroy, (cudaEvent_t event), (event))
RELEASE(cudaGraphDestroy, (cudaGraph_t graph), (graph))
RELEASE(cudaGraphExecDestroy, (cudaGraphExec_t exec), (exec))

CALL(0, cudaGraphExecKernelNodeSetParams,
     (cudaGraphExec_t exec, cudaGraphNode_t node, const struct cudaKernelNodeParams *params), (exec, node, params))
CALL(0, cudaLaunchKernel, (const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream),
     (kernel, grid, block, arguments, shared, stream))
#if CUDART_VERSION >= 13000
/* kernel<<<...>>> */
CALL(0, __cudaLaunchKernel, (cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream),
     (kernel, grid, block, arguments, shared, stream))
CALL(0, cudaStreamGetCaptureInfo,
     (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
      const cudaGraphNode_t **nodes, const cudaGraphEdgeData **edges, size_t *count),
     (stream, status, id, graph, nodes, edges, count))
#else
CALL(0, cudaStreamGetCaptureInfo_v2,
     (cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
      const cudaGraphNode_t **nodes, size_t *count),
     (stream, status, id, graph, nodes, count))
#endif

/* The recording ends in any case; refused, it is invalid. */
DECLARE(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *graph))
cudaError_t __wrap_cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    const bool refused = refuses("cudaStreamEndCapture");
    const cudaError_t error = __real_cudaStreamEndCapture(stream, graph);
    if (refused && *graph) {
        __real_cudaGraphDestroy(*graph);
        *graph = NULL;
    }
    runtime.alive += *graph != NULL;
    runtime.made += *graph != NULL;
    return refused ? runtime.error : error;
}

DECLARE(cudaGetLastError, (void))
cudaError_t __wrap_cudaGetLastError(void)
{
    const cudaError_t real = __real_cudaGetLastError(), error = runtime.last != cudaSuccess ? runtime.last : real;
    runtime.last = cudaSuccess;
    return error;
}

/* --- one life -------------------------------------------------------------------------------------------------------- */

struct life {
    const struct fixture_kind *kind;
    enum plx_gpu_memory memory;
    struct plx_raw raw[FRAMES][PLX_EYES];
    struct plx_frame *expected[FRAMES]; /* the CPU's */
    uint32_t bytes;
    void *slot;

    struct plx_stages *stages;
    struct plx_pipeline *pipeline;
    void *pixels[FRAMES * PLX_EYES];
    struct plx_error_message message; /* "" until something failed */
    bool wrong;                       /* a frame was taken for good and is not the CPU's */
    bool lavish;                      /* one that is replayed made something, or launched more than its graph */
};

static int failed(struct life *life, int result)
{
    if (result < 0 && life->message.text[0] == '\0' && life->stages)
        life->message = life->stages->message;
    return result;
}

static int share_pictures(struct life *life, struct plx_raw (*raw)[PLX_EYES])
{
    int result = 0;

    for (int i = 0; i < FRAMES * PLX_EYES && result == 0; i++) {
        struct plx_raw *to = &raw[i / PLX_EYES][i % PLX_EYES];
        *to = life->raw[i / PLX_EYES][i % PLX_EYES];
        result = life->stages->ops->alloc(life->stages, to->bytes, &life->pixels[i]);
        if (result == 0)
            to->data = memcpy(life->pixels[i], to->data, to->bytes);
    }
    return result;
}

/* As the engine goes about it. */
static int live(struct life *life)
{
    const struct plx_limits limits = fixture_limits(life->kind);
    struct plx_stereo_calibration calibration;
    struct plx_raw raw[FRAMES][PLX_EYES];

    int result = fixture_calibration(life->kind, &calibration, &life->message);
    if (result == 0)
        result = plx_gpu_create_memory(&limits, life->memory, &life->stages, &life->message);
    if (result < 0)
        return result;
    const struct plx_stages_ops *ops = life->stages->ops;
    result = share_pictures(life, raw);
    if (result == 0)
        result = plx_pipeline_create(life->stages, &life->kind->params, &calibration, &life->pipeline, &life->message);
    if (result < 0)
        return failed(life, result);
    result = ops->adopt(life->stages, life->slot, life->bytes);
    const bool adopted = result == 0;
    if (ops->copies_outputs)
        result = 0;
    for (int i = 0; i < FRAMES && result == 0; i++) {
        struct plx_frame *frame = life->slot;
        const long made = runtime.made, launches = runtime.launches;
        result = plx_pipeline_process(life->pipeline, raw[i], i, life->slot);
        life->lavish |= i > 0 && (runtime.made != made || runtime.launches - launches > 1);
        memset(frame->stage_us, 0, sizeof frame->stage_us);
        life->wrong |= result == 0 && memcmp(frame, life->expected[i], life->bytes) != 0;
    }
    failed(life, result);
    if (adopted)
        ops->disown(life->stages, life->slot);
    return result;
}

static void end(struct life *life)
{
    plx_pipeline_destroy(life->pipeline);
    for (int i = 0; i < FRAMES * PLX_EYES && life->stages; i++)
        life->stages->ops->free(life->stages, life->pixels[i]);
    if (life->stages)
        life->stages->ops->destroy(life->stages);
}

/* A life in which call number REFUSE fails, and what is wrong about it. */
static void refuse(struct parity *parity, const struct life *model, long number, cudaError_t error)
{
    struct life life = *model;

    memset(life.slot, 0, life.bytes);
    runtime.calls = runtime.alive = 0;
    runtime.refuse = number;
    runtime.refused = NULL;
    runtime.error = error;
    runtime.last = cudaSuccess;
    const int result = live(&life);
    end(&life);
    runtime.refuse = 0;
    const bool silent = result < 0 && life.message.text[0] == '\0';
    const bool needless = runtime.refused && life.memory == PLX_GPU_MEMORY_COPIED && /* frames get there without */
                          strcmp(runtime.refused, "cudaHostRegister") == 0;
    const bool invented = result < 0 && (!runtime.refused || needless);
    parity->comparisons++;
    if (!life.wrong && !life.lavish && !silent && !invented && runtime.alive == 0)
        return;
    if (parity->failures++ < 30)
        printf("FAILED: call %ld (%s) refused, memory %d: %s \"%s\"%s%s%s%s; %ld things left over\n", number,
               runtime.refused ? runtime.refused : "none", (int)life.memory, plx_strerror(result), life.message.text,
               life.wrong ? "; a wrong frame" : "", life.lavish ? "; a frame that makes things" : "",
               silent ? "; no reason" : "", invented ? "; for no reason" : "", runtime.alive);
}

/* Where CALL gives ERROR, the backend gives EXPECTED and a message that holds SAYS. */
static void absent(struct parity *parity, const char *call, cudaError_t error, int expected, const char *says)
{
    const struct plx_limits limits = {64, 64, 64, 1};
    struct plx_stages *stages;
    struct plx_error_message message = {""};

    runtime.only = call;
    runtime.error = error;
    const int result = plx_gpu_create(&limits, &stages, &message);
    runtime.only = NULL;
    runtime.last = cudaSuccess;
    parity->comparisons++;
    if (result == expected && strstr(message.text, says))
        return;
    parity->failures++;
    printf("FAILED: %s refused: %d, \"%s\"; expected %d, and \"%s\" in it\n", call, result, message.text, expected, says);
}

int main(void)
{
    static const struct plx_limits small = {64, 64, 64, 1};
    static const enum plx_gpu_memory kinds[] = {PLX_GPU_MEMORY_COPIED, PLX_GPU_MEMORY_MAPPED, PLX_GPU_MEMORY_MANAGED};
    struct fixture_kind kind = {161, 121, PLX_FORMAT_GREY, true, {.refine = false}, NULL};
    const struct plx_limits limits = {161, 121, 64, 0};
    struct life life = {.kind = &kind};
    struct plx_stages *cpu;
    struct fixture fixture;
    struct plx_error_message message;
    struct parity parity;

    parity_open(&small, &parity);
    plx_pipeline_params_default(&kind.params);
    kind.params.match.disparities = 64;
    kind.params.temporal.max_step = 16;
    if (plx_cpu_create(&limits, &cpu) < 0)
        return 1;
    parity_must(fixture_open(cpu, &kind, &fixture, &message), &message);
    life.bytes = fixture.bytes;
    life.slot = aligned_alloc(4096, fixture.bytes);
    for (int i = 0; i < FRAMES; i++) {
        memcpy(life.raw[i], fixture.raw[i], sizeof life.raw[i]);
        const int result = plx_pipeline_process(fixture.pipeline, fixture.raw[i], i, fixture.frame);
        memset(fixture.frame->stage_us, 0, sizeof fixture.frame->stage_us);
        life.expected[i] = malloc(fixture.bytes);
        if (result < 0 || !life.slot || !life.expected[i])
            exit(1);
        memcpy(life.expected[i], fixture.frame, fixture.bytes);
    }

    absent(&parity, "cudaGetDeviceCount", cudaErrorNoDevice, PLX_ERR_NOT_FOUND, "there is no GPU");
    absent(&parity, "cudaGetDeviceCount", cudaErrorInsufficientDriver, PLX_ERR_UNSUPPORTED, "there is no GPU"); /* it is old */
    absent(&parity, "cudaFuncGetAttributes", cudaErrorNoKernelImageForDevice, PLX_ERR_UNSUPPORTED, "no machine code");
    for (int i = 0; i < PARITY_COUNT(kinds); i++) {
        life.memory = kinds[i];
        refuse(&parity, &life, 0, cudaSuccess); /* none: counts them */
        const long calls = runtime.calls;
        for (long number = 1; number <= calls; number++)
            refuse(&parity, &life, number, number % 2 ? cudaErrorUnknown : cudaErrorMemoryAllocation);
        printf("memory %d: each of %ld calls refused in turn\n", (int)kinds[i], calls);
        refuse(&parity, &life, 0, cudaSuccess);
    }
    for (int i = 0; i < FRAMES; i++)
        free(life.expected[i]);
    free(life.slot);
    fixture_close(&fixture);
    return parity_close(&parity);
}
