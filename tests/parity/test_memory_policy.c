/* SPDX-License-Identifier: Apache-2.0 */
/* Which memory cameras, slots and kernels share, for devices of each kind; as attributes only, so that no GPU is needed. */
#include <stdio.h>
#include <string.h>

#include <parallax/error.h>

#include "gpu/internal.h"
#include "tests/parity/parity.h"

/* Attributes as NVIDIA documents them for these devices. */
static const struct device {
    const char *name;
    int integrated, registered, concurrent;
} orin = {"Orin", 1, 1, 0}, thor = {"Thor", 1, 1, 1}, tx2 = {"TX2", 1, 0, 0}, h200 = {"H200", 0, 1, 1},
  old = {"old card", 0, 0, 0};

#define AUTO PLX_GPU_MEMORY_AUTO
#define MAPPED PLX_GPU_MEMORY_MAPPED
#define MANAGED PLX_GPU_MEMORY_MANAGED
#define COPIED PLX_GPU_MEMORY_COPIED

static const struct row {
    const struct device *device;
    enum plx_gpu_memory wanted, gets;
    const char *refusal; /* NULL: none */
} table[] = {
    {&orin, AUTO, MAPPED, NULL}, /* one memory: cameras write where kernels read, frames are written in place */
    {&orin, MAPPED, MAPPED, NULL},
    {&orin, MANAGED, AUTO, "forbids the CPU to touch managed memory"},
    {&orin, COPIED, COPIED, NULL},
    {&thor, AUTO, MAPPED, NULL},
    {&thor, MANAGED, MANAGED, NULL},
    {&tx2, AUTO, COPIED, NULL}, /* cannot adopt the slots */
    {&tx2, MAPPED, AUTO, "does not reach registered memory"},
    {&h200, AUTO, COPIED, NULL},
    {&h200, MAPPED, MAPPED, NULL},
    {&h200, MANAGED, MANAGED, NULL},
    {&old, AUTO, COPIED, NULL},
    {&old, MANAGED, AUTO, "managed"},
};

static int check(int index)
{
    const struct row *row = &table[index];
    struct cudaDeviceProp device = {.integrated = row->device->integrated,
                                    .canUseHostPointerForRegisteredMem = row->device->registered,
                                    .concurrentManagedAccess = row->device->concurrent};
    enum plx_gpu_memory gets = AUTO; /* untouched by a refusal */
    struct plx_error_message message = {""};

    snprintf(device.name, sizeof device.name, "%s", row->device->name);
    const int result = plx_gpu_memory_choose(row->wanted, &device, &gets, &message);
    const bool right = row->refusal ? result == PLX_ERR_UNSUPPORTED && strstr(message.text, row->refusal) : result == 0;
    if (right && gets == row->gets)
        return 0;
    fprintf(stderr, "%s, asked for %d: result %d, memory %d, \"%s\"\n", row->device->name, row->wanted, result, gets,
            message.text);
    return 1;
}

int main(void)
{
    return parity_rows(PARITY_COUNT(table), check);
}
