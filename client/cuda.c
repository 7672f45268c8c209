/* SPDX-License-Identifier: Apache-2.0 */
/* Hands planes over to kernels: in the service's memory, registered once, or as copies. */
#include <parallax/cuda.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/cuda_driver.h"

/* A plane's way to the GPU when it is copied. */
struct copy {
    size_t bytes;
    void *pinned;
    plx_cu_address address;
    void *moved; /* event: the last copy has left PINNED */
};

struct plx_cuda {
    const struct plx_cuda_driver *driver;
    const struct plx_mapping *mapping; /* with one reference */
    int device;
    void *context; /* the primary one, retained */
    enum plx_cuda_mode mode;
    plx_cu_address registered; /* where the device sees the mapping; IN_PLACE */
    struct copy copy[PLX_PLANE_COUNT];
    char reason[256];
};

static int error_of(int code)
{
    if (code == 0)
        return 0;
    return code == PLX_CU_OUT_OF_MEMORY ? PLX_ERR_NOMEM : PLX_ERR_IO;
}

/* Device INDEX by the driver's own number; -1 if there is none. */
static int device_number(const struct plx_cuda_driver *driver, int index)
{
    int device;
    return driver && driver->device(&device, index) == 0 ? device : -1;
}

int plx_cuda_device(int index, struct plx_cuda_device *ret_device)
{
    const struct plx_cuda_driver *driver = plx_cuda_driver();
    const int device = device_number(driver, index);
    struct plx_cuda_device found = {0};
    if (!ret_device)
        return PLX_ERR_ARG;
    if (device < 0)
        return PLX_ERR_NOT_FOUND;
    int code = driver->device_name(found.name, sizeof found.name, device);
    /* A driver that does not know an attribute yet refuses it: then the device cannot. */
    if (code == 0)
        code = driver->attribute(&found.integrated, PLX_CU_INTEGRATED, device);
    driver->attribute(&found.host_register, PLX_CU_HOST_REGISTER, device);
    driver->attribute(&found.read_only_register, PLX_CU_READ_ONLY_HOST_REGISTER, device);
    driver->attribute(&found.ipc_events, PLX_CU_IPC_EVENTS, device);
    if (code == 0)
        *ret_device = found;
    return error_of(code);
}

static void *memory_of(const struct plx_mapping *mapping)
{
    return (void *)(uintptr_t)mapping->memory;
}

/* Registers the mapping; what goes wrong becomes the reason. */
static int register_mapping(struct plx_cuda *cuda, const struct plx_cuda_device *device)
{
    const struct plx_cuda_driver *driver = cuda->driver;
    const unsigned flags = PLX_CU_REGISTER_PORTABLE | PLX_CU_REGISTER_MAPPED | PLX_CU_REGISTER_READ_ONLY;
    const char *name = "an unknown error";
    if (!device->host_register || !device->read_only_register) {
        snprintf(cuda->reason, sizeof cuda->reason, "%s cannot register memory that is read-only: its CUDA attribute %d is 0",
                 device->name, device->host_register ? PLX_CU_READ_ONLY_HOST_REGISTER : PLX_CU_HOST_REGISTER);
        return PLX_ERR_UNSUPPORTED;
    }
    int code = driver->host_register(memory_of(cuda->mapping), cuda->mapping->bytes, flags);
    if (code == 0) {
        code = driver->host_address(&cuda->registered, memory_of(cuda->mapping), 0);
        if (code != 0)
            driver->host_unregister(memory_of(cuda->mapping));
    }
    if (code == 0) {
        snprintf(cuda->reason, sizeof cuda->reason, "%s reads the service's memory in place%s", device->name,
                 device->integrated ? "" : ", across the bus");
        return 0;
    }
    driver->error_name(code, &name);
    snprintf(cuda->reason, sizeof cuda->reason, "CUDA cannot register the service's memory: %s", name);
    return PLX_ERR_UNSUPPORTED;
}

/* Decides the mode in CUDA's context. */
static int choose_mode(struct plx_cuda *cuda, enum plx_cuda_mode wanted, const struct plx_cuda_device *device)
{
    void *context;
    cuda->mode = PLX_CUDA_COPIED;
    snprintf(cuda->reason, sizeof cuda->reason, "as the program asks");
    if (wanted == PLX_CUDA_COPIED)
        return 0;
    int result = error_of(cuda->driver->push(cuda->context));
    if (result < 0)
        return result;
    result = register_mapping(cuda, device);
    cuda->driver->pop(&context);
    if (result == 0)
        cuda->mode = PLX_CUDA_IN_PLACE;
    return wanted == PLX_CUDA_IN_PLACE ? result : 0;
}

int plx_cuda_map(struct plx_client *client, int index, enum plx_cuda_mode mode, struct plx_cuda **ret_cuda)
{
    struct plx_cuda_device device;
    if (!client || !ret_cuda || (unsigned)mode > PLX_CUDA_COPIED)
        return PLX_ERR_ARG;
    int result = plx_cuda_device(index, &device);
    if (result < 0)
        return result;
    struct plx_cuda *cuda = calloc(1, sizeof *cuda);
    if (!cuda)
        return PLX_ERR_NOMEM;
    cuda->driver = plx_cuda_driver();
    cuda->device = device_number(cuda->driver, index);
    result = plx_mapping_ref(client, &cuda->mapping);
    if (result == 0)
        result = error_of(cuda->driver->retain(&cuda->context, cuda->device));
    if (result == 0)
        result = choose_mode(cuda, mode, &device);
    if (result < 0)
        plx_cuda_unmap(cuda);
    else
        *ret_cuda = cuda;
    return result;
}

enum plx_cuda_mode plx_cuda_mode(const struct plx_cuda *cuda)
{
    return cuda->mode;
}

const char *plx_cuda_reason(const struct plx_cuda *cuda)
{
    return cuda->reason;
}

static void free_copy(const struct plx_cuda_driver *driver, struct copy *copy)
{
    if (copy->moved)
        driver->event_destroy(copy->moved);
    if (copy->address)
        driver->free(copy->address);
    if (copy->pinned)
        driver->host_free(copy->pinned);
    *copy = (struct copy){0};
}

/* Room for BYTES. What is there already stays where it is if it is of that size. */
static int make_room(const struct plx_cuda_driver *driver, struct copy *copy, size_t bytes)
{
    if (copy->bytes == bytes)
        return 0;
    free_copy(driver, copy);
    int code = driver->host_alloc(&copy->pinned, bytes);
    if (code == 0)
        code = driver->alloc(&copy->address, bytes);
    if (code == 0)
        code = driver->event_create(&copy->moved, PLX_CU_EVENT_BLOCKING | PLX_CU_EVENT_WITHOUT_TIME);
    if (code == 0)
        copy->bytes = bytes;
    else
        free_copy(driver, copy);
    return error_of(code);
}

static int copy_plane(struct plx_cuda *cuda, const void *plane, size_t bytes, struct copy *copy, void *stream)
{
    const struct plx_cuda_driver *driver = cuda->driver;
    void *context;
    int result = error_of(driver->push(cuda->context));
    if (result < 0)
        return result;
    result = make_room(driver, copy, bytes);
    if (result == 0)
        result = error_of(driver->event_wait(copy->moved)); /* long over, unless the GPU lags a frame behind */
    if (result == 0) {
        memcpy(copy->pinned, plane, bytes);
        result = error_of(driver->copy(copy->address, copy->pinned, bytes, stream));
    }
    if (result == 0)
        result = error_of(driver->event_record(copy->moved, stream));
    driver->pop(&context);
    return result;
}

/* Bytes from the first pixel of a plane to its last. */
static size_t plane_bytes(const struct plx_plane *layout)
{
    return (size_t)(layout->height - 1) * layout->pitch + (size_t)layout->width * layout->element;
}

int plx_cuda_plane(struct plx_cuda *cuda, const struct plx_view *view, enum plx_plane_id id, void *stream,
                   const void **ret_plane)
{
    if (!cuda || !view || !ret_plane || (unsigned)id >= PLX_PLANE_COUNT)
        return PLX_ERR_ARG;
    const void *plane = view->plane[id];
    if (!plane || view->layout[id].width == 0 || view->layout[id].height == 0)
        return PLX_ERR_NOT_FOUND;
    const size_t bytes = plane_bytes(&view->layout[id]);
    const uintptr_t at = (uintptr_t)plane - (uintptr_t)cuda->mapping->memory;
    if ((uintptr_t)plane < (uintptr_t)cuda->mapping->memory || at > cuda->mapping->bytes || bytes > cuda->mapping->bytes - at)
        return PLX_ERR_LOST;
    struct copy *copy = &cuda->copy[id];
    const int result = cuda->mode == PLX_CUDA_COPIED ? copy_plane(cuda, plane, bytes, copy, stream) : 0;
    if (result == 0)
        *ret_plane = (const void *)(uintptr_t)(cuda->mode == PLX_CUDA_COPIED ? copy->address : cuda->registered + at);
    return result;
}

void plx_cuda_unmap(struct plx_cuda *cuda)
{
    void *context;
    if (!cuda)
        return;
    if (cuda->context && cuda->driver->push(cuda->context) == 0) {
        if (cuda->mode == PLX_CUDA_IN_PLACE)
            cuda->driver->host_unregister(memory_of(cuda->mapping));
        for (int id = 0; id < PLX_PLANE_COUNT; id++)
            free_copy(cuda->driver, &cuda->copy[id]);
        cuda->driver->pop(&context);
    }
    if (cuda->context)
        cuda->driver->release(cuda->device);
    plx_mapping_unref(cuda->mapping);
    free(cuda);
}
