/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of gpu/, C and CUDA, share: the backend's state, its stages by name, and how CUDA's calls are checked. */
#ifndef PLX_GPU_INTERNAL_H
#define PLX_GPU_INTERNAL_H

#include <cuda_runtime_api.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <parallax/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "core/obstacles.h"
#include "core/stages.h"
#include "gpu/gpu.h"

/* Main: stages that obstacles depend on. Side: stages beside them. Copy: outputs on their way to shared memory.
 * Clock: time stamps. */
enum plx_gpu_stream { PLX_STREAM_MAIN, PLX_STREAM_SIDE, PLX_STREAM_COPY, PLX_STREAM_CLOCK, PLX_STREAMS };

#define PLX_GPU_LEVELS 256 /* of brightness */

/* Device memory of the stages that sum up over the whole image; all 0 between them. See reduce.cuh. */
struct plx_gpu_accumulators {
    unsigned long long value, best;
    unsigned blocks, best_blocks; /* that are done; match_template, which adds up to BEST, may run beside others */
    unsigned long long bins[1 + PLX_ZONES * PLX_ZONES][PLX_GPU_LEVELS]; /* of the histogram; in the upper half, who has added */
};

struct plx_gpu {
    struct plx_stages base;    /* first: a struct plx_stages * of this backend is a struct plx_gpu * */
    struct plx_stages_ops ops; /* this device's; base.ops points here */
    struct plx_limits limits;
    bool adopts;         /* kernels reach memory that somebody else allocated by its own address */
    cudaStream_t stream; /* that stages launch on; they do not ask which */
    struct plx_gpu_streams {
        cudaStream_t stream[PLX_STREAMS];
        cudaEvent_t passed[PLX_STREAMS]; /* by all calls so far, where another stream waits for them */

        /* of the frame that is recorded */
        const struct plx_frame_run *run; /* NULL: none is */
        enum plx_stage stage;
        bool used[PLX_STREAMS];
        bool one_stream;           /* speckle ran, whose scratch memory others share: nothing runs beside it */
        cudaGraphNode_t forked_at; /* last call of the main stream that the side stream waits for */
        cudaGraphNode_t stamped;   /* last call of the main stream whose end has a time stamp */
        bool side_used;            /* in this stage */
        uint32_t copied;           /* outputs that are on their way, a bit each */
    } streams;
    enum plx_gpu_memory memory;            /* what is in force: not AUTO */
    struct plx_gpu_sgm *sgm;               /* scratch of stage sgm */
    struct plx_gpu_components *components; /* of speckle and label */
    struct plx_gpu_ground *ground;         /* of stage ground */
    struct plx_gpu_regions *regions;       /* of stage regions */
    struct plx_gpu_frames *frames;         /* frames as CUDA graphs */
    char device[300];                      /* see plx_gpu_device */
    bool integrated;                       /* within the processor, whose memory is its own */
    int multiprocessors;
    int shared_bytes, shared_bytes_block; /* shared memory of a multiprocessor, and what a block may have of it */
    int shared_reserved;                  /* what the system takes for each block */
    bool programmatic_launch;             /* kernels may start before the previous one ends: launch.cuh */
    int lines_resident;                   /* warps of stage sgm's lines that all multiprocessors hold together */
    int schedule;                         /* forced, see schedule.h; below 0: by itself */
    struct plx_gpu_accumulators *totals;
    bool times_stages;            /* frames that are recorded from now on have time stamps */
    unsigned long long *stamp_ns; /* when each stage of the frame was complete, by the GPU's clock; 0: it did not run */
};

static inline struct plx_gpu *plx_gpu(struct plx_stages *self)
{
    return (struct plx_gpu *)self;
}

/* True if IMAGE is within the limits given at creation. */
static inline bool plx_gpu_holds(const struct plx_gpu *gpu, const struct plx_image *image)
{
    return image->width <= gpu->limits.width && image->height <= gpu->limits.height;
}

/* The plx_error for what a CUDA call returned; a failure is described in base.message by the call's text. */
int plx_gpu_check(struct plx_gpu *gpu, cudaError_t error, const char *call);
#define PLX_CUDA(gpu, call) plx_gpu_check(gpu, call, #call)

/* After a kernel launch: whether it started. How it ended is seen at ops->finish. */
#define PLX_LAUNCHED(gpu, kernel) plx_gpu_check(gpu, cudaGetLastError(), #kernel)

/* probe.cu: true if this program holds machine code for the current device. FOLLOWS: and its kernels follow: launch.cuh. */
bool plx_gpu_has_machine_code(bool *ret_follows);

/* memory.c. Device memory is what only kernels reach; a NULL is freed silently. */
int plx_gpu_alloc(struct plx_stages *self, size_t bytes, void **ret_data);
int plx_gpu_alloc_local(struct plx_stages *self, size_t bytes, const void *content, void **ret_data);
void plx_gpu_free(struct plx_stages *self, void *data);
int plx_gpu_adopt(struct plx_stages *self, void *data, size_t bytes);
void plx_gpu_disown(struct plx_stages *self, void *data);

/* memory_policy.c: what WANTED comes to on DEVICE; UNSUPPORTED with the reason. */
int plx_gpu_memory_choose(enum plx_gpu_memory wanted, const struct cudaDeviceProp *device, enum plx_gpu_memory *ret_memory,
                          struct plx_error_message *message);

/* streams.c. Begin, end: a frame is recorded; at its end all streams have joined the main one, unless RESULT is an error, which
 * is returned. Last_recorded: the node that the next call on the current stream would follow; NULL if there is none yet. The
 * stages choose the stream, then call those of the same name below. Destroy accepts what a create that failed has left. */
int plx_gpu_streams_create(struct plx_gpu *gpu);
void plx_gpu_streams_destroy(struct plx_gpu *gpu);
int plx_gpu_streams_begin(struct plx_gpu *gpu, const struct plx_frame_run *run);
int plx_gpu_streams_end(struct plx_gpu *gpu, int result);
int plx_gpu_last_recorded(struct plx_gpu *gpu, cudaGraphNode_t *ret_node);
int plx_gpu_begin_stage(struct plx_stages *self, enum plx_stage stage);
int plx_gpu_frame_median(struct plx_stages *self, const struct plx_image *src, enum plx_median kind,
                         const struct plx_image *dst);
int plx_gpu_frame_check(struct plx_stages *self, const struct plx_image *left, const struct plx_image *right,
                        const struct plx_image *left_grey, const struct plx_match *match,
                        const struct plx_image *ret_disparity);
int plx_gpu_frame_fill(struct plx_stages *self, const struct plx_image *src, const struct plx_image *dst,
                       const struct plx_image *ret_filled);
int plx_gpu_frame_confidence(struct plx_stages *self, const struct plx_candidates *candidates, const struct plx_image *checked,
                             const struct plx_match *match, const struct plx_image *ret_confidence);
int plx_gpu_frame_match_template(struct plx_stages *self, const struct plx_image *image, const struct plx_image *patch,
                                 struct plx_template_match *ret_best);
int plx_gpu_frame_speckle(struct plx_stages *self, const struct plx_image *src, const struct plx_speckle *speckle,
                          const struct plx_image *dst);

/* frame.c. Forget: recordings hold addresses, so freed memory makes them invalid. Launch_changing: starts a kernel whose
 * arguments differ from frame to frame; for a frame that is replayed it updates them in the graph. Destroy accepts what a
 * create that failed has left. */
int plx_gpu_frames_create(struct plx_gpu *gpu);
void plx_gpu_frames_destroy(struct plx_gpu *gpu);
void plx_gpu_frames_forget(struct plx_gpu *gpu);
int plx_gpu_run_frame(struct plx_stages *self, const struct plx_frame_run *run);
int plx_gpu_launch_changing(struct plx_gpu *gpu, void *kernel, dim3 grid, dim3 block, void **args);

/* stage_clock.cu: time stamps of a frame. Stamp: with STAGE PLX_STAGE_COUNT, of the frame's begin. Read: sets the time of each
 * stage that ran, from the completion of any stage before it to its own. Destroy accepts what a create that failed has left. */
int plx_gpu_stage_clock_create(struct plx_gpu *gpu);
void plx_gpu_stage_clock_destroy(struct plx_gpu *gpu);
void plx_gpu_stage_clock_clear(struct plx_gpu *gpu);
int plx_gpu_stage_clock_stamp(struct plx_gpu *gpu, int stage, cudaStream_t stream);
void plx_gpu_stage_clock_read(struct plx_gpu *gpu, uint32_t ret_us[PLX_STAGE_COUNT]);

/* census.cu */
int plx_gpu_census(struct plx_stages *self, const struct plx_image *grey, const struct plx_match *match,
                   const struct plx_features *ret_features);

/* sgm.cu. Destroy accepts what a create that failed has left. */
int plx_gpu_sgm_create(struct plx_gpu *gpu);
void plx_gpu_sgm_destroy(struct plx_gpu *gpu);
int plx_gpu_sgm(struct plx_stages *self, const struct plx_features *left, const struct plx_features *right,
                const struct plx_image *left_grey, const struct plx_match *match, const struct plx_candidates *ret_candidates);

/* median.cu, check.cu, fill.cu, confidence.cu */
int plx_gpu_median(struct plx_stages *self, const struct plx_image *src, enum plx_median kind, const struct plx_image *dst);
int plx_gpu_left_right_check(struct plx_stages *self, const struct plx_image *left, const struct plx_image *right,
                             const struct plx_image *left_grey, const struct plx_match *match,
                             const struct plx_image *ret_disparity);
int plx_gpu_fill(struct plx_stages *self, const struct plx_image *src, const struct plx_image *dst,
                 const struct plx_image *ret_filled);
int plx_gpu_confidence(struct plx_stages *self, const struct plx_candidates *candidates, const struct plx_image *checked,
                       const struct plx_match *match, const struct plx_image *ret_confidence);

/* components.cu, speckle.cu, label.cu, regions.cu, ground.cu, mask.cu. Destroy accepts what a create that failed has left. */
int plx_gpu_components_create(struct plx_gpu *gpu);
void plx_gpu_components_destroy(struct plx_gpu *gpu);
int plx_gpu_regions_create(struct plx_gpu *gpu);
void plx_gpu_regions_destroy(struct plx_gpu *gpu);
int plx_gpu_ground_create(struct plx_gpu *gpu);
void plx_gpu_ground_destroy(struct plx_gpu *gpu);
int plx_gpu_speckle(struct plx_stages *self, const struct plx_image *src, const struct plx_speckle *speckle,
                    const struct plx_image *dst);
int plx_gpu_label(struct plx_stages *self, const struct plx_image *mask, const struct plx_image *disparity,
                  const struct plx_label_params *params, const struct plx_image *ret_labels, uint32_t *ret_count);
int plx_gpu_regions(struct plx_stages *self, const struct plx_region_input *input, const uint32_t *count,
                    struct plx_region *ret_regions, const struct plx_image *ret_published);
int plx_gpu_ground(struct plx_stages *self, const struct plx_image *disparity, const struct plx_ground_params *params,
                   struct plx_ground *ret_ground);
int plx_gpu_mask(struct plx_stages *self, const struct plx_image *disparity, const struct plx_ground *ground,
                 const struct plx_mask_params *params, const struct plx_image *ret_mask);

/* convert.cu, histogram.cu, rectify.cu, filter.cu, temporal.cu */
int plx_gpu_convert(struct plx_stages *self, const struct plx_raw *raw, const struct plx_image *grey);
int plx_gpu_histogram(struct plx_stages *self, const struct plx_image *grey, int bins, const struct plx_image *ret_bins);
int plx_gpu_rectify(struct plx_stages *self, const struct plx_image *src, const struct plx_remap *map,
                    const struct plx_image *dst, uint32_t *ret_masked);
int plx_gpu_filter(struct plx_stages *self, const struct plx_image *src, const struct plx_filter *filter,
                   const struct plx_image *dst);
int plx_gpu_temporal(struct plx_stages *self, const struct plx_image *src, const struct plx_temporal *temporal,
                     const struct plx_image *history, const struct plx_image *dst);

/* imageops.cu, morphology.cu, affine.cu, match_template.cu */
int plx_gpu_binary(struct plx_stages *self, enum plx_binary_op op, const struct plx_image *a, const struct plx_image *b,
                   const struct plx_image *dst);
int plx_gpu_invert(struct plx_stages *self, const struct plx_image *src, const struct plx_image *dst);
int plx_gpu_threshold(struct plx_stages *self, const struct plx_image *src, int threshold, const struct plx_image *dst);
int plx_gpu_sum(struct plx_stages *self, const struct plx_image *src, uint64_t *ret_sum);
int plx_gpu_morphology(struct plx_stages *self, enum plx_morphology op, const struct plx_image *src, int width, int height,
                       const struct plx_image *dst);
int plx_gpu_affine(struct plx_stages *self, const struct plx_image *src, const int32_t matrix[6], const struct plx_image *dst);
int plx_gpu_match_template(struct plx_stages *self, const struct plx_image *image, const struct plx_image *patch,
                           struct plx_template_match *ret_best);

#ifdef __cplusplus
}
#endif
#endif
