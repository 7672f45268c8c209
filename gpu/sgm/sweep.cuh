/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aggregation in two sweeps, downwards and upwards, each of which visits a pixel once and makes half of its paths there: the
 * upward one is the downward one in a picture turned by 180 degrees with disparities in falling order, so it runs the same
 * code.
 *
 * Rows are skewed: each is LAG columns behind the one above, whose L of the pixels around it has then. A warp holds ROWS
 * rows in lockstep, a block a band of WARPS warps, each some columns behind the one before. What one row hands to the next is
 * L less the least of them, a byte a disparity and direction: within a warp and, in a ring, between warps through shared
 * memory, between bands through memory; 3 D bytes a column of a band. So of all volumes only one is left: where a sweep is the
 * first of the two to come to a pixel, it makes the costs from the features, and stores the sums of its half of the paths, the
 * costs in their upper bits; else it takes the costs from there, adds the sums to its own, and has S.
 *
 * A block goes on in time with itself: between two barriers each of its warps makes a group of steps, WARP_LAG columns behind
 * the warp before, which is more than that has to be ahead, and less than what would take room in the ring that is still
 * needed.
 *
 * Nobody waits for ever. Each group of steps has a time, see sweep_time: its warp's, and the number of its first step. It waits
 * only for groups of smaller times: for those before its block's last barrier, for the band above (BAND_LAG is more than what
 * that has to be ahead), and for the other sweep, since who comes first is decided by the same times. All blocks run at once
 * (cooperative launch) and take bands in the order of their times; so the groups of the least time that is not done have a
 * block, and what they wait for is done.
 */
#ifndef PLX_GPU_SGM_SWEEP_CUH
#define PLX_GPU_SGM_SWEEP_CUH

#include "gpu/sgm/step.cuh"
#include "gpu/sgm/winner.cuh"

#define WARP 32
#define WARPS 4        /* of a band; one more brings what the band above hands over */
#define N 8            /* registers of two disparities that a thread has of a pixel, see step.cuh */
#define WORD_COLUMNS 8 /* whose features a warp looks up at once */
#define COST_COLUMNS 4 /* whose costs it holds: of this group of steps and of the next one */
#define KEY_COLUMNS 4  /* whose winners it finds at once */
#define SLOTS 8        /* columns of a ring */
#define GROUP 2        /* steps between two barriers of a block */
#define SUM_BITS 10    /* of a sweep's sum, at most 4 (56 + 120); in those above it are the costs, at most 56 */
#define LOAD_COLUMNS 4 /* columns that are brought at once */
#define OTHER_STAGES 4 /* columns that the other sweep has left under way */

struct sweep_args {
    plx_view<const uint32_t> left, right; /* features, see words.cu */
    uint32_t outside;                     /* what of a word at its edge holds beside the picture */
    const uint32_t *penalty[2];           /* [height][width], of each sweep */
    uint4 *sums, *band_messages;
    uint32_t *right_argmin, *next_band, *exchange_flags;
    plx_candidate_views out;
    int width, height;
    int columns;       /* of a sweep: from WIDTH on, so many that its steps are a multiple of WORD_COLUMNS */
    int groups, bands; /* of a sweep: groups of rows, a warp's; bands of WARPS groups, the last one perhaps of fewer */
    int min_disparity;
    uint32_t cap, p1_straight, p1_diagonal, p2; /* penalties in both halves */
};

enum { FROM_ABOVE, FROM_UPPER_LEFT, FROM_UPPER_RIGHT, MESSAGES };

template <int DISPARITIES> struct shape {
    static constexpr int D = DISPARITIES, THREADS = D / (2 * N), ROWS = WARP / THREADS;
    static constexpr int LAG = 2, SLOPE = LAG * (ROWS - 1); /* columns, of a row and of a warp's last row */
    static constexpr int COLUMN = MESSAGES * THREADS;       /* chunks that a pixel hands on */
    static constexpr int RING = D + WORD_COLUMNS, RING_PITCH = RING + WORD_COLUMNS + 4; /* see warp_memory */
    /* Words of a pixel's keys: so many for each thread that searches them, and between those some more, so that the banks of
     * threads that look at once are apart. */
    static constexpr int WORDS_SEARCHED = 32, SEARCH_THREADS = D / 2 / WORDS_SEARCHED, SEARCH_PITCH = WORDS_SEARCHED + 4,
                         KEYS = SEARCH_THREADS * SEARCH_PITCH;
    static constexpr int KEY_RANGES = D / 2 / PLX_KEY_RANGE; /* of half of the disparities, by their keys */
    /* Columns behind: the first warp what is brought into its ring, each warp the one before, a band the one above. */
    static constexpr int FIRST_LAG = LOAD_COLUMNS, WARP_LAG = (SLOPE + GROUP + 1 + 3) / 4 * 4, BAND_LAG = WARPS * WARP_LAG + 8;
    static_assert(FIRST_LAG > GROUP && WARP_LAG > SLOPE + GROUP, "what a step needs of the row above is there");
    static_assert(FIRST_LAG + LOAD_COLUMNS - 1 < SLOTS && WARP_LAG - SLOPE + GROUP - 1 < SLOTS, "and is still there");
    static_assert(BAND_LAG > FIRST_LAG + (WARPS - 1) * WARP_LAG + SLOPE + LOAD_COLUMNS - 1,
                  "times of bands are those of what they need");
    static_assert(FIRST_LAG <= WARP_LAG, "a band ends before the block's next one begins");
    static_assert(FIRST_LAG >= LOAD_COLUMNS, "a band of one warp is as long as what is brought to it");
};

template <class S> struct warp_memory {
    uint4 ring[SLOTS][MESSAGES][S::THREADS];               /* what the row above the first one hands on, by columns */
    uint4 row_messages[S::ROWS - 1][MESSAGES][S::THREADS]; /* what all but the last row hand on, from step to step */
    uint4 cost[COST_COLUMNS][WARP];                        /* a chunk of each thread's pixel */
    uint4 other[OTHER_STAGES][2][WARP];                    /* what the other sweep has left */
    uint32_t partner[S::ROWS][S::RING_PITCH];              /* words of the right view: a ring, behind it its first ones again */
    uint32_t left[S::ROWS][WORD_COLUMNS], penalty[S::ROWS][2 * WORD_COLUMNS];
    uint32_t keys[KEY_COLUMNS * S::ROWS][S::KEYS];
    /* the host, which asks for it all, counts parts as the smallest */
    uint32_t finished_keys[KEY_COLUMNS][S::ROWS][S::KEY_RANGES]; /* the right view's candidates of parts that are complete */
};

/* Of a block. */
template <class S> struct band_memory {
    warp_memory<S> warps[WARPS];
};

static __device__ __forceinline__ uint32_t shared_address(const void *shared)
{
    return (uint32_t)__cvta_generic_to_shared(shared);
}

/* What a warp has left of a band, in groups of steps. All warps of a block go through as many, with a barrier after each. */
struct step_counter {
    int left;

    __device__ __forceinline__ void next(void)
    {
        asm volatile("barrier.sync 0;" ::: "memory"); /* warps come from different places, so not bar.sync */
        left--;
    }

    __device__ __forceinline__ void pass(int count)
    {
        for (int i = 0; i < count; i++)
            next();
    }
};

/* When a sweep begins with a group of rows: blocks take bands of both sweeps in turn, the next ones when their band
 * is done. A multiple of 4, so that the sweeps meet between two groups of steps. */
template <class S> static __device__ __forceinline__ int sweep_time(int columns, bool upwards, int group)
{
    const int blocks = gridDim.x, round_time = max(columns + S::SLOPE + WARPS * S::WARP_LAG, (blocks + 1) / 2 * S::BAND_LAG);
    const int band_index = group / WARPS * 2 + upwards;
    return band_index / blocks * round_time + band_index % blocks / 2 * S::BAND_LAG + group % WARPS * S::WARP_LAG;
}

/* The place of column X in a ring. */
static __device__ __forceinline__ int slot_of(int x)
{
    return (unsigned)x % SLOTS;
}

/* Where a thread is. Columns X are those of the sweep. */
template <class S> struct sweep_place {
    const sweep_args &a;
    warp_memory<S> &s;
    const int warp, group; /* of the band; of the sweep's groups of rows */
    const bool upwards;
    const int lane, g, row; /* g: which of the threads of its row's pixel */
    const int first;        /* column with which the picture begins */
    int inside_width;       /* columns of the row in the picture: none if the row is not */
    int interior_steps;     /* so many steps from FIRST + SLOPE on: groups in which all rows are in the picture */

    __device__ __forceinline__ sweep_place(const sweep_args &args, warp_memory<S> &memory, int the_warp, int band_index)
        : a(args), s(memory), warp(the_warp), group(band_index / 2 * WARPS + the_warp), upwards(band_index & 1),
          lane(threadIdx.x % WARP), g(lane % S::THREADS), row(lane / S::THREADS), first(upwards ? a.columns - a.width : 0)
    {
        inside_width = y_of(row) < a.height ? a.width : 0;
        interior_steps = max(y_of(0), y_of(S::ROWS - 1)) < a.height ? max(a.width - S::SLOPE - GROUP + 1, 0) : 0;
    }

    /* Of row R of the warp, in the picture; upwards the first ones lie below it. */
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
    /* True if in the group of step T all rows are in the picture. */
    __device__ __forceinline__ bool all_inside(int t) const
    {
        return (unsigned)(t - first - S::SLOPE) < (unsigned)interior_steps;
    }
};

#endif
