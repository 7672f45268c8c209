/* SPDX-License-Identifier: Apache-2.0 */
#include "app/corrections/residuals.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <parallax/error.h>

#include "core/geometry/calibration.h"

#define UNIT 480.0  /* length of a focal length in the drawing */
#define ENLARGED 25 /* arrows, per px */
#define MAX_PX 3.0
#define MARGIN 30.0

/* How far the matches reach from the principal point, focal lengths. */
static void reach(const struct plx_correction_evidence *evidence, double *ret_x, double *ret_y)
{
    *ret_x = *ret_y = 0.1;
    for (int i = 0; i < evidence->matches; i++) {
        *ret_x = fmax(*ret_x, fabs((double)evidence->match[i].x));
        *ret_y = fmax(*ret_y, fabs((double)evidence->match[i].y));
    }
}

static void draw_panel(FILE *file, const struct plx_correction_evidence *evidence, double centre_x, double centre_y,
                       const struct plx_correction *corrected)
{
    for (int i = 0; i < evidence->matches; i++) {
        const struct plx_row_match *match = &evidence->match[i];
        const double x = (double)match->x, y = (double)match->y;
        const double rows = (double)match->rows - plx_correction_rows(corrected, evidence->focal_length, x, y);
        fprintf(file, "<path d='M%.1f %.1fv%.1f' stroke='%s'/>\n", centre_x + x * UNIT, centre_y + y * UNIT,
                fmin(fmax(rows, -MAX_PX), MAX_PX) * ENLARGED, rows > 0 ? "#c33" : "#36c");
    }
}

int plx_residuals_write(const char *path, const struct plx_correction_evidence *evidence, struct plx_error_message *message)
{
    static const struct plx_correction none;
    const struct plx_correction change = plx_correction_add(&evidence->after, &evidence->before, -1);
    double x, y;

    /* no link in its place is followed, and a FIFO is not waited for */
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0644);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file) {
        const int error = errno;
        if (fd >= 0)
            close(fd);
        return plx_fail(message, PLX_ERR_IO, "%s: %s", path, strerror(error));
    }
    reach(evidence, &x, &y);
    const double width = 2 * x * UNIT + 2 * MARGIN, height = 2 * y * UNIT + 2 * MARGIN;
    fprintf(
        file,
        "<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%.0f' font-family='sans-serif' font-size='14' "
        "fill='none'>\n<rect width='100%%' height='100%%' fill='white'/>\n<g fill='black'><text x='8' y='18'>before: median "
        "%.2f px</text><text x='%.0f' y='18'>after: median %.2f px; arrows are rows, %d times enlarged</text></g>\n",
        2 * width, height, (double)evidence->drift.epipolar_error_px, width + 8, (double)evidence->drift.residual_px, ENLARGED);
    draw_panel(file, evidence, width / 2, height / 2, &none);
    draw_panel(file, evidence, width * 1.5, height / 2, &change);
    fputs("</svg>\n", file);
    const bool works = !ferror(file);
    if (fclose(file) != 0 || !works)
        return plx_fail(message, PLX_ERR_IO, "%s: %s", path, strerror(errno));
    return 0;
}
