/* SPDX-License-Identifier: Apache-2.0 */
#include "app/calibrate/initial.h"

#include <string.h>

#include <parallax/error.h>

#include "core/geometry/cholesky.h"
#include "core/geometry/matrix3.h"

#define UNKNOWNS 8

/* Board (in squares or tags) to picture, whose coordinates are (u - width / 2) / width, (v - height / 2) / width; H[8] = 1. */
static int find_homography(const struct plx_board *board, const double (*corner)[2], int width, int height, double ret_h[9])
{
    double a[UNKNOWNS * UNKNOWNS] = {0}, b[UNKNOWNS] = {0};
    for (int k = 0; k < plx_board_corners(board); k++) {
        if (!plx_board_is_found(corner[k]))
            continue;
        double point[3];
        plx_board_point(board, k, point);
        const double x = point[0] / board->square_m, y = point[1] / board->square_m;
        const double u = (corner[k][0] - width / 2.0) / width, v = (corner[k][1] - height / 2.0) / width;
        const double row[2][UNKNOWNS] = {{x, y, 1, 0, 0, 0, -u * x, -u * y}, {0, 0, 0, x, y, 1, -v * x, -v * y}};
        const double value[2] = {u, v};
        for (int r = 0; r < 2; r++)
            for (int i = 0; i < UNKNOWNS; i++) {
                for (int j = 0; j < UNKNOWNS; j++)
                    a[i * UNKNOWNS + j] += row[r][i] * row[r][j];
                b[i] += row[r][i] * value[r];
            }
    }
    if (!plx_cholesky_decompose(a, UNKNOWNS, 0, a))
        return PLX_ERR_FORMAT;
    plx_cholesky_solve(a, UNKNOWNS, b, b);
    memcpy(ret_h, b, sizeof b);
    ret_h[8] = 1;
    return 0;
}

/* Adds what H says of s = 1 / f^2, f in widths: c s + d = 0 twice, for its first two columns are orthogonal and equally long.
 */
static void add_focal(const double h[9], double sums[2])
{
    double length = 0;
    for (int i = 0; i < 9; i++)
        length += h[i] * h[i];
    const double c[2] = {h[0] * h[1] + h[3] * h[4], h[0] * h[0] + h[3] * h[3] - h[1] * h[1] - h[4] * h[4]};
    const double d[2] = {h[6] * h[7], h[6] * h[6] - h[7] * h[7]};
    for (int i = 0; i < 2; i++) {
        sums[0] += c[i] * c[i] / (length * length);
        sums[1] -= c[i] * d[i] / (length * length);
    }
}

int plx_initial_camera(const struct plx_board *board, const struct plx_board_pair *pair, int pairs, enum plx_eye eye,
                       struct plx_camera *camera, struct plx_error_message *message)
{
    double sums[2] = {0}, h[9];
    for (int p = 0; p < pairs; p++) {
        if (find_homography(board, pair[p].corner[eye], camera->width, camera->height, h) < 0)
            return plx_fail(message, PLX_ERR_FORMAT, "pair %d: the corners do not form a board", p + 1);
        add_focal(h, sums);
    }
    /* Boards that all face the camera say nothing of the focal length: then it is that of a view of 53 degrees. */
    const double s = sums[0] > 0 ? sums[1] / sums[0] : 0, focal = s > 0.04 && s < 25 ? 1 / sqrt(s) : 1;
    camera->fx = camera->fy = focal * camera->width;
    camera->cx = camera->width / 2.0 - 0.5;
    camera->cy = camera->height / 2.0 - 0.5;
    memset(camera->k, 0, sizeof camera->k);
    return 0;
}

int plx_initial_pose(const struct plx_board *board, const struct plx_board_pair *pair, enum plx_eye eye,
                     const struct plx_camera *camera, struct plx_pose *ret_pose)
{
    double h[9], column[9], rotation[9]; /* COLUMN: columns of the pose, one after another */
    const double focal = camera->fx / camera->width;
    if (find_homography(board, pair->corner[eye], camera->width, camera->height, h) < 0)
        return PLX_ERR_FORMAT;
    for (int j = 0; j < 3; j++) {
        column[3 * j] = h[j] / focal;
        column[3 * j + 1] = h[3 + j] / focal;
        column[3 * j + 2] = h[6 + j];
    }
    const double lengths = plx_vec3_length(column) + plx_vec3_length(column + 3);
    const double scale = (column[8] > 0 ? 2 : -2) / lengths; /* the board is in front of the camera */
    for (int i = 0; i < 9; i++)
        column[i] *= scale;
    for (int i = 0; i < 3; i++)
        ret_pose->translation[i] = column[6 + i] * board->square_m;
    plx_vec3_cross(column, column + 3, column + 6);
    plx_mat3_transpose(column, rotation);
    plx_mat3_orthonormalize(rotation, ret_pose->rotation);
    return 0;
}
