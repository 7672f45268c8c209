/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real pairs against stored results, on the GPU: `classic` against libSGM's own, everywhere but in the outermost pixel frame,
 * and `default`, strict and dense, on every pixel. Not one pixel may differ. Files are those that golden_pgm.py makes, under
 * PLX_PARITY_DATA, or the directory given.
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <parallax/frame.h>

#include "drivers/files/picture.h"
#include "gpu/gpu.h"
#include "oracle/matching.h"
#include "tests/parity/parity.h"

#define LIBSGM_INVALID 65520
#define SKIPPED 77

static void must(struct plx_stages *gpu, int result)
{
    if (result < 0) {
        printf("FAILED: %s\n", gpu->message.text);
        exit(1);
    }
}

static struct plx_image read_picture(const char *path)
{
    struct plx_image image;
    struct plx_error_message message;
    if (plx_pgm_read(path, &image, &message) < 0) {
        printf("FAILED: %s\n", message.text);
        exit(1);
    }
    return image;
}

static struct plx_image gpu_image(struct plx_stages *gpu, int width, int height, enum plx_type type)
{
    struct plx_image image = {.width = width, .height = height, .pitch = (size_t)(width + 5) * type, .type = type};
    must(gpu, gpu->ops->alloc(gpu, image.pitch * (size_t)height, &image.data));
    return image;
}

static struct plx_image upload(struct plx_stages *gpu, const char *path)
{
    struct plx_image picture = read_picture(path);
    struct plx_image image = gpu_image(gpu, picture.width, picture.height, PLX_U8);
    for (int y = 0; y < picture.height; y++)
        memcpy(plx_row(&image, y), plx_row(&picture, y), (size_t)picture.width);
    free(picture.data);
    return image;
}

static int differences(const struct plx_image *got, const struct plx_image *expected, bool classic)
{
    int count = 0;
    for (int y = classic; y < got->height - classic; y++) {
        const uint16_t *a = plx_row(got, y), *b = plx_row(expected, y);
        for (int x = classic; x < got->width - classic; x++)
            count += a[x] != (classic && b[x] == LIBSGM_INVALID ? PLX_DISPARITY_INVALID : b[x]);
    }
    return count;
}

/* PATH says what it is: .../NAME_D64_p8.pgm, .../NAME_D128_dense.pgm. Returns how many pixels differ. */
static int compare(const char *data, const char *path, bool classic)
{
    const char *name = strrchr(path, '/') + 1, *mark = strstr(name, "_D");
    char eye_path[4096], kind[16] = "";
    struct plx_image expected = read_picture(path), grey[PLX_EYES], plane[MATCHING_PLANES];
    struct plx_match match;
    struct plx_stages *gpu;
    struct plx_error_message message = {""};

    (classic ? plx_match_classic : plx_match_default)(&match);
    if (!mark || sscanf(mark, "_D%d_%15[a-z0-9]", &match.disparities, kind) != 2)
        exit(1);
    match.paths = classic ? atoi(kind + 1) : 8;
    match.facing = false; /* which the references lack */
    const struct plx_limits limits = {.width = expected.width, .height = expected.height, .disparities = match.disparities};
    if (plx_gpu_create(&limits, &gpu, &message) < 0) {
        printf("skipped: %s\n", message.text);
        exit(SKIPPED);
    }
    for (int eye = 0; eye < PLX_EYES; eye++) {
        snprintf(eye_path, sizeof eye_path, "%s/stereo/%.*s/%s.pgm", data, (int)(mark - name), name, eye ? "right" : "left");
        grey[eye] = upload(gpu, eye_path);
    }
    for (int i = 0; i < MATCHING_PLANES; i++)
        plane[i] = gpu_image(gpu, expected.width, expected.height, matching_type(&match, (enum matching_plane)i));
    const bool dense = strcmp(kind, "dense") == 0;
    must(gpu, matching_run(gpu, grey, &match, plane));
    must(gpu, gpu->ops->finish(gpu));
    const int count = differences(&plane[dense ? MATCHING_DENSE : MATCHING_STRICT], &expected, classic);
    printf("%s: %d of %d pixels differ\n", name, count, expected.width * expected.height);
    for (int i = 0; i < MATCHING_PLANES; i++)
        gpu->ops->free(gpu, plane[i].data);
    for (int eye = 0; eye < PLX_EYES; eye++)
        gpu->ops->free(gpu, grey[eye].data);
    gpu->ops->destroy(gpu);
    free(expected.data);
    return count;
}

int main(int argc, char **argv)
{
    const char *data = argc > 1 ? argv[1] : PLX_PARITY_DATA;
    static const char *const patterns[] = {"golden_depth/*_D*_*.pgm", "golden/*_D*_p[48].pgm"};
    int failed = 0;

    for (int classic = 0; classic < 2; classic++) {
        char pattern[4096];
        glob_t files;
        snprintf(pattern, sizeof pattern, "%s/%s", data, patterns[classic]);
        if (glob(pattern, 0, NULL, &files) != 0) {
            printf("skipped: no data at %s\n", pattern);
            return SKIPPED;
        }
        for (size_t i = 0; i < files.gl_pathc; i++)
            failed |= compare(data, files.gl_pathv[i], classic) > 0;
        globfree(&files);
    }
    return failed;
}
