/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planes of a frame for kernels of this machine's GPU, as a network on the colour picture and the depth wants them. Part of
 * libparallax, which loads NVIDIA's driver (libcuda.so.1) when the first of these functions is called; no CUDA is needed to
 * build against it. All work is in the device's primary context: that of the CUDA runtime, and so of PyTorch and CuPy.
 *
 *     const void *colour;
 *     plx_next(client, 1000, &view);
 *     plx_cuda_plane(cuda, &view, PLX_PLANE_COLOUR, stream, &colour);
 *     kernel<<<blocks, threads, 0, stream>>>(colour, view.layout[PLX_PLANE_COLOUR].pitch, ...);
 *     cudaStreamSynchronize(stream);
 *     if (plx_release(client, &view) == 0)
 *         ... what the kernel wrote counts
 *
 * A published frame is complete in memory: there is no event to wait for before a kernel reads it.
 */
#ifndef PARALLAX_CUDA_H
#define PARALLAX_CUDA_H

#include <parallax/client.h>

#ifdef __cplusplus
extern "C" {
#endif

enum plx_cuda_mode {
    PLX_CUDA_AUTO,     /* IN_PLACE where the device can, else COPIED */
    PLX_CUDA_IN_PLACE, /* kernels read the service's memory itself: on Jetson without any copy, elsewhere across the bus */
    PLX_CUDA_COPIED    /* each plane is copied once, through pinned memory, into memory of the GPU */
};

/* What a device says of itself: attributes of CUDA's driver, 0 or 1, by their numbers in cuda.h. */
struct plx_cuda_device {
    char name[128];
    int32_t integrated;         /* 18: its memory is the CPU's */
    int32_t host_register;      /* 99: memory of a process can be registered */
    int32_t read_only_register; /* 113: also memory that the process itself may only read, as that of the service */
    int32_t ipc_events;         /* 125: events work between processes; for information, nothing here needs them */
};

/* Asks CUDA's device INDEX, from 0. Errors: NOT_FOUND (no driver, or no such device), IO (the driver fails), ARG. */
int plx_cuda_device(int index, struct plx_cuda_device *ret_device);

struct plx_cuda;

/* Gives device INDEX access to the present memory of CLIENT. To register a memory takes up to some hundred milliseconds, so do
 * it once. *ret_cuda is the caller's until plx_cuda_unmap, may outlive CLIENT, and belongs to one thread at a time. Errors:
 * NOT_FOUND (no driver, or no such device), UNSUPPORTED (IN_PLACE on a device that cannot), LOST (CLIENT is not attached),
 * NOMEM, IO (the driver fails), ARG. */
int plx_cuda_map(struct plx_client *client, int index, enum plx_cuda_mode mode, struct plx_cuda **ret_cuda);

/* IN_PLACE or COPIED; and why, for people. The text lives as long as CUDA. */
enum plx_cuda_mode plx_cuda_mode(const struct plx_cuda *cuda);
const char *plx_cuda_reason(const struct plx_cuda *cuda);

/* Where kernels in STREAM (a cudaStream_t or CUstream of the device; NULL: the default one) find plane ID of VIEW, with the
 * size and pitch of view->layout[ID]:
 *   IN_PLACE  inside the service's memory, read-only, and any stream will do. The kernels must have ended before plx_release,
 *             whose result says whether they read a whole frame.
 *   COPIED    in memory of CUDA, which kernels may write to. The bytes leave VIEW in this call, so plx_release may follow at
 *             once, and its result counts; kernels in other streams must wait for STREAM. The next call for ID writes to the
 *             same memory, in the order of its own stream.
 * Allocates nothing but, when COPIED, with the first plane of each size. Errors: NOT_FOUND (VIEW has no such plane), LOST (VIEW
 * lies in another memory than CUDA: the service came back, so unmap and map again), NOMEM, IO (the driver fails, also of an
 * earlier kernel), ARG. */
int plx_cuda_plane(struct plx_cuda *cuda, const struct plx_view *view, enum plx_plane_id id, void *stream,
                   const void **ret_plane);

/* Ends the access: device addresses of CUDA are invalid then, so all kernels that use them must have ended. NULL is fine. */
void plx_cuda_unmap(struct plx_cuda *cuda);

#ifdef __cplusplus
}
#endif
#endif
