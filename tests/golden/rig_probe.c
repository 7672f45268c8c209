/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calibrates from the corners on standard input, for rig.py: columns, rows, square (m), width, height, model (enum
 * plx_distortion), pairs; then for each pair the corners of the left and of the right picture. Prints name and numbers in
 * lines.
 */
#include <stdio.h>
#include <stdlib.h>

#include "app/calibrate/rig_fit.h"

static void print(const char *name, const double *value, int count)
{
    printf("%s", name);
    for (int i = 0; i < count; i++)
        printf(" %.12g", value[i]);
    putchar('\n');
}

int main(void)
{
    struct plx_board board = {.kind = PLX_BOARD_CHESS};
    struct plx_rig_options options;
    struct plx_rig_fit fit;
    struct plx_error_message message;
    int model, pairs;
    if (scanf("%d %d %lf %d %d %d %d", &board.columns, &board.rows, &board.square_m, &options.width, &options.height, &model,
              &pairs) != 7 ||
        pairs < 1 || pairs > PLX_RIG_MAX_PAIRS || board.columns > PLX_BOARD_MAX_SIDE || board.rows > PLX_BOARD_MAX_SIDE)
        return 64;
    options.model = (enum plx_distortion)model;
    const size_t corners = (size_t)plx_board_corners(&board);
    double(*corner)[2] = malloc((size_t)pairs * PLX_EYES * corners * sizeof *corner);
    struct plx_board_pair *pair = malloc((size_t)pairs * sizeof *pair);
    for (size_t i = 0; corner && i < (size_t)pairs * PLX_EYES * corners; i++)
        if (scanf("%lf %lf", &corner[i][0], &corner[i][1]) != 2)
            exit(64);
    for (int p = 0; pair && p < pairs; p++)
        for (int eye = 0; eye < PLX_EYES; eye++)
            pair[p].corner[eye] = (const double(*)[2])corner + (size_t)(PLX_EYES * p + eye) * corners;
    if (plx_rig_fit(&board, pair, pairs, &options, &fit, NULL, &message) < 0) {
        fprintf(stderr, "%s\n", message.text);
        exit(1);
    }
    print("rms", &fit.rms_px, 1);
    for (int eye = 0; eye < PLX_EYES; eye++) {
        const struct plx_camera *camera = &fit.rig.camera[eye];
        print(eye == PLX_LEFT ? "left" : "right", (const double[]){camera->fx, camera->fy, camera->cx, camera->cy}, 4);
        print(eye == PLX_LEFT ? "left_distortion" : "right_distortion", camera->k, 8);
    }
    print("rotation", fit.rig.right_from_left.rotation, 9);
    print("translation", fit.rig.right_from_left.translation, 3);
    print("sigma", fit.sigma, fit.parameters);
    free(pair);
    free(corner);
    return 0;
}
