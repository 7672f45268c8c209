/* SPDX-License-Identifier: Apache-2.0 */
#include "cpu/cpu.h"

#include <stdlib.h>
#include <string.h>

#include <parallax/error.h>

#include "core/ground/columns.h"
#include "cpu/internal.h"

#define ALIGNMENT 256

static void destroy(struct plx_stages *self)
{
    if (!self)
        return;
    struct plx_cpu *cpu = plx_cpu(self);
    free(cpu->grey);
    free(cpu->smooth);
    free(cpu->between);
    plx_sgm_scratch_destroy(cpu->sgm);
    plx_components_destroy(cpu->components);
    plx_ground_scratch_destroy(cpu->ground);
    plx_columns_scratch_destroy(cpu->columns);
    free(cpu->column_ends);
    plx_segments_scratch_destroy(cpu->segments);
    plx_regions_scratch_destroy(cpu->regions);
    plx_pool_destroy(cpu->pool);
    free(cpu);
}

static int alloc_local(struct plx_stages *self, size_t bytes, const void *content, void **ret_data)
{
    (void)self;
    size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    void *data = aligned_alloc(ALIGNMENT, rounded > 0 ? rounded : ALIGNMENT);
    if (!data)
        return PLX_ERR_NOMEM;
    if (content)
        memcpy(data, content, bytes);
    else
        memset(data, 0, rounded);
    *ret_data = data;
    return 0;
}

static int write_local(struct plx_stages *self, void *data, const void *content, size_t bytes)
{
    (void)self;
    memcpy(data, content, bytes);
    return 0;
}

/* One memory serves the CPU and its stages. */
static int alloc(struct plx_stages *self, size_t bytes, void **ret_data)
{
    return alloc_local(self, bytes, NULL, ret_data);
}

static void release(struct plx_stages *self, void *data)
{
    (void)self;
    free(data);
}

/* The CPU reaches all memory of its process. */
static int adopt(struct plx_stages *self, void *data, size_t bytes)
{
    (void)self;
    (void)data;
    (void)bytes;
    return 0;
}

static void disown(struct plx_stages *self, void *data)
{
    (void)self;
    (void)data;
}

/* Every stage of this backend is complete when it returns. */
static int finish(struct plx_stages *self)
{
    (void)self;
    return 0;
}

#define STAGE(name) .name = plx_cpu_##name,
static const struct plx_stages_ops cpu_ops = {
    .name = "cpu",
    .destroy = destroy,
    .alloc = alloc,
    .alloc_local = alloc_local,
    .write_local = write_local,
    .free = release,
    .adopt = adopt,
    .disown = disown,
    .finish = finish,
    .run_frame = plx_run_frame_in_order,
    PLX_STAGE_OPS(STAGE).image = {PLX_IMAGE_OPS(STAGE)},
};

int plx_cpu_check_images(const struct plx_cpu *cpu, const struct plx_typed_image *images)
{
    for (const struct plx_typed_image *i = images; i->type != 0; i++)
        if (!plx_image_ok(i->image, i->type) || !plx_same_size(i->image, images->image))
            return PLX_ERR_ARG;
    return plx_cpu_holds(cpu, images->image) ? 0 : PLX_ERR_RANGE;
}

const struct plx_kernels *plx_isa_kernels(enum plx_isa isa)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    switch (isa) {
    case PLX_ISA_AVX2:
        return __builtin_cpu_supports("avx2") ? &plx_kernels_avx2 : NULL;
    case PLX_ISA_AVX512:
        return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                       __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bitalg")
                   ? &plx_kernels_avx512
                   : NULL;
    default:
        break;
    }
#elif defined __aarch64__
    if (isa == PLX_ISA_NEON)
        return &plx_kernels_neon;
#endif
    return isa == PLX_ISA_GENERIC ? &plx_kernels_generic : NULL;
}

static int create_scratch(struct plx_cpu *cpu)
{
    const struct plx_limits *limits = &cpu->limits;
    const size_t height = (size_t)limits->height, padded = PLX_PADDED(limits->width);
    int result;

    cpu->grey = calloc(height, padded);
    cpu->smooth = calloc(height, padded);
    cpu->between = malloc(height * (size_t)limits->width);
    cpu->column_ends = calloc(3 * (size_t)plx_columns_of(limits->width), sizeof *cpu->column_ends);
    if (!cpu->grey || !cpu->smooth || !cpu->between || !cpu->column_ends)
        return PLX_ERR_NOMEM;
    result = plx_sgm_scratch_create(limits, plx_pool_threads(cpu->pool), &cpu->sgm);
    if (result == 0)
        result = plx_components_create(limits, &cpu->components);
    if (result == 0)
        result = plx_ground_scratch_create(&cpu->ground);
    if (result == 0)
        result = plx_columns_scratch_create(limits, plx_pool_threads(cpu->pool), &cpu->columns);
    if (result == 0)
        result = plx_segments_scratch_create(limits, &cpu->segments);
    if (result == 0)
        result = plx_regions_scratch_create(limits, &cpu->regions);
    return result;
}

int plx_cpu_create_isa(const struct plx_limits *limits, enum plx_isa isa, struct plx_stages **ret_stages)
{
    const struct plx_kernels *kernels = plx_isa_kernels(isa);
    if (!kernels)
        return PLX_ERR_UNSUPPORTED;
    struct plx_cpu *cpu = calloc(1, sizeof *cpu);
    if (!cpu)
        return PLX_ERR_NOMEM;

    cpu->base.ops = &cpu_ops;
    cpu->limits = *limits;
    cpu->kernels = kernels;
    int result = plx_pool_create(limits->threads, &cpu->pool);
    if (result == 0)
        result = create_scratch(cpu);
    if (result < 0) {
        destroy(&cpu->base);
        return result;
    }
    *ret_stages = &cpu->base;
    return 0;
}

int plx_cpu_create(const struct plx_limits *limits, struct plx_stages **ret_stages)
{
    int isa = PLX_ISA_COUNT - 1;
    while (isa > PLX_ISA_GENERIC && !plx_isa_kernels((enum plx_isa)isa))
        isa--;
    return plx_cpu_create_isa(limits, (enum plx_isa)isa, ret_stages);
}
