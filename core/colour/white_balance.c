/* SPDX-License-Identifier: Apache-2.0 */
#include "core/colour/white_balance.h"

#include <math.h>

#define ONE 65536u                            /* as a ratio */
#define MAX_RATIO (ONE * PLX_COLOUR_MAX_GAIN) /* and 1 / PLX_COLOUR_MAX_GAIN: what gains can be made of */
#define MIN_RATIO (ONE / PLX_COLOUR_MAX_GAIN)
#define MIN_CELLS 64      /* of fewer cells nothing is learned */
#define GREY_SHARE 20     /* of so many cells one must look grey, or all count */
#define SMOOTHING 16      /* pictures over which ratios are averaged */
#define STEPS_PER_ONE 100 /* a ratio changes by 1 % a picture at most, so that nobody sees it */

#define DAYLIGHT_K 4000.0

/* Chromaticity of the light of that colour temperature: of a black body (Kim et al.: Design of advanced color temperature
 * control system for HDTV applications, Journal of the Korean Physical Society 41, 2002), from DAYLIGHT_K on of daylight (CIE
 * 15). */
static void chromaticity(double kelvin, double *ret_x, double *ret_y)
{
    const double t = 1e3 / kelvin, t2 = t * t, t3 = t2 * t;
    double x = -0.2661239 * t3 - 0.2343589 * t2 + 0.8776956 * t + 0.179910;

    if (kelvin >= DAYLIGHT_K) {
        x = kelvin <= 7000 ? -4.6070 * t3 + 2.9678 * t2 + 0.09911 * t + 0.244063
                           : -2.0064 * t3 + 1.9018 * t2 + 0.24748 * t + 0.237040;
        *ret_y = -3 * x * x + 2.870 * x - 0.275;
    } else if (kelvin > 2222) {
        *ret_y = -0.9549476 * x * x * x - 1.37418593 * x * x + 2.09137015 * x - 0.16748867;
    } else {
        *ret_y = -1.1063814 * x * x * x - 1.34811020 * x * x + 2.18555832 * x - 0.20219683;
    }
    *ret_x = x;
}

/* As linear sRGB (IEC 61966-2-1). */
static void colour_of_light(double kelvin, double ret_rgb[PLX_CHANNELS])
{
    double x, y;
    chromaticity(kelvin, &x, &y);
    const double big_x = x / y, big_z = (1 - x - y) / y; /* with Y = 1 */
    ret_rgb[PLX_RED] = 3.2406 * big_x - 1.5372 - 0.4986 * big_z;
    ret_rgb[PLX_GREEN] = -0.9689 * big_x + 1.8758 + 0.0415 * big_z;
    ret_rgb[PLX_BLUE] = 0.0557 * big_x - 0.2040 + 1.0570 * big_z;
}

static uint32_t limit(double ratio)
{
    return (uint32_t)fmin(fmax(round(ratio * ONE), MIN_RATIO), MAX_RATIO);
}

void plx_white_balance_init(const struct plx_colour_params *params, struct plx_white_balance *ret_balance)
{
    double light[PLX_CHANNELS] = {1, 1, 1};

    if (params->temperature_k > 0)
        colour_of_light(params->temperature_k, light);
    if (params->red_gain > 0) {
        light[PLX_RED] = 1 / params->red_gain;
        light[PLX_BLUE] = 1 / params->blue_gain;
    }
    *ret_balance = (struct plx_white_balance){.is_fixed = params->temperature_k > 0 || params->red_gain > 0};
    for (int i = 0; i < PLX_CHANNELS; i++)
        ret_balance->ratio[i] = limit(light[PLX_GREEN] / fmax(light[i], 1e-3));
}

static uint64_t add_up(const struct plx_image *sums, int row)
{
    const uint64_t *value = plx_row(sums, row);
    uint64_t sum = 0;
    for (int i = 0; i < sums->width; i++)
        sum += value[i];
    return sum;
}

/* RATIO goes towards WANTED. */
static uint32_t approach(uint32_t ratio, uint32_t wanted)
{
    const int64_t most = ratio / STEPS_PER_ONE, step = ((int64_t)wanted - ratio) / SMOOTHING;
    return (uint32_t)(ratio + (step > most ? most : step < -most ? -most : step));
}

void plx_white_balance_update(struct plx_white_balance *balance, const struct plx_image *sums)
{
    const uint64_t cells = add_up(sums, PLX_SUM_ALL_CELLS), grey = add_up(sums, PLX_SUM_GREY_CELLS);
    if (balance->is_fixed || cells < MIN_CELLS)
        return;
    /* What looks grey says nothing before there are gains. */
    const int from = balance->is_known && grey >= MIN_CELLS && grey * GREY_SHARE >= cells ? PLX_SUM_GREY : PLX_SUM_ALL;
    const uint64_t green = add_up(sums, from + PLX_GREEN);
    for (int i = 0; i < PLX_CHANNELS; i++) {
        const uint64_t sum = add_up(sums, from + i), quotient = sum > 0 ? green * ONE / sum : MAX_RATIO;
        const uint32_t wanted = (uint32_t)(quotient < MIN_RATIO ? MIN_RATIO : quotient > MAX_RATIO ? MAX_RATIO : quotient);
        balance->ratio[i] = balance->is_known ? approach(balance->ratio[i], wanted) : wanted;
    }
    balance->is_known = true;
}

void plx_white_balance_gains(const struct plx_white_balance *balance, int32_t ret_gain[PLX_CHANNELS])
{
    uint32_t least = UINT32_MAX;
    for (int i = 0; i < PLX_CHANNELS; i++)
        least = balance->ratio[i] < least ? balance->ratio[i] : least;
    for (int i = 0; i < PLX_CHANNELS; i++) {
        const uint64_t gain = ((uint64_t)balance->ratio[i] * PLX_COLOUR_ONE + least / 2) / least;
        const int32_t largest = PLX_COLOUR_MAX_GAIN * PLX_COLOUR_ONE;
        ret_gain[i] = gain > (uint64_t)largest ? largest : (int32_t)gain;
    }
}
