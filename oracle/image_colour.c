/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/image.h"

#include <math.h>
#include <stdlib.h>

#include "core/colour/white_balance.h"

static int depth(enum plx_format format)
{
    return format == PLX_FORMAT_BAYER10 ? 10 : format == PLX_FORMAT_BAYER12 ? 12 : 8;
}

static bool is_bayer(enum plx_format format)
{
    return format == PLX_FORMAT_BAYER8 || format == PLX_FORMAT_BAYER10 || format == PLX_FORMAT_BAYER12;
}

static int byte_at(const struct plx_raw *raw, int row, int offset)
{
    return ((const uint8_t *)raw->data)[(size_t)row * raw->pitch + (size_t)offset];
}

static int mirrored(int i, int count)
{
    while (i < 0 || i >= count)
        i = i < 0 ? -i : 2 * (count - 1) - i;
    return i;
}

/* The mosaic's sample above black, in the eye's own coordinates, which may lie outside. */
static int sample(const struct plx_raw *raw, int black, int x, int y)
{
    const int column = raw->eye_x + mirrored(x, raw->eye_width), row = mirrored(y, raw->height), bits = depth(raw->format);
    int value = byte_at(raw, row, column);
    if (bits > 8) {
        const int word = byte_at(raw, row, 2 * column) + 256 * byte_at(raw, row, 2 * column + 1);
        value = raw->msb_aligned ? word >> (16 - bits) : word % (1 << bits);
    }
    return value > black ? value - black : 0;
}

/* The colour of the sample at (X, Y) of the buffer, as the name of the order spells it. */
static int colour_at(enum plx_bayer order, int x, int y)
{
    static const char *const name[] = {
        [PLX_BAYER_RGGB] = "RGGB", [PLX_BAYER_BGGR] = "BGGR", [PLX_BAYER_GRBG] = "GRBG", [PLX_BAYER_GBRG] = "GBRG"};
    const char letter = name[order][2 * (y % 2) + x % 2];
    return letter == 'R' ? PLX_RED : letter == 'G' ? PLX_GREEN : PLX_BLUE;
}

/* The filters of the paper, times 16. */
static const int green_filter[5][5] = {{0, 0, -2, 0, 0}, {0, 0, 4, 0, 0}, {-2, 4, 8, 4, -2}, {0, 0, 4, 0, 0}, {0, 0, -2, 0, 0}};
static const int beside_filter[5][5] = {/* at green, of the colour left and right of it */
                                        {0, 0, 1, 0, 0},
                                        {0, -2, 0, -2, 0},
                                        {-2, 8, 10, 8, -2},
                                        {0, -2, 0, -2, 0},
                                        {0, 0, 1, 0, 0}};
static const int opposite_filter[5][5] = {
    {0, 0, -3, 0, 0}, {0, 4, 0, 4, 0}, {-3, 0, 12, 0, -3}, {0, 4, 0, 4, 0}, {0, 0, -3, 0, 0}};

static int filtered(const struct plx_raw *raw, int black, int x, int y, const int filter[5][5], bool turned, int largest)
{
    double sum = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++)
            sum += (turned ? filter[dx + 2][dy + 2] : filter[dy + 2][dx + 2]) * sample(raw, black, x + dx, y + dy);
    return (int)fmin(fmax(floor(sum / 16 + 0.5), 0), largest);
}

static int missing(const struct plx_raw *raw, int black, int x, int y, int wanted, int largest)
{
    const int column = raw->eye_x + x, own = colour_at(raw->bayer, column, y);
    if (own == wanted)
        return sample(raw, black, x, y);
    if (wanted == PLX_GREEN)
        return filtered(raw, black, x, y, green_filter, false, largest);
    if (own != PLX_GREEN)
        return filtered(raw, black, x, y, opposite_filter, false, largest);
    const bool in_row = colour_at(raw->bayer, column + 1, y) == wanted;
    return filtered(raw, black, x, y, beside_filter, !in_row, largest);
}

static void mosaic_pixel(const struct plx_raw *raw, const struct plx_development *how, int x, int y, uint8_t *rgb)
{
    const int full = (1 << depth(raw->format)) - 1, largest = full > how->black ? full - how->black : 1;
    double linear[3];

    for (int i = 0; i < 3; i++) {
        const double scale = floor(4095.0 * 65536 / largest), ratio = floor(scale * how->gain[i] / 4096 + 0.5);
        linear[i] = fmin(floor(missing(raw, how->black, x, y, i, largest) * ratio / 65536 + 0.5), 4095);
    }
    for (int i = 0; i < 3; i++) {
        double mixed = 0;
        for (int k = 0; k < 3; k++)
            mixed += how->matrix[3 * i + k] * linear[k];
        rgb[i] = how->tone[(int)fmin(fmax(floor(mixed / 4096 + 0.5), 0), 4095)];
    }
}

/* One chroma of the picture, CB or CR, by the indices of its samples, which are repeated at the edges. */
static double chroma_sample(const struct plx_raw *raw, bool cr, int i, int row)
{
    const int rows = raw->format == PLX_FORMAT_NV12 || raw->format == PLX_FORMAT_NV21 ? (raw->height + 1) / 2 : raw->height;
    const int first = raw->eye_x / 2, last = (raw->eye_x + raw->eye_width - 1) / 2;
    const bool second = cr != (raw->chroma.swapped != (raw->format == PLX_FORMAT_NV21));

    i = i < first ? first : i > last ? last : i;
    row = row < 0 ? 0 : row >= rows ? rows - 1 : row;
    if (raw->format == PLX_FORMAT_YUYV)
        return byte_at(raw, row, 4 * i + (second ? 3 : 1));
    if (raw->format == PLX_FORMAT_UYVY)
        return byte_at(raw, row, 4 * i + (second ? 2 : 0));
    return byte_at(raw, raw->height + row, 2 * i + (second ? 1 : 0));
}

/* At column X of the buffer, linear between the samples. */
static double chroma(const struct plx_raw *raw, bool cr, int x, int y)
{
    const bool halved = raw->format == PLX_FORMAT_NV12 || raw->format == PLX_FORMAT_NV21;
    const double at = raw->chroma.centred ? (x - 0.5) / 2 : x / 2.0, down = halved ? (y - 0.5) / 2 : y;
    const int i = (int)floor(at), row = (int)floor(down);
    const double part = at - i, part_down = down - row;
    return (chroma_sample(raw, cr, i, row) * (1 - part) + chroma_sample(raw, cr, i + 1, row) * part) * (1 - part_down) +
           (chroma_sample(raw, cr, i, row + 1) * (1 - part) + chroma_sample(raw, cr, i + 1, row + 1) * part) * part_down;
}

static void yuv_pixel(const struct plx_raw *raw, int x, int y, uint8_t *rgb)
{
    /* of full range: red by Cr, green by Cb and Cr, blue by Cb */
    static const double factors[2][4] = {{1.402, 0.344136, 0.714136, 1.772}, {1.5748, 0.187324, 0.468124, 1.8556}};
    const double *f = factors[raw->chroma.bt709];
    const int column = raw->eye_x + x, at = raw->format == PLX_FORMAT_YUYV   ? 2 * column
                                            : raw->format == PLX_FORMAT_UYVY ? 2 * column + 1
                                                                             : column;
    const double range = raw->chroma.full_range ? 1 : 255.0 / 224, light = raw->chroma.full_range ? 1 : 255.0 / 219;
    const double luma = round(light * 16384) * (byte_at(raw, y, at) - (raw->chroma.full_range ? 0 : 16));
    const double cb = chroma(raw, false, column, y) - 128, cr = chroma(raw, true, column, y) - 128;
    const double value[3] = {
        luma + round(f[0] * range * 16384) * cr,
        luma - round(f[1] * range * 16384) * cb - round(f[2] * range * 16384) * cr,
        luma + round(f[3] * range * 16384) * cb,
    };
    for (int i = 0; i < 3; i++)
        rgb[i] = (uint8_t)fmin(fmax(floor(value[i] / 16384 + 0.5), 0), 255);
}

static void pixel(const struct plx_raw *raw, const struct plx_development *how, int x, int y, uint8_t *rgb)
{
    const int column = raw->eye_x + x;
    switch (raw->format) {
    case PLX_FORMAT_BAYER8:
    case PLX_FORMAT_BAYER10:
    case PLX_FORMAT_BAYER12:
        mosaic_pixel(raw, how, x, y, rgb);
        break;
    case PLX_FORMAT_YUYV:
    case PLX_FORMAT_UYVY:
    case PLX_FORMAT_NV12:
    case PLX_FORMAT_NV21:
    case PLX_FORMAT_NV16:
        yuv_pixel(raw, x, y, rgb);
        break;
    default:
        for (int i = 0; i < 3; i++) {
            if (raw->format == PLX_FORMAT_RGB24 || raw->format == PLX_FORMAT_BGR24)
                rgb[i] = (uint8_t)byte_at(raw, y, 3 * column + (raw->format == PLX_FORMAT_RGB24 ? i : 2 - i));
            else
                rgb[i] = (uint8_t)byte_at(raw, raw->height + 3 * y, 3 * column + i);
        }
    }
}

void oracle_colour(const struct plx_raw *raw, const struct plx_development *development, const struct plx_image *ret_rgb)
{
    for (int y = 0; y < ret_rgb->height; y++)
        for (int x = 0; x < ret_rgb->width; x++) {
            uint8_t *rgb = (uint8_t *)plx_row(ret_rgb, y) + 3 * x;
            switch (raw->format) {
            case PLX_FORMAT_GREY:
                rgb[0] = rgb[1] = rgb[2] = (uint8_t)byte_at(raw, y, raw->eye_x + x);
                break;
            case PLX_FORMAT_Y10:
            case PLX_FORMAT_Y12:
            case PLX_FORMAT_Y16: {
                const int bits = raw->format == PLX_FORMAT_Y10 ? 10 : raw->format == PLX_FORMAT_Y12 ? 12 : 16;
                const int word = byte_at(raw, y, 2 * (raw->eye_x + x)) + 256 * byte_at(raw, y, 2 * (raw->eye_x + x) + 1);
                rgb[0] = rgb[1] = rgb[2] = (uint8_t)(raw->msb_aligned ? word >> 8 : word % (1 << bits) >> (bits - 8));
                break;
            }
            default:
                pixel(raw, development, x, y, rgb);
            }
        }
}

void oracle_colour_sums(const struct plx_raw *raw, const struct plx_development *development, const struct plx_image *ret_sums)
{
    const int full = (1 << depth(raw->format)) - 1, black = development->black, largest = full > black ? full - black : 1;

    for (int i = 0; i < ret_sums->width; i++) {
        uint64_t sum[8] = {0};
        const int y = 16 * i + 8;
        for (int x = 0; is_bayer(raw->format) && x + 1 < raw->eye_width && y + 1 < raw->height; x += 2) {
            double cell[3] = {0}, balanced[3];
            for (int k = 0; k < 4; k++)
                cell[colour_at(raw->bayer, raw->eye_x + x + k % 2, y + k / 2)] += sample(raw, black, x + k % 2, y + k / 2);
            cell[PLX_RED] *= 2;
            cell[PLX_BLUE] *= 2;
            for (int k = 0; k < 3; k++)
                balanced[k] = cell[k] * development->gain[k];
            const double most = fmax(fmax(cell[0], cell[1]), cell[2]), least = fmin(fmin(cell[0], cell[1]), cell[2]);
            if (cell[PLX_GREEN] < floor(largest / 16.0) || least == 0 || most > 15 * floor(largest / 8.0))
                continue;
            const double brightest = fmax(fmax(balanced[0], balanced[1]), balanced[2]);
            const double darkest = fmin(fmin(balanced[0], balanced[1]), balanced[2]);
            const bool grey = 5 * (brightest - darkest) < 2 * brightest;
            for (int k = 0; k < 3; k++) {
                sum[k] += (uint64_t)cell[k];
                sum[3 + k] += grey ? (uint64_t)cell[k] : 0;
            }
            sum[6]++;
            sum[7] += grey;
        }
        for (int k = 0; k < 8; k++)
            ((uint64_t *)plx_row(ret_sums, k))[i] = sum[k];
    }
}
