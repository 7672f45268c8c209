/* SPDX-License-Identifier: Apache-2.0 */
/* Stage convert: raw buffers to grey. A sample is as deep as its format; 8-bit grey takes its top 8 bits, 16-bit grey is the
 * same number moved up to full scale. */
#include "gpu/device/launch.cuh"

#define BLOCK_X 32
#define BLOCK_Y 8
#define EACH 4 /* neighbouring pixels of a thread */

enum kind { BYTES, WORDS, YUYV, UYVY, RGB, BGR, KINDS };

struct convert_args {
    plx_view<const uint8_t> raw; /* from the eye's first column on; as wide as the eye */
    plx_view<void> grey;
    int bits, shift; /* bits of a sample; bits below it in its word */
    bool raw_aligned, grey_aligned;
    bool first_row_red;
    int first_green; /* parity of the window's green columns in row 0 */
};

static __device__ __forceinline__ unsigned luma(unsigned red, unsigned green, unsigned blue)
{
    return (77 * red + 150 * green + 29 * blue + 128) >> 8;
}

template <enum kind KIND> static constexpr int pixel_bytes = KIND == BYTES ? 1 : KIND == RGB || KIND == BGR ? 3 : 2;

/* Pixel I of BYTES. */
template <enum kind KIND>
static __device__ __forceinline__ unsigned sample(const struct convert_args &a, const uint8_t *bytes, int i)
{
    const uint8_t *at = bytes + i * pixel_bytes<KIND>;
    switch (KIND) {
    case WORDS:
        return (at[0] | at[1] << 8) >> a.shift & ((1u << a.bits) - 1);
    case UYVY:
        return at[1];
    case RGB:
        return luma(at[0], at[1], at[2]);
    case BGR:
        return luma(at[2], at[1], at[0]);
    default:
        return at[0];
    }
}

template <class OUT>
static __device__ __forceinline__ void store(const struct convert_args &a, int x, int y, int count,
                                             const unsigned (&sample)[EACH])
{
    plx_vector<OUT, EACH> grey;
#pragma unroll
    for (int i = 0; i < EACH; i++)
        grey.at[i] = (OUT)(sizeof(OUT) == 1 ? sample[i] >> (a.bits - 8) : sample[i] << (16 - a.bits));
    plx_store(grey, (OUT *)((char *)a.grey.data + (size_t)y * a.grey.pitch) + x, count, a.grey_aligned);
}

/* Grid: a thread 4 pixels of a row. Reads 1 to 3 bytes a pixel, writes 1 or 2. */
template <enum kind KIND, class OUT> static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y) convert_kernel(convert_args a)
{
    const int x = (blockIdx.x * BLOCK_X + threadIdx.x) * EACH, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    const int count = min(a.raw.width - x, EACH);
    uint8_t bytes[EACH * pixel_bytes<KIND>];
    unsigned line[EACH];

    if (count <= 0 || y >= a.raw.height)
        return;
#pragma unroll
    for (int i = 0; i < pixel_bytes<KIND>; i++) {
        const int from = x * pixel_bytes<KIND> + i * EACH;
        const plx_vector<uint8_t, EACH> part =
            plx_load<EACH>(a.raw.row(y) + from, (x + count) * pixel_bytes<KIND> - from, a.raw_aligned);
#pragma unroll
        for (int j = 0; j < EACH; j++)
            bytes[i * EACH + j] = part.at[j];
    }
#pragma unroll
    for (int i = 0; i < EACH; i++)
        line[i] = sample<KIND>(a, bytes, i);
    store<OUT>(a, x, y, count, line);
}

/* Index I of 0..COUNT-1, mirrored about the edge samples so that it keeps its colour. */
static __device__ __forceinline__ int mirror(int i, int count)
{
    return i < 0 ? -i : i >= count ? 2 * (count - 1) - i : i;
}

/* The mosaic's sample at (x, y), which may lie one outside. */
template <enum kind KIND> static __device__ __forceinline__ unsigned mosaic(const struct convert_args &a, int x, int y)
{
    return sample<KIND>(a, a.raw.row(mirror(y, a.raw.height)), mirror(x, a.raw.width));
}

/* Bilinear demosaic and luma in one. A row holds green and one of red and blue, OWN; the weight of the other is OTHER. At a
 * pixel of the row's own colour green is the mean of the cross and the other colour that of the diagonals; at a green pixel the
 * own colour lies left and right, the other above and below. */
template <enum kind KIND> static __device__ __forceinline__ unsigned demosaic(const struct convert_args &a, int x, int y)
{
    const bool red_row = a.first_row_red == (y % 2 == 0);
    const unsigned own = red_row ? 77 : 29, other = red_row ? 29 : 77, centre = mosaic<KIND>(a, x, y);
    const unsigned across = mosaic<KIND>(a, x - 1, y) + mosaic<KIND>(a, x + 1, y);
    const unsigned along = mosaic<KIND>(a, x, y - 1) + mosaic<KIND>(a, x, y + 1);
    if (((x + y) & 1) == a.first_green)
        return (150 * centre + own * ((across + 1) >> 1) + other * ((along + 1) >> 1) + 128) >> 8;
    const unsigned diagonal = mosaic<KIND>(a, x - 1, y - 1) + mosaic<KIND>(a, x + 1, y - 1) + mosaic<KIND>(a, x - 1, y + 1) +
                              mosaic<KIND>(a, x + 1, y + 1);
    return (own * centre + 150 * ((across + along + 2) >> 2) + other * ((diagonal + 2) >> 2) + 128) >> 8;
}

/* Grid: a thread 4 pixels of a row. Reads 1 or 2 bytes a pixel, its neighbours from L1, and writes 1 or 2. */
template <enum kind KIND, class OUT> static __global__ void __launch_bounds__(BLOCK_X *BLOCK_Y) bayer_kernel(convert_args a)
{
    const int x = (blockIdx.x * BLOCK_X + threadIdx.x) * EACH, y = blockIdx.y * BLOCK_Y + threadIdx.y;
    const int count = min(a.raw.width - x, EACH);
    unsigned line[EACH];

    if (count <= 0 || y >= a.raw.height)
        return;
#pragma unroll
    for (int i = 0; i < EACH; i++)
        line[i] = demosaic<KIND>(a, min(x + i, a.raw.width - 1), y);
    store<OUT>(a, x, y, count, line);
}

typedef void convert_kernel_type(struct convert_args);

/* The kernel for a format; WIDE: to 16-bit grey. */
static convert_kernel_type *choose_kernel(const struct plx_format_layout *layout, enum kind kind, bool wide)
{
    static convert_kernel_type *const plain[KINDS][2] = {{convert_kernel<BYTES, uint8_t>, convert_kernel<BYTES, uint16_t>},
                                                         {convert_kernel<WORDS, uint8_t>, convert_kernel<WORDS, uint16_t>},
                                                         {convert_kernel<YUYV, uint8_t>, convert_kernel<YUYV, uint16_t>},
                                                         {convert_kernel<UYVY, uint8_t>, convert_kernel<UYVY, uint16_t>},
                                                         {convert_kernel<RGB, uint8_t>, convert_kernel<RGB, uint16_t>},
                                                         {convert_kernel<BGR, uint8_t>, convert_kernel<BGR, uint16_t>}};
    static convert_kernel_type *const bayer[][2] = {{bayer_kernel<BYTES, uint8_t>, bayer_kernel<BYTES, uint16_t>},
                                                    {bayer_kernel<WORDS, uint8_t>, bayer_kernel<WORDS, uint16_t>}};
    return layout->bayer ? bayer[kind][wide] : plain[kind][wide];
}

static enum kind kind_of(enum plx_format format)
{
    switch (format) {
    case PLX_FORMAT_YUYV:
        return YUYV;
    case PLX_FORMAT_UYVY:
        return UYVY;
    case PLX_FORMAT_RGB24:
        return RGB;
    case PLX_FORMAT_BGR24:
        return BGR;
    default:
        return plx_format_layout(format)->words ? WORDS : BYTES;
    }
}

int plx_gpu_convert(struct plx_stages *self, const struct plx_raw *raw, const struct plx_image *grey)
{
    struct plx_gpu *gpu = plx_gpu(self);
    if (!plx_image_ok(grey, PLX_U8) && !plx_image_ok(grey, PLX_U16))
        return PLX_ERR_ARG;
    const int result = plx_raw_check(raw, NULL);
    if (result < 0)
        return result;
    if (grey->width != raw->eye_width || grey->height != raw->height)
        return PLX_ERR_ARG;
    if (!plx_gpu_holds(gpu, grey))
        return PLX_ERR_RANGE;

    const struct plx_format_layout *layout = plx_format_layout(raw->format);
    const int bytes_of_pixel = layout->unit_bytes / layout->unit_pixels;
    struct convert_args args = {};
    args.raw = {(const uint8_t *)raw->data + (size_t)raw->eye_x * bytes_of_pixel, raw->eye_width, raw->height, raw->pitch};
    args.grey = plx_view_of<void>(grey);
    args.bits = layout->bits;
    args.shift = raw->msb_aligned ? 16 - layout->bits : 0;
    args.raw_aligned = (((uintptr_t)args.raw.data | raw->pitch) % EACH) == 0;
    args.grey_aligned = plx_rows_aligned(grey, (size_t)(EACH * grey->type));
    args.first_row_red = raw->bayer == PLX_BAYER_RGGB || raw->bayer == PLX_BAYER_GRBG;
    args.first_green = (raw->eye_x + (raw->bayer == PLX_BAYER_GRBG || raw->bayer == PLX_BAYER_GBRG ? 0 : 1)) & 1;

    const dim3 block(BLOCK_X, BLOCK_Y), grid = plx_grid(grey->width, grey->height, dim3(BLOCK_X * EACH, BLOCK_Y));
    void *all[] = {&args};
    return plx_gpu_launch_changing(gpu, (void *)choose_kernel(layout, kind_of(raw->format), grey->type == PLX_U16), grid, block,
                                   all);
}
