/* SPDX-License-Identifier: Apache-2.0 */
/* Connected-component labelling on the GPU, by union-find: what label and speckle share. */
#ifndef PLX_GPU_OBSTACLES_COMPONENTS_CUH
#define PLX_GPU_OBSTACLES_COMPONENTS_CUH

#include "gpu/device/device.cuh"

#define PLX_NO_COMPONENT 0xFFFFFFFFu
#define PLX_TILE 32 /* pixels of a tile's side: a warp */
#define PLX_TILE_PIXELS (PLX_TILE * PLX_TILE)
#define PLX_FEW_COMPONENTS 1024  /* so few are ranked in shared memory */
#define PLX_SMALL_AREA 512       /* a component of fewer pixels is small */
#define PLX_ORDER_MAX_BLOCKS 128 /* blocks of the kernel that numbers components */

struct __align__(8) plx_component
{
    uint32_t area, label; /* pixels; 0 without a label */
};

/* A pixel is its raster index y * width + x, without padding. The root of a component is its first pixel; a tile's root is the
 * first pixel of a component within the tile. */
struct plx_gpu_components {
    uint32_t *parent; /* [height * width] a tile's root; that one's parent is the component's root; or NO_COMPONENT */
    struct plx_component *component; /* [height * width] at its root; undefined where no tile has a root */
    uint32_t *tile_roots;            /* [tiles][PLX_TILE_PIXELS] place in the tile + area in the tile * PLX_TILE_PIXELS */
    uint32_t *tile_root_count;       /* [tiles] */
    uint32_t *large;                 /* [height * width / 32, rounded up] a bit a pixel: the root of a large component */
    uint32_t *large_count;           /* large components */
    uint32_t *few;                   /* [PLX_FEW_COMPONENTS] roots of the first large components found, in any order */
    uint32_t *many;       /* [height * width / PLX_SMALL_AREA] roots of large components that are not small, in any order */
    uint32_t *many_count; /* how many; counted only if not all fit into FEW */
    uint32_t *areas;      /* [PLX_ORDER_MAX_BLOCKS][PLX_SMALL_AREA] a block's large components by area, if small */
};

/* The images in which components are found, and the result. */
struct plx_components_args {
    plx_view<const uint8_t> mask; /* data may be NULL */
    plx_view<const uint16_t> disparity;
    struct plx_gpu_components to;
    int max_step;
    uint32_t min_area; /* pixels of a large component */
};

/* The disparity of a foreground pixel; PLX_DISPARITY_INVALID in the background and outside the image. */
static __device__ __forceinline__ int plx_foreground(const plx_components_args &a, int x, int y)
{
    const bool inside = x >= 0 && y >= 0 && x < a.disparity.width && y < a.disparity.height;
    const int disparity = inside ? a.disparity.row(y)[x] : PLX_DISPARITY_INVALID;
    const bool masked_out = inside && a.mask.data && a.mask.row(y)[x] == 0; /* both reads overlap */
    return masked_out ? (int)PLX_DISPARITY_INVALID : disparity;
}

static __device__ __forceinline__ bool plx_linked(int a, int b, int max_step)
{
    return a != PLX_DISPARITY_INVALID && b != PLX_DISPARITY_INVALID && abs(a - b) <= max_step;
}

/* The root of pixel I's component. */
static __device__ __forceinline__ uint32_t plx_root(const uint32_t *parent, uint32_t i)
{
    return parent[parent[i]];
}

/* The root above I, for now. Shortens the path for later calls (Patwary, Blair and Manne 2010); other threads may do so too. */
static __device__ __forceinline__ uint32_t plx_find(uint32_t *parent, uint32_t i)
{
    const volatile uint32_t *const now = parent;
    uint32_t up = now[i];

    while (up != i) {
        const uint32_t next = now[up];
        if (next == up)
            return up;
        atomicMin(&parent[i], next);
        i = up;
        up = next;
    }
    return i;
}

/* Merges the sets of A and B with Rem's algorithm (Patwary, Blair and Manne 2010): climbs from both until the parents are
 * equal, and moves the node with the later parent below the earlier one. So the root is the first pixel in any order of merges.
 * Other threads merge at the same time: the parent that a moved node had is still to be merged. */
static __device__ __forceinline__ void plx_merge(uint32_t *parent, uint32_t a, uint32_t b)
{
    const volatile uint32_t *const now = parent;

    for (;;) {
        const uint32_t up_a = now[a], up_b = now[b];
        if (up_a == up_b)
            return;
        const uint32_t late = up_a > up_b ? a : b, early = min(up_a, up_b), was = atomicMin(&parent[late], early);
        if (was == late)
            return;
        a = was;
        b = early;
    }
}

/* The same of A and B that are probably roots: the first step reads no parent. */
static __device__ __forceinline__ void plx_merge_roots(uint32_t *parent, uint32_t a, uint32_t b)
{
    const uint32_t late = max(a, b), early = min(a, b), was = a != b ? atomicMin(&parent[late], early) : late;

    if (was != late && was != early)
        plx_merge(parent, was, early);
}

/* The parent of I while other threads merge. */
static __device__ __forceinline__ uint32_t plx_parent_now(const uint32_t *parent, uint32_t i)
{
    return *(const volatile uint32_t *)&parent[i];
}

/* As find_components of cpu/obstacles/components.c, with 8 neighbours or 4. A component of MIN_AREA pixels is large.
 * Asynchronous; MASK may be NULL. */
int plx_gpu_components_find(struct plx_gpu *gpu, const struct plx_image *mask, const struct plx_image *disparity, int max_step,
                            uint32_t min_area, bool eight);

#endif
