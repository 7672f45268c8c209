/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real pairs against stored results: `classic` against libSGM's own, everywhere but in the outermost pixel frame, and
 * `default`, strict and dense, on every pixel. Not one pixel may differ, with any instruction set of this machine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glob.h>

#include <parallax/frame.h>

#include "cpu/internal.h"
#include "drivers/files/picture.h"
#include "oracle/test_image.h"
#include "tests/cmocka.h"
#include "tests/golden/golden.h"

#define LIBSGM_INVALID 65520

/* What a golden file's name says: NAME_D64_p8.png, NAME_D128_dense.png. */
struct golden {
    char pair[64], kind[16];
    int disparities;
    struct plx_image expected, left, right;
};

struct images {
    struct plx_features left, right;
    struct plx_candidates candidates;
    struct plx_image median_left, median_right, checked, filled_disparity, filled, dense;
};

static struct plx_image read_picture(const char *path, enum plx_type type)
{
    struct plx_image image;
    struct plx_error_message message;
    if (plx_picture_read(path, type, &image, &message) < 0)
        fail_msg("%s", message.text);
    return image;
}

static struct golden golden_load(const char *path)
{
    struct golden golden;
    char left[512], right[512];
    const char *name = strrchr(path, '/') + 1, *mark = strstr(name, "_D");

    assert_non_null(mark);
    snprintf(golden.pair, sizeof golden.pair, "%.*s", (int)(mark - name), name);
    assert_int_equal(sscanf(mark, "_D%d_%15[a-z0-9]", &golden.disparities, golden.kind), 2);
    snprintf(left, sizeof left, "%s/stereo/%s/left.png", PLX_TEST_DATA, golden.pair);
    snprintf(right, sizeof right, "%s/stereo/%s/right.png", PLX_TEST_DATA, golden.pair);
    golden.expected = read_picture(path, PLX_U16);
    golden.left = read_picture(left, PLX_U8);
    golden.right = read_picture(right, PLX_U8);
    assert_true(plx_same_size(&golden.expected, &golden.left) && plx_same_size(&golden.left, &golden.right));
    return golden;
}

static void golden_free(struct golden *golden)
{
    free(golden->expected.data);
    free(golden->left.data);
    free(golden->right.data);
}

/* All images of a frame, in the order of their use; FREE gives them back. */
static void images_each(struct images *images, int width, int height, bool free_them)
{
    const struct {
        struct plx_image *image;
        enum plx_type type;
    } all[] = {
        {&images->left.census, PLX_U32},      {&images->left.gradient, PLX_U8},    {&images->right.census, PLX_U32},
        {&images->right.gradient, PLX_U8},    {&images->candidates.left, PLX_U16}, {&images->candidates.right, PLX_U16},
        {&images->candidates.raw, PLX_U16},   {&images->candidates.s1, PLX_U16},   {&images->candidates.s2, PLX_U16},
        {&images->median_left, PLX_U16},      {&images->median_right, PLX_U16},    {&images->checked, PLX_U16},
        {&images->filled_disparity, PLX_U16}, {&images->filled, PLX_U8},           {&images->dense, PLX_U16},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (free_them)
            test_image_free(all[i].image);
        else
            *all[i].image = test_image_new(width, height, all[i].type, 3);
    }
}

/* The stages in the order of docs/matching.md; returns the disparity that KIND asks for. */
static const struct plx_image *run(struct plx_stages *stages, const struct golden *golden, const struct plx_match *match,
                                   struct images *images)
{
    const struct plx_stages_ops *ops = stages->ops;
    const bool dense = strcmp(golden->kind, "dense") == 0;
    const enum plx_median median = dense ? PLX_MEDIAN_3X3 : match->median_left;

    assert_int_equal(ops->census(stages, &golden->left, match, &images->left), 0);
    assert_int_equal(ops->census(stages, &golden->right, match, &images->right), 0);
    assert_int_equal(ops->sgm(stages, &images->left, &images->right, &golden->left, match, &images->candidates), 0);
    assert_int_equal(ops->median(stages, &images->candidates.left, median, &images->median_left), 0);
    assert_int_equal(ops->median(stages, &images->candidates.right, match->median_right, &images->median_right), 0);
    assert_int_equal(ops->check(stages, &images->median_left, &images->median_right, &golden->left, match, &images->checked),
                     0);
    if (!dense)
        return &images->checked;
    assert_int_equal(ops->fill(stages, &images->checked, &images->filled_disparity, &images->filled), 0);
    assert_int_equal(ops->median(stages, &images->filled_disparity, PLX_MEDIAN_VALID_5X5, &images->dense), 0);
    return &images->dense;
}

static int count_differences(const struct plx_image *a, const struct golden *golden, bool frame)
{
    int differences = 0;
    for (int y = !frame; y < a->height - !frame; y++) {
        const uint16_t *got = plx_row(a, y), *expected = plx_row(&golden->expected, y);
        for (int x = !frame; x < a->width - !frame; x++) {
            const bool invalid = !frame && expected[x] == LIBSGM_INVALID;
            differences += got[x] != (invalid ? PLX_DISPARITY_INVALID : expected[x]);
        }
    }
    return differences;
}

static void compare(const char *path, bool classic)
{
    struct golden golden = golden_load(path);
    struct plx_match match;
    struct images images;

    (classic ? plx_match_classic : plx_match_default)(&match);
    match.disparities = golden.disparities;
    if (classic)
        match.paths = atoi(golden.kind + 1);
    images_each(&images, golden.left.width, golden.left.height, false);
    for (int isa = 0; isa < PLX_ISA_COUNT; isa++) {
        const struct plx_limits limits = {golden.left.width, golden.left.height, golden.disparities, 1 + isa};
        struct plx_stages *stages;
        if (!plx_isa_kernels((enum plx_isa)isa))
            continue;
        assert_int_equal(plx_cpu_create_isa(&limits, (enum plx_isa)isa, &stages), 0);
        int differences = count_differences(run(stages, &golden, &match, &images), &golden, !classic);
        printf("%s_D%d_%s, %s, %d threads: %d of %d pixels differ\n", golden.pair, golden.disparities, golden.kind,
               plx_isa_kernels((enum plx_isa)isa)->name, limits.threads, differences, golden.left.width * golden.left.height);
        stages->ops->destroy(stages);
        assert_int_equal(differences, 0);
    }
    images_each(&images, 0, 0, true);
    golden_free(&golden);
}

static void compare_all(const char *pattern, bool classic)
{
    glob_t files;
    assert_int_equal(glob(pattern, 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++)
        compare(files.gl_pathv[i], classic);
    globfree(&files);
}

static void test_classic_equals_libsgm(void **state)
{
    (void)state;
    compare_all(PLX_TEST_DATA "/golden/*_D*_p[48].png", true);
}

static void test_default_equals_its_reference(void **state)
{
    (void)state;
    compare_all(PLX_TEST_DATA "/golden_default/*_D*_*.png", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classic_equals_libsgm),
        cmocka_unit_test(test_default_equals_its_reference),
    };
    return golden_run(tests, NULL, NULL);
}
