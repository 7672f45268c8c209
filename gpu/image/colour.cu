/* SPDX-License-Identifier: Apache-2.0 */
/* Stages colour and colour_sums: raw buffers to RGB, and what the white balance looks at; the arithmetic is
 * core/colour/colour.h. Both run beside other stages. */
#include "core/colour/white_balance.h"

#include "gpu/device/launch.cuh"
#include "gpu/device/reduce.cuh"

#define BLOCK_X 32
#define BLOCK_Y 8
#define EACH 4 /* neighbouring pixels of a thread */
#define SUM_THREADS 128

enum kind { BYTES, WORDS, MOSAIC_BYTES, MOSAIC_WORDS, RGB, BGR, YUV };

struct colour_args {
    plx_view<const uint8_t> raw; /* from the eye's first column on; as wide as the eye */
    plx_view<uint8_t> rgb;       /* as wide in pixels */
    bool rgb_aligned;

    /* grey formats and mosaics: bits below a sample in its word, those of a sample, and how far to 8 */
    int shift, mask, to_8;

    /* mosaics */
    int black, largest;
    bool first_is_green, first_row_red; /* of the window */
    uint32_t ratio[PLX_CHANNELS];
    int32_t matrix[PLX_CHANNELS * PLX_CHANNELS];
    const uint8_t *tone;

    /* YCbCr: bytes from a luma to the next */
    int luma_step, eye_x;
    struct plx_yuv_factors factors;
    struct plx_chroma_plane chroma;
};

/* --- one pixel -------------------------------------------------------------------------------------------------------------
 */

template <bool WORD> static __device__ __forceinline__ int load_sample(const struct colour_args &a, const uint8_t *row, int x)
{
    return (WORD ? row[2 * x] | row[2 * x + 1] << 8 : row[x]) >> a.shift & a.mask;
}

#define REACH 2 /* of a mosaic's filters, pixels */
#define SPAN (EACH + 2 * REACH)

/* Samples above black around EACH pixels, of which the corners are not read. */
struct window {
    int at[2 * REACH + 1][SPAN];
};

template <bool WORD> static __device__ __forceinline__ struct window load_window(const struct colour_args &a, int x, int y)
{
    const int width = a.raw.width, height = a.raw.height;
    const bool inside = x >= REACH && x + EACH + REACH <= width && y >= REACH && y + REACH < height;
    struct window window;

#pragma unroll
    for (int r = 0; r <= 2 * REACH; r++) {
        const int line = y + r - REACH, cut = r < REACH ? REACH - r : r - REACH;
        const uint8_t *row = a.raw.row(inside ? line : plx_mosaic_mirror(line, height));
#pragma unroll
        for (int c = 0; c < SPAN; c++) {
            if (c < cut || c >= SPAN - cut)
                continue;
            const int column = x + c - REACH; /* behind the picture's end for pixels that nobody stores */
            const int from = inside ? column : plx_mosaic_mirror(min(column, width - 1 + REACH), width);
            window.at[r][c] = max(load_sample<WORD>(a, row, from) - a.black, 0);
        }
    }
    return window;
}

/* Pixel I of the window, whose first one is at (X, Y). */
static __device__ __forceinline__ void develop(const struct colour_args &a, const struct window &window, int i, int x, int y,
                                               uint8_t ret[PLX_CHANNELS])
{
    const int *above2 = window.at[0] + i + REACH, *above = window.at[1] + i + REACH, *row = window.at[2] + i + REACH,
              *below = window.at[3] + i + REACH, *below2 = window.at[4] + i + REACH;
    const struct plx_mosaic_sums sums = {
        row[0],           row[-1] + row[1],      above[0] + below[0], above[-1] + above[1] + below[-1] + below[1],
        row[-2] + row[2], above2[0] + below2[0],
    };
    const bool is_green = ((x + i + y) % 2 == 0) == a.first_is_green, red_row = (y % 2 == 0) == a.first_row_red;
    int balanced[PLX_CHANNELS];

    plx_mosaic_rgb(&sums, is_green, red_row, a.largest, balanced);
#pragma unroll
    for (int k = 0; k < PLX_CHANNELS; k++)
        balanced[k] = plx_colour_balanced(balanced[k], a.ratio[k]);
#pragma unroll
    for (int k = 0; k < PLX_CHANNELS; k++)
        ret[k] = a.tone[plx_colour_mixed(a.matrix + PLX_CHANNELS * k, balanced)];
}

template <enum kind KIND>
static __device__ __forceinline__ void pixel(const struct colour_args &a, int x, int y, uint8_t ret[PLX_CHANNELS])
{
    const uint8_t *row = a.raw.row(y);

    if (KIND == YUV) {
        plx_yuv_rgb(&a.factors, row[x * a.luma_step], plx_chroma_at(&a.chroma, a.chroma.cb, a.eye_x + x, y),
                    plx_chroma_at(&a.chroma, a.chroma.cr, a.eye_x + x, y), ret);
    } else if (KIND == RGB || KIND == BGR) {
#pragma unroll
        for (int i = 0; i < PLX_CHANNELS; i++)
            ret[i] = row[PLX_CHANNELS * x + (KIND == RGB ? i : 2 - i)];
    } else {
        ret[0] = ret[1] = ret[2] = (uint8_t)(load_sample<KIND == WORDS>(a, row, x) >> a.to_8);
    }
}

/* Grid: a thread 4 pixels of a row. Reads 1 to 3 bytes a pixel, neighbours from L1, and writes 3. */
template <enum kind KIND>
static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y) colour_kernel(const __grid_constant__ colour_args a)
{
    const int x = (blockIdx.x * BLOCK_X + threadIdx.x) * EACH, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    const int count = min(a.raw.width - x, EACH);
    uint8_t rgb[EACH * PLX_CHANNELS];

    if (count <= 0 || y >= a.raw.height)
        return;
    if (KIND == MOSAIC_BYTES || KIND == MOSAIC_WORDS) {
        const struct window window = load_window<KIND == MOSAIC_WORDS>(a, x, y);
#pragma unroll
        for (int i = 0; i < EACH; i++)
            develop(a, window, i, x, y, rgb + PLX_CHANNELS * i);
    } else {
#pragma unroll
        for (int i = 0; i < EACH; i++)
            pixel<KIND>(a, min(x + i, a.raw.width - 1), y, rgb + PLX_CHANNELS * i);
    }
    plx_store_rgb(rgb, a.rgb.row(y) + PLX_CHANNELS * x, count, a.rgb_aligned);
}

/* --- launch ----------------------------------------------------------------------------------------------------------------
 */

/* What both stages read of a mosaic. */
static void describe_mosaic(const struct plx_raw *raw, const struct plx_development *development, struct colour_args *args)
{
    const struct plx_format_layout *layout = plx_format_layout(raw->format);
    const int full = (1 << layout->bits) - 1, bytes_of_pixel = layout->words ? 2 : 1;

    args->raw = {(const uint8_t *)raw->data + (size_t)raw->eye_x * bytes_of_pixel, raw->eye_width, raw->height, raw->pitch};
    args->shift = raw->msb_aligned ? 16 - layout->bits : 0;
    args->mask = full;
    args->to_8 = layout->bits - 8;
    args->black = development->black;
    args->largest = full > development->black ? full - development->black : 1;
    args->first_is_green = plx_mosaic_colour(raw->bayer, raw->eye_x, 0) == PLX_GREEN;
    args->first_row_red = raw->bayer == PLX_BAYER_RGGB || raw->bayer == PLX_BAYER_GRBG;
}

static void describe_yuv(const struct plx_raw *raw, struct colour_args *args)
{
    args->luma_step = plx_format_layout(raw->format)->extra_rows > 0 ? 1 : 2;
    args->raw.data =
        (const uint8_t *)raw->data + (size_t)raw->eye_x * args->luma_step + (raw->format == PLX_FORMAT_UYVY ? 1 : 0);
    args->eye_x = raw->eye_x;
    args->factors = plx_yuv_factors(&raw->chroma);
    args->chroma = plx_chroma_plane(raw);
}

typedef void colour_kernel_type(struct colour_args);

/* The kernel for RAW, whose other arguments it sets. */
static colour_kernel_type *choose_kernel(const struct plx_raw *raw, const struct plx_development *development,
                                         struct colour_args *args)
{
    const struct plx_format_layout *layout = plx_format_layout(raw->format);

    describe_mosaic(raw, development, args); /* and grey formats */
    if (layout->bayer) {
        for (int i = 0; i < PLX_CHANNELS; i++)
            args->ratio[i] = plx_colour_ratio(args->largest, development->gain[i]);
        for (int i = 0; i < PLX_CHANNELS * PLX_CHANNELS; i++)
            args->matrix[i] = development->matrix[i];
        args->tone = development->tone;
        return layout->words ? colour_kernel<MOSAIC_WORDS> : colour_kernel<MOSAIC_BYTES>;
    }
    if (layout->yuv) {
        describe_yuv(raw, args);
        return colour_kernel<YUV>;
    }
    if (raw->format == PLX_FORMAT_GREY_RGB) {
        args->raw.data = (const uint8_t *)raw->data + (size_t)raw->height * raw->pitch + (size_t)raw->eye_x * PLX_CHANNELS;
        args->raw.pitch = raw->pitch * PLX_CHANNELS;
        return colour_kernel<RGB>;
    }
    if (raw->format == PLX_FORMAT_RGB24 || raw->format == PLX_FORMAT_BGR24) {
        args->raw.data = (const uint8_t *)raw->data + (size_t)raw->eye_x * PLX_CHANNELS;
        return raw->format == PLX_FORMAT_RGB24 ? colour_kernel<RGB> : colour_kernel<BGR>;
    }
    return layout->words ? colour_kernel<WORDS> : colour_kernel<BYTES>;
}

static int launch_colour(struct plx_gpu *gpu, const struct plx_raw *raw, const struct plx_development *development,
                         const struct plx_image *rgb)
{
    struct colour_args args = {};
    colour_kernel_type *kernel = choose_kernel(raw, development, &args);
    const dim3 block(BLOCK_X, BLOCK_Y), grid = plx_grid(rgb->width, rgb->height, dim3(BLOCK_X * EACH, BLOCK_Y));
    void *all[] = {&args};

    args.rgb = {(uint8_t *)rgb->data, rgb->width, rgb->height, rgb->pitch};
    args.rgb_aligned = plx_rows_aligned(rgb, EACH);
    return plx_gpu_launch_changing(gpu, (void *)kernel, grid, block, all);
}

int plx_gpu_colour(struct plx_stages *self, const struct plx_raw *raw, const struct plx_development *development,
                   const struct plx_image *rgb)
{
    struct plx_gpu *gpu = plx_gpu(self);
    int result = plx_colour_check(raw, development, rgb);

    if (result < 0)
        return result;
    if (!plx_gpu_holds(gpu, rgb))
        return PLX_ERR_RANGE;
    result = plx_gpu_use_side(gpu, true);
    return plx_gpu_use_main(gpu, result < 0 ? result : launch_colour(gpu, raw, development, rgb));
}

/* --- sums ------------------------------------------------------------------------------------------------------------------
 */

struct sums_args {
    struct colour_args mosaic;
    enum plx_bayer order;
    int eye_x;
    bool is_mosaic, words;
    struct plx_cell_gate gate;
    plx_view<uint64_t> ret_sums;
};

/* Grid: a block for two rows of 16, whose threads take cells of 2 x 2 samples in turns. Reads an eighth of the picture; writes
 * 64 bytes a block. */
static __global__ void __launch_bounds__(SUM_THREADS) sums_kernel(const __grid_constant__ sums_args a)
{
    const int y = plx_colour_sum_row(blockIdx.x), width = a.mosaic.raw.width;
    const bool exists = a.is_mosaic && y + 1 < a.mosaic.raw.height;
    unsigned long long sum[PLX_COLOUR_SUMS] = {};

    for (int x = 2 * threadIdx.x; exists && x + 1 < width; x += 2 * SUM_THREADS) {
        int cell[PLX_CHANNELS] = {};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int colour = plx_mosaic_colour(a.order, a.eye_x + x + i % 2, y + i / 2);
            const uint8_t *row = a.mosaic.raw.row(y + i / 2);
            const int sample =
                a.words ? load_sample<true>(a.mosaic, row, x + i % 2) : load_sample<false>(a.mosaic, row, x + i % 2);
            const int value = max(sample - a.mosaic.black, 0);
#pragma unroll
            for (int k = 0; k < PLX_CHANNELS; k++)
                cell[k] += k == colour ? value * (k == PLX_GREEN ? 1 : 2) : 0;
        }
        if (!plx_cell_counts(&a.gate, cell))
            continue;
        const bool is_grey = plx_cell_is_grey(&a.gate, cell);
        sum[PLX_SUM_ALL_CELLS]++;
        sum[PLX_SUM_GREY_CELLS] += is_grey;
#pragma unroll
        for (int i = 0; i < PLX_CHANNELS; i++) {
            sum[PLX_SUM_ALL + i] += cell[i];
            sum[PLX_SUM_GREY + i] += is_grey ? cell[i] : 0;
        }
    }
    for (int i = 0; i < PLX_COLOUR_SUMS; i++) {
        const unsigned long long all = plx_block_sum(sum[i]);
        if (threadIdx.x == 0)
            a.ret_sums.row(i)[blockIdx.x] = all;
        __syncthreads(); /* the sum's memory is used again */
    }
}

static int launch_sums(struct plx_gpu *gpu, const struct plx_raw *raw, const struct plx_development *development,
                       const struct plx_image *ret_sums)
{
    struct sums_args args = {};
    void *all[] = {&args};

    describe_mosaic(raw, development, &args.mosaic);
    args.order = raw->bayer;
    args.eye_x = raw->eye_x;
    args.is_mosaic = plx_format_layout(raw->format)->bayer;
    args.words = plx_format_layout(raw->format)->words;
    args.gate = plx_cell_gate(args.mosaic.largest, development->gain);
    args.ret_sums = plx_view_of<uint64_t>(ret_sums);
    return plx_gpu_launch_changing(gpu, (void *)sums_kernel, dim3((unsigned)ret_sums->width), dim3(SUM_THREADS), all);
}

int plx_gpu_colour_sums(struct plx_stages *self, const struct plx_raw *raw, const struct plx_development *development,
                        const struct plx_image *ret_sums)
{
    struct plx_gpu *gpu = plx_gpu(self);
    int result = plx_colour_sums_check(raw, development, ret_sums);

    if (result < 0)
        return result;
    if (raw->eye_width > gpu->limits.width || raw->height > gpu->limits.height)
        return PLX_ERR_RANGE;
    result = plx_gpu_use_side(gpu, true);
    return plx_gpu_use_main(gpu, result < 0 ? result : launch_sums(gpu, raw, development, ret_sums));
}
