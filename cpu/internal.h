/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the CPU backend: its threads, its state, and its stages by name. */
#ifndef PLX_CPU_INTERNAL_H
#define PLX_CPU_INTERNAL_H

#include "core/ground/obstacles.h"
#include "core/pipeline/stages.h"
#include "cpu/simd/kernels.h"

/* A fixed pool of threads that share the tasks of one call. THREADS in all, the caller's among them; 0 = as many as the process
 * may run on. Errors: NOMEM. */
struct plx_pool;
int plx_pool_create(int threads, struct plx_pool **ret_pool);
void plx_pool_destroy(struct plx_pool *pool);

int plx_pool_threads(const struct plx_pool *pool);

/* Calls task(job, i) once for each i in 0..count-1, on all threads, in any order, and returns when all are done. Tasks start in
 * ascending order: task i has been started before task i + 1 is. Not reentrant; allocates nothing. */
void plx_pool_run(struct plx_pool *pool, int count, void (*task)(void *job, int index), void *job);

/* The same for the rows 0..rows-1 of an image: one call for each band of rows first..last-1, or one for each row. */
void plx_pool_run_bands(struct plx_pool *pool, int rows, void (*band)(void *job, int first, int last), void *job);
void plx_pool_run_rows(struct plx_pool *pool, int rows, void (*row)(void *job, int y), void *job);

enum plx_isa { PLX_ISA_GENERIC, PLX_ISA_NEON, PLX_ISA_AVX2, PLX_ISA_AVX512, PLX_ISA_COUNT };

struct plx_cpu {
    struct plx_stages base; /* first: a struct plx_stages * of this backend is a struct plx_cpu * */
    struct plx_limits limits;
    struct plx_pool *pool;
    const struct plx_kernels *kernels;

    /* scratch of the stages, sized by the limits */
    uint8_t *grey, *smooth; /* [height][PLX_PADDED(width)] census: the image, before and after smoothing */
    uint8_t *between;       /* [height][width] morphology: the image between the two halves of open and close */
    struct plx_sgm_scratch *sgm;
    struct plx_components *components; /* speckle and label */
    struct plx_ground_scratch *ground;
    struct plx_columns_scratch *columns;
    uint16_t *column_ends; /* [3][columns] free_ground: struct plx_column_ends */
    struct plx_segments_scratch *segments;
    struct plx_regions_scratch *regions;
};

static inline struct plx_cpu *plx_cpu(struct plx_stages *self)
{
    return (struct plx_cpu *)self;
}

/* plx_cpu_create with the kernels of ISA instead of the best. UNSUPPORTED if this machine or build has them not. */
int plx_cpu_create_isa(const struct plx_limits *limits, enum plx_isa isa, struct plx_stages **ret_stages);

/* The kernels of ISA if this machine can run them, else NULL. */
const struct plx_kernels *plx_isa_kernels(enum plx_isa isa);

/* True if IMAGE is within the limits given at creation. */
static inline bool plx_cpu_holds(const struct plx_cpu *cpu, const struct plx_image *image)
{
    return image->width <= cpu->limits.width && image->height <= cpu->limits.height;
}

/* An image argument of a stage, and the type that it must have. */
struct plx_typed_image {
    const struct plx_image *image;
    enum plx_type type;
};

/* ARG if an image is not of its type or differs from the first in size, RANGE beyond the limits. A type of 0 ends the list. */
int plx_cpu_check_images(const struct plx_cpu *cpu, const struct plx_typed_image *images);
#define PLX_CPU_CHECK_IMAGES(cpu, ...) plx_cpu_check_images(cpu, (const struct plx_typed_image[]){__VA_ARGS__, {NULL, 0}})

/* Scratch of a stage, defined in its file. Errors: NOMEM. */
int plx_sgm_scratch_create(const struct plx_limits *limits, int threads, struct plx_sgm_scratch **ret_scratch);
void plx_sgm_scratch_destroy(struct plx_sgm_scratch *scratch);
int plx_components_create(const struct plx_limits *limits, struct plx_components **ret_components);
void plx_components_destroy(struct plx_components *components);
int plx_ground_scratch_create(struct plx_ground_scratch **ret_scratch);
void plx_ground_scratch_destroy(struct plx_ground_scratch *scratch);
int plx_columns_scratch_create(const struct plx_limits *limits, int threads, struct plx_columns_scratch **ret_scratch);
void plx_columns_scratch_destroy(struct plx_columns_scratch *scratch);
int plx_segments_scratch_create(const struct plx_limits *limits, struct plx_segments_scratch **ret_scratch);
void plx_segments_scratch_destroy(struct plx_segments_scratch *scratch);
int plx_regions_scratch_create(const struct plx_limits *limits, struct plx_regions_scratch **ret_scratch);
void plx_regions_scratch_destroy(struct plx_regions_scratch *scratch);

/* Stages and image operations: plx_cpu_NAME has the signature of NAME in core/pipeline/stages.h. */
#define PLX_CPU_STAGE(name) __typeof__(*((struct plx_stages_ops *)NULL)->name) plx_cpu_##name;
#define PLX_CPU_IMAGE(name) __typeof__(*((struct plx_image_ops *)NULL)->name) plx_cpu_##name;
PLX_STAGE_OPS(PLX_CPU_STAGE)
PLX_IMAGE_OPS(PLX_CPU_IMAGE)

#endif
