/* SPDX-License-Identifier: Apache-2.0 */
/* Products of matrices in half precision on the tensor cores, one after another, as a neural network computes them: weights
 * come from memory, because all of them are far more than the caches hold; activations stay in the cache. */
#ifndef PLX_TESTS_BENCH_PRODUCTS_H
#define PLX_TESTS_BENCH_PRODUCTS_H

#include <cuda_runtime_api.h>

#define PRODUCTS_SIDE 2048 /* rows and columns of each matrix */
#define PRODUCTS_FLOP (2.0 * PRODUCTS_SIDE * PRODUCTS_SIDE * PRODUCTS_SIDE)

struct products;

/* On STREAM of the current context, which also is current in all other calls; NULL: makes a stream of its own. Checks a product
 * beside the CPU's. Exits with 1 where CUDA fails or the product is wrong, with 77 without a GPU. */
struct products *products_create(cudaStream_t stream);

/* Starts the next products, and waits, asleep, until those of the call before are complete, so that the GPU always has work.
 * Returns how many have been completed. */
int products_advance(struct products *products);

/* Waits for all of them. */
void products_finish(struct products *products);

void products_destroy(struct products *products);

#endif
