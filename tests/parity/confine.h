/* SPDX-License-Identifier: Apache-2.0 */
/* Benches on a part of the GPU. */
#ifndef PLX_TESTS_PARITY_CONFINE_H
#define PLX_TESTS_PARITY_CONFINE_H

#include <stdbool.h>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "core/pipeline/stages.h"

/*
 * Lets this process use about COUNT multiprocessors only (a green context), as many as a smaller GPU has; to be called first.
 * Prints and returns how many there are now: hardware groups them by 8 or so. 0: all of them, of which nothing is said. Exits
 * with 1 where the driver cannot.
 */
int confine(int count);

/* Tells the backend, which sees the whole GPU, that it has only COUNT, unless that is 0. */
void confine_stages(struct plx_stages *stages, int count);

/* The multiprocessors that confine() has left, as another program would have them. */
struct confined_rest {
    CUcontext context, own;
    cudaStream_t stream;
    int multiprocessors;
};

/* False without confine() before. */
bool confine_rest(struct confined_rest *ret_rest);

/* Kernels that are launched in between, on its stream, run there. */
void confine_enter(struct confined_rest *rest);
void confine_leave(struct confined_rest *rest);

#endif
