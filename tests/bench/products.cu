/* SPDX-License-Identifier: Apache-2.0 */
extern "C" {
#include "core/pipeline/stages.h"
#include "tests/bench/products.h"
}

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

#include "gpu/device/access.cuh"

using namespace nvcuda;

#define SIDE PRODUCTS_SIDE
#define ELEMENTS ((size_t)SIDE * SIDE)
#define MATRICES 32 /* weight matrices: 256 MiB */
#define OUTPUTS 2   /* matrices */
#define PRODUCTS 8  /* products of a launch: one alone leaves most multiprocessors idle at its end */
#define THREADS 256 /* threads of a block: 2 x 4 warps */
#define TILE 128    /* rows and columns of the output that a block computes */
#define DEPTH 32    /* elements of each sum that a step adds */
#define STEPS (SIDE / DEPTH)
#define BUFFERS 3 /* tiles of a step that are computed or on their way */
#define PART 16   /* side of a fragment */
#define PARTS_Y 4 /* fragments of a warp */
#define PARTS_X 2
#define PIECE 8                                 /* elements that a thread copies at once: 16 bytes */
#define PIECES (TILE * DEPTH / PIECE / THREADS) /* pieces of each operand that a thread copies in a step */
#define INPUT_PITCH (DEPTH + PIECE)             /* elements; rows begin at different banks */
#define WEIGHT_PITCH (TILE + PIECE)
#define PATCH_PITCH (PART + 4)
#define CHECKED 512    /* elements of the output */
#define TOLERANCE 0.01 /* outputs are about 0.5, and a half has 11 bits */

#define MUST(call)                                                                                                             \
    do {                                                                                                                       \
        const cudaError_t error = (call);                                                                                      \
        if (error != cudaSuccess) {                                                                                            \
            fprintf(stderr, "network: %s: %s\n", #call, cudaGetErrorString(error));                                            \
            exit(1);                                                                                                           \
        }                                                                                                                      \
    } while (0)

struct products {
    cudaStream_t stream;
    bool owns_stream;
    __half *weights, *input, *output; /* [MATRICES], one, [OUTPUTS] matrices, row by row */
    cudaEvent_t done[2];              /* the launches of even and of odd numbers */
    unsigned launches;                /* since the last finish */
    unsigned first;                   /* number of the next weight matrix */
};

/* What a block has of both operands; aligned as fragments have to be. */
struct alignas(32) tiles {
    __half input[TILE][INPUT_PITCH], weight[DEPTH][WEIGHT_PITCH];
};

/* What a warp has of the output, on its way to halves. */
struct alignas(32) patch {
    float value[PART][PATCH_PITCH];
};

#define SHARED_BYTES (BUFFERS * sizeof(struct tiles))
static_assert(THREADS / 32 * sizeof(struct patch) <= SHARED_BYTES, "patches take the place of the tiles");

/* Starts to copy step STEP of both operands. */
static __device__ __forceinline__ void load_tiles(const __half *input, const __half *weight, int step, struct tiles &tiles)
{
#pragma unroll
    for (int i = 0; i < PIECES; i++) {
        const int piece = i * THREADS + (int)threadIdx.x, row = piece / (DEPTH / PIECE),
                  column = piece % (DEPTH / PIECE) * PIECE;
        plx_copy_async_16((uint32_t)__cvta_generic_to_shared(&tiles.input[row][column]),
                          (const uint4 *)(input + (size_t)row * SIDE + step * DEPTH + column));
    }
#pragma unroll
    for (int i = 0; i < PIECES; i++) {
        const int piece = i * THREADS + (int)threadIdx.x, row = piece / (TILE / PIECE), column = piece % (TILE / PIECE) * PIECE;
        plx_copy_async_16((uint32_t)__cvta_generic_to_shared(&tiles.weight[row][column]),
                          (const uint4 *)(weight + (size_t)(step * DEPTH + row) * SIDE + column));
    }
}

typedef wmma::fragment<wmma::accumulator, PART, PART, PART, float> sum_part;

/* Adds the products of a step to the sums of a warp at row Y and column X of the tile. */
static __device__ __forceinline__ void add_step(const struct tiles &tiles, int y, int x, sum_part (&sum)[PARTS_Y][PARTS_X])
{
#pragma unroll
    for (int k = 0; k < DEPTH; k += PART) {
        wmma::fragment<wmma::matrix_b, PART, PART, PART, __half, wmma::row_major> weight[PARTS_X];
#pragma unroll
        for (int j = 0; j < PARTS_X; j++)
            wmma::load_matrix_sync(weight[j], &tiles.weight[k][x + j * PART], WEIGHT_PITCH);
#pragma unroll
        for (int i = 0; i < PARTS_Y; i++) {
            wmma::fragment<wmma::matrix_a, PART, PART, PART, __half, wmma::row_major> input;
            wmma::load_matrix_sync(input, &tiles.input[y + i * PART][k], INPUT_PITCH);
#pragma unroll
            for (int j = 0; j < PARTS_X; j++)
                wmma::mma_sync(sum[i][j], input, weight[j], sum[i][j]);
        }
    }
}

/* Writes the sums of a warp as halves from OUTPUT on. The layout of a fragment is the compiler's own, so sums pass through
 * shared memory. */
static __device__ __forceinline__ void store_sums(const sum_part (&sum)[PARTS_Y][PARTS_X], struct patch &patch, __half *output)
{
    const int lane = (int)threadIdx.x % 32, row = lane / 2, column = lane % 2 * PIECE;
#pragma unroll
    for (int i = 0; i < PARTS_Y; i++)
#pragma unroll
        for (int j = 0; j < PARTS_X; j++) {
            alignas(sizeof(uint4)) __half2 pair[PIECE / 2];
            wmma::store_matrix_sync(&patch.value[0][0], sum[i][j], PATCH_PITCH, wmma::mem_row_major);
            __syncwarp();
#pragma unroll
            for (int n = 0; n < PIECE / 2; n++)
                pair[n] = __floats2half2_rn(patch.value[row][column + 2 * n], patch.value[row][column + 2 * n + 1]);
            *(uint4 *)(output + (size_t)(i * PART + row) * SIDE + j * PART + column) = *(const uint4 *)pair;
            __syncwarp(); /* the next fragment takes the same patch */
        }
}

/* Block z: output z % OUTPUTS = input times weight matrix (FIRST + z) % MATRICES. Launch: 16 x 16 x PRODUCTS blocks of THREADS,
 * each with SHARED_BYTES (56,832) of dynamic shared memory, two blocks a multiprocessor. A product reads 8 MiB of weights from
 * memory, and from L2 each operand 16 times, 256 MiB in all; it writes 8 MiB. Products of a launch overwrite each other's
 * outputs: nobody reads them. */
static __global__ void __launch_bounds__(THREADS, 2)
    multiply_kernel(const __half *input, const __half *weights, unsigned first, __half *output)
{
    extern __shared__ struct tiles tiles[];
    const int warp = (int)threadIdx.x / 32, y = warp / 4 * PARTS_Y * PART, x = warp % 4 * PARTS_X * PART;
    const size_t row = (size_t)blockIdx.y * TILE, column = (size_t)blockIdx.x * TILE;
    const __half *rows = input + row * SIDE, *columns = weights + (first + blockIdx.z) % MATRICES * ELEMENTS + column;
    sum_part sum[PARTS_Y][PARTS_X];

#pragma unroll
    for (int i = 0; i < PARTS_Y * PARTS_X; i++)
        wmma::fill_fragment(sum[i / PARTS_X][i % PARTS_X], 0.0f);
#pragma unroll
    for (int step = 0; step < BUFFERS - 1; step++) {
        load_tiles(rows, columns, step, tiles[step]);
        plx_commit_copies();
    }
#pragma unroll 1
    for (int step = 0; step < STEPS; step++) {
        const int ahead = step + BUFFERS - 1;
        plx_wait_copies<BUFFERS - 2>();
        __syncthreads(); /* the tiles of this step are complete, and all warps have used those of the last one */
        if (ahead < STEPS)
            load_tiles(rows, columns, ahead, tiles[ahead % BUFFERS]);
        plx_commit_copies(); /* an empty group at the end, so that the count of groups holds */
        add_step(tiles[step % BUFFERS], y, x, sum);
    }
    __syncthreads();
    store_sums(sum, ((struct patch *)tiles)[warp], output + blockIdx.z % OUTPUTS * ELEMENTS + (row + y) * SIDE + column + x);
}

/* Random values from -SCALE to SCALE: multipliers of zeros would take less power. Launch: 512 blocks of THREADS;
 * writes 2 bytes an element. */
static __global__ void fill_kernel(__half *data, size_t count, float scale, uint32_t seed)
{
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
        uint32_t random = ((uint32_t)i + seed) * 2654435761u;
        random = (random ^ random >> 15) * 2246822519u;
        random ^= random >> 13;
        data[i] = __float2half((float)(random & 0xFFFF) / 32767.5f * scale - scale);
    }
}

static void launch(struct products *p, unsigned products)
{
    const dim3 grid(SIDE / TILE, SIDE / TILE, products);
    multiply_kernel<<<grid, THREADS, SHARED_BYTES, p->stream>>>(p->input, p->weights, p->first, p->output);
    MUST(cudaGetLastError());
    p->first = (p->first + products) % MATRICES;
}

static void allocate(struct products *p)
{
    MUST(cudaMalloc(&p->weights, MATRICES * ELEMENTS * sizeof *p->weights));
    MUST(cudaMalloc(&p->input, ELEMENTS * sizeof *p->input));
    MUST(cudaMalloc(&p->output, OUTPUTS * ELEMENTS * sizeof *p->output));
    for (int i = 0; i < 2; i++)
        MUST(cudaEventCreateWithFlags(&p->done[i], cudaEventDisableTiming | cudaEventBlockingSync));
    fill_kernel<<<512, THREADS, 0, p->stream>>>(p->weights, MATRICES * ELEMENTS, 1 / 32.0f, 1);
    MUST(cudaGetLastError());
    fill_kernel<<<512, THREADS, 0, p->stream>>>(p->input, ELEMENTS, 1, 7);
    MUST(cudaGetLastError());
    MUST(cudaMemsetAsync(p->output, 0xFF, OUTPUTS * ELEMENTS * sizeof *p->output, p->stream)); /* no numbers */
    MUST(cudaFuncSetAttribute(multiply_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)SHARED_BYTES));
}

static __half *copy_to_host(const struct products *p, const __half *matrix)
{
    __half *host = (__half *)malloc(ELEMENTS * sizeof *host);
    if (!host) {
        fprintf(stderr, "network: out of memory\n");
        exit(1);
    }
    MUST(cudaMemcpyAsync(host, matrix, ELEMENTS * sizeof *host, cudaMemcpyDeviceToHost, p->stream));
    MUST(cudaStreamSynchronize(p->stream));
    return host;
}

/* Compares elements of the first product, at all places of a tile, with their sums on the CPU. */
static void check(struct products *p)
{
    launch(p, 1);
    __half *input = copy_to_host(p, p->input), *weight = copy_to_host(p, p->weights), *output = copy_to_host(p, p->output);
    for (int i = 0; i < CHECKED; i++) {
        const size_t y = (size_t)i * 1237 % SIDE, x = (size_t)i * 769 % SIDE;
        double want = 0;
        for (size_t k = 0; k < SIDE; k++)
            want += (double)__half2float(input[y * SIDE + k]) * (double)__half2float(weight[k * SIDE + x]);
        const double got = (double)__half2float(output[y * SIDE + x]);
        if (!(fabs(got - want) <= TOLERANCE)) {
            fprintf(stderr, "network: wrong product at row %zu, column %zu: %g instead of %g\n", y, x, got, want);
            exit(1);
        }
    }
    free(input);
    free(weight);
    free(output);
}

struct products *products_create(cudaStream_t stream)
{
    int devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess || devices == 0) {
        fprintf(stderr, "skipped: no GPU for the network: %s\n", cudaGetErrorString(error));
        exit(77);
    }
    struct products *p = (struct products *)calloc(1, sizeof *p);
    if (!p) {
        fprintf(stderr, "network: out of memory\n");
        exit(1);
    }
    p->stream = stream;
    p->owns_stream = !stream;
    if (p->owns_stream)
        MUST(cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking));
    allocate(p);
    check(p);
    return p;
}

int products_advance(struct products *p)
{
    const unsigned number = p->launches++;
    launch(p, PRODUCTS);
    MUST(cudaEventRecord(p->done[number % 2], p->stream));
    if (number == 0)
        return 0;
    MUST(cudaEventSynchronize(p->done[(number - 1) % 2]));
    return PRODUCTS;
}

void products_finish(struct products *p)
{
    MUST(cudaStreamSynchronize(p->stream));
    p->launches = 0;
}

void products_destroy(struct products *p)
{
    products_finish(p);
    for (int i = 0; i < 2; i++)
        MUST(cudaEventDestroy(p->done[i]));
    MUST(cudaFree(p->weights));
    MUST(cudaFree(p->input));
    MUST(cudaFree(p->output));
    if (p->owns_stream)
        MUST(cudaStreamDestroy(p->stream));
    free(p);
}
