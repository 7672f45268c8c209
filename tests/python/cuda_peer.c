/* SPDX-License-Identifier: Apache-2.0 */
/* A libcuda.so.1 for machines without a GPU, whose device is the CPU: an address of the device is one of the process. A test
 * says what the device can, and reads which calls were made. The real driver: tests/python/test_cuda_gpu.py. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/cuda_driver.h"

#define EXPORT __attribute__((visibility("default")))
enum { INVALID_VALUE = 1, NO_DEVICE = 100, INVALID_DEVICE = 101, NOT_SUPPORTED = 801 }; /* CUDA_ERROR_... */

/* What the test sets, and what it reads: how many are registered, allocated, retained. */
EXPORT int peer_devices = 1, peer_host_register = 1, peer_read_only = 1, peer_register_fails, peer_alloc_fails;
EXPORT int peer_registered, peer_allocated, peer_retained, peer_copies, peer_pushed;
EXPORT unsigned peer_flags;
EXPORT void *peer_stream;

#define PEER(symbol, ...)                                                                                                      \
    EXPORT int symbol(__VA_ARGS__);                                                                                            \
    int symbol(__VA_ARGS__)

PEER(cuInit, unsigned flags)
{
    const char *fault = getenv("PEER_FAULT"); /* "hang" or "crash" */
    while (fault && strcmp(fault, "hang") == 0)
        pause();
    if (fault && strcmp(fault, "crash") == 0)
        abort();
    return flags == 0 ? 0 : NO_DEVICE;
}

PEER(cuGetErrorName, int error, const char **ret_name)
{
    *ret_name = error == NOT_SUPPORTED ? "CUDA_ERROR_NOT_SUPPORTED" : "CUDA_ERROR_UNKNOWN";
    return 0;
}

PEER(cuDeviceGet, int *ret_device, int index)
{
    *ret_device = index;
    return index >= 0 && index < peer_devices ? 0 : INVALID_DEVICE;
}

PEER(cuDeviceGetName, char *ret_name, int size, int device)
{
    snprintf(ret_name, (size_t)size, "the CPU, as device %d", device);
    return 0;
}

PEER(cuDeviceGetAttribute, int *ret_value, int attribute, int device)
{
    (void)device;
    if (attribute == PLX_CU_IPC_EVENTS)
        return INVALID_VALUE; /* a driver that does not know it yet */
    *ret_value =
        attribute == PLX_CU_HOST_REGISTER ? peer_host_register : attribute == PLX_CU_READ_ONLY_HOST_REGISTER && peer_read_only;
    return 0;
}

PEER(cuDevicePrimaryCtxRetain, void **ret_context, int device)
{
    (void)device;
    *ret_context = &peer_retained;
    peer_retained++;
    return 0;
}

PEER(cuDevicePrimaryCtxRelease_v2, int device)
{
    (void)device;
    peer_retained--;
    return 0;
}

PEER(cuCtxPushCurrent_v2, void *context)
{
    peer_pushed++;
    return context == &peer_retained ? 0 : INVALID_VALUE;
}

PEER(cuCtxPopCurrent_v2, void **ret_context)
{
    peer_pushed--;
    *ret_context = &peer_retained;
    return 0;
}

PEER(cuMemHostRegister_v2, void *memory, size_t bytes, unsigned flags)
{
    if (peer_register_fails || !memory || bytes == 0)
        return NOT_SUPPORTED;
    peer_registered++;
    peer_flags = flags;
    return 0;
}

PEER(cuMemHostUnregister, void *memory)
{
    (void)memory;
    peer_registered--;
    return 0;
}

PEER(cuMemHostGetDevicePointer_v2, plx_cu_address *ret_address, void *memory, unsigned flags)
{
    *ret_address = (uintptr_t)memory;
    return flags == 0 ? 0 : INVALID_VALUE;
}

PEER(cuMemAllocHost_v2, void **ret_memory, size_t bytes)
{
    peer_allocated++;
    *ret_memory = malloc(bytes);
    return 0;
}

PEER(cuMemFreeHost, void *memory)
{
    peer_allocated--;
    free(memory);
    return 0;
}

PEER(cuMemAlloc_v2, plx_cu_address *ret_address, size_t bytes)
{
    if (peer_alloc_fails)
        return PLX_CU_OUT_OF_MEMORY;
    peer_allocated++;
    *ret_address = (uintptr_t)malloc(bytes);
    return 0;
}

PEER(cuMemFree_v2, plx_cu_address address)
{
    peer_allocated--;
    free((void *)(uintptr_t)address); /* NOLINT(performance-no-int-to-ptr): the device is the CPU */
    return 0;
}

PEER(cuMemcpyHtoDAsync_v2, plx_cu_address to, const void *from, size_t bytes, void *stream)
{
    memcpy((void *)(uintptr_t)to, from, bytes); /* NOLINT(performance-no-int-to-ptr) */
    peer_copies++;
    peer_stream = stream;
    return 0;
}

PEER(cuEventCreate, void **ret_event, unsigned flags)
{
    peer_allocated++;
    *ret_event = &peer_allocated;
    return flags == (PLX_CU_EVENT_BLOCKING | PLX_CU_EVENT_WITHOUT_TIME) ? 0 : INVALID_VALUE;
}

PEER(cuEventRecord, void *event, void *stream)
{
    return event == &peer_allocated && stream == peer_stream ? 0 : INVALID_VALUE;
}

PEER(cuEventSynchronize, void *event)
{
    return event == &peer_allocated ? 0 : INVALID_VALUE;
}

PEER(cuEventDestroy_v2, void *event)
{
    peer_allocated--;
    return event == &peer_allocated ? 0 : INVALID_VALUE;
}
