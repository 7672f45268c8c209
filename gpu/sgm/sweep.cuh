/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aggregation in two sweeps, one downwards and one upwards. A sweep visits each pixel once and computes half of its paths. The
 * upward sweep is the downward sweep in an image turned by 180 degrees, with disparities in falling order: both run this code.
 *
 * Rows are skewed: each row is LAG columns behind the row above, whose L around the pixel are complete by then. A warp holds
 * ROWS rows in lockstep; a block is a band of WARPS warps, each WARP_LAG columns behind the one above. A row sends L - min L to
 * the next row, one byte for each disparity and direction: through shared memory within a band, through device memory
 * (band_messages, 3 D bytes a column) between bands. Only one volume is left. The first sweep at a pixel computes the costs
 * from the features and publishes the sums of its paths, with the costs in the upper bits. The second sweep reads both, adds
 * its own sums and has S.
 *
 * Barriers keep the warps of a block in step: between two barriers each warp makes GROUP steps. WARP_LAG is more than what a
 * step needs of the warp before, and less than what would overwrite a slot of the ring that is still needed.
 *
 * No deadlock: each group of steps has a time, sweep_time plus its first step, and waits only for groups of earlier times:
 * for those before the block's last barrier, for the band above (BAND_LAG), and for the other sweep, because the same times
 * decide which sweep comes first. All blocks are resident (cooperative launch) and take bands in the order of their times.
 * So the earliest unfinished group always has a block, and everything it waits for is complete.
 */
#ifndef PLX_GPU_SGM_SWEEP_CUH
#define PLX_GPU_SGM_SWEEP_CUH

#include "gpu/sgm/sgm.cuh"
#include "gpu/sgm/winner.cuh"

#define WARP 32
#define WARPS 4        /* warps of a band; a block has one more, the loader */
#define N 8            /* registers of a thread for a pixel, two disparities each: sgm.cuh */
#define WORD_COLUMNS 8 /* whose features a warp loads at once */
#define COST_COLUMNS 4 /* whose costs a warp holds: of this group of steps and the next */
#define KEY_COLUMNS 4  /* whose candidates a warp finds at once */
#define SLOTS 8        /* columns of a ring */
#define GROUP 2        /* steps between two barriers of a block */
#define SUM_BITS 10    /* bits for a sweep's sum, at most 4 (60 + 120); the bits above hold the cost, at most 60 */
#define LOAD_COLUMNS 4 /* that the loader copies at once */
#define OTHER_STAGES 4 /* columns of the other sweep's sums in flight */

struct sweep_args {
    plx_view<const uint32_t> left, right; /* feature words: cost.cu */
    uint32_t outside;                     /* bits of a word at the edge that remain outside the image */
    const uint32_t *penalty[2];           /* [height][width], of each sweep */
    uint4 *sums, *band_messages;
    uint32_t *right_argmin, *next_band, *exchange_flags;
    plx_candidate_views out;
    int width, height;
    int columns;       /* WIDTH, rounded up so that the steps are a multiple of WORD_COLUMNS */
    int groups, bands; /* a sweep's groups of ROWS rows; its bands of WARPS groups, the last may have fewer */
    int min_disparity;
    plx_cost_constants constants;
    uint32_t p1_straight, p1_diagonal, p2; /* in both halves */
};

enum { FROM_ABOVE, FROM_UPPER_LEFT, FROM_UPPER_RIGHT, MESSAGES };

template <int DISPARITIES> struct shape {
    static constexpr int D = DISPARITIES, THREADS = D / (2 * N), ROWS = WARP / THREADS;
    static constexpr int LAG = 2, SLOPE = LAG * (ROWS - 1); /* columns, of a row and of a warp's last row */
    static constexpr int COLUMN = MESSAGES * THREADS;       /* chunks that a pixel sends */
    static constexpr int RING = D + WORD_COLUMNS, RING_PITCH = RING + WORD_COLUMNS + 4; /* see warp_memory */
    /* Words of a pixel's keys: WORDS_SEARCHED for each searching thread, padded to separate the threads' banks. */
    static constexpr int WORDS_SEARCHED = 32, SEARCH_THREADS = D / 2 / WORDS_SEARCHED, SEARCH_PITCH = WORDS_SEARCHED + 4,
                         KEYS = SEARCH_THREADS * SEARCH_PITCH;
    static constexpr int KEY_RANGES = D / 2 / PLX_KEY_RANGE; /* in half of the disparities: keys of one range compare */
    /* Columns of delay: the first warp behind the loader, each warp behind the one before, a band behind the one above. */
    static constexpr int FIRST_LAG = LOAD_COLUMNS, WARP_LAG = (SLOPE + GROUP + 1 + 3) / 4 * 4, BAND_LAG = WARPS * WARP_LAG + 8;
    static_assert(FIRST_LAG > GROUP && WARP_LAG > SLOPE + GROUP, "a step finds what it needs of the row above");
    static_assert(FIRST_LAG + LOAD_COLUMNS - 1 < SLOTS && WARP_LAG - SLOPE + GROUP - 1 < SLOTS,
                  "a slot is not overwritten too early");
    static_assert(BAND_LAG > FIRST_LAG + (WARPS - 1) * WARP_LAG + SLOPE + LOAD_COLUMNS - 1,
                  "a band's time is later than what it needs");
    static_assert(FIRST_LAG <= WARP_LAG, "a band ends before the block's next one begins");
    static_assert(FIRST_LAG >= LOAD_COLUMNS, "a band of one warp is as long as what is loaded for it");
};

template <class S> struct warp_memory {
    uint4 ring[SLOTS][MESSAGES][S::THREADS];               /* messages of the row above the first, by columns */
    uint4 row_messages[S::ROWS - 1][MESSAGES][S::THREADS]; /* messages of all but the last row */
    uint4 cost[COST_COLUMNS][WARP];                        /* a chunk of each thread's pixel */
    uint4 other[OTHER_STAGES][2][WARP];                    /* sums of the other sweep */
    uint32_t partner[S::ROWS][S::RING_PITCH];              /* right feature words: a ring, then its first words again */
    uint32_t left[S::ROWS][WORD_COLUMNS], penalty[S::ROWS][2 * WORD_COLUMNS];
    uint32_t keys[KEY_COLUMNS * S::ROWS][S::KEYS];
    /* the host, which asks for the size, assumes the smallest ranges */
    uint32_t finished_keys[KEY_COLUMNS][S::ROWS][S::KEY_RANGES]; /* right keys of complete ranges */
};

/* Dynamic shared memory of a block. */
template <class S> struct band_memory {
    warp_memory<S> warps[WARPS];
};

static __device__ __forceinline__ uint32_t shared_address(const void *shared)
{
    return (uint32_t)__cvta_generic_to_shared(shared);
}

/* Groups of steps that a warp still has in a band. All warps of a block count the same, with a barrier after each group. */
struct step_counter {
    int left;

    __device__ __forceinline__ void next(void)
    {
        __barrier_sync(0); /* not __syncthreads: warps wait at different places of the code */
        left--;
    }

    __device__ __forceinline__ void pass(int count)
    {
        for (int i = 0; i < count; i++)
            next();
    }
};

/* When a sweep starts with a group of rows. Blocks take bands of both sweeps alternately, the next when one is done. A multiple
 * of 4, so that the sweeps exchange roles between two groups of steps. */
template <class S> static __device__ __forceinline__ int sweep_time(int columns, bool upwards, int group)
{
    const int blocks = gridDim.x, round_time = max(columns + S::SLOPE + WARPS * S::WARP_LAG, (blocks + 1) / 2 * S::BAND_LAG);
    const int band_index = group / WARPS * 2 + upwards;
    return band_index / blocks * round_time + band_index % blocks / 2 * S::BAND_LAG + group % WARPS * S::WARP_LAG;
}

/* The slot of column X in a ring. */
static __device__ __forceinline__ int slot_of(int x)
{
    return (unsigned)x % SLOTS;
}

/* Position of a thread. Columns X are columns of the sweep. */
template <class S> struct sweep_place {
    const sweep_args &a;
    warp_memory<S> &s;
    const int warp, group; /* in the band; in the sweep */
    const bool upwards;
    const int lane, g, row; /* g: index among the threads of a pixel */
    const int first;        /* column of the sweep where the image begins */
    int inside_width;       /* columns of this row in the image; 0 if the row is outside */
    int interior_steps;     /* from FIRST + SLOPE on: all rows of the group are in the image */

    __device__ __forceinline__ sweep_place(const sweep_args &args, warp_memory<S> &memory, int the_warp, int band_index)
        : a(args), s(memory), warp(the_warp), group(band_index / 2 * WARPS + the_warp), upwards(band_index & 1),
          lane(threadIdx.x % WARP), g(lane % S::THREADS), row(lane / S::THREADS), first(upwards ? a.columns - a.width : 0)
    {
        inside_width = y_of(row) < a.height ? a.width : 0;
        interior_steps = max(y_of(0), y_of(S::ROWS - 1)) < a.height ? max(a.width - S::SLOPE - GROUP + 1, 0) : 0;
    }

    /* Image row of the warp's row R. The upward sweep's first rows may lie below the image. */
    __device__ __forceinline__ int y_of(int r) const
    {
        const int y = group * S::ROWS + r;
        return upwards ? a.groups * S::ROWS - 1 - y : y;
    }
    __device__ __forceinline__ int picture_column(int x) const
    {
        return upwards ? a.columns - 1 - x : x;
    }
    __device__ __forceinline__ bool inside(int x) const
    {
        return (unsigned)(x - first) < (unsigned)inside_width;
    }
    /* True if all rows of the group of step T are in the image. */
    __device__ __forceinline__ bool all_inside(int t) const
    {
        return (unsigned)(t - first - S::SLOPE) < (unsigned)interior_steps;
    }
};

#endif
