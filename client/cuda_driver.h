/* SPDX-License-Identifier: Apache-2.0 */
/* NVIDIA's driver library, loaded when it is first needed, so that libparallax runs where there is none. Types and numbers are
 * those of its stable binary interface (CUDA Driver API reference), of which this needs a few functions. */
#ifndef PLX_CLIENT_CUDA_DRIVER_H
#define PLX_CLIENT_CUDA_DRIVER_H

#include <stddef.h>

typedef unsigned long long plx_cu_address; /* CUdeviceptr */

/* Return type int: CUresult, 0 is success. Handles (context, stream, event) are pointers. */
#define PLX_CU_TABLE(ROW)                                                                                                      \
    ROW(init, "cuInit", (unsigned flags))                                                                                      \
    ROW(error_name, "cuGetErrorName", (int error, const char **ret_name))                                                      \
    ROW(device, "cuDeviceGet", (int *ret_device, int index))                                                                   \
    ROW(device_name, "cuDeviceGetName", (char *ret_name, int size, int device))                                                \
    ROW(attribute, "cuDeviceGetAttribute", (int *ret_value, int attribute, int device))                                        \
    ROW(retain, "cuDevicePrimaryCtxRetain", (void **ret_context, int device))                                                  \
    ROW(release, "cuDevicePrimaryCtxRelease_v2", (int device))                                                                 \
    ROW(push, "cuCtxPushCurrent_v2", (void *context))                                                                          \
    ROW(pop, "cuCtxPopCurrent_v2", (void **ret_context))                                                                       \
    ROW(host_register, "cuMemHostRegister_v2", (void *memory, size_t bytes, unsigned flags))                                   \
    ROW(host_unregister, "cuMemHostUnregister", (void *memory))                                                                \
    ROW(host_address, "cuMemHostGetDevicePointer_v2", (plx_cu_address * ret_address, void *memory, unsigned flags))            \
    ROW(host_alloc, "cuMemAllocHost_v2", (void **ret_memory, size_t bytes))                                                    \
    ROW(host_free, "cuMemFreeHost", (void *memory))                                                                            \
    ROW(alloc, "cuMemAlloc_v2", (plx_cu_address * ret_address, size_t bytes))                                                  \
    ROW(free, "cuMemFree_v2", (plx_cu_address address))                                                                        \
    ROW(copy, "cuMemcpyHtoDAsync_v2", (plx_cu_address to, const void *from, size_t bytes, void *stream))                       \
    ROW(event_create, "cuEventCreate", (void **ret_event, unsigned flags))                                                     \
    ROW(event_record, "cuEventRecord", (void *event, void *stream))                                                            \
    ROW(event_wait, "cuEventSynchronize", (void *event))                                                                       \
    ROW(event_destroy, "cuEventDestroy_v2", (void *event))

struct plx_cuda_driver {
#define PLX_CU_MEMBER(name, symbol, arguments) int(*name) arguments;
    PLX_CU_TABLE(PLX_CU_MEMBER)
#undef PLX_CU_MEMBER
};

enum {
    PLX_CU_OUT_OF_MEMORY = 2, /* CUDA_ERROR_OUT_OF_MEMORY */
    PLX_CU_INTEGRATED = 18,   /* CU_DEVICE_ATTRIBUTE_... */
    PLX_CU_HOST_REGISTER = 99,
    PLX_CU_READ_ONLY_HOST_REGISTER = 113,
    PLX_CU_IPC_EVENTS = 125,
    PLX_CU_REGISTER_PORTABLE = 1, /* CU_MEMHOSTREGISTER_... */
    PLX_CU_REGISTER_MAPPED = 2,
    PLX_CU_REGISTER_READ_ONLY = 8,
    PLX_CU_EVENT_BLOCKING = 1, /* CU_EVENT_... */
    PLX_CU_EVENT_WITHOUT_TIME = 2
};

/* The driver, initialized; it is never unloaded. NULL: there is none, or it is too old, or it finds no GPU. Any thread. */
const struct plx_cuda_driver *plx_cuda_driver(void);

#endif
