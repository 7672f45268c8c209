/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aggregation along lines: L(p, d) = C(p, d) + min(L(q, d) - m, L(q, d -+ 1) - m + P1, P2), q the pixel before, m the least
 * L(q, .). Both directions of a line run in one warp, D / 16 threads each, and meet in the middle: on its first half a
 * direction stores its L - C, on its second it finds there what the other has left and adds to it. So two paths cost one byte a
 * disparity written and half of that read, and a line needs no second visit.
 */
#include "gpu/packed.cuh"
#include "gpu/sgm.cuh"

#define WARP 32 /* a block is one: what a warp does in common then is known to be common */

#define MOST_AHEAD 16 /* pixels, a power of two: who fetches so far ahead is hasty */
static_assert(MOST_AHEAD <= PLX_LINES_BEYOND_ROW && MOST_AHEAD <= PLX_LINES_BEYOND_ROWS, "fetches beyond the volumes");

/* Where sums are not reduced at every step, they grow by at most the largest cost, 62 + 32, and have to fit 16 bits. */
#define STEPS_BETWEEN_REDUCTIONS 512

struct lines_args {
    const uint4 *cost;
    uint4 *pairs[PLX_ORIENTATIONS], *scrap;
    const uint32_t *penalty;
    int width, height;
    int rows, columns, diagonals;          /* warps of each */
    int kept;                              /* pixels of a direction, see walk_half */
    uint32_t p1_straight, p1_diagonal, p2; /* in both halves */
};

/* A line from its upper, or left, end. */
struct line_walk {
    int x, y, dx, dy;
    int orientation;
    bool exists; /* false: it only accompanies the others of its warp, and walks on the spot */
};

/*
 * The lines of a warp are of one length. Diagonals are numbered by falling length: first the longest, of which there may be
 * many, then of each length one at either end of the long side, each with its mirror image.
 */
static __host__ __device__ __forceinline__ int longest_diagonals(int width, int height)
{
    const int count = 2 * ((width > height ? width - height : height - width) + 1);
    return (count + 3) & ~3; /* so that others begin with a warp */
}

static __device__ __forceinline__ line_walk diagonal(const lines_args &a, int index, int pixels)
{
    const bool mirrored = index & 1;
    line_walk l = {0, 0, 1, 1, PLX_FALLING, true};

    if (index < longest_diagonals(a.width, a.height)) {
        const int last = abs(a.width - a.height);
        l.exists = index / 2 <= last;
        (a.width >= a.height ? l.x : l.y) = min(index / 2, last);
    } else if (index & 2) {
        l.x = a.width - pixels;
    } else {
        l.y = a.height - pixels;
    }
    if (mirrored) {
        l.x = a.width - 1 - l.x;
        l.dx = -1;
        l.orientation = PLX_RISING;
    }
    return l;
}

static __device__ __forceinline__ line_walk straight(int index, int lines, bool row)
{
    const int at = min(index, lines - 1);
    return {row ? 0 : at, row ? at : 0, row, !row, row ? PLX_HORIZONTAL : PLX_VERTICAL, index < lines};
}

/* Line PLACE of the LINES of a warp, and how many pixels all of them have. */
static __device__ __forceinline__ line_walk line_of(const lines_args &a, int warp, int lines, int place, int *ret_pixels)
{
    const int shorter = min(a.width, a.height), longest = longest_diagonals(a.width, a.height);

    if (warp < a.rows) {
        *ret_pixels = a.width;
        return straight(warp * lines + place, a.height, true);
    }
    warp -= a.rows;
    if (warp < a.columns) {
        *ret_pixels = a.height;
        return straight(warp * lines + place, a.width, false);
    }
    warp -= a.columns;
    *ret_pixels = warp * lines < longest ? shorter : shorter - 1 - (warp * lines - longest) / 4;
    return diagonal(a, warp * lines + place, *ret_pixels);
}

/* Asynchronous from compute capability 8.0 on. Before, a thread copies at once: it reads what it has copied itself only. */
static __device__ __forceinline__ void copy_16_ahead(uint32_t shared, const uint4 *global)
{
#if PLX_ARCH >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(global) : "memory");
#else
    const uint4 v = __ldcg(global);
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(shared), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
#endif
}

static __device__ __forceinline__ void close_copies(void)
{
#if PLX_ARCH >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits until at most PENDING closed groups of copies are under way. */
template <int PENDING> static __device__ __forceinline__ void await_copies(void)
{
#if PLX_ARCH >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
#endif
}

static __device__ __forceinline__ uint4 load_shared_16(uint32_t shared)
{
    uint4 v;
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "r"(shared)
                 : "memory");
    return v;
}

static __device__ __forceinline__ void store_shared_16(uint32_t shared, uint4 v)
{
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(shared), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

static __device__ __forceinline__ void store_16(uint4 *global, uint4 v)
{
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(global), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

/* Keeps the compiler from computing VALUE anew at each use. */
static __device__ __forceinline__ void keep(uint32_t &value)
{
    asm volatile("" : "+r"(value));
}
static __device__ __forceinline__ void keep(int &value)
{
    asm volatile("" : "+r"(value));
}
template <class T> static __device__ __forceinline__ void keep(T *&value)
{
    asm volatile("" : "+l"(value));
}

/* The threads that hold the disparities around those of this one, and how their registers join. */
template <int CHUNKS> struct neighbours {
    int before, after;
    uint32_t pick_before, pick_after; /* the first and last disparity have none on one side: their own value stands in */

    __device__ __forceinline__ explicit neighbours(int lane)
    {
        const int g = lane % CHUNKS, first = lane - g;
        before = first + (g + CHUNKS - 1) % CHUNKS;
        after = first + (g + 1) % CHUNKS;
        pick_before = g == 0 ? 0x1054 : 0x3210;
        pick_after = g == CHUNKS - 1 ? 0x7632 : 0x3210;
        keep(before), keep(after), keep(pick_before), keep(pick_after);
    }
};

/*
 * The least L of the pixel, in both halves. HASTY: more exchanges between threads, fewer of them one after the other.
 */
template <int CHUNKS, bool HASTY> static __device__ __forceinline__ uint32_t least(const uint32_t l[8])
{
    constexpr int AT_ONCE = HASTY ? (CHUNKS < 8 ? CHUNKS : 8) : 2;
    uint32_t m = plx_least_of_8(l);

    m = plx_min2(m, __byte_perm(m, m, 0x1032));
#pragma unroll
    for (int step = 1; step < CHUNKS; step *= AT_ONCE) {
        uint32_t other[AT_ONCE];
        other[0] = m;
#pragma unroll
        for (int i = 1; i < AT_ONCE; i++)
            other[i] = __shfl_xor_sync(PLX_ALL_LANES, m, i * step % CHUNKS);
#pragma unroll
        for (int i = 1; i < AT_ONCE; i += 2)
            m = i + 1 < AT_ONCE ? plx_min3(m, other[i], other[i + 1]) : plx_min2(m, other[i]);
    }
    return m;
}

/*
 * One step: L of the next pixel from L, its least M and the costs C there. Where packed minima are single instructions the
 * result still contains M, which saves an instruction a register; else it is free of it, to stay small. A line starts with
 * zeros, which give L = C.
 */
template <int CHUNKS>
static __device__ __forceinline__ void advance(uint32_t l[8], uint32_t m, const uint32_t c[8], uint32_t p1, uint32_t p2,
                                               const neighbours<CHUNKS> &beside)
{
    uint32_t raised[10]; /* min(L + P1, M + P2), and those of the disparities before and after */
    const uint32_t jump = m + p2;

    const uint32_t before = __shfl_sync(PLX_ALL_LANES, l[7], beside.before);
    const uint32_t after = __shfl_sync(PLX_ALL_LANES, l[0], beside.after);
    raised[0] = plx_add_min(__byte_perm(before, l[0], beside.pick_before), p1, jump);
    raised[9] = plx_add_min(__byte_perm(after, l[7], beside.pick_after), p1, jump);
#pragma unroll
    for (int i = 0; i < 8; i++)
        raised[i + 1] = plx_add_min(l[i], p1, jump);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const uint32_t best = plx_min3(raised[i], l[i], raised[i + 2]);
        l[i] = PLX_PACKED_HALF2 ? best + c[i] - m : best + c[i];
    }
}

/* L - C as a chunk of bytes. EXCESS, what L contains too much, in each byte, modulo 256. */
static __device__ __forceinline__ uint4 pack(const uint32_t l[8], uint4 c, uint32_t excess)
{
    return make_uint4(plx_mad(l[1], 256, l[0] - c.x - excess), plx_mad(l[3], 256, l[2] - c.y - excess),
                      plx_mad(l[5], 256, l[4] - c.z - excess), plx_mad(l[7], 256, l[6] - c.w - excess));
}

static __device__ __forceinline__ uint4 add(uint4 a, uint4 b)
{
    return make_uint4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

/* Bytes of shared memory that a warp needs for each pixel ahead: costs, and what the other direction left. */
#define COSTS_BYTES (WARP * 16)
#define PIXEL_BYTES (2 * COSTS_BYTES)

/*
 * P2 of the steps of a line, in both halves, four by four. Where it varies, four threads side by side have looked up one of the
 * four each, and one of the next four; each is then told to all of them.
 */
#define FOUR 4
template <bool VARYING> struct penalties {
    const uint32_t *at; /* of the first step: on its lower, or right, pixel */
    int stride, last;   /* from step to step; number of the last */
    uint32_t pick;      /* the orientation's byte */
    uint32_t now, next;

    __device__ __forceinline__ uint32_t look_up(int step) const
    {
        uint32_t word; /* now, not when it is needed */
        asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(word) : "l"(at + min(step + (int)threadIdx.x % FOUR, last) * stride));
        return word;
    }

    /* Before the four steps from STEP on, of which the first four are looked up by NEXT. */
    __device__ __forceinline__ void prepare(int step)
    {
        if (!VARYING)
            return;
        now = __byte_perm(next, 0, pick);
        next = look_up(step + FOUR);
    }

    __device__ __forceinline__ uint32_t tell(int i) const
    {
        return VARYING ? __shfl_sync(PLX_ALL_LANES, now, i, FOUR) : now;
    }
};

/*
 * What a thread needs while it walks: its place in the volumes, and in the ring of pixels ahead in shared memory. It fetches
 * beyond the end of its line, where the volumes have room, and uses nothing of that.
 */
template <int D, int AHEAD> struct walker {
    static constexpr bool HASTY = AHEAD == MOST_AHEAD;
    static constexpr uint32_t ring_bytes = AHEAD * COSTS_BYTES;

    const uint4 *cost;
    uint4 *pairs;
    int fetched, stored, step; /* chunks: to fetch next, to store next, from one pixel to the next */
    uint32_t ring;             /* address of this thread's part */
    uint32_t write, read;      /* offsets there of the pixel to fetch, and of the next one to load */
    uint32_t l[8], excess;
    uint4 c, next; /* costs of this pixel, and in haste of the next */

    __device__ __forceinline__ void fetch(bool pairs_too)
    {
        copy_16_ahead(ring + write, cost + fetched);
        if (pairs_too)
            copy_16_ahead(ring + ring_bytes + write, pairs + fetched);
        fetched += step;
        close_copies();
    }

    __device__ __forceinline__ void start(void)
    {
#pragma unroll
        for (int i = 0; i < AHEAD - 1; i++) {
            write = i * COSTS_BYTES;
            fetch(false);
        }
        write = ring_bytes - COSTS_BYTES;
        read = 0;
        if (HASTY) {
            await_copies<AHEAD - 2>();
            next = load_shared_16(ring);
            read = COSTS_BYTES;
        }
        excess = 0;
#pragma unroll
        for (int i = 0; i < 8; i++)
            l[i] = 0;
    }

    /* Makes the L of the next pixel; in haste it has the costs already, and loads those of the one after it. */
    __device__ __forceinline__ void walk(uint32_t p1, uint32_t p2, const neighbours<D / 16> &beside)
    {
        uint32_t costs[8];

        await_copies<AHEAD - 2 - HASTY>();
        if (HASTY) {
            c = next;
            next = load_shared_16(ring + read);
        } else {
            c = load_shared_16(ring + read);
        }
        plx_unpack(c, costs);
        const uint32_t m = least<D / 16, HASTY>(l);
        advance<D / 16>(l, m, costs, p1, p2, beside);
        if (!PLX_PACKED_HALF2) {
            excess = (m & 0xFFFF) * 0x01010101u;
            keep(excess);
        }
    }

    /* Offset of the pixel that is next to be walked. */
    __device__ __forceinline__ uint32_t here(void) const
    {
        return (read - HASTY * COSTS_BYTES) & (ring_bytes - 1);
    }

    __device__ __forceinline__ uint4 result(void) const
    {
        return pack(l, c, excess);
    }

    __device__ __forceinline__ void store(uint4 sum)
    {
        store_16(pairs + stored, sum);
    }

    __device__ __forceinline__ void pass(void)
    {
        stored += step;
        write = (write + COSTS_BYTES) & (ring_bytes - 1);
        read = (read + COSTS_BYTES) & (ring_bytes - 1);
    }

    __device__ __forceinline__ void reduce(void)
    {
        if (PLX_PACKED_HALF2)
            return;
        const uint32_t m = least<D / 16, HASTY>(l);
#pragma unroll
        for (int i = 0; i < 8; i++)
            l[i] -= m;
    }
};

/*
 * Walks half of a line. On its first half a direction leaves its sums, BEYOND the middle it adds to what the other has left.
 * The last KEPT pixels of a first half, which are the first that the other meets, stay in shared memory: for 2 KEPT of the
 * pixels neither of the two directions sends anything to memory and back.
 */
template <bool BEYOND, bool KEEPS, int D, int AHEAD, bool VARYING>
static __device__ __forceinline__ void walk_half(walker<D, AHEAD> &w, uint32_t p1, penalties<VARYING> &p2, int first, int steps,
                                                 int kept, uint32_t keep_at, const neighbours<D / 16> &beside)
{
    const auto step = [&](int t, uint32_t penalty) {
        const uint32_t ring = w.ring + w.ring_bytes + w.here();
        w.walk(p1, penalty, beside); /* which waits */
        if (BEYOND) {
            const uint4 left = load_shared_16(KEEPS && t < kept ? keep_at + (kept - 1 - t) * COSTS_BYTES : ring);
            w.fetch(!KEEPS || t + AHEAD > kept);
            w.store(add(left, w.result()));
        } else {
            w.fetch(false);
            if (!KEEPS || t < steps - kept)
                w.store(w.result());
            else
                store_shared_16(keep_at + (t - (steps - kept)) * COSTS_BYTES, w.result());
        }
        w.pass();
    };

    if (VARYING)
        p2.next = p2.look_up(first);
    for (int t = 0; t < steps;) {
        const int pause = min(steps, t + STEPS_BETWEEN_REDUCTIONS);
        for (; t + FOUR <= pause; t += FOUR) {
            p2.prepare(first + t);
#pragma unroll
            for (int i = 0; i < FOUR; i++)
                step(t + i, p2.tell(i));
        }
        if (t < pause) /* at the end */
            p2.prepare(first + t);
#pragma unroll 1
        for (int i = 0; t < pause; i++, t++)
            step(t, p2.tell(i));
        w.reduce();
    }
}

/*
 * Grid: a warp walks 256 / D lines in both directions; rows, then columns, then diagonals of both kinds. A line's pixel moves
 * D bytes of cost in twice, D bytes of sums out twice and in once: for 8 paths 20 D a pixel, of which L2 keeps what it can.
 */
template <int D, int AHEAD, bool VARYING, bool KEEPS>
static __global__ void __launch_bounds__(WARP) lines_kernel(const __grid_constant__ lines_args a)
{
    constexpr int CHUNKS = D / 16, LINES = WARP / CHUNKS / 2;
    extern __shared__ __align__(1024) unsigned char shared[]; /* chunks: [AHEAD][32] costs, as many pairs, [kept][32] sums */
    const int lane = threadIdx.x, direction = lane / CHUNKS, g = lane % CHUNKS;
    const bool backwards = direction & 1;
    int pixels;
    const line_walk line = line_of(a, blockIdx.x, LINES, direction / 2, &pixels);
    const int half = pixels / 2;
    const int stride = line.dy * a.width + line.dx, first = line.y * a.width + line.x;
    const int start = backwards ? first + (pixels - 1) * stride : first, step = backwards ? -stride : stride;
    const neighbours<CHUNKS> beside(lane);
    uint32_t p1 = line.orientation >= PLX_FALLING ? a.p1_diagonal : a.p1_straight;
    penalties<VARYING> p2;
    walker<D, AHEAD> w;

    p2.at = a.penalty + (backwards ? start - step : start);
    p2.stride = step;
    p2.last = pixels - 1;
    p2.pick = 0x4040u | (uint32_t)line.orientation | (uint32_t)line.orientation << 8;
    p2.now = a.p2;
    w.cost = a.cost;
    w.pairs = line.exists ? a.pairs[line.orientation] : a.scrap;
    w.fetched = w.stored = line.exists ? start * CHUNKS + g : lane;
    w.step = line.exists ? step * CHUNKS : 0;
    w.ring = (uint32_t)__cvta_generic_to_shared(shared) + lane * 16;
    const int kept = KEEPS ? min(a.kept, half) : 0;
    const uint32_t keep_at = w.ring + 2 * w.ring_bytes;
    keep(p1), keep(p2.now), keep(w.cost), keep(w.pairs);
    w.start();

    walk_half<false, KEEPS>(w, p1, p2, 0, half, kept, keep_at, beside);
    if (pixels & 1) { /* both are there at once, and store the same */
        if (VARYING)
            p2.next = p2.look_up(half);
        p2.prepare(half);
        w.walk(p1, p2.tell(0), beside);
        w.fetch(false);
        uint4 sum = w.result();
        sum.x += __shfl_xor_sync(PLX_ALL_LANES, sum.x, CHUNKS);
        sum.y += __shfl_xor_sync(PLX_ALL_LANES, sum.y, CHUNKS);
        sum.z += __shfl_xor_sync(PLX_ALL_LANES, sum.z, CHUNKS);
        sum.w += __shfl_xor_sync(PLX_ALL_LANES, sum.w, CHUNKS);
        w.store(sum);
        w.pass();
    }
    __threadfence(); /* what was left is seen by the other half of the warp */
    __syncwarp();
    for (int i = kept, slot = w.here() + kept * COSTS_BYTES; i < AHEAD - 1; i++, slot += COSTS_BYTES) /* costs are there */
        copy_16_ahead(w.ring + w.ring_bytes + (slot & (w.ring_bytes - 1)), w.pairs + w.stored + i * w.step);
    close_copies();
    await_copies<0>();
    walk_half<true, KEEPS>(w, p1, p2, pixels - half, half, kept, keep_at ^ CHUNKS * 16, beside);
}

/* Starts the lines of ARGS, RESIDENT warps on a multiprocessor: what their rings leave of its shared memory keeps sums. */
template <int D, int AHEAD, bool VARYING, bool KEEPS>
static int start(struct plx_gpu *gpu, lines_args args, int resident, cudaStream_t stream)
{
    const auto kernel = lines_kernel<D, AHEAD, VARYING, KEEPS>;
    int bytes = AHEAD * PIXEL_BYTES;

    if (KEEPS && resident > 0) {
        const int room = min(gpu->shared_bytes / resident - gpu->shared_reserved, gpu->shared_bytes_block);
        args.kept = max(room - bytes, 0) / COSTS_BYTES;
        bytes += args.kept * COSTS_BYTES;
    }
    int result = PLX_CUDA(gpu, cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    if (result < 0)
        return result;
    kernel<<<args.rows + args.columns + args.diagonals, WARP, bytes, stream>>>(args);
    return PLX_LAUNCHED(gpu, lines_kernel);
}

template <int D, bool VARYING>
static int start_ahead(struct plx_gpu *gpu, const lines_args &args, const struct plx_lines_choice *choice)
{
    switch (choice->ahead) {
    case 4:
        return choice->resident > 0 ? start<D, 4, VARYING, true>(gpu, args, choice->resident, gpu->stream)
                                    : start<D, 4, VARYING, false>(gpu, args, 0, gpu->stream);
    case 8:
        return start<D, 8, VARYING, true>(gpu, args, choice->resident, gpu->stream);
    default:
        return start<D, MOST_AHEAD, VARYING, true>(gpu, args, choice->resident, gpu->stream);
    }
}

/* Rows on a stream of their own, which goes first. */
template <int D, bool VARYING>
static int start_apart(struct plx_gpu *gpu, lines_args args, const struct plx_lines_choice *choice)
{
    struct plx_gpu_sgm *sgm = gpu->sgm;
    lines_args rows = args;

    rows.columns = rows.diagonals = 0;
    args.rows = 0;
    int result = PLX_CUDA(gpu, cudaEventRecord(sgm->fork, gpu->stream));
    if (result == 0)
        result = PLX_CUDA(gpu, cudaStreamWaitEvent(sgm->side, sgm->fork, 0));
    if (result == 0)
        result = start<D, MOST_AHEAD, VARYING, true>(gpu, rows, 0, sgm->side);
    if (result == 0)
        result = PLX_CUDA(gpu, cudaEventRecord(sgm->join, sgm->side));
    if (result == 0)
        result = start_ahead<D, VARYING>(gpu, args, choice);
    if (result == 0)
        result = PLX_CUDA(gpu, cudaStreamWaitEvent(gpu->stream, sgm->join, 0));
    return result;
}

/* Diagonals of both kinds, with places to fill up the longest. */
static int all_diagonals(int width, int height)
{
    return longest_diagonals(width, height) + 4 * (min(width, height) - 1);
}

template <int D, bool VARYING> static int walk(const struct plx_sgm_job *job, lines_args args)
{
    constexpr int LINES = WARP / (D / 16) / 2;
    const struct plx_lines_choice *choice = plx_gpu_lines_choice(job->gpu, job->width, job->height, job->match);

    args.rows = (int)plx_blocks(job->height, LINES);
    args.columns = (int)plx_blocks(job->width, LINES);
    args.diagonals = job->match->paths == 8 ? (int)plx_blocks(all_diagonals(job->width, job->height), LINES) : 0;
    return choice->apart ? start_apart<D, VARYING>(job->gpu, args, choice) : start_ahead<D, VARYING>(job->gpu, args, choice);
}

template <int D> static int choose(const struct plx_sgm_job *job, const lines_args &args)
{
    return plx_p2_varies(job->match) ? walk<D, true>(job, args) : walk<D, false>(job, args);
}

int plx_sgm_lines(const struct plx_sgm_job *job)
{
    const struct plx_match *match = job->match;
    const struct plx_gpu_sgm *sgm = job->gpu->sgm;
    const lines_args args = {sgm->cost,
                             {sgm->pairs[0], sgm->pairs[1], sgm->pairs[2], sgm->pairs[3]},
                             sgm->scrap,
                             sgm->penalty,
                             job->width,
                             job->height,
                             0,
                             0,
                             0,
                             0,
                             (uint32_t)match->p1_straight * 0x10001u,
                             (uint32_t)match->p1_diagonal * 0x10001u,
                             (uint32_t)match->p2 * 0x10001u};

    switch (match->disparities) {
    case 64:
        return choose<64>(job, args);
    case 128:
        return choose<128>(job, args);
    default:
        return choose<256>(job, args);
    }
}

struct plx_lines_load plx_lines_load(int width, int height, const struct plx_match *match)
{
    const int lines = 256 / match->disparities, shorter = min(width, height), longest = longest_diagonals(width, height);
    const int rows = (int)plx_blocks(height, lines), columns = (int)plx_blocks(width, lines);
    const int diagonals = match->paths == 8 ? (int)plx_blocks(all_diagonals(width, height), lines) : 0;
    double places = (double)lines * ((double)rows * width + (double)columns * height);

    for (int i = 0; i < diagonals * lines; i += lines)
        places += (double)lines * (i < longest ? shorter : shorter - 1 - (i - longest) / 4);
    return {rows + columns + diagonals, 1 - (double)match->paths / 2 * width * height / places};
}

int plx_sgm_lines_occupancy(struct plx_gpu *gpu, int *ret_warps)
{
    return PLX_CUDA(gpu, cudaOccupancyMaxActiveBlocksPerMultiprocessor(ret_warps, lines_kernel<128, 4, false, false>, WARP,
                                                                       4 * PIXEL_BYTES));
}
