/* SPDX-License-Identifier: Apache-2.0 */
/* Which memory both processors use, by what the device can. The first row that fits is taken. */
#include "gpu/internal.h"

#define INTEGRATED 1u /* the GPU's memory is the CPU's */
#define REGISTERED 2u /* kernels reach registered memory by the CPU's own address */
#define CONCURRENT 4u /* the CPU may touch managed memory while kernels run; on Jetson before Thor it must not */

static const struct {
    enum plx_gpu_memory wanted;
    unsigned needs;
    enum plx_gpu_memory gets;
} rules[] = {
    {PLX_GPU_MEMORY_AUTO, INTEGRATED | REGISTERED, PLX_GPU_MEMORY_MAPPED}, /* Jetson: one memory, nothing to copy */
    {PLX_GPU_MEMORY_AUTO, 0, PLX_GPU_MEMORY_COPIED},                       /* beyond a bus each byte crosses once */
    {PLX_GPU_MEMORY_MAPPED, REGISTERED, PLX_GPU_MEMORY_MAPPED},
    {PLX_GPU_MEMORY_MANAGED, REGISTERED | CONCURRENT, PLX_GPU_MEMORY_MANAGED}, /* slots stay registered memory */
    {PLX_GPU_MEMORY_COPIED, 0, PLX_GPU_MEMORY_COPIED},
};

int plx_gpu_memory_choose(enum plx_gpu_memory wanted, const struct cudaDeviceProp *device, enum plx_gpu_memory *ret_memory,
                          struct plx_error_message *message)
{
    const unsigned can = (device->integrated ? INTEGRATED : 0) | (device->canUseHostPointerForRegisteredMem ? REGISTERED : 0) |
                         (device->concurrentManagedAccess ? CONCURRENT : 0);
    unsigned missing = 0;

    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        if (rules[i].wanted != wanted)
            continue;
        missing = rules[i].needs & ~can;
        if (missing == 0) {
            *ret_memory = rules[i].gets;
            return 0;
        }
    }
    return plx_fail(message, PLX_ERR_UNSUPPORTED, "gpu.memory is %s, but %s %s; set it to auto",
                    wanted == PLX_GPU_MEMORY_MAPPED ? "mapped" : "managed", device->name,
                    missing & CONCURRENT ? "forbids the CPU to touch managed memory while it works"
                                         : "does not reach registered memory by its address");
}
