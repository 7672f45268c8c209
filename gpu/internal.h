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

#include "core/pipeline/confidence.h"
#include "core/pipeline/stages.h"
#include "gpu/gpu.h"

/* Main: stages that obstacles depend on. Side: stages beside them. Scan: what only the scan depends on. Copy: outputs to shared
 * memory. Clock: time stamps. */
enum plx_gpu_stream { PLX_STREAM_MAIN, PLX_STREAM_SIDE, PLX_STREAM_SCAN, PLX_STREAM_COPY, PLX_STREAM_CLOCK, PLX_STREAMS };

#define PLX_GPU_LEVELS 256 /* levels of brightness */

/* Device memory of the stages that sum up over the whole image; all 0 between them. See reduce.cuh. */
struct plx_gpu_accumulators {
    unsigned long long value, best;
    unsigned blocks, best_blocks; /* that are done; match_template, which adds up to BEST, may run beside others */
    unsigned long long bins[PLX_HISTOGRAM_EYE_ROWS][PLX_GPU_LEVELS]; /* histogram; in the upper half, who has added */
};

/* Scratch of stage segments, each [stixels]. */
struct plx_gpu_segments {
    uint32_t *parent;                  /* on the way to the name of its segment */
    uint32_t *area;                    /* at its name: pixels of a segment */
    uint32_t *number;                  /* at its name: number of a segment, 0 if it has gone */
    uint32_t *linked;                  /* name of its segment before narrow ones join */
    struct plx_segment_extent *extent; /* at that name */
    uint64_t *order;                   /* segments that stay, in any order: ~area << 32 | name */
};

struct plx_gpu {
    struct plx_stages base;    /* first: a struct plx_stages * of this backend is a struct plx_gpu * */
    struct plx_stages_ops ops; /* this device's; base.ops points here */
    struct plx_limits limits;
    bool adopts;         /* kernels reach memory that somebody else allocated by its own address */
    cudaStream_t stream; /* that stages launch on */
    struct plx_gpu_streams {
        cudaStream_t stream[PLX_STREAMS];
        cudaEvent_t passed[PLX_STREAMS];    /* by all calls so far, where another stream waits for them */
        cudaEvent_t beside[PLX_MAX_BESIDE]; /* what the CPU waits for, asleep: each step beside the stages may begin, */
        cudaEvent_t done;                   /* and all calls so far are complete */

        /* state of the frame that is recorded */
        const struct plx_frame_run *run; /* NULL: none is */
        enum plx_stage stage;
        bool used[PLX_STREAMS];
        bool one_stream;           /* speckle ran, whose scratch memory others share: nothing runs beside it */
        cudaGraphNode_t forked_at; /* last call of the main stream that the side stream waits for */
        cudaGraphNode_t stamped;   /* last call of the main stream whose end has a time stamp */
        bool side_used;            /* in this stage */
        uint64_t copied;           /* outputs whose copies are recorded, a bit each */
        int signalled;             /* steps beside whose events are recorded */
    } streams;
    enum plx_gpu_memory memory;            /* what is in force: not AUTO */
    struct plx_gpu_sgm *sgm;               /* scratch of stage sgm */
    struct plx_gpu_components *components; /* scratch of speckle and label */
    struct plx_gpu_ground *ground;         /* scratch of stage ground */
    struct {
        void *words; /* see columns.cu */
        int16_t *value;
    } columns;                        /* scratch of stage stixels */
    uint16_t *column_ends;            /* [3][columns] of stage free_ground: struct plx_column_ends */
    struct plx_gpu_segments segments; /* scratch of stage segments */
    struct plx_gpu_regions *regions;  /* scratch of stage regions */
    struct plx_gpu_frames *frames;    /* frames as CUDA graphs */
    char device[300];                 /* see plx_gpu_device */
    bool integrated;                  /* within the processor, whose memory is its own */
    int multiprocessors;
    int shared_bytes, shared_bytes_block; /* shared memory of a multiprocessor, and what a block may have of it */
    int shared_reserved;                  /* what the system takes for each block */
    bool programmatic_launch;             /* kernels may start before the previous one ends: device.cuh */
    int lines_resident;                   /* warps of stage sgm's lines that all multiprocessors hold */
    int schedule;                         /* forced, see plx_sgm_schedule; below 0: by itself */
    struct plx_gpu_accumulators *totals;
    bool times_stages;            /* frames that are recorded from now on have time stamps */
    unsigned long long *stamp_ns; /* when each stage of the frame was complete, by the GPU's clock; 0: it did not run. Then the
                                     frame's begin */
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
int plx_gpu_error(struct plx_gpu *gpu, cudaError_t error, const char *call);
#define PLX_CUDA(gpu, call) plx_gpu_error(gpu, call, #call)

/* stage_clock.cu: true if this program holds machine code for the current device. DEPENDENT: and its kernels may start before
 * the previous one ends: device.cuh. */
bool plx_gpu_has_machine_code(bool *ret_dependent);

/* memory.c. Device memory is what only kernels reach; a NULL is freed silently. */
int plx_gpu_alloc(struct plx_stages *self, size_t bytes, void **ret_data);
int plx_gpu_alloc_local(struct plx_stages *self, size_t bytes, const void *content, void **ret_data);
int plx_gpu_write_local(struct plx_stages *self, void *data, const void *content, size_t bytes);
void plx_gpu_free(struct plx_stages *self, void *data);

/* Device memory of several arrays in one block, zeroed. To free the first one frees all. */
struct plx_gpu_part {
    void **data;
    size_t bytes;
};
int plx_gpu_alloc_parts(struct plx_gpu *gpu, const struct plx_gpu_part *part, int parts);
int plx_gpu_adopt(struct plx_stages *self, void *data, size_t bytes);
void plx_gpu_disown(struct plx_stages *self, void *data);

/* What WANTED comes to on DEVICE; UNSUPPORTED with the reason. */
int plx_gpu_memory_choose(enum plx_gpu_memory wanted, const struct cudaDeviceProp *device, enum plx_gpu_memory *ret_memory,
                          struct plx_error_message *message);

/* streams.c. Begin, end: a frame is recorded; at its end all streams have joined the main one, unless RESULT is an error, which
 * is returned. Last_recorded: the node that the next call on the current stream would follow; NULL if there is none yet.
 * Begin_step: the calls that follow are those of that step of the run; what the steps before it completed is copied, and timed.
 * Use_side: calls until use_main may run beside others, behind all calls so far: those of stage refine, and those that may do
 * so IN_ANY_STAGE. Use_scan: likewise, but nothing except copies and the frame's end waits for them. Use_main returns RESULT.
 * Wait_side: main stream calls from now on run behind all calls so far but those of the scan stream. */
int plx_gpu_streams_begin(struct plx_gpu *gpu, const struct plx_frame_run *run);
int plx_gpu_streams_end(struct plx_gpu *gpu, int result);
int plx_gpu_last_recorded(struct plx_gpu *gpu, cudaGraphNode_t *ret_node);
int plx_gpu_use_side(struct plx_gpu *gpu, bool in_any_stage);
int plx_gpu_use_scan(struct plx_gpu *gpu);
int plx_gpu_use_main(struct plx_gpu *gpu, int result);
int plx_gpu_wait_side(struct plx_gpu *gpu);
int plx_gpu_begin_step(struct plx_gpu *gpu, int index);

/* Waits, asleep, until all calls of the main stream so far are complete: a robot has other work for the core. */
int plx_gpu_finish(struct plx_stages *self);

/* frame.c. Forget: recordings hold addresses, so freed memory makes them invalid. Launch_changing: starts a kernel whose
 * arguments differ from frame to frame; for a frame that is replayed it updates them in the graph. */
void plx_gpu_frames_forget(struct plx_gpu *gpu);
int plx_gpu_run_frame(struct plx_stages *self, const struct plx_frame_run *run);
int plx_gpu_launch_changing(struct plx_gpu *gpu, void *kernel, dim3 grid, dim3 block, void **args);

/* stage_clock.cu: time stamps of a frame. Stamp: with STAGE PLX_STAGE_COUNT, of the frame's begin. Read: sets the time of each
 * stage that ran, from the completion of any stage before it to its own. */
void plx_gpu_stage_clock_clear(struct plx_gpu *gpu);
int plx_gpu_stage_clock_stamp(struct plx_gpu *gpu, int stage, cudaStream_t stream);
void plx_gpu_stage_clock_read(struct plx_gpu *gpu, uint32_t ret_us[PLX_STAGE_COUNT]);

/* sgm.cu: how stage sgm is launched, in the order of plx_gpu_schedule_name. Every schedule gives the same bits. */
enum plx_sgm_schedule {
    PLX_LINES_REGISTERS, /* as many warps as fit; the next pixels wait in registers: fewest instructions */
    PLX_LINES_PREFETCH,  /* few warps, 16 pixels prefetched; the middle of each line stays in shared memory: least latency */
    PLX_SWEEPS           /* least memory traffic */
};

/* What is forced, or what suits the image and this GPU. */
enum plx_sgm_schedule plx_gpu_sgm_schedule(const struct plx_gpu *gpu, int width, int height, const struct plx_match *match);

/* sweeps.cu: false where the features of a pixel do not fit one word, and for 4 paths. Then there are lines, whatever is
 * forced. */
bool plx_sgm_can_sweep(const struct plx_match *match);

/* What the backend consists of. Destroy accepts what was not created, or in part. */
#define PLX_GPU_PART(part)                                                                                                     \
    int plx_gpu_##part##_create(struct plx_gpu *gpu);                                                                          \
    void plx_gpu_##part##_destroy(struct plx_gpu *gpu)
PLX_GPU_PART(streams);
PLX_GPU_PART(frames);
PLX_GPU_PART(stage_clock);
PLX_GPU_PART(sgm);
PLX_GPU_PART(components);
PLX_GPU_PART(regions);
PLX_GPU_PART(ground);
PLX_GPU_PART(columns);
PLX_GPU_PART(free_ground);
PLX_GPU_PART(segments);

/* Stages and image operations: plx_gpu_NAME has the signature of NAME in core/pipeline/stages.h. */
#define PLX_GPU_STAGE(name) __typeof__(*((struct plx_stages_ops *)0)->name) plx_gpu_##name;
#define PLX_GPU_IMAGE(name) __typeof__(*((struct plx_image_ops *)0)->name) plx_gpu_##name;
PLX_STAGE_OPS(PLX_GPU_STAGE)
PLX_IMAGE_OPS(PLX_GPU_IMAGE)

#ifdef __cplusplus
}
#endif
#endif
