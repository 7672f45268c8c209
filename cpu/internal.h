/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of cpu/ share: the backend's state, and its stages by name. */
#ifndef PLX_CPU_INTERNAL_H
#define PLX_CPU_INTERNAL_H

#include "core/obstacles.h"
#include "core/stages.h"
#include "cpu/runtime/pool.h"
#include "cpu/simd/kernels.h"

enum plx_isa { PLX_ISA_GENERIC, PLX_ISA_NEON, PLX_ISA_AVX2, PLX_ISA_AVX512, PLX_ISA_COUNT };

struct plx_cpu {
    struct plx_stages base; /* first: a struct plx_stages * of this backend is a struct plx_cpu * */
    struct plx_limits limits;
    struct plx_pool *pool;
    const struct plx_kernels *kernels;

    /* scratch of the stages, sized by the limits */
    struct plx_components *components; /* speckle and label */
    struct plx_ground_scratch *ground;
    struct plx_regions_scratch *regions;
    uint8_t *between; /* [height][width] of the limits: the image between the two halves of open and close */
    struct plx_census_scratch *census;
    struct plx_sgm_scratch *sgm;
};

static inline struct plx_cpu *plx_cpu(struct plx_stages *self)
{
    return (struct plx_cpu *)self;
}

/* True if IMAGE is within the limits given at creation. */
static inline bool plx_cpu_holds(const struct plx_cpu *cpu, const struct plx_image *image)
{
    return image->width <= cpu->limits.width && image->height <= cpu->limits.height;
}

/* Bands of rows: how the threads of the pool share an image. */
struct plx_band {
    int first, last; /* rows first..last-1 */
};

/* Bands for an image of ROWS rows: a few per thread, so that a thread that was held up delays nobody. */
static inline int plx_band_count(const struct plx_cpu *cpu, int rows)
{
    int wanted = 4 * plx_pool_threads(cpu->pool);
    return rows < wanted ? rows : wanted;
}

static inline struct plx_band plx_band(int index, int count, int rows)
{
    return (struct plx_band){(int)((int64_t)rows * index / count), (int)((int64_t)rows * (index + 1) / count)};
}

/* plx_cpu_create with the kernels of ISA instead of the best. UNSUPPORTED if this machine or build has them not. */
int plx_cpu_create_isa(const struct plx_limits *limits, enum plx_isa isa, struct plx_stages **ret_stages);

/* The kernels of ISA if this machine can run them, else NULL. */
const struct plx_kernels *plx_isa_kernels(enum plx_isa isa);

/* census.c, sgm.c, median.c, check.c, fill.c, confidence.c */
int plx_census_scratch_create(int width, int height, struct plx_census_scratch **ret_scratch);
void plx_census_scratch_destroy(struct plx_census_scratch *scratch);
int plx_sgm_scratch_create(const struct plx_limits *limits, int threads, struct plx_sgm_scratch **ret_scratch);
void plx_sgm_scratch_destroy(struct plx_sgm_scratch *scratch);

int plx_cpu_census(struct plx_stages *self, const struct plx_image *grey, const struct plx_match *match,
                   const struct plx_features *ret_features);
int plx_cpu_sgm(struct plx_stages *self, const struct plx_features *left, const struct plx_features *right,
                const struct plx_image *left_grey, const struct plx_match *match, const struct plx_candidates *ret_candidates);
int plx_cpu_median(struct plx_stages *self, const struct plx_image *src, enum plx_median kind, const struct plx_image *dst);
int plx_cpu_check(struct plx_stages *self, const struct plx_image *left, const struct plx_image *right,
                  const struct plx_image *left_grey, const struct plx_match *match, const struct plx_image *ret_disparity);
int plx_cpu_fill(struct plx_stages *self, const struct plx_image *src, const struct plx_image *dst,
                 const struct plx_image *ret_filled);
int plx_cpu_confidence(struct plx_stages *self, const struct plx_candidates *candidates, const struct plx_image *checked,
                       const struct plx_match *match, const struct plx_image *ret_confidence);

/* ground.c, mask.c, label.c, speckle.c, regions.c; the scratch of each, where it has some, is its own */
int plx_ground_scratch_create(struct plx_ground_scratch **ret_scratch);
void plx_ground_scratch_destroy(struct plx_ground_scratch *scratch);
int plx_regions_scratch_create(int width, int height, struct plx_regions_scratch **ret_scratch);
void plx_regions_scratch_destroy(struct plx_regions_scratch *scratch);

int plx_cpu_speckle(struct plx_stages *self, const struct plx_image *src, const struct plx_speckle *speckle,
                    const struct plx_image *dst);
int plx_cpu_ground(struct plx_stages *self, const struct plx_image *disparity, const struct plx_ground_params *params,
                   struct plx_ground *ret_ground);
int plx_cpu_mask(struct plx_stages *self, const struct plx_image *disparity, const struct plx_ground *ground,
                 const struct plx_mask_params *params, const struct plx_image *ret_mask);
int plx_cpu_label(struct plx_stages *self, const struct plx_image *mask, const struct plx_image *disparity,
                  const struct plx_label_params *params, const struct plx_image *ret_labels, uint32_t *ret_count);
int plx_cpu_regions(struct plx_stages *self, const struct plx_region_input *input, const uint32_t *count,
                    struct plx_region *ret_regions, const struct plx_image *ret_published);

/* convert.c, histogram.c, rectify.c, filter.c, temporal.c */
int plx_cpu_convert(struct plx_stages *self, const struct plx_raw *raw, const struct plx_image *grey);
int plx_cpu_histogram(struct plx_stages *self, const struct plx_image *grey, int bins, const struct plx_image *ret_bins);
int plx_cpu_rectify(struct plx_stages *self, const struct plx_image *src, const struct plx_remap *map,
                    const struct plx_image *dst, uint32_t *ret_masked);
int plx_cpu_filter(struct plx_stages *self, const struct plx_image *src, const struct plx_filter *filter,
                   const struct plx_image *dst);
int plx_cpu_temporal(struct plx_stages *self, const struct plx_image *src, const struct plx_temporal *temporal,
                     const struct plx_image *history, const struct plx_image *dst);

/* imageops.c, morphology.c, affine.c, match_template.c */
int plx_cpu_binary(struct plx_stages *self, enum plx_binary_op op, const struct plx_image *a, const struct plx_image *b,
                   const struct plx_image *dst);
int plx_cpu_invert(struct plx_stages *self, const struct plx_image *src, const struct plx_image *dst);
int plx_cpu_threshold(struct plx_stages *self, const struct plx_image *src, int threshold, const struct plx_image *dst);
int plx_cpu_sum(struct plx_stages *self, const struct plx_image *src, uint64_t *ret_sum);
int plx_cpu_morphology(struct plx_stages *self, enum plx_morphology op, const struct plx_image *src, int width, int height,
                       const struct plx_image *dst);
int plx_cpu_affine(struct plx_stages *self, const struct plx_image *src, const int32_t matrix[6], const struct plx_image *dst);
int plx_cpu_match_template(struct plx_stages *self, const struct plx_image *image, const struct plx_image *patch,
                           struct plx_template_match *ret_best);

#endif
