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
#include "tests/parity/parity.h"

#define LIBSGM_INVALID 65520
#define SKIPPED 77

struct images {
    struct plx_image left, right;
    struct plx_features features[2];
    struct plx_candidates candidates;
    struct plx_image median_left, median_right, checked, filled_disparity, filled, dense;
};

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

/* The stages in the order of docs/matching.md. */
static const struct plx_image *run(struct plx_stages *gpu, const struct plx_match *match, bool dense, struct images *i)
{
    const struct plx_stages_ops *ops = gpu->ops;

    must(gpu, ops->census(gpu, &i->left, match, &i->features[0]));
    must(gpu, ops->census(gpu, &i->right, match, &i->features[1]));
    must(gpu, ops->sgm(gpu, &i->features[0], &i->features[1], &i->left, match, &i->candidates));
    must(gpu, ops->median(gpu, &i->candidates.left, dense ? PLX_MEDIAN_3X3 : match->median_left, &i->median_left));
    must(gpu, ops->median(gpu, &i->candidates.right, match->median_right, &i->median_right));
    must(gpu, ops->check(gpu, &i->median_left, &i->median_right, &i->left, match, &i->checked));
    if (dense) {
        must(gpu, ops->fill(gpu, &i->checked, &i->filled_disparity, &i->filled));
        must(gpu, ops->median(gpu, &i->filled_disparity, PLX_MEDIAN_VALID_5X5, &i->dense));
    }
    must(gpu, ops->finish(gpu));
    return dense ? &i->dense : &i->checked;
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
    char left[4096], right[4096], kind[16] = "";
    struct plx_image expected = read_picture(path);
    struct plx_match match;
    struct plx_stages *gpu;
    struct plx_error_message message = {""};
    struct images i;

    (classic ? plx_match_classic : plx_match_default)(&match);
    if (!mark || sscanf(mark, "_D%d_%15[a-z0-9]", &match.disparities, kind) != 2)
        exit(1);
    match.paths = classic ? atoi(kind + 1) : 8;
    const struct plx_limits limits = {.width = expected.width, .height = expected.height, .disparities = match.disparities};
    if (plx_gpu_create(&limits, &gpu, &message) < 0) {
        printf("skipped: %s\n", message.text);
        exit(SKIPPED);
    }
    snprintf(left, sizeof left, "%s/stereo/%.*s/left.pgm", data, (int)(mark - name), name);
    snprintf(right, sizeof right, "%s/stereo/%.*s/right.pgm", data, (int)(mark - name), name);
    i.left = upload(gpu, left);
    i.right = upload(gpu, right);
    const struct {
        struct plx_image *image;
        enum plx_type type;
    } all[] = {
        {&i.features[0].census, PLX_U32},
        {&i.features[0].gradient, PLX_U8},
        {&i.features[1].census, PLX_U32},
        {&i.features[1].gradient, PLX_U8},
        {&i.candidates.left, PLX_U16},
        {&i.candidates.right, PLX_U16},
        {&i.candidates.raw, PLX_U16},
        {&i.candidates.s1, PLX_U16},
        {&i.candidates.s2, PLX_U16},
        {&i.median_left, PLX_U16},
        {&i.median_right, PLX_U16},
        {&i.checked, PLX_U16},
        {&i.filled_disparity, PLX_U16},
        {&i.filled, PLX_U8},
        {&i.dense, PLX_U16},
    };
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        *all[k].image = gpu_image(gpu, expected.width, expected.height, all[k].type);
    const int count = differences(run(gpu, &match, strcmp(kind, "dense") == 0, &i), &expected, classic);
    printf("%s: %d of %d pixels differ\n", name, count, expected.width * expected.height);
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++)
        gpu->ops->free(gpu, all[k].image->data);
    gpu->ops->free(gpu, i.left.data);
    gpu->ops->free(gpu, i.right.data);
    gpu->ops->destroy(gpu);
    free(expected.data);
    return count;
}

int main(int argc, char **argv)
{
    const char *data = argc > 1 ? argv[1] : PLX_PARITY_DATA;
    static const char *const patterns[] = {"golden_default/*_D*_*.pgm", "golden/*_D*_p[48].pgm"};
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
