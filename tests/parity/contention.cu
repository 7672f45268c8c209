/* SPDX-License-Identifier: Apache-2.0 */
extern "C" {
#include "tests/parity/contention.h"

#include "tests/parity/confine.h"
}

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>

#include <cuda_runtime.h>

#define BYTES ((size_t)4 << 30) /* far more than any cache */
#define COPIED ((size_t)64 << 20)
#define COPIES 3
#define COPY_THREADS 256
#define COPY_BLOCKS 8 /* a multiprocessor */
#define START_US 20000
#define READS 4 /* on their way at once */

struct contention {
    struct confined_rest rest;
    int own, warps, pause_ns;
    volatile int *stop; /* in memory of the host that the kernel reads */
    uint4 *memory, *sink, *from, *to;
    cudaStream_t stream; /* stream for the copies */
    cudaEvent_t begin, end;
};

#define MUST(call)                                                                                                             \
    do {                                                                                                                       \
        const cudaError_t error = (call);                                                                                      \
        if (error != cudaSuccess) {                                                                                            \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                                                     \
            exit(1);                                                                                                           \
        }                                                                                                                      \
    } while (0)

/* Eight threads read 128 bytes at a random place, READS times, and pause. Until *STOP is set. */
static __global__ void load_kernel(const uint4 *memory, volatile int *stop, int pause_ns, uint4 *sink)
{
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t random = (thread / 8 + 1) * UINT64_C(0x9E3779B97F4A7C15);
    uint4 sum = make_uint4(0, 0, 0, 0);
    for (unsigned round = 0; round % 64 || !*stop; round++) {
#pragma unroll
        for (int i = 0; i < READS; i++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            const size_t line = (size_t)(random >> 20) % (BYTES / 128);
            const uint4 read = __ldcg(memory + line * 8 + thread % 8);
            sum.x ^= read.x, sum.y ^= read.y, sum.z ^= read.z, sum.w ^= read.w;
        }
        if (pause_ns > 0)
            __nanosleep(pause_ns);
    }
    if (sum.x == 1 && sum.y == 2) /* never, but the compiler cannot know */
        *sink = sum;
}

static __global__ void copy_kernel(const uint4 *from, uint4 *to)
{
    const size_t step = (size_t)gridDim.x * blockDim.x, count = COPIED / sizeof *from;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += READS * step) {
        uint4 part[READS];
#pragma unroll
        for (int k = 0; k < READS; k++)
            if (i + k * step < count)
                part[k] = from[i + k * step];
#pragma unroll
        for (int k = 0; k < READS; k++)
            if (i + k * step < count)
                to[i + k * step] = part[k];
    }
}

static void start(struct contention *c)
{
    confine_enter(&c->rest);
    *c->stop = 0;
    load_kernel<<<2 * c->rest.multiprocessors, 16 * c->warps, 0, c->rest.stream>>>(c->memory, c->stop, c->pause_ns, c->sink);
    MUST(cudaGetLastError());
    confine_leave(&c->rest);
}

static void stop(struct contention *c)
{
    *c->stop = 1;
    MUST(cudaStreamSynchronize(c->rest.stream));
}

static double copied_gb(struct contention *c)
{
    float ms[COPIES];
    for (int i = 0; i < COPIES; i++) {
        MUST(cudaEventRecord(c->begin, c->stream));
        copy_kernel<<<c->own * COPY_BLOCKS, COPY_THREADS, 0, c->stream>>>(c->from, c->to);
        MUST(cudaEventRecord(c->end, c->stream));
        MUST(cudaEventSynchronize(c->end));
        MUST(cudaEventElapsedTime(&ms[i], c->begin, c->end));
    }
    std::sort(ms, ms + COPIES);
    return 2.0 * COPIED / (double)ms[COPIES / 2] / 1e6;
}

struct contention *contention_create(int own, int warps, int pause_ns)
{
    if (warps == 0)
        return NULL;
    struct contention *c = (struct contention *)calloc(1, sizeof *c);
    if (!c || !confine_rest(&c->rest)) {
        fprintf(stderr, "a load needs multiprocessors of its own: -m\n");
        exit(1);
    }
    c->own = own;
    c->warps = warps;
    c->pause_ns = pause_ns;
    void *flag;
    MUST(cudaHostAlloc(&flag, sizeof *c->stop, cudaHostAllocMapped));
    c->stop = (volatile int *)flag;
    MUST(cudaMalloc(&c->memory, BYTES));
    MUST(cudaMalloc(&c->sink, sizeof *c->sink));
    MUST(cudaMalloc(&c->from, COPIED));
    MUST(cudaMalloc(&c->to, COPIED));
    MUST(cudaMemset(c->memory, 0, BYTES));
    MUST(cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking));
    MUST(cudaEventCreate(&c->begin));
    MUST(cudaEventCreate(&c->end));
    start(c); /* once, so that everything is loaded */
    stop(c);
    printf("a copy alone moves %.0f GB/s\n", copied_gb(c));
    return c;
}

void contention_begin(struct contention *contention)
{
    if (!contention)
        return;
    start(contention);
    usleep(START_US);
}

void contention_end(struct contention *contention)
{
    if (!contention)
        return;
    printf("[%3.0f GB/s] ", copied_gb(contention));
    stop(contention);
}
