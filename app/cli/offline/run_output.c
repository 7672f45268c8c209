/* SPDX-License-Identifier: Apache-2.0 */
/* The files of `parallax run --output`: the ending of the name says the kind. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "app/cli/export.h"
#include "app/cli/offline/run.h"
#include "app/exit.h"
#include "drivers/files/picture.h"

static const struct kind {
    const char *ending;
    bool raw, metric; /* has a raw form; needs a calibration */
    plx_export *export;
} kinds[] = {
    {".png", true, false, plx_export_kitti},
    {".pfm", false, false, plx_export_pfm},
    {".ply", false, true, plx_export_ply},
};

static const struct kind *kind_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcasecmp(dot, kinds[i].ending) == 0)
            return &kinds[i];
    return NULL;
}

int plx_run_output_check(const struct plx_run_options *options, bool single)
{
    const struct kind *kind = options->output ? kind_of(options->output) : NULL;
    if (options->raw && !options->output)
        return plx_exit_error("parallax run", PLX_EXIT_USAGE, "--raw needs a file to write; add --output FILE");
    if (!options->output)
        return PLX_EXIT_OK;
    if (single && !kind)
        return plx_exit_error("parallax run", PLX_EXIT_USAGE,
                              "--output %s: unknown kind of file; expected a name that ends in .png (disparity, 16 bits), .pfm "
                              "(disparity, floats) or .ply (points in metres)",
                              options->output);
    if (single && options->raw && !kind->raw)
        return plx_exit_error("parallax run", PLX_EXIT_USAGE, "--output %s: only a .png has --raw values", options->output);
    if (!single && kind)
        return plx_exit_error(
            "parallax run", PLX_EXIT_USAGE,
            "--output %s: for DIR it is a directory, where each pair gets NAME.png; for another kind of file name "
            "two pictures, LEFT RIGHT",
            options->output);
    return PLX_EXIT_OK;
}

int plx_run_output_prepare(const struct plx_run *run)
{
    const char *output = run->options.output;
    const struct kind *kind = output && run->single ? kind_of(output) : NULL;
    if (kind && kind->metric && !run->calibrated)
        return plx_exit_error("parallax run", PLX_EXIT_CONFIG,
                              "--output %s: points in metres need a calibration; name it with --calibration", output);
    return PLX_EXIT_OK;
}

int plx_run_output(const struct plx_run *run, const struct plx_pair *pair, struct plx_frame *frame,
                   struct plx_error_message *message)
{
    const struct kind *kind = run->single ? kind_of(run->options.output) : &kinds[0];
    const struct plx_image disparity = plx_pipeline_plane(frame, PLX_PLANE_DISPARITY);
    const struct plx_view view = plx_export_view(frame);
    char path[PATH_MAX];

    if (run->single)
        snprintf(path, sizeof path, "%s", run->options.output);
    else
        snprintf(path, sizeof path, "%s/%s.png", run->options.output, pair->name);
    return run->options.raw ? plx_png_write(path, &disparity, message) : kind->export(path, &view, message);
}
