/* SPDX-License-Identifier: Apache-2.0 */
/* Stages colour and colour_sums: raw buffers to RGB, and what the white balance looks at. */
#include "core/colour/colour.h"

#include <string.h>

#include <parallax/error.h>

#include "core/colour/white_balance.h"
#include "cpu/internal.h"

#define REACH 2 /* of a mosaic's filters, pixels */

struct colour_job {
    const struct plx_raw *raw;
    const struct plx_development *development;
    const struct plx_kernels *kernels;
    const struct plx_image *rgb;
    int largest; /* sample of white above black */
    struct plx_yuv_factors factors;
    struct plx_chroma_plane chroma;
};

static const uint8_t *raw_row(const struct plx_raw *raw, int y)
{
    return (const uint8_t *)raw->data + (size_t)y * raw->pitch;
}

/* --- mosaics ---------------------------------------------------------------------------------------------------------------
 */

static int largest_sample(const struct plx_raw *raw, int black)
{
    const int full = (1 << plx_format_layout(raw->format)->bits) - 1;
    return full > black ? full - black : 1;
}

/* Samples above black of row Y, which may lie outside, with REACH mirrored ones before and behind. */
static void read_samples(const struct plx_raw *raw, int black, int y, uint16_t *line)
{
    const struct plx_format_layout *layout = plx_format_layout(raw->format);
    const uint8_t *bytes = raw_row(raw, plx_mosaic_mirror(y, raw->height));
    const uint16_t *words = (const uint16_t *)(const void *)bytes + raw->eye_x;
    const int shift = raw->msb_aligned ? 16 - layout->bits : 0, mask = (1 << layout->bits) - 1, width = raw->eye_width;

    bytes += raw->eye_x;
    for (int x = 0; x < width; x++) {
        const int sample = layout->words ? words[x] >> shift & mask : bytes[x];
        line[x] = (uint16_t)(sample > black ? sample - black : 0);
    }
    for (int i = 1; i <= REACH; i++) {
        line[-i] = line[plx_mosaic_mirror(-i, width)];
        line[width - 1 + i] = line[plx_mosaic_mirror(width - 1 + i, width)];
    }
}

/* COUNT pixels of linear light, [PLX_CHANNELS][PLX_MOSAIC_BLOCK], to sRGB. */
static void develop(const struct plx_development *development, const int32_t *linear, int count, uint8_t *rgb)
{
    static const int32_t identity[] = {PLX_COLOUR_ONE, 0, 0, 0, PLX_COLOUR_ONE, 0, 0, 0, PLX_COLOUR_ONE};
    const int32_t *matrix = development->matrix;
    const uint8_t *tone = development->tone;

    if (memcmp(matrix, identity, sizeof identity) == 0) {
        for (int i = 0; i < count; i++)
            for (int channel = 0; channel < PLX_CHANNELS; channel++)
                rgb[PLX_CHANNELS * i + channel] = tone[linear[channel * PLX_MOSAIC_BLOCK + i]];
        return;
    }
    for (int i = 0; i < count; i++) {
        const int balanced[] = {linear[i], linear[PLX_MOSAIC_BLOCK + i], linear[2 * PLX_MOSAIC_BLOCK + i]};
        for (int channel = 0; channel < PLX_CHANNELS; channel++)
            rgb[PLX_CHANNELS * i + channel] = tone[plx_colour_mixed(matrix + PLX_CHANNELS * channel, balanced)];
    }
}

static void colour_mosaic(void *argument, int first, int last)
{
    const struct colour_job *job = argument;
    const struct plx_raw *raw = job->raw;
    uint16_t samples[PLX_MOSAIC_ROWS][PLX_MAX_SIDE + 2 * REACH];
    int32_t linear[PLX_CHANNELS * PLX_MOSAIC_BLOCK];
    struct plx_mosaic_rows rows = {.largest = job->largest};

    for (int i = 0; i < PLX_CHANNELS; i++)
        rows.ratio[i] = plx_colour_ratio(job->largest, job->development->gain[i]);
    for (int y = first - REACH; y < first + REACH; y++)
        read_samples(raw, job->development->black, y, samples[(y - first + REACH) % PLX_MOSAIC_ROWS] + REACH);
    for (int y = first; y < last; y++) {
        const int newest = y - first + 2 * REACH; /* rows take turns in the memory */
        read_samples(raw, job->development->black, y + REACH, samples[newest % PLX_MOSAIC_ROWS] + REACH);
        for (int i = 0; i < PLX_MOSAIC_ROWS; i++)
            rows.row[i] = samples[(newest - 2 * REACH + i) % PLX_MOSAIC_ROWS] + REACH;
        rows.green = plx_mosaic_colour(raw->bayer, raw->eye_x, y) != PLX_GREEN;
        rows.red_row = plx_mosaic_colour(raw->bayer, raw->eye_x + rows.green + 1, y) == PLX_RED;
        uint8_t *rgb = plx_row(job->rgb, y);
        for (int x = 0; x < raw->eye_width; x += PLX_MOSAIC_BLOCK) {
            const int count = raw->eye_width - x < PLX_MOSAIC_BLOCK ? raw->eye_width - x : PLX_MOSAIC_BLOCK;
            job->kernels->mosaic(&rows, x, count, linear);
            develop(job->development, linear, count, rgb + (size_t)PLX_CHANNELS * (size_t)x);
        }
    }
}

/* --- other formats ---------------------------------------------------------------------------------------------------------
 */

/* One chroma, CB or CR, of row Y at each pixel of the eye, in 1 / PLX_CHROMA_PARTS. */
static void spread_chroma(const struct colour_job *job, const uint8_t *plane, int y, int16_t *ret_chroma)
{
    const struct plx_chroma_plane *p = &job->chroma;
    const int samples = p->last - p->first + 1, begin = job->raw->eye_x, width = job->raw->eye_width;
    const struct plx_chroma_pair rows =
        p->halved ? plx_chroma_beside(y, true, 0, p->rows - 1) : (struct plx_chroma_pair){y, y, 0};
    const uint8_t *top = plane + (size_t)rows.first * p->pitch + p->first * p->step,
                  *bottom = plane + (size_t)rows.second * p->pitch + p->first * p->step;
    int16_t line[PLX_MAX_SIDE / 2 + 3]; /* in quarters, an edge sample repeated on both sides */

    for (int i = 0; i <= samples + 1; i++) {
        const int at = (i < 1 ? 0 : i > samples ? samples - 1 : i - 1) * p->step;
        line[i] = (int16_t)(top[at] * (4 - rows.weight) + bottom[at] * rows.weight);
    }
    const int16_t *at = line + 1 - p->first;
    for (int x = 0; x < width; x++) {
        const int i = (begin + x) / 2;
        const int even = p->centred ? at[i - 1] + 3 * at[i] : 4 * at[i];
        const int odd = p->centred ? 3 * at[i] + at[i + 1] : 2 * at[i] + 2 * at[i + 1];
        ret_chroma[x] = (int16_t)((begin + x) % 2 == 0 ? even : odd);
    }
}

static void colour_yuv_row(const struct colour_job *job, int y, uint8_t *rgb)
{
    const struct plx_raw *raw = job->raw;
    const int step = plx_format_layout(raw->format)->extra_rows == 0 ? 2 : 1;
    const uint8_t *luma = raw_row(raw, y) + (raw->format == PLX_FORMAT_UYVY ? 1 : 0) + raw->eye_x * step;
    const struct plx_yuv_factors factors = job->factors;
    int16_t cb[PLX_MAX_SIDE], cr[PLX_MAX_SIDE];

    spread_chroma(job, job->chroma.cb, y, cb);
    spread_chroma(job, job->chroma.cr, y, cr);
    for (int x = 0; x < raw->eye_width; x++)
        plx_yuv_rgb(&factors, luma[x * step], cb[x], cr[x], rgb + (size_t)x * PLX_CHANNELS);
}

static void colour_grey_row(const struct plx_raw *raw, int y, uint8_t *rgb)
{
    uint8_t grey[PLX_MAX_SIDE];
    const struct plx_image line = {grey, raw->eye_width, raw->height, 0, PLX_U8}; /* every row in the same place */

    plx_raw_grey_row(raw, &line, y);
    for (int x = 0; x < raw->eye_width; x++)
        rgb[3 * x] = rgb[3 * x + 1] = rgb[3 * x + 2] = grey[x];
}

static void colour_row(void *argument, int y)
{
    const struct colour_job *job = argument;
    const struct plx_raw *raw = job->raw;
    const size_t begin = PLX_CHANNELS * (size_t)raw->eye_x, bytes = PLX_CHANNELS * (size_t)raw->eye_width;
    const uint8_t *behind = raw_row(raw, raw->height) + (size_t)y * PLX_CHANNELS * raw->pitch; /* the second plane */
    const uint8_t *from = (raw->format == PLX_FORMAT_GREY_RGB ? behind : raw_row(raw, y)) + begin;
    uint8_t *rgb = plx_row(job->rgb, y);

    if (raw->format == PLX_FORMAT_RGB24 || raw->format == PLX_FORMAT_GREY_RGB)
        memcpy(rgb, from, bytes);
    else if (raw->format == PLX_FORMAT_BGR24)
        for (size_t i = 0; i < bytes; i += PLX_CHANNELS) {
            rgb[i] = from[i + 2];
            rgb[i + 1] = from[i + 1];
            rgb[i + 2] = from[i];
        }
    else if (plx_format_layout(raw->format)->yuv)
        colour_yuv_row(job, y, rgb);
    else
        colour_grey_row(raw, y, rgb);
}

int plx_cpu_colour(struct plx_stages *self, const struct plx_raw *raw, const struct plx_development *development,
                   const struct plx_image *rgb)
{
    const struct plx_cpu *cpu = plx_cpu(self);
    const int result = plx_colour_check(raw, development, rgb);
    if (result < 0)
        return result;
    if (!plx_cpu_holds(cpu, rgb))
        return PLX_ERR_RANGE;

    struct colour_job job = {.raw = raw, .development = development, .kernels = cpu->kernels, .rgb = rgb};
    if (plx_format_layout(raw->format)->bayer) {
        job.largest = largest_sample(raw, development->black);
        plx_pool_run_bands(cpu->pool, rgb->height, colour_mosaic, &job);
        return 0;
    }
    if (plx_format_layout(raw->format)->yuv) {
        job.factors = plx_yuv_factors(&raw->chroma);
        job.chroma = plx_chroma_plane(raw);
    }
    plx_pool_run_rows(cpu->pool, rgb->height, colour_row, &job);
    return 0;
}

/* --- sums ------------------------------------------------------------------------------------------------------------------
 */

struct sums_job {
    const struct plx_raw *raw;
    int black;
    struct plx_cell_gate gate;
    const struct plx_image *ret_sums;
};

static void add_cells(void *argument, int index)
{
    const struct sums_job *job = argument;
    const struct plx_raw *raw = job->raw;
    const int y = plx_colour_sum_row(index);
    uint16_t samples[2][PLX_MAX_SIDE + 2 * REACH];
    uint64_t sum[PLX_COLOUR_SUMS] = {0};

    for (int i = 0; i < 2 && y + 1 < raw->height; i++)
        read_samples(raw, job->black, y + i, samples[i] + REACH);
    for (int x = 0; x + 1 < raw->eye_width && y + 1 < raw->height; x += 2) {
        int cell[PLX_CHANNELS] = {0};
        for (int i = 0; i < 4; i++) {
            const int colour = plx_mosaic_colour(raw->bayer, raw->eye_x + x + i % 2, y + i / 2);
            cell[colour] += samples[i / 2][REACH + x + i % 2] * (colour == PLX_GREEN ? 1 : 2);
        }
        if (!plx_cell_counts(&job->gate, cell))
            continue;
        const bool is_grey = plx_cell_is_grey(&job->gate, cell);
        sum[PLX_SUM_ALL_CELLS]++;
        sum[PLX_SUM_GREY_CELLS] += is_grey;
        for (int i = 0; i < PLX_CHANNELS; i++) {
            sum[PLX_SUM_ALL + i] += (uint64_t)cell[i];
            sum[PLX_SUM_GREY + i] += is_grey ? (uint64_t)cell[i] : 0;
        }
    }
    for (int i = 0; i < PLX_COLOUR_SUMS; i++)
        ((uint64_t *)plx_row(job->ret_sums, i))[index] = sum[i];
}

int plx_cpu_colour_sums(struct plx_stages *self, const struct plx_raw *raw, const struct plx_development *development,
                        const struct plx_image *ret_sums)
{
    const struct plx_cpu *cpu = plx_cpu(self);
    const int result = plx_colour_sums_check(raw, development, ret_sums);
    if (result < 0)
        return result;
    if (raw->eye_width > cpu->limits.width || raw->height > cpu->limits.height)
        return PLX_ERR_RANGE;
    if (!plx_format_layout(raw->format)->bayer) {
        for (int i = 0; i < PLX_COLOUR_SUMS; i++)
            memset(plx_row(ret_sums, i), 0, (size_t)ret_sums->width * sizeof(uint64_t));
        return 0;
    }
    struct sums_job job = {raw, development->black, plx_cell_gate(largest_sample(raw, development->black), development->gain),
                           ret_sums};
    plx_pool_run(cpu->pool, ret_sums->width, add_cells, &job);
    return 0;
}
