/* SPDX-License-Identifier: Apache-2.0 */
/* Connected components on the GPU: what labelling and the speckle filter share. */
#ifndef PLX_GPU_OBSTACLES_COMPONENTS_CUH
#define PLX_GPU_OBSTACLES_COMPONENTS_CUH

#include "gpu/device/device.cuh"

#define PLX_NO_COMPONENT 0xFFFFFFFFu
#define PLX_TILE 32 /* pixels of a tile's side: a warp */
#define PLX_TILE_PIXELS (PLX_TILE * PLX_TILE)
#define PLX_FEW 2048         /* components: all areas fit into shared memory */
#define PLX_ORDER_BLOCKS 128 /* of the kernel that sorts components, at most */
#define PLX_ORDER_AREAS 512  /* below which areas are of few pixels, for that */

struct __align__(8) plx_component
{
    uint32_t area, number; /* its pixels; its label, or 0 */
};

/* Pixels by raster index y * width + x, without padding. The root of a component is its first pixel; that of a component's
 * part in a tile the first one there. */
struct plx_gpu_components {
    uint32_t *parent;         /* [height * width] root of the part; of a root of a part, that of all; PLX_NO_COMPONENT */
    struct plx_component *at; /* [height * width] the component at its root; known at roots of parts only */
    uint32_t *parts;          /* [tiles][PLX_TILE_PIXELS] each tile's first few: root's place in the tile, pixels above that */
    uint32_t *of_tile;        /* [tiles] how many */
    uint32_t *large;          /* [height * width / 32, rounded up] a bit a pixel: is the root of one large enough */
    uint32_t *listed;         /* how many are large enough */
    uint32_t *list;           /* [PLX_FEW] the roots of those that came first, in any order */
    uint32_t *others;         /* how many of those are not of few pixels, where many are sorted */
    uint32_t *order[2];       /* [height * width] lists of roots, to sort many; the first is PARTS, which have served then */
    uint32_t *areas;          /* [PLX_ORDER_BLOCKS + 1][PLX_ORDER_AREAS] roots by area, of a block, then of all */
};

/* The images that components are found in, and where they go. */
struct plx_find_args {
    plx_view<const uint8_t> mask; /* data may be NULL */
    plx_view<const uint16_t> disparity;
    struct plx_gpu_components to;
    int max_step;
    uint32_t min_area; /* from which a component is large enough */
};

/* The root of pixel I's component. */
static __device__ __forceinline__ uint32_t plx_root(const uint32_t *parent, uint32_t i)
{
    return parent[parent[i]];
}

/* The disparity of a pixel that is in; PLX_DISPARITY_INVALID for one that is out or outside. Both reads go at once. */
static __device__ __forceinline__ int plx_disparity_in(const plx_find_args &a, int x, int y)
{
    const bool inside = x >= 0 && y >= 0 && x < a.disparity.width && y < a.disparity.height;
    const int disparity = inside ? a.disparity.row(y)[x] : PLX_DISPARITY_INVALID;
    const bool in = inside && a.mask.data ? a.mask.row(y)[x] != 0 : true;
    return in ? disparity : (int)PLX_DISPARITY_INVALID;
}

static __device__ __forceinline__ bool plx_linked(int a, int b, int max_step)
{
    return a != PLX_DISPARITY_INVALID && b != PLX_DISPARITY_INVALID && abs(a - b) <= max_step;
}

/* The root above I, for now. Hangs what it passes one step higher, so that later ways are shorter (Patwary, Blair and Manne
 * 2010); other threads may do so too. */
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

/* Makes one component of those of A and B, as Rem does (Patwary, Blair and Manne 2010): goes up from both at once until they
 * meet, and hangs what it passes below the other's way, the later below the earlier, so that the root is the first pixel
 * whatever the order. Other threads do so at the same time: what was above who is hung elsewhere is still to be joined. */
static __device__ __forceinline__ void plx_join(uint32_t *parent, uint32_t a, uint32_t b)
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

/* The same of A and B that may well be roots: the first step does not look. */
static __device__ __forceinline__ void plx_join_roots(uint32_t *parent, uint32_t a, uint32_t b)
{
    const uint32_t late = max(a, b), early = min(a, b), was = atomicMin(&parent[late], early);

    if (was != late && was != early)
        plx_join(parent, was, early);
}

/* components_tile.cu: components of each tile for itself */
int plx_gpu_components_tile(struct plx_gpu *gpu, const struct plx_find_args *args, bool eight);

/* As plx_components_find of cpu/obstacles/components.h, with 8 neighbours or 4, and lists those of MIN_AREA pixels.
 * Asynchronous; MASK may be NULL. */
int plx_gpu_components_find(struct plx_gpu *gpu, const struct plx_image *mask, const struct plx_image *disparity, int max_step,
                            uint32_t min_area, bool eight);

/* components_order.cu: numbers those that were listed, in an image of PIXELS; asynchronous */
int plx_gpu_components_order(struct plx_gpu *gpu, int pixels);

#endif
