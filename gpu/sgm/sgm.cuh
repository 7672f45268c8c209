/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernels of stage sgm share. The stage is three steps:
 *
 *   cost     features -> C, a volume of bytes                                             cost.cu
 *   lines    C -> for each of 2 or 4 orientations a volume of bytes: L - C of its two     lines_*.cu
 *            opposite paths, added up; that is at most 2 * 120
 *   winner   C and those volumes -> S, and the candidates of both views                   winner.cu
 *
 * The sweeps (sweep.cuh) replace all three.
 *
 * A volume is [height][width][D / 16] chunks of 16 bytes. Chunk g of a pixel holds the disparities 8 g + i and D / 2 + 8 g + i,
 * i = 0..7, in four words: word w has 8 g + 2 w, 8 g + 2 w + 1, and the same two plus D / 2. So a thread that has a chunk
 * unpacks it into eight registers of two disparities each, and the neighbours of a disparity are in the
 * next registers; D / 16 threads are a pixel.
 *
 * One step of a path: L(p, d) = C(p, d) + min(L(q, d) - m, L(q, d -+ 1) - m + P1, P2), q the previous pixel, m = min L(q, .).
 */
#ifndef PLX_GPU_SGM_SGM_CUH
#define PLX_GPU_SGM_SGM_CUH

#include <type_traits>

#include <cuda_fp16.h>

#include "gpu/device/access.cuh"
#include "gpu/device/packed.cuh"

#define PLX_ORIENTATIONS 4
enum { PLX_HORIZONTAL, PLX_VERTICAL, PLX_FALLING, PLX_RISING }; /* falling: towards the lower right */

/* Kernels prefetch so many pixels beyond the end of a line; volumes have room for them on both sides. */
#define PLX_OVERRUN_COLUMNS 16 /* along a row */
#define PLX_OVERRUN_ROWS 16    /* along columns and diagonals */

struct plx_gpu_sgm {
    uint4 *cost;
    uint4 *path_sums[PLX_ORIENTATIONS];
    uint4 *dummy_line;       /* [32] chunks that the dummy lines of a warp write */
    uint32_t *penalty;       /* [height][width], one byte for each orientation: P2 of the step from the pixel above or left */
    uint32_t *right_argmin;  /* [height][width] minimum S << 16 | d of each right pixel; all ones between frames */
    uint32_t *segments_done; /* [height] blocks that are done with a row; zeros between frames */

    /* for the sweeps */
    uint4 *sums;               /* [height][width] 16-bit sums, in the memory of PATH_SUMS */
    uint4 *band_messages;      /* L from one band to the next; all ones between frames */
    uint32_t *exchange_flags;  /* 1: a warp has published its sums; zeros between frames */
    uint32_t *next_band;       /* number of bands taken; zero between frames */
    uint32_t *penalty_upwards; /* as PENALTY, for the step from the pixel below or right; in the memory of PATH_SUMS */
    uint32_t *words[2];        /* [height][width] feature words of both views; in the memory of PATH_SUMS */

    void *memory; /* all of it */
};

struct plx_sgm_job {
    struct plx_gpu *gpu;
    const struct plx_features *left, *right;
    const struct plx_image *grey;
    const struct plx_match *match;
    const struct plx_candidates *candidates;
    int width, height;
};

/* Each launches its kernels on the stream of the backend. */
int plx_sgm_cost(const struct plx_sgm_job *job);
int plx_sgm_penalty(const struct plx_sgm_job *job, bool both_sweeps);
int plx_sgm_lines_prefetch(const struct plx_sgm_job *job);
int plx_sgm_lines_registers(const struct plx_sgm_job *job);
int plx_sgm_winner(const struct plx_sgm_job *job);
int plx_sgm_feature_words(const struct plx_sgm_job *job);
int plx_sgm_sweeps(const struct plx_sgm_job *job);

/* Writes the right view from right_argmin, and resets right_argmin and next_band for the next frame. */
int plx_sgm_right_view(const struct plx_sgm_job *job);

/* Sizes of the sweeps' own memory. */
size_t plx_sgm_band_message_bytes(const struct plx_limits *limits);
size_t plx_sgm_exchange_flag_bytes(const struct plx_limits *limits);

/* How many warps the lines of a picture are, and the share of their places that have no pixel. */
struct plx_lines_load {
    int warps;
    double waste;
};
struct plx_lines_load plx_lines_load(int width, int height, const struct plx_match *match);

/* Warps of the kernel of PLX_LINES_REGISTERS that a multiprocessor holds. */
int plx_sgm_lines_occupancy(struct plx_gpu *gpu, int *ret_warps);

/* True if P2 depends on the picture. */
static inline bool plx_p2_varies(const struct plx_match *match)
{
    return match->p2_scale > 0 && match->p2_min < match->p2;
}

/* Calls LAUNCH with the number of disparities of MATCH as a constant: a std::integral_constant. */
template <class Launch> static inline int plx_with_disparities(const struct plx_match *match, const Launch &launch)
{
    switch (match->disparities) {
    case 64:
        return launch(std::integral_constant<int, 64>());
    case 128:
        return launch(std::integral_constant<int, 128>());
    default:
        return launch(std::integral_constant<int, 256>());
    }
}

/* --- features -------------------------------------------------------------------------------------------------------- */

/* Upper limits of the differences of the horizontal and the vertical gradient, as plx_gradients needs them, and what
 * plx_nibble_counts needs. */
struct plx_cost_constants {
    __half2 rest_x, rest_y;       /* 1 - limit / 2048 */
    uint32_t zeros;               /* the sums of bits that plx_gradients has for four pairs without a difference */
    uint32_t counts, counts_16;   /* number of bits in 0..3, a byte each, and 16 times that number */
    uint32_t weights, weights_16; /* 1 and 16, in each byte */
};

static inline plx_cost_constants plx_cost_constants_of(const struct plx_match *match)
{
    const int x = match->gradient_cap, y = match->gradient_cap_y;
    const uint32_t zero = 2 * 0x3C00 - (uint32_t)(x + y);
    return {__float2half2_rn(1 - (float)x / 2048),
            __float2half2_rn(1 - (float)y / 2048),
            zero * 0x10001u * 0x101u,
            0x02010100,
            0x20101000,
            0x01010101,
            0x10101010};
}

/* The gradients of two pixels as numbers 1 / 2 + g / 2048 of half precision, whose last bit is 1 / 2048: all that follows is
 * exact, and leaves the integer units to the census. */
struct plx_gradients {
    __half2 x, y;

    plx_gradients() = default;

    /* From words with gradients in bytes 2 and 3. */
    __device__ __forceinline__ plx_gradients(uint32_t low, uint32_t high)
    {
        const uint32_t both = __byte_perm(low, high, 0x7632);
        x = plx_as_half2(__byte_perm(both, 0x38383838, 0x4240));
        y = plx_as_half2(__byte_perm(both, 0x38383838, 0x4341));
    }

    /*
     * Min(|difference|, limit), from a sum that is cut off at 1: min(|difference| / 2048 + 1 - limit / 2048, 1). Its bits are
     * those of 1, 0x3C00, less limit - min(|difference|, limit). Returns the sum of those bits of both gradients, in each half.
     */
    __device__ __forceinline__ uint32_t bits(const plx_gradients &other, const plx_cost_constants &constants) const
    {
        const __half2 in_x = __hadd2_sat(__habs2(__hsub2(x, other.x)), constants.rest_x);
        const __half2 in_y = __hadd2_sat(__habs2(__hsub2(y, other.y)), constants.rest_y);
        return plx_bits_of(in_x) + plx_bits_of(in_y);
    }

    /* Costs of four pairs: the bytes of a chunk's word. */
    __device__ __forceinline__ uint32_t costs(const plx_gradients &even, const plx_gradients &odd,
                                              const plx_cost_constants &constants) const
    {
        return plx_mad(bits(odd, constants), 256, bits(even, constants) - constants.zeros);
    }
};

/*
 * Features, F: the WORD of a pixel; what is prepared once of a PIXEL of the left view, and of PARTNERS, the two pixels of the
 * right view at disparities d and d + D / 2; and the costs C of a pixel's partners at d (EVEN) and d + 1 (ODD), in the order of
 * a chunk's word. Outside the image the right census word is 0 and the gradients are those of the row's first or last pixel.
 */
template <class WORD> struct plain_census {
    typedef WORD word, pixel;

    struct partners {
        WORD low, high;

        partners() = default;

        __device__ __forceinline__ partners(WORD the_low, WORD the_high) : low(the_low), high(the_high)
        {
        }
    };

    static __device__ word load(const plx_view<const void> &census, const plx_view<const uint16_t> &, int q, int y)
    {
        const WORD *row = (const WORD *)((const char *)census.data + (size_t)y * census.pitch);
        return (unsigned)q < (unsigned)census.width ? row[q] : 0;
    }
    static __device__ uint32_t distance(word l, word r)
    {
        return (uint32_t)(sizeof(WORD) == 8 ? __popcll(l ^ r) : __popc((uint32_t)(l ^ r)));
    }
    static __device__ uint32_t costs(pixel l, const partners &even, const partners &odd, const plx_cost_constants &)
    {
        const uint32_t low = plx_mad(distance(l, odd.low), 256, distance(l, even.low));
        return plx_mad(plx_mad(distance(l, odd.high), 256, distance(l, even.high)), 65536, low);
    }
};

struct census_only : plain_census<uint32_t> {
};

/* The bits of each nibble of the lower half of SPREAD, as bytes: those of 0..3 from LOW, those of 4..7 from HIGH. Assembly:
 * __byte_perm masks the selector. */
static __device__ __forceinline__ uint32_t plx_nibble_counts(uint32_t low, uint32_t high, uint32_t spread)
{
    uint32_t counts;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(counts) : "r"(low), "r"(high), "r"(spread));
    return counts;
}

/* As census_only, for a kernel that prepares a pixel once: of four distances POPC, which is slow, counts only three. For the
 * other one PRMT counts three bits of each nibble, and the fourth bits of two nibbles at once. */
struct census_by_nibbles {
    typedef uint32_t word;

    struct pixel {
        uint32_t census, fourth_bits;

        pixel() = default;

        __device__ __forceinline__ explicit pixel(word l) : census(l), fourth_bits(fourth_bits_of(l))
        {
        }
    };
    struct alignas(16) partners {
        uint32_t low, high, fourth_bits_low;

        partners() = default;

        __device__ __forceinline__ partners(word the_low, word the_high)
            : low(the_low), high(the_high), fourth_bits_low(fourth_bits_of(the_low))
        {
        }
    };

    /* The uppermost bits of the eight nibbles, as the lower bits of four. */
    static __device__ __forceinline__ uint32_t fourth_bits_of(uint32_t census)
    {
        const uint32_t lowest = census >> 3 & 0x11111111;
        return (lowest | lowest >> 15) & 0x3333;
    }
    static __device__ word load(const plx_view<const void> &census, const plx_view<const uint16_t> &gradient, int q, int y)
    {
        return census_only::load(census, gradient, q, y);
    }
    static __device__ uint32_t costs(const pixel &l, const partners &even, const partners &odd,
                                     const plx_cost_constants &constants)
    {
        const uint32_t three_bits = (l.census ^ odd.low) & 0x77777777;
        const uint32_t bits = plx_nibble_counts(constants.counts_16, 0x30202010, three_bits) +
                              plx_nibble_counts(constants.counts_16, 0x30202010, three_bits >> 16) +
                              plx_nibble_counts(constants.counts_16, 0x30202010, l.fourth_bits ^ odd.fourth_bits_low);
        const uint32_t low = __dp4a(bits, constants.weights_16, (uint32_t)__popc(l.census ^ even.low));
        return plx_mad(plx_mad(__popc(l.census ^ odd.high), 256, __popc(l.census ^ even.high)), 65536, low);
    }
};

/* 62 bits of census. */
struct wide_census : plain_census<uint64_t> {
};

static __device__ __forceinline__ uint32_t plx_load_gradients(const plx_view<const uint16_t> &gradient, int q, int y)
{
    return (uint32_t)gradient.row(y)[plx_clamp(q, 0, gradient.width - 1)] << 16;
}

/* 12 bits of census, three in each of four nibbles: a selector of PRMT, whose table of bytes counts bits. */
static __device__ __forceinline__ uint32_t plx_spread_census(uint32_t census)
{
    const uint32_t halves = plx_mad(census & 0xFC0, 3, census);
    return halves + (halves & 0x3838);
}

/* 12 bits of census, spread, below the gradients. */
struct short_census_and_gradients {
    typedef uint32_t word;

    struct alignas(16) pixel {
        uint32_t census; /* twice */
        plx_gradients gradients;

        pixel() = default;

        __device__ __forceinline__ explicit pixel(word l)
        {
            census = __byte_perm(l, 0, 0x1010);
            gradients = plx_gradients(l, l);
        }
    };
    struct alignas(16) partners {
        uint32_t census; /* census bits of both */
        plx_gradients gradients;

        partners() = default;

        __device__ __forceinline__ partners(word low, word high)
        {
            census = __byte_perm(low, high, 0x5410);
            gradients = plx_gradients(low, high);
        }
    };

    static __device__ word load(const plx_view<const void> &census, const plx_view<const uint16_t> &gradient, int q, int y)
    {
        return plx_spread_census(census_only::load(census, gradient, q, y)) | plx_load_gradients(gradient, q, y);
    }
    /* Two of the four distances are counted by POPC, which is slow, and two by PRMT and sums of four products. */
    static __device__ uint32_t costs(const pixel &l, const partners &even, const partners &odd,
                                     const plx_cost_constants &constants)
    {
        const uint32_t e = l.census ^ even.census, o = l.census ^ odd.census;
        const uint32_t low_e = __dp4a(plx_nibble_counts(constants.counts, 0x03020201, e), constants.weights, 0u);
        const uint32_t low = __dp4a(plx_nibble_counts(constants.counts_16, 0x30202010, o), constants.weights_16, low_e);
        const uint32_t gradients = l.gradients.costs(even.gradients, odd.gradients, constants);
        /* both << 16, less low << 16, and low itself */
        return plx_mad(low, 1 - 65536u, plx_mad(plx_mad(__popc(o), 256, __popc(e)), 65536, gradients));
    }
};

/* More bits of census, and the gradients. */
template <class CENSUS> struct census_and_gradients {
    struct word {
        typename CENSUS::word census;
        uint32_t gradients;
    };
    struct pixel {
        typename CENSUS::pixel census;
        plx_gradients gradients;

        pixel() = default;

        __device__ __forceinline__ explicit pixel(const word &l) : census(l.census), gradients(l.gradients, l.gradients)
        {
        }
    };
    struct partners {
        typename CENSUS::partners census;
        plx_gradients gradients;

        partners() = default;

        __device__ __forceinline__ partners(const word &low, const word &high)
            : census(low.census, high.census), gradients(low.gradients, high.gradients)
        {
        }
    };

    static __device__ word load(const plx_view<const void> &census, const plx_view<const uint16_t> &gradient, int q, int y)
    {
        return {CENSUS::load(census, gradient, q, y), plx_load_gradients(gradient, q, y)};
    }
    static __device__ uint32_t costs(const pixel &l, const partners &even, const partners &odd,
                                     const plx_cost_constants &constants)
    {
        return CENSUS::costs(l.census, even.census, odd.census, constants) +
               l.gradients.costs(even.gradients, odd.gradients, constants);
    }
};

/* --- one step of a path ---------------------------------------------------------------------------------------------- */

/* The threads that hold the disparities below and above, and how to select their registers. */
template <int THREADS> struct plx_neighbours {
    int before, after;
    uint32_t select_before, select_after; /* the first and last disparity take their own value */

    __device__ __forceinline__ explicit plx_neighbours(int lane)
    {
        const int g = lane % THREADS, first = lane - g;
        before = first + (g + THREADS - 1) % THREADS;
        after = first + (g + 1) % THREADS;
        select_before = g == 0 ? 0x1054 : 0x3210;
        select_after = g == THREADS - 1 ? 0x7632 : 0x3210;
        plx_hold_in_register(before), plx_hold_in_register(after), plx_hold_in_register(select_before),
            plx_hold_in_register(select_after);
    }
};

/* The least number of any of the THREADS of a pixel, in each half. LOW_LATENCY: more exchanges, fewer of them one after the
 * other. */
template <int THREADS, bool LOW_LATENCY> static __device__ __forceinline__ uint32_t plx_min_of_threads(uint32_t m)
{
    constexpr int AT_ONCE = LOW_LATENCY ? (THREADS < 8 ? THREADS : 8) : 2;

#pragma unroll
    for (int step = 1; step < THREADS; step *= AT_ONCE) {
        uint32_t other[AT_ONCE];
        other[0] = m;
#pragma unroll
        for (int i = 1; i < AT_ONCE; i++)
            other[i] = __shfl_xor_sync(PLX_ALL_LANES, m, i * step % THREADS);
#pragma unroll
        for (int i = 1; i < AT_ONCE; i += 2)
            m = i + 1 < AT_ONCE ? plx_min3(m, other[i], other[i + 1]) : plx_min2(m, other[i]);
    }
    return m;
}

/* The minimum L of a pixel, in both halves. */
template <int THREADS, bool LOW_LATENCY> static __device__ __forceinline__ uint32_t plx_min_of_pixel(const uint32_t l[8])
{
    const uint32_t m = plx_min_of_8(l);
    return plx_min_of_threads<THREADS, LOW_LATENCY>(plx_min2(m, __byte_perm(m, m, 0x1032)));
}

/* The minimum L of each of N paths, in both halves. Two paths share a register in the shuffles. */
template <int THREADS, int N>
static __device__ __forceinline__ void plx_min_of_each_path(const uint32_t (&l)[N][8], uint32_t (&ret_m)[N])
{
    constexpr int PAIRS = (N + 1) / 2;
    uint32_t both[PAIRS];

#pragma unroll
    for (int n = 0; n < N; n++)
        ret_m[n] = plx_min_of_8(l[n]);
#pragma unroll
    for (int i = 0; i < PAIRS; i++) {
        const uint32_t a = ret_m[2 * i], b = 2 * i + 1 < N ? ret_m[2 * i + 1] : a;
        both[i] = plx_min2(__byte_perm(a, b, 0x5410), __byte_perm(a, b, 0x7632));
    }
#pragma unroll
    for (int step = 1; step < THREADS; step *= 4) {
        uint32_t other[PAIRS][3];
#pragma unroll
        for (int i = 0; i < PAIRS; i++)
#pragma unroll
            for (int k = 0; k < (2 * step < THREADS ? 3 : 1); k++)
                other[i][k] = __shfl_xor_sync(PLX_ALL_LANES, both[i], (k + 1) * step);
#pragma unroll
        for (int i = 0; i < PAIRS; i++)
            both[i] = 2 * step < THREADS ? plx_min3(plx_min2(both[i], other[i][0]), other[i][1], other[i][2])
                                         : plx_min2(both[i], other[i][0]);
    }
#pragma unroll
    for (int n = 0; n < N; n++)
        ret_m[n] = __byte_perm(both[n / 2], 0, n % 2 ? 0x3232 : 0x1010);
}

static __device__ __forceinline__ void plx_copy_8(uint32_t to[8], const uint32_t from[8])
{
#pragma unroll
    for (int i = 0; i < 8; i++)
        to[i] = from[i];
}

/* min(L, L -+ 1 + P1, M + P2) from L of the previous pixel, M = min L: what the next pixel adds its costs to. EXCHANGE_RAISED:
 * threads exchange values after adding P1: two instructions fewer, but the shuffle waits for M. */
template <int THREADS, bool EXCHANGE_RAISED>
static __device__ __forceinline__ void plx_transition(const uint32_t l[8], uint32_t m, uint32_t p1, uint32_t p2,
                                                      const plx_neighbours<THREADS> &neighbours, uint32_t ret_best[8])
{
    uint32_t raised[10]; /* min(L + P1, M + P2), with the disparities below and above */
    const uint32_t jump = m + p2;

#pragma unroll
    for (int i = 0; i < 8; i++)
        raised[i + 1] = plx_add_min(l[i], p1, jump);
    const uint32_t first = EXCHANGE_RAISED ? raised[1] : l[0], last = EXCHANGE_RAISED ? raised[8] : l[7];
    const uint32_t before = __shfl_sync(PLX_ALL_LANES, last, neighbours.before);
    const uint32_t after = __shfl_sync(PLX_ALL_LANES, first, neighbours.after);
    raised[0] = __byte_perm(before, first, neighbours.select_before);
    raised[9] = __byte_perm(after, last, neighbours.select_after);
    if (!EXCHANGE_RAISED) {
        raised[0] = plx_add_min(raised[0], p1, jump);
        raised[9] = plx_add_min(raised[9], p1, jump);
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
        ret_best[i] = plx_min3(raised[i], l[i], raised[i + 2]);
}

/* L of a pixel with costs C, in the place of BEST. REDUCED: without M, so it stays small; else it still contains M, which saves
 * an instruction a register. A path starts with zeros, which give L = C. */
template <bool REDUCED> static __device__ __forceinline__ void plx_add_costs(uint32_t best[8], const uint32_t c[8], uint32_t m)
{
#pragma unroll
    for (int i = 0; i < 8; i++)
        best[i] = REDUCED ? best[i] + c[i] - m : best[i] + c[i];
}

#endif
