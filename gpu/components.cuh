/* SPDX-License-Identifier: Apache-2.0 */
/* Connected components on the GPU: what labelling and the speckle filter share. */
#ifndef PLX_GPU_COMPONENTS_CUH
#define PLX_GPU_COMPONENTS_CUH

#include "gpu/device.cuh"

#define PLX_NO_COMPONENT 0xFFFFFFFFu
#define PLX_ORDER_BLOCKS 32 /* of the kernel that sorts components: few enough to run at once on 8 SMs */
#define PLX_ORDER_DIGITS 256

/* Pixels by raster index y * width + x, without padding. The root of a component is its first pixel. */
struct plx_gpu_components {
    uint32_t *parent;   /* [height * width] an earlier pixel of the component, two steps from the root; PLX_NO_COMPONENT */
    uint32_t *area;     /* [height * width] pixels of the component at its root, else 0 */
    uint32_t *roots;    /* [height * width / 32, rounded up] a bit a pixel: is a root */
    uint32_t *order[2]; /* [height * width] scratch of sorting roots */
    uint32_t *digits;   /* [PLX_ORDER_DIGITS][PLX_ORDER_BLOCKS] likewise */
    uint32_t *listed;   /* [2][PLX_ORDER_BLOCKS] likewise */
};

/* The root of pixel I's component. */
static __device__ __forceinline__ uint32_t plx_root(const uint32_t *parent, uint32_t i)
{
    return parent[parent[i]];
}

/* As plx_components_find of cpu/components.h, with 8 neighbours or 4. Asynchronous; MASK may be NULL. */
int plx_gpu_components_find(struct plx_gpu *gpu, const struct plx_image *mask, const struct plx_image *disparity, int max_step,
                            bool eight);

#endif
